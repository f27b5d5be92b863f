// SPDX-License-Identifier: Apache-2.0

package importers_test

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/importers"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/measure/observation"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/text/decimal"
)

var began = time.Date(2025, 1, 3, 8, 0, 0, 0, time.UTC)

// experimentAt returns two arms whose runs took place at these hours.
func experimentAt(base, other []int, transactions ...string) *importers.Experiment {
	made := &importers.Experiment{Name: "shop", Tool: "JMeter", Arms: []string{"base", "other"}, Baseline: "base", Scenarios: []string{"cico"}}
	for arm, hours := range map[string][]int{"base": base, "other": other} {
		for i, hour := range hours {
			measured := &importers.Measured{Start: began.Add(time.Duration(hour) * time.Hour)}
			for _, transaction := range append(transactions, "Check-In") {
				measured.Observations = append(measured.Observations, observation.New(metric.Name("cico", transaction), metric.Average, 100+float64(hour), 10))
			}
			made.Runs = append(made.Runs, importers.Run{Arm: arm, Scenario: "cico", Loads: []string{"cico"}, Block: int32(i + 1), File: arm, Measured: measured})
		}
	}
	return made
}

// Warnings report a suspicious order of the runs.
func TestOrderWarnings(t *testing.T) {
	for name, tc := range map[string]struct {
		base, other []int
		want        string
	}{
		"TakenInTurns":        {[]int{0, 3, 4}, []int{1, 2, 5}, ""},
		"OneAfterTheOther":    {[]int{0, 1, 2}, []int{3, 4, 5}, `all runs of arm "other" were before or after all runs of the baseline "base": any change in between looks like a difference between the arms`},
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

// Runs are in their blocks, whatever their times, and within a block in the order of their times.
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

// A few averages are primary by default; of many, none is.
func TestDefaultPrimaryMetrics(t *testing.T) {
	experiment, _, err := experimentAt([]int{0}, []int{1}, "a", "b@c").Record()
	if err != nil || !slices.Equal(experiment.Spec.Analysis.Primary, []string{"cico/Check-In/average", "cico/a/average", "cico/b@c/average"}) {
		t.Errorf("%v: %q decide", err, experiment.Spec.Analysis.Primary)
	}
	experiment, _, err = experimentAt([]int{0}, []int{1}, "a", "b", "c", "d", "e", "f", "g", "h").Record()
	if err != nil || experiment.Spec.Analysis.Primary != nil {
		t.Errorf("%v: %q decide", err, experiment.Spec.Analysis.Primary)
	}
	expect.Contains(t, strings.Join(experiment.Status.Warnings, "\n"), []string{`there are no primary metrics: 9 metrics qualify, but more than 8 would reduce the statistical power: select some with --primary, for example --primary "cico/Check-In/average"`})
}

// Metrics that some runs lack are not primary, nor are times with pauses if there are times
// without.
func TestMetricsThatAreNotPrimary(t *testing.T) {
	made := experimentAt([]int{0, 3}, []int{1, 2}, "Cart")
	lacking := made.Runs[0].Measured
	lacking.Observations = slices.DeleteFunc(lacking.Observations, func(one v1alpha1.Observation) bool { return one.Metric == "cico/Cart/average" })
	experiment, _, err := made.Record()
	if err != nil || !slices.Equal(experiment.Spec.Analysis.Primary, []string{"cico/Check-In/average"}) {
		t.Errorf("%v: %q decide", err, experiment.Spec.Analysis.Primary)
	}
	if want := "some runs lack cico/Cart/average, so it is not a primary metric"; !slices.Contains(experiment.Status.Warnings, want) {
		t.Errorf("the warnings are %q, want %q", experiment.Status.Warnings, want)
	}
	paused := experimentAt([]int{0}, []int{1}, "Cart/requests")
	for _, run := range paused.Runs {
		run.Measured.Paused = []string{"cico/Check-In/average"}
	}
	if experiment, _, err := paused.Record(); err != nil || !slices.Equal(experiment.Spec.Analysis.Primary, []string{"cico/Cart/requests/average"}) {
		t.Errorf("%v: %q decide", err, experiment.Spec.Analysis.Primary)
	}
	only := experimentAt([]int{0}, []int{1})
	only.Runs[0].Measured.Paused = []string{"cico/Check-In/average"}
	if experiment, _, err := only.Record(); err != nil || !slices.Equal(experiment.Spec.Analysis.Primary, []string{"cico/Check-In/average"}) {
		t.Errorf("%v: %q decide", err, experiment.Spec.Analysis.Primary)
	}
}

// throughput returns six blocks in which the second arm has 10 % more of a custom metric.
func throughput(name, unit string) *importers.Experiment {
	made := experimentAt([]int{0, 3, 4, 7, 8, 11}, []int{1, 2, 5, 6, 9, 10})
	for _, run := range made.Runs {
		value := 100 + float64(run.Block)/10
		if run.Arm == "other" {
			value *= 1.1
		}
		run.Measured.Observations = []v1alpha1.Observation{{Metric: name, Value: decimal.Format(value), Unit: unit}}
	}
	return made
}

// The direction of a custom metric comes from the user, a file or its unit; without one, the metric
// is not primary.
func TestDirections(t *testing.T) {
	const metric = "custom/Serve/hits"
	hits := regexp.MustCompile("hits")
	for name, tc := range map[string]struct {
		unit         string
		said         func(*importers.Experiment)
		primary      []string
		verdict      string
		undetermined bool
	}{
		"by its unit":            {"req/s", func(*importers.Experiment) {}, []string{metric}, "1 better", false},
		"by a unit of time":      {"sec", func(*importers.Experiment) {}, []string{metric}, "1 worse", false},
		"undetermined":           {"hits", func(*importers.Experiment) {}, nil, "", true},
		"higher, by a flag":      {"hits", func(e *importers.Experiment) { e.Higher = hits }, []string{metric}, "1 better", false},
		"lower, by a flag":       {"req/s", func(e *importers.Experiment) { e.Lower = hits }, []string{metric}, "1 worse", false},
		"higher, by a file":      {"hits", func(e *importers.Experiment) { e.Runs[3].Measured.Higher = []string{metric} }, []string{metric}, "1 better", false},
		"otherwise, by a person": {"hits", func(e *importers.Experiment) { e.Runs[3].Measured.Higher = []string{metric}; e.Lower = hits }, []string{metric}, "1 worse", false},
	} {
		t.Run(name, func(t *testing.T) {
			made := throughput(metric, tc.unit)
			tc.said(made)
			experiment, _, err := made.Record()
			if err != nil {
				t.Fatal(err)
			}
			status := experiment.Status
			if !slices.Equal(experiment.Spec.Analysis.Primary, tc.primary) || tc.verdict != "" && status.Verdict != tc.verdict {
				t.Errorf("%q decide: %q, want %q of %q", experiment.Spec.Analysis.Primary, status.Verdict, tc.verdict, tc.primary)
			}
			undetermined := strings.Contains(strings.Join(status.Warnings, "\n"), "it is unknown whether higher or lower is better for custom/Serve/hits")
			if undetermined != tc.undetermined || undetermined && status.Comparisons[0].Verdict != "" {
				t.Errorf("the warnings are %q, the comparison %+v", status.Warnings, status.Comparisons[0])
			}
		})
	}
	for want, said := range map[string]func(*importers.Experiment){
		"custom/Serve/hits is both higher-is-better and lower-is-better":                    func(e *importers.Experiment) { e.Higher, e.Lower = hits, hits },
		"--primary custom/Serve/hits: it is unknown whether higher or lower is better: set": func(e *importers.Experiment) { e.Primary = []string{metric} },
	} {
		made := throughput(metric, "hits")
		said(made)
		if _, _, err := made.Record(); !errors.Is(err, importers.ErrRecord) || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
}

// A file without times gets the user's time, or none.
func TestRecordWithoutTimes(t *testing.T) {
	made := experimentAt([]int{0}, []int{1})
	made.Runs[0].Measured.Start = time.Time{}
	if _, _, err := made.Record(); !errors.Is(err, importers.ErrRecord) {
		t.Errorf("the error is %v, want ErrRecord", err)
	}
	made.Began = began
	if experiment, _, err := made.Record(); err != nil || !experiment.Status.StartTime.Time.Equal(began) {
		t.Errorf("%v: it began at %v", err, experiment.Status.StartTime)
	}
}
