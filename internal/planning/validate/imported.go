// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/runs/provenance"
)

// Imported prevents an experiment from becoming imported and vice versa. The first would
// leave its environment behind; the second would start loads for imported runs.
func Imported(before, after *v1alpha1.PerfExperiment) field.ErrorList {
	annotation := field.NewPath("metadata", "annotations").Key(v1alpha1.AnnotationImported)
	was, is := before.Annotations[v1alpha1.AnnotationImported], after.Annotations[v1alpha1.AnnotationImported]
	switch {
	case !provenance.IsImported(before) && provenance.IsImported(after):
		return field.ErrorList{field.Forbidden(annotation,
			"an experiment that was created here can't become an imported one: remove the annotation, and set spec.suspend: true to start no further runs")}
	case !provenance.IsImported(before):
		return nil
	case !provenance.IsImported(after) || was != is:
		return field.ErrorList{field.Forbidden(annotation,
			fmt.Sprintf("an imported experiment is a record of what was measured elsewhere and stays imported: restore the annotation (%q), or create the experiment under another name to run it here", was))}
	case !equality.Semantic.DeepEqual(before.Spec, after.Spec):
		return field.ErrorList{field.Forbidden(field.NewPath("spec"),
			"an imported experiment is a record of what was measured elsewhere, so its spec can't change: restore it, or create the changed experiment under another name to run it here")}
	}
	return nil
}
