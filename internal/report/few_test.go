// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/recorded"
)

// ofBlocks is the recorded experiment when so many blocks were complete.
func ofBlocks(done, planned int32) report.Input {
	input := recorded.Experiment(seed)
	input.Experiment.Spec.Design.Blocks = planned
	input.Runs = slices.DeleteFunc(input.Runs, func(run v1alpha1.PerfRun) bool { return run.Spec.Block > done })
	return input
}

// Too few blocks to judge are told of once, with what enough of them would take; the
// page then shows runs, and nothing that looks like a judgement.
func TestFewBlocksDescribe(t *testing.T) {
	for name, tc := range map[string]struct {
		done, planned int32
		want          []string
	}{
		"two":     {2, 2, []string{"2 blocks are complete", "4 more blocks (24 runs), about 6 hours at the pace so far. Raise design.blocks to 6"}},
		"one":     {1, 3, []string{"1 block is complete", "5 more blocks (30 runs), about 7 hours"}},
		"ongoing": {5, 8, []string{"1 more block (6 runs), about 92 minutes at the pace so far. It is already planned."}},
	} {
		r := reportOf(t, ofBlocks(tc.done, tc.planned))
		page := written(t, r, "report.md")
		for _, want := range append(tc.want, "These runs describe, they do not decide", "**Every run's deciding metrics under "+recorded.Beside+"**") {
			if strings.Count(page, want) != 1 {
				t.Errorf("%s: %q is there %d times, want once:\n%.1500s", name, want, strings.Count(page, want), page)
			}
		}
		for _, unwanted := range []string{"No verdict", "too few", "% interval", "Interval", "escriptive only", "forest-", "noise-", "| Verdict |"} {
			body, _, _ := strings.Cut(page, "## Methodology")
			if strings.Contains(body, unwanted) {
				t.Errorf("%s: the page says %q", name, unwanted)
			}
		}
		for file, chart := range r.Charts() {
			if regexp.MustCompile(`>−\d`).Match(chart) {
				t.Errorf("%s: %s has an axis below zero", name, file)
			}
			if intervals := strings.Contains(strings.ToLower(string(chart)), "#eef1f6"); intervals && strings.HasPrefix(file, "runs-") {
				t.Errorf("%s: %s shows intervals", name, file)
			}
		}
		if slips, _, checked := audited(t, r); len(slips) > 0 || checked < 100 {
			t.Errorf("%s: %d checked, slipped: %+v", name, checked, slips)
		}
	}
	if page := written(t, reportOf(t, recorded.Experiment(seed)), "report.md"); strings.Contains(page, "describe, they do not decide") {
		t.Error("six blocks have the banner of few")
	}
}
