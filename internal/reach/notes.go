// SPDX-License-Identifier: Apache-2.0

package reach

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"perflab.dev/perflab/api/v1alpha1"
)

// Notes is what notes reach for that are new, or other than before: they may change
// when nothing else may. Of a note that stays nobody is asked: another key of the same
// ConfigMap is another note.
func Notes(before, after []v1alpha1.Note) []Need {
	found := &finder{}
	for i, note := range after {
		stays := func(old v1alpha1.Note) bool { return equality.Semantic.DeepEqual(old, note) }
		if !slices.ContainsFunc(before, stays) {
			found.walk(field.NewPath("spec", "notes").Index(i), note)
		}
	}
	return found.needs
}
