// SPDX-License-Identifier: Apache-2.0

// Package rendering compares the rendered objects of runs of one arm. Their declarations
// are equal, but an upgraded operator may render them differently. It is pure.
package rendering

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/text/prose"
)

// Digest returns the digest of the objects of a component. They must not contain the run's
// name, so that they are equal for each run.
func Digest(of string, objects []*unstructured.Unstructured) v1alpha1.RenderedDigest {
	contents := make([]map[string]any, 0, len(objects))
	for _, object := range objects {
		contents = append(contents, object.Object)
	}
	return v1alpha1.RenderedDigest{Of: of, SHA256: naming.Hash(contents)}
}

// Change returns how the run was rendered differently from its predecessor; nil if it was not, or
// there is none.
func Change(run, before *v1alpha1.PerfRun) *v1alpha1.RenderedChange {
	if before == nil {
		return nil
	}
	now, then := run.Status.Evidence, before.Status.Evidence
	if then == nil || len(then.Rendered) == 0 {
		return &v1alpha1.RenderedChange{
			Since:   before.Name,
			Message: fmt.Sprintf("perhaps not built as run %q of the same arm: an earlier PerfLab built that run and did not record what it rendered", before.Name),
		}
	}
	changed := changes(then.Rendered, now.Rendered)
	if len(changed) == 0 {
		return nil
	}
	return &v1alpha1.RenderedChange{
		Since: before.Name, Of: changed,
		Message: fmt.Sprintf("not built as run %q of the same arm: PerfLab renders %s differently (version %s then, %s now)",
			before.Name, prose.Enumerate(changed), version(then), version(now)),
	}
}

func version(evidence *v1alpha1.RunEvidence) string {
	return cmp.Or(evidence.Versions.PerfLab, "unknown")
}

// Predecessor returns the last earlier run with results of this arm and scenario; nil if
// there is none.
func Predecessor(run *v1alpha1.PerfRun, runs []v1alpha1.PerfRun) *v1alpha1.PerfRun {
	var last *v1alpha1.PerfRun
	for i := range runs {
		other := &runs[i]
		alike := other.Spec.Arm == run.Spec.Arm && other.Spec.Scenario.Name == run.Spec.Scenario.Name
		if !alike || other.Spec.Position >= run.Spec.Position || other.Status.Phase != v1alpha1.RunSucceeded {
			continue
		}
		if last == nil || other.Spec.Position > last.Spec.Position {
			last = other
		}
	}
	return last
}

// changes returns the components that were rendered differently. A component that only one
// version records is not compared.
func changes(then, now []v1alpha1.RenderedDigest) []string {
	var changed []string
	for _, digest := range now {
		at := slices.IndexFunc(then, func(earlier v1alpha1.RenderedDigest) bool { return earlier.Of == digest.Of })
		if at >= 0 && then[at].SHA256 != digest.SHA256 {
			changed = append(changed, digest.Of)
		}
	}
	return changed
}
