// SPDX-License-Identifier: Apache-2.0

package results_test

import (
	"math"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/results"
	"perflab.dev/perflab/internal/text/decimal"
	"perflab.dev/perflab/payload"
)

// stepped is a run with three levels of 20 s each; the last 15 s of a level are measured.
func stepped(objectives ...v1alpha1.Objective) *v1alpha1.PerfRunSpec {
	levels := int32(3)
	return &v1alpha1.PerfRunSpec{
		Levels: []int32{14, 20, 30},
		Scenario: v1alpha1.Scenario{
			Loads:    []v1alpha1.Load{{Name: "cico", Duration: &metav1.Duration{Duration: time.Minute}, CheckInCheckOut: &v1alpha1.CheckInCheckOut{Users: 30}}},
			Capacity: &v1alpha1.Capacity{Min: 10, Levels: &levels, Settle: &metav1.Duration{Duration: 5 * time.Second}, Objectives: objectives},
		},
	}
}

// slowing has five check-ins a second, which take this long at each level.
func slowing(took ...time.Duration) *payload.Payload {
	p := payload.New("cico", "run", "1", start)
	for second := range 60 {
		for range 5 {
			p.Record("Check-In", "ok", at(second), took[second/20])
		}
	}
	p.End, p.Final = at(60), true
	return p
}

var atMost400ms = v1alpha1.Objective{Metric: "cico/Check-In/p95", Max: "400ms"}

func TestCapacityIsWhereAnObjectiveFails(t *testing.T) {
	found, observed, fault := results.ObserveCapacity(stepped(v1alpha1.Objective{Metric: "cico/Check-In/errors", Max: "1%"}, atMost400ms),
		measurements(slowing(100*time.Millisecond, 200*time.Millisecond, 800*time.Millisecond)), nil)
	if fault != nil {
		t.Fatal(fault)
	}
	if found.Side != v1alpha1.CapacityWithin || found.Low != 20 || found.High != 30 || found.Limiting != "cico/Check-In/p95" {
		t.Errorf("found %+v", found)
	}
	// The margins are 400/200 - 1 with 20 users, and 400/800 - 1 with 30.
	want := 20 * math.Pow(1.5, 1/1.5)
	capacity, err := decimal.Parse(value(t, observed, "cico/capacity").Value)
	if err != nil || math.Abs(capacity-want) > 0.3 || observed[0].Unit != "users" {
		t.Errorf("observed %+v, want %.1f users", observed, want)
	}
	if level := found.Levels[2]; level.Held || !found.Levels[1].Held || !level.Start.Time.Equal(at(45)) || !level.End.Time.Equal(at(60)) {
		t.Errorf("the last level is %+v", level)
	}
	if got := value(t, found.Levels[0].Observations, "cico/Check-In/average"); got.Value != "100" {
		t.Errorf("average at the first level: %s, want 100", got.Value)
	}
}

func TestCapacityOutsideTheLevels(t *testing.T) {
	for name, tc := range map[string]struct {
		limit, warning string
		side           v1alpha1.CapacitySide
		limiting       string
	}{
		"above": {"1s", "every level (14, 20, 30) held all objectives", v1alpha1.CapacityAbove, ""},
		"below": {"50ms", "no level (14, 20, 30) held all objectives; cico/Check-In/p95 is the first to fail", v1alpha1.CapacityBelow, "cico/Check-In/p95"},
	} {
		t.Run(name, func(t *testing.T) {
			found, observed, fault := results.ObserveCapacity(stepped(v1alpha1.Objective{Metric: "cico/Check-In/p95", Max: tc.limit}),
				measurements(slowing(100*time.Millisecond, 200*time.Millisecond, 800*time.Millisecond)), nil)
			if fault != nil || found.Side != tc.side || found.Limiting != tc.limiting || found.Value == "" || len(observed) != 1 {
				t.Fatalf("found %+v, observed %+v, fault %v", found, observed, fault)
			}
			if got := strings.Join(results.CapacityWarnings(found, v1alpha1.Load{}), "; "); !strings.Contains(got, tc.warning) {
				t.Errorf("warnings %q, want %q", got, tc.warning)
			}
		})
	}
}

