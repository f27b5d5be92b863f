// SPDX-License-Identifier: Apache-2.0

package releases

import (
	"cmp"

	"perflab.dev/perflab/api/v1alpha1"
)

// NameOf an experiment's release: its annotation perflab.dev/release, in one line that
// fits a table, or its name.
func NameOf(experiment *v1alpha1.PerfExperiment) string {
	return cmp.Or(Label(experiment.Annotations[v1alpha1.AnnotationRelease]), experiment.Name)
}
