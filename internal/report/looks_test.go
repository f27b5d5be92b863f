// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"strings"
	"testing"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/recorded"
)

// An experiment that may stop at verdicts says so, its intervals are wider, and before
// the first look it describes.
func TestLooksAreTold(t *testing.T) {
	input := recorded.Experiment(seed)
	of := func(blocks int32) string {
		changed := input
		changed.Experiment = *input.Experiment.DeepCopy()
		changed.Experiment.Spec.Design.Blocks = blocks
		changed.Experiment.Spec.Design.Target = &v1alpha1.PrecisionTarget{Verdicts: true, MaxBlocks: 20}
		return written(t, reportOf(t, changed), "report.md")
	}
	const told = "The arms were looked at after each block from 6 to at most 20"
	if page := of(6); !strings.Contains(page, told) || strings.Contains(page, "describe, they do not decide") {
		t.Errorf("the first look: told %t, or the page only describes", strings.Contains(page, told))
	}
	if page := of(8); !strings.Contains(page, "6 blocks are complete; a verdict takes 8.") || !strings.Contains(page, "2 more blocks") {
		t.Errorf("before the first look:\n%.1500s", page)
	}
	if page := written(t, reportOf(t, input), "report.md"); strings.Contains(page, "looked at after each block") {
		t.Error("an experiment that looks once tells of looks")
	}
}
