// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"slices"
	"strings"
	"testing"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/recorded"
)

// again repeats every run under a second, identical scenario.
func again(input report.Input, name string) report.Input {
	spec := &input.Experiment.Spec
	at := slices.IndexFunc(spec.Scenarios, func(one v1alpha1.Scenario) bool { return one.Name == recorded.ConcurrentScenario })
	second := *spec.Scenarios[at].DeepCopy()
	second.Name = name
	spec.Scenarios = append(spec.Scenarios, second)
	for _, run := range slices.Clone(input.Runs) {
		if run.Spec.Scenario.Name == recorded.ConcurrentScenario {
			copied := run.DeepCopy()
			copied.Name, copied.Spec.Scenario.Name = name+"-"+run.Name, name
			input.Runs = append(input.Runs, *copied)
		}
	}
	return input
}

// One matrix shows users by arms; unrepeated scenarios are not in it.
func TestScenariosThatDoTheSameStandSideBySide(t *testing.T) {
	page := written(t, reportOf(t, again(recorded.Experiment(seed), "more-users")), "report.md")
	var matrix *markdownTable
	results := map[string]string{}
	all := tables(page)
	for i, one := range all {
		if one.caption == "Response times by scenario and arm, ms" {
			matrix = &all[i]
		}
		if one.caption == "Response times of cico" {
			for _, row := range one.rows {
				results[one.heading+row[0]+row[1]] = strings.Join(row[4:7], "|")
			}
		}
	}
	if matrix == nil || len(matrix.rows) != 4 {
		t.Fatalf("the matrix is %+v, want a row for two transactions under two scenarios", matrix)
	}
	for _, row := range matrix.rows {
		for i, arm := range []string{recorded.Baseline, recorded.Twin, recorded.Arm} {
			at := slices.Index(matrix.header, arm+" average")
			if got, want := strings.Join(row[at:at+3], "|"), results["Scenario "+row[1]+row[0]+arm]; got != want || want == "" {
				t.Errorf("%s under %s, arm %d: %s, want %s as in its own table", row[0], row[1], i, got, want)
			}
		}
	}
	if strings.Contains(written(t, reportOf(t, recorded.Experiment(seed)), "report.md"), "side by side") {
		t.Error("one scenario stands in a matrix")
	}
}

// Use of servers is also in percent of their requests, and by phase.
func TestUseIsToldInPercentOfTheRequestByPhase(t *testing.T) {
	const of = "module/mod-users/cpu/percentOfRequest"
	page := written(t, reportOf(t, measuring(
		v1alpha1.Observation{Metric: of, Value: "41", Unit: "%"},
		v1alpha1.Observation{Metric: of + "@alone", Value: "23", Unit: "%"},
		v1alpha1.Observation{Metric: of + "@during-create-5k", Value: "71", Unit: "%"},
	)), "report.md")
	whole, phases := 0, 0
	for _, one := range tables(page) {
		for _, row := range one.rows {
			if row[0] != "mod-users" {
				continue
			}
			if at := slices.Index(one.header, recorded.Arm+" of request, %"); at > 0 && row[at] == "41" {
				whole++
			}
			if at := slices.Index(one.header, "During create-5k, "+recorded.Arm); at > 0 {
				phases++
				if alone := row[slices.Index(one.header, "Alone, "+recorded.Arm)]; row[at] != "71" || alone != "23" || !strings.Contains(one.caption, "% of their resource requests") {
					t.Errorf("%s: %v", one.caption, row)
				}
			}
		}
	}
	if whole == 0 || phases == 0 {
		t.Errorf("%d tables of the whole run have it, %d by phase", whole, phases)
	}
}

// A statement that several arms list appears once.
func TestAStatementStandsOnce(t *testing.T) {
	for _, one := range tables(written(t, reportOf(t, recorded.Experiment(seed)), "report.md")) {
		if !strings.HasPrefix(one.caption, "Statements with the most") {
			continue
		}
		seen := map[string]bool{}
		for _, row := range one.rows {
			if seen[row[1]] {
				t.Errorf("%q stands twice", row[1])
			}
			seen[row[1]] = true
		}
		if at := slices.Index(one.header, recorded.Arm+" of all, %"); len(seen) == 0 || at < 0 || one.rows[0][at] == "–" {
			t.Errorf("the table is %+v", one)
		}
	}
}

// The total of an arm's topics and partitions is below its groups.
func TestTopicsAreAddedUp(t *testing.T) {
	input := recorded.Experiment(seed)
	for i := range input.Runs {
		if effective := input.Runs[i].Status.Effective; effective != nil {
			effective.Topics = append(effective.Topics, v1alpha1.EffectiveTopics{Group: "domain", Topics: 30, Partitions: 50, Replicas: 3})
		}
	}
	rows := 0
	for _, one := range tables(written(t, reportOf(t, input), "report.md")) {
		for _, row := range one.rows {
			if one.caption == "Topics in Kafka" && row[0] == "All groups" {
				rows++
				if got := strings.Join(row[2:], " "); got != "48 – 1536 –" {
					t.Errorf("in all there are %s, want 18 and 30 topics with 2 and 50 partitions each", got)
				}
			}
		}
	}
	if rows == 0 {
		t.Error("nothing is added up")
	}
}