// The advice on levels that are worse than higher ones names what the load has.
func TestAdviceOnNonMonotoneLevels(t *testing.T) {
	found := &v1alpha1.RunCapacity{NonMonotone: true, Levels: []v1alpha1.CapacityLevel{{Level: 14}, {Level: 20}}}
	for want, load := range map[string]v1alpha1.Load{
		"lower one did not (14, 20): lengthen measurement.warmUp, step or settle": {CheckInCheckOut: &v1alpha1.CheckInCheckOut{}},
		"longer than later ones, so plan more blocks":                             {DataImport: &v1alpha1.DataImport{}},
	} {
		if got := strings.Join(results.CapacityWarnings(found, load), "; "); !strings.HasSuffix(got, want) {
			t.Errorf("warnings %q, want %q", got, want)
		}
	}
}

// An overload without any successful transaction has no response time: the objective fails.
func TestOverloadWithoutResponseTimesFails(t *testing.T) {
	p := payload.New("cico", "run", "1", start)
	for second := range 60 {
		outcome := payload.OK
		if second >= 40 {
			outcome = payload.Error
		}
		p.Record("Check-In", outcome, at(second), 100*time.Millisecond)
	}
	p.End, p.Final = at(60), true
	found, _, fault := results.ObserveCapacity(stepped(atMost400ms), measurements(p), nil)
	if fault != nil || found.Side != v1alpha1.CapacityWithin || found.Low != 20 || found.High != 30 || found.Levels[2].Held {
		t.Errorf("found %+v, fault %v", found, fault)
	}
}

// The levels of an arm's first run are far apart: they only indicate where to search.
func TestCoarseRunHasNoValue(t *testing.T) {
	spec := stepped(atMost400ms)
	spec.Levels = []int32{1, 5, 30}
	found, observed, fault := results.ObserveCapacity(spec, measurements(slowing(100*time.Millisecond, 200*time.Millisecond, 800*time.Millisecond)), nil)
	if fault != nil || !found.Coarse || found.Value == "" || len(observed) > 0 {
		t.Errorf("found %+v, observed %+v, fault %v", found, observed, fault)
	}
}

// In an open load, iterations that k6 drops are an overload, and limit the capacity.
func TestDroppedIterationsLimitTheCapacity(t *testing.T) {
	p := slowing(100*time.Millisecond, 100*time.Millisecond, 100*time.Millisecond)
	p.Count("dropped_iterations", at(50), 3)
	found, _, fault := results.ObserveCapacity(stepped(atMost400ms), measurements(p), nil)
	if fault != nil || found.Side != v1alpha1.CapacityWithin || found.Limiting != "cico/dropped_iterations" || found.Low != 20 {
		t.Errorf("found %+v, fault %v", found, fault)
	}
}

func TestRunWithoutLevelsIsInvalid(t *testing.T) {
	spec := stepped(atMost400ms)
	spec.Levels = nil
	if _, _, fault := results.ObserveCapacity(spec, measurements(slowing(1, 1, 1)), nil); fault == nil || !strings.Contains(fault.Message, "reached no level") {
		t.Errorf("fault %v", fault)
	}
}

func TestLateIterationsAreReported(t *testing.T) {
	p := slowing(time.Second, time.Second, time.Second)
	p.Count("iterations", at(30), 300)
	loads := stepped().Scenario.Loads
	if got := results.LateIterations(loads, measurements(p)); len(got) > 0 {
		t.Errorf("%q", got)
	}
	p.Count("perflab_late_iterations", at(50), 60)
	if got := results.LateIterations(loads, measurements(p)); len(got) != 1 || !strings.Contains(got[0], `load "cico": 20 % of the transactions started late`) {
		t.Errorf("%q, want 20 %%", got)
	}
}

func TestObjectivesThatCannotBeJudged(t *testing.T) {
	measured := measurements(slowing(100*time.Millisecond, 200*time.Millisecond, 800*time.Millisecond))
	for name, tc := range map[string]struct {
		objective v1alpha1.Objective
		message   string
	}{
		"not measured": {v1alpha1.Objective{Metric: "cico/Check-Out/p95", Max: "1s"}, `the objective's metric "cico/Check-Out/p95" was not measured at any level`},
		"other unit":   {v1alpha1.Objective{Metric: "cico/Check-In/p95", Max: "1%"}, `the limit "1%" has another unit than the metric, which is in "ms"`},
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, fault := results.ObserveCapacity(stepped(tc.objective), measured, nil); fault == nil || !strings.Contains(fault.Message, tc.message) {
				t.Errorf("fault %v, want %q", fault, tc.message)
			}
		})
	}
}

