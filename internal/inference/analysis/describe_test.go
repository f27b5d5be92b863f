// SPDX-License-Identifier: Apache-2.0

package analysis_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/analysis"
	"perflab.dev/perflab/internal/kube/sizelimit"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/testing/expect"
)

// The order is intentionally not alphabetical.
var (
	compared  = []arms.Arm{{Name: "two"}, {Name: "one", Baseline: true}}
	scenarios = []v1alpha1.Scenario{{Name: "z"}, {Name: "a"}}
)

type observed map[string]string

func run(position int32, arm, scenario string, phase v1alpha1.RunPhase, values observed) v1alpha1.PerfRun {
	made := v1alpha1.PerfRun{}
	made.Name = fmt.Sprintf("run-%d", position)
	made.Spec = v1alpha1.PerfRunSpec{Position: position, Arm: arm, Scenario: v1alpha1.Scenario{Name: scenario}}
	made.Status.Phase = phase
	for metric, value := range values {
		made.Status.Observations = append(made.Status.Observations, v1alpha1.Observation{Metric: metric, Value: value, Unit: "ms"})
	}
	return made
}

func succeeded(position int32, arm, scenario string, values observed) v1alpha1.PerfRun {
	return run(position, arm, scenario, v1alpha1.RunSucceeded, values)
}

func describe(t *testing.T, runs ...v1alpha1.PerfRun) []v1alpha1.Result {
	t.Helper()
	return analysis.Describe(compared, scenarios, runs)
}

func TestDescribe(t *testing.T) {
	got := describe(t,
		succeeded(1, "one", "z", observed{"m": "100", "n": "0"}), succeeded(2, "two", "z", observed{"m": "80", "n": "3"}),
		succeeded(3, "two", "z", observed{"m": "90", "n": "5"}), succeeded(4, "one", "z", observed{"m": "110", "n": "0"}),
		succeeded(5, "one", "a", observed{"m": "7"}))
	want := []v1alpha1.Result{
		{Scenario: "z", Metric: "m", Arm: "two", Unit: "ms", Runs: 2, Mean: "85", StandardDeviation: "7.07107", DeltaPercent: "-19.05"},
		{Scenario: "z", Metric: "m", Arm: "one", Unit: "ms", Runs: 2, Mean: "105", StandardDeviation: "7.07107"},
		// A baseline of zero has no percentages.
		{Scenario: "z", Metric: "n", Arm: "two", Unit: "ms", Runs: 2, Mean: "4", StandardDeviation: "1.41421"},
		{Scenario: "z", Metric: "n", Arm: "one", Unit: "ms", Runs: 2, Mean: "0", StandardDeviation: "0"},
		// One run has no spread.
		{Scenario: "a", Metric: "m", Arm: "one", Unit: "ms", Runs: 1, Mean: "7"},
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

func TestDescribeCountsOnlyRunsThatSucceeded(t *testing.T) {
	runs := []v1alpha1.PerfRun{succeeded(1, "one", "z", observed{"m": "100"})}
	for i, phase := range []v1alpha1.RunPhase{v1alpha1.RunInvalid, v1alpha1.RunCollecting, v1alpha1.RunLoading, ""} {
		runs = append(runs, run(int32(i)+2, "one", "z", phase, observed{"m": "1"}))
	}
	if got := describe(t, runs...); len(got) != 1 || got[0].Runs != 1 || got[0].Mean != "100" {
		t.Errorf("results %+v, want the one run that succeeded", got)
	}
}

func TestDescribeWithoutABaselineRun(t *testing.T) {
	if got := describe(t, succeeded(1, "two", "z", observed{"m": "80"})); len(got) != 1 || got[0].DeltaPercent != "" {
		t.Errorf("results %+v, want one without a delta", got)
	}
	if got := describe(t); len(got) != 0 {
		t.Errorf("no runs gave %+v", got)
	}
}

func TestDescribeDoesNotDependOnTheOrderOfRuns(t *testing.T) {
	runs := []v1alpha1.PerfRun{}
	for position := int32(1); position <= 9; position++ {
		runs = append(runs, succeeded(position, []string{"one", "two"}[position%2], "z", observed{"m": strconv.Itoa(int(position * position)), "n": "1"}))
	}
	want := describe(t, runs...)
	before := slices.Clone(runs)
	slices.Reverse(runs)
	if diff := gocmp.Diff(want, describe(t, runs...)); diff != "" {
		t.Errorf("reversed runs (-want +got):\n%s", diff)
	}
	slices.Reverse(runs)
	if diff := gocmp.Diff(before, runs); diff != "" {
		t.Errorf("the runs were edited (-before +after):\n%s", diff)
	}
}

func TestZeroDeltaHasNoSign(t *testing.T) {
	got := describe(t, succeeded(1, "one", "z", observed{"m": "100"}), succeeded(2, "two", "z", observed{"m": "99.9999"}))
	expect.Equal(t, "0.00", got[0].DeltaPercent, "delta")
}

func TestDescribeIsBounded(t *testing.T) {
	values := observed{}
	for n := range 2500 {
		values[fmt.Sprintf("m%04d", n)] = "1"
	}
	got := describe(t, succeeded(1, "one", "z", values))
	if text, err := json.Marshal(got); err != nil || len(text) > sizelimit.Results+2 || len(text) < sizelimit.Results*9/10 {
		t.Errorf("%d results take %d bytes (%v), want nearly %d", len(got), len(text), err, sizelimit.Results)
	}
	if !slices.IsSortedFunc(got, func(a, b v1alpha1.Result) int { return cmp.Compare(a.Metric, b.Metric) }) {
		t.Error("they are in no order")
	}
}

// Even with figures of ninety modules in one arm, each arm keeps its response times.
func TestDescribeShowsImportantMetricsOfEachArm(t *testing.T) {
	values := observed{"cico/Check-In/average": "400", "cico/Check-In/average@before": "390"}
	for n := range 1500 {
		values[fmt.Sprintf("module/mod-%04d/cpu/average", n)] = "1"
	}
	shown := map[string]int{}
	for _, result := range describe(t, succeeded(1, "one", "z", values), succeeded(2, "two", "z", values)) {
		if strings.HasPrefix(result.Metric, "cico/") {
			shown[result.Arm]++
		}
	}
	if shown["one"] != 2 || shown["two"] != 2 {
		t.Errorf("response times shown by arm: %v, want 2 each", shown)
	}
}

// The answer names a value that can't be read, and summarizes the others.
func TestDescribeOmitsInvalidNumbers(t *testing.T) {
	got := analysis.Describe(compared, scenarios, []v1alpha1.PerfRun{
		succeeded(1, "one", "z", observed{"m": "fast", "n": "2", "o": "NaN"}), succeeded(2, "one", "z", observed{"m": "3"}),
	})
	if len(got) != 2 || got[0].Metric != "m" || got[0].Runs != 1 || got[0].Mean != "3" || got[1].Metric != "n" {
		t.Errorf("results %+v", got)
	}
}
