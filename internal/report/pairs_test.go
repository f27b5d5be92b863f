// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"slices"
	"strings"
	"testing"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/recorded"
)

// Pairs that were asked for stand in a table of their own, and follow from the values
// beside them; nobody else's page has it.
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
		t.Error("pairs nobody asked for are told")
	}
	input.Experiment.Spec.Analysis.Comparisons = v1alpha1.PairsAll
	checked := 0
	for _, one := range tables(written(t, reportOf(t, input), "report.md")) {
		if one.caption != "Deciding metrics, arm against arm" {
			continue
		}
		for _, row := range one.rows {
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