func TestLimitsHaveUnits(t *testing.T) {
	for text, want := range map[string]float64{"1s": 1000, "500ms": 500, "250": 250, "0.5 s": 500, "-3": -3} {
		if got, err := results.ParseLimit(text, "ms"); err != nil || got != want {
			t.Errorf("%s = %v ms (%v), want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "fast", "1s2", "80 %"} {
		if got, err := results.ParseLimit(text, "ms"); err == nil {
			t.Errorf("%q is %v ms", text, got)
		}
	}
}

// A consumer lag that grows at a level limits the capacity, though the lag itself is small.
func TestGrowingLagLimitsTheCapacity(t *testing.T) {
	recorder := payload.NewSampleRecorder("run", "collector", at(0))
	for second := range 60 {
		lag := 5.0 + float64(second%3)
		if second >= 40 {
			lag += 2 * float64(second-40)
		}
		recorder.Record("kafka", "", "consumerLag", "1", at(second), lag)
	}
	growing := v1alpha1.Objective{Metric: "kafka/consumerLag/slopeLow", Max: "0"}
	quick := slowing(time.Millisecond, time.Millisecond, time.Millisecond)
	found, _, fault := results.ObserveCapacity(stepped(growing), measurements(quick), recorder.Samples)
	if fault != nil || found.Side != v1alpha1.CapacityWithin || found.Low != 20 || found.High != 30 || found.Limiting != growing.Metric {
		t.Errorf("found %+v, fault %v", found, fault)
	}
}

// Each level of Data Import is an import; one that failed does not hold.
func TestCapacityOfImports(t *testing.T) {
	levels := int32(3)
	spec := &v1alpha1.PerfRunSpec{
		Levels: []int32{300, 400, 600},
		Scenario: v1alpha1.Scenario{
			Loads:    []v1alpha1.Load{{Name: "create", DataImport: &v1alpha1.DataImport{Records: 600}}},
			Capacity: &v1alpha1.Capacity{Min: 300, Levels: &levels, Objectives: []v1alpha1.Objective{{Metric: "create/duration", Max: "1min"}}},
		},
	}
	imported := func(outcome string) *payload.Payload {
		p := payload.New("create", "run", "1", start)
		p.Record("Import job 1", payload.OK, at(15), 15*time.Second)
		p.Record("Import job 2", payload.OK, at(60), 45*time.Second)
		p.Record("Import job 3", outcome, at(240), 180*time.Second)
		p.End, p.Final = at(240), true
		return p
	}
	// The margin of 400 records is 60/45 - 1, and that of 600 is 60/180 - 1, or -1 if it fails.
	for outcome, failed := range map[string]float64{payload.OK: 2.0 / 3, payload.Error: 1} {
		found, observed, fault := results.ObserveCapacity(spec, measurements(imported(outcome)), storageAt90Percent())
		if fault != nil || found.Side != v1alpha1.CapacityWithin || found.Low != 400 || found.High != 600 || found.Levels[2].Held {
			t.Fatalf("%s: found %+v, fault %v", outcome, found, fault)
		}
		want := 400 * math.Pow(1.5, (1.0/3)/(1.0/3+failed))
		if got, err := decimal.Parse(observed[0].Value); err != nil || math.Abs(got-want) > 0.02*want || observed[0].Unit != "records" {
			t.Errorf("%s: %+v, want %.0f records", outcome, observed, want)
		}
		// Each level has the time of its import, and its servers.
		second := found.Levels[1]
		if took := second.End.Sub(second.Start.Time); took != 45*time.Second || second.End.Sub(at(60)).Abs() > 2*time.Second {
			t.Errorf("%s: the second import took %v until %v", outcome, took, second.End)
		}
		if share := values(second.Observations)["module/storage/cpu/percentOfLimit"]; share != "90 %" {
			t.Errorf("%s: the server used %q of its limit", outcome, share)
		}
	}
}

func storageAt90Percent() *payload.Samples {
	recorder := payload.NewSampleRecorder("run", "pod", at(0))
	for second := 0; second <= 240; second += 5 {
		recorder.Round(at(second), 5*time.Second)
		recorder.Record("module/storage", "a/main", "cpu", "cores", at(second), 0.9)
	}
	recorder.Samples.SetContainer(payload.Container{Component: "module/storage", Instance: "a/main", CPURequest: 0.5, CPULimit: 1})
	return recorder.Samples
}
