// SPDX-License-Identifier: Apache-2.0

package elsewhere_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/elsewhere"
	"perflab.dev/perflab/internal/metric"
	"perflab.dev/perflab/internal/observation"
)

var began = time.Date(2025, 1, 3, 8, 0, 0, 0, time.UTC)

// hours are the times of runs of two arms.
func experimentAt(base, other []int, transactions ...string) *elsewhere.Experiment {
	made := &elsewhere.Experiment{Name: "shop", Tool: "JMeter", Arms: []string{"base", "other"}, Baseline: "base", Scenarios: []string{"cico"}}
	for arm, hours := range map[string][]int{"base": base, "other": other} {
		for i, hour := range hours {
			measured := &elsewhere.Measured{Start: began.Add(time.Duration(hour) * time.Hour)}
			for _, transaction := range append(transactions, "Check-In") {
				measured.Observations = append(measured.Observations, observation.Of(metric.Name("cico", transaction), metric.Average, 100+float64(hour), 10))
			}
			made.Runs = append(made.Runs, elsewhere.Run{Arm: arm, Scenario: "cico", Loads: []string{"cico"}, Block: int32(i + 1), File: arm, Measured: measured})
		}
	}
	return made
}

// What the times of the runs tell against them is told.
func TestDoubtsOfTheOrder(t *testing.T) {
	for name, tc := range map[string]struct {
		base, other []int
		want        string
	}{
		"TakenInTurns":        {[]int{0, 3, 4}, []int{1, 2, 5}, ""},
		"OneAfterTheOther":    {[]int{0, 1, 2}, []int{3, 4, 5}, `all runs of arm "other" were before or after all of the baseline "base": what changed in between looks like a difference between them`},
		"OneBeforeTheOther":   {[]int{3, 4, 5}, []int{0, 1, 2}, `all runs of arm "other" were before`},
		"OneRunEach":          {[]int{0}, []int{1}, ""},
		"AnArmHasAnotherMore": {[]int{0, 3}, []int{1, 2, 4}, "not every arm has a run in every block, and only complete blocks are compared: base has 2, other has 3"},
	} {
		t.Run(name, func(t *testing.T) {
			experiment, _, err := experimentAt(tc.base, tc.other).Record()
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(experiment.Status.Warnings, "\n")
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("it says %q, want %q", got, tc.want)
			}
		})
	}
}

// Runs stand in their blocks, whatever their times, and within each in the order of
// these.
func TestPositions(t *testing.T) {
	_, runs, err := experimentAt([]int{5, 0}, []int{4, 1}).Record()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, run := range runs {
		if int(run.Spec.Position) != i+1 || run.Status.Phase != v1alpha1.RunSucceeded {
			t.Errorf("run %d has position %d, and is %s", i+1, run.Spec.Position, run.Status.Phase)
		}
		got = append(got, run.Spec.Arm)
	}
	if want := []string{"other", "base", "base", "other"}; !slices.Equal(got, want) {
		t.Errorf("the order is %q, want %q", got, want)
	}
}

// Few averages decide; of many nobody knows which should.
func TestWhatDecides(t *testing.T) {
	experiment, _, err := experimentAt([]int{0}, []int{1}, "a", "b@c").Record()
	if err != nil || !slices.Equal(experiment.Spec.Analysis.Primary, []string{"cico/Check-In/average", "cico/a/average"}) {
		t.Errorf("%v: %q decide", err, experiment.Spec.Analysis.Primary)
	}
	experiment, _, err = experimentAt([]int{0}, []int{1}, "a", "b", "c", "d", "e", "f", "g", "h").Record()
	if err != nil || experiment.Spec.Analysis.Primary != nil {
		t.Errorf("%v: %q decide", err, experiment.Spec.Analysis.Primary)
	}
}

// What tells no time has one of a person, or none.
func TestARunWithoutTime(t *testing.T) {
	made := experimentAt([]int{0}, []int{1})
	made.Runs[0].Measured.Start = time.Time{}
	if _, _, err := made.Record(); !errors.Is(err, elsewhere.ErrRecord) {
		t.Errorf("the error is %v, want ErrRecord", err)
	}
	made.Began = began
	if experiment, _, err := made.Record(); err != nil || !experiment.Status.StartTime.Time.Equal(began) {
		t.Errorf("%v: it began at %v", err, experiment.Status.StartTime)
	}
}
