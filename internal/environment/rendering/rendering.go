// SPDX-License-Identifier: Apache-2.0

// Package rendering tells whether two runs of one arm were given the same objects.
// They are declared alike, but an operator that was upgraded in between may make
// something else of the declaration. It is pure.
package rendering

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/text/prose"
)

// otherwise is in each warning.
const otherwise = "not built as run "

// Digest is that of the objects that are made of a part. They must name no run, so
// that they are the same for each.
func Digest(of string, objects []*unstructured.Unstructured) v1alpha1.RenderedDigest {
	contents := make([]map[string]any, 0, len(objects))
	for _, object := range objects {
		contents = append(contents, object.Object)
	}
	return v1alpha1.RenderedDigest{Of: of, SHA256: naming.Hash(contents)}
}

// IsWarning tells what Warning says from other warnings of a run.
func IsWarning(sentence string) bool { return strings.Contains(sentence, otherwise) }

// Warning says that the run was built otherwise than its predecessor; empty: it was
// not, or it has none.
func Warning(run, before *v1alpha1.PerfRun) string {
	if before == nil {
		return ""
	}
	now, then := run.Status.Evidence, before.Status.Evidence
	if then == nil || len(then.Rendered) == 0 {
		return fmt.Sprintf("perhaps %s%q of the same arm was, by an earlier PerfLab that did not note what it made of the declaration", otherwise, before.Name)
	}
	changed := changes(then.Rendered, now.Rendered)
	if len(changed) == 0 {
		return ""
	}
	return fmt.Sprintf("%s%q of the same arm was: PerfLab makes something else of %s (version %s then, %s now)",
		otherwise, before.Name, prose.Enumerate(changed), version(then), version(now))
}

func version(evidence *v1alpha1.RunEvidence) string {
	return cmp.Or(evidence.Versions.PerfLab, "unknown")
}

// Predecessor is the last run before this one at the same arm and scenario that
// gave results; nil: there is none.
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

// changes are the parts of which something else was made. One that only one of
// two versions notes is not compared.
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
