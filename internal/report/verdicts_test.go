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

// ofBlocks is the recorded experiment with that many complete blocks.
func ofBlocks(done, planned int32) report.Input {
	input := recorded.Experiment(seed)
	input.Experiment.Spec.Design.Blocks = planned
	input.Runs = slices.DeleteFunc(input.Runs, func(run v1alpha1.PerfRun) bool { return run.Spec.Block > done })
	return input
}

// The page reports once that there are too few blocks for a verdict, and how many are missing; it
// then shows runs, and nothing that resembles a verdict.
func TestFewBlocksDescribe(t *testing.T) {
	for name, tc := range map[string]struct {
		done, planned int32
		want          []string
	}{
		"two":     {2, 2, []string{"2 blocks are complete", "4 more blocks (24 runs), about 6 hours at the current pace. Raise design.blocks to 6"}},
		"one":     {1, 3, []string{"1 block is complete", "5 more blocks (30 runs), about 7 hours"}},
		"ongoing": {5, 8, []string{"1 more block (6 runs), about 92 minutes at the current pace. It is already planned."}},
	} {
		r := reportOf(t, ofBlocks(tc.done, tc.planned))
		page := written(t, r, "report.md")
		for _, want := range append(tc.want, "Too few blocks for a verdict", "**Primary metrics of every run under "+recorded.ConcurrentScenario+"**") {
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
	if page := written(t, reportOf(t, recorded.Experiment(seed)), "report.md"); strings.Contains(page, "Too few blocks for a verdict") {
		t.Error("six blocks have the banner of few")
	}
}

// An experiment that may stop at verdicts says so, has wider intervals, and only describes before
// the first interim analysis.
func TestLooksAreTold(t *testing.T) {
	input := recorded.Experiment(seed)
	of := func(blocks int32) string {
		changed := input
		changed.Experiment = *input.Experiment.DeepCopy()
		changed.Experiment.Spec.Design.Blocks = blocks
		changed.Experiment.Spec.Design.Target = &v1alpha1.PrecisionTarget{Verdicts: true, MaxBlocks: 20}
		return written(t, reportOf(t, changed), "report.md")
	}
	const told = "Interim analyses after each block, from block 6 to at most block 20"
	if page := of(6); !strings.Contains(page, told) || strings.Contains(page, "Too few blocks for a verdict") {
		t.Errorf("the first interim analysis: told %t, or the page only describes", strings.Contains(page, told))
	}
	if page := of(8); !strings.Contains(page, "6 blocks are complete; a verdict needs 8.") || !strings.Contains(page, "2 more blocks") {
		t.Errorf("before the first interim analysis:\n%.1500s", page)
	}
	if page := written(t, reportOf(t, input), "report.md"); strings.Contains(page, "Interim analyses after each block") {
		t.Error("an experiment that looks once tells of looks")
	}
}

// Requested pairs have their own table, whose deltas follow from the values beside them; other
// pages don't have it.
func TestPairsThatAreAskedFor(t *testing.T) {
	input := recorded.Experiment(seed)
	third := "third"
	for _, run := range slices.Clone(input.Runs) {
		if run.Spec.Arm != recorded.Arm || run.Status.Phase != v1alpha1.RunSucceeded {
			continue
		}
		copied := run.DeepCopy()
		copied.Name, copied.Spec.Arm = run.Name+"-"+third, third
		input.Runs = append(input.Runs, *copied)
	}
	input.Experiment.Status.Arms = append(input.Experiment.Status.Arms, v1alpha1.ArmStatus{Name: third})
	if strings.Contains(written(t, reportOf(t, input), "report.md"), "arm against arm") {
		t.Error("the report has undeclared pairs")
	}
	input.Experiment.Spec.Analysis.Comparisons = v1alpha1.PairsAll
	checked := 0
	for _, one := range tables(written(t, reportOf(t, input), "report.md")) {
		if one.caption != "Primary metrics, arm against arm" {
			continue
		}
		for _, row := range one.from("Metric") {
			checked++
			if row[1] != third || row[2] != recorded.Arm || row[3] != row[4] || !strings.HasPrefix(row[6], "0") {
				t.Errorf("%s: %v, want two arms that are alike", one.heading, row)
			}
		}
	}
	if checked < 4 {
		t.Errorf("only %d rows tell of pairs", checked)
	}
}

func TestVersionsThatRunsMetAreOnThePage(t *testing.T) {
	input := recorded.Experiment(seed)
	if page := written(t, reportOf(t, input), "report.md"); strings.Contains(page, "Versions in valid runs") {
		t.Error("no run told a version, and there is a table of them")
	}
	for i := range input.Runs {
		met := &v1alpha1.RunEvidence{
			Versions: v1alpha1.MetVersions{PerfLab: "v0.4.0", Kubernetes: "v1.36.1", Strimzi: "1.2.0"},
			Images:   []v1alpha1.MetImage{{Of: "cico", ImageID: "registry.example/k6@sha256:12ab"}},
		}
		if i > 5 {
			met.Versions.Kubernetes = "v1.36.2"
		}
		input.Runs[i].Status.Evidence = met
	}
	page := written(t, reportOf(t, input), "report.md")
	for _, want := range []string{"| PerfLab | v0.4.0 |", "| Kubernetes | v1.36.1, v1.36.2 |", "| Strimzi | 1.2.0 |", "| CloudNativePG | unknown |", "| cico | `registry.example/k6@sha256:12ab` |"} {
		if strings.Count(page, want) != 1 {
			t.Errorf("%q is there %d times, want once", want, strings.Count(page, want))
		}
	}
}
