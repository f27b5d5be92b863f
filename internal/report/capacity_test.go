// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/capacity"
	"perflab.dev/perflab/internal/planning/levels"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/recorded"
	"perflab.dev/perflab/internal/text/decimal"
)

// halved is an experiment whose second arm has half the capacity of the first: 200 users instead
// of 400.
func halved(blocks int32) report.Input {
	most, random := int32(1000), rand.New(rand.NewPCG(7, 1))
	input := report.Input{}
	made := &input.Experiment
	made.Name, made.Namespace = "gateway-cpu", "lab"
	made.Spec.Arms = []v1alpha1.Arm{{Name: "full", Baseline: true}, {Name: "half"}}
	made.Spec.Scenarios = []v1alpha1.Scenario{{
		Name:  "desk",
		Loads: []v1alpha1.Load{{Name: "cico", Duration: &metav1.Duration{Duration: 30 * time.Minute}, CheckInCheckOut: &v1alpha1.CheckInCheckOut{Users: most}}},
		Capacity: &v1alpha1.Capacity{Min: 10, Objectives: []v1alpha1.Objective{
			{Metric: "cico/Check-In/p95", Max: "1s"}, {Metric: "cico/Check-In/errors", Max: "1%"},
		}},
	}}
	made.Spec.Design.Blocks = blocks
	made.Status.Phase = v1alpha1.ExperimentComplete
	made.Status.Runs = &v1alpha1.RunCounts{Planned: 2 * blocks, Done: 2 * blocks}
	at := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	for block := int32(1); block <= blocks; block++ {
		for i, arm := range made.Spec.Arms {
			run := v1alpha1.PerfRun{Spec: v1alpha1.PerfRunSpec{
				Experiment: made.Name, Arm: arm.Name, Block: block, Position: 2*(block-1) + int32(i) + 1, Attempt: 1, Seed: int64(block), Scenario: made.Spec.Scenarios[0],
			}}
			run.Name, run.Namespace = fmt.Sprintf("gateway-cpu-%d-%s", block, arm.Name), "lab"
			run.Spec.Levels = levels.Next(&run.Spec, input.Runs)
			load(&run, 400/float64(i+1)*math.Exp(0.04*random.NormFloat64()), at)
			at = at.Add(40 * time.Minute)
			input.Runs = append(input.Runs, run)
		}
	}
	return input
}

// load gives a run the levels of a queue with a capacity of that many users: response times grow
// without bound towards it.
func load(run *v1alpha1.PerfRun, most float64, at time.Time) {
	found, seen := &v1alpha1.RunCapacity{}, []capacity.Level{}
	for i, users := range run.Spec.Levels {
		used := math.Min(float64(users)/(1.25*most), 0.98)
		p95 := 200 / (1 - used)
		margins := []float64{capacity.Margin(p95, 1000, capacity.Max), 1}
		seen = append(seen, capacity.Level{Load: float64(users), Margins: margins})
		begin := at.Add(time.Duration(i) * 5 * time.Minute)
		found.Levels = append(found.Levels, v1alpha1.CapacityLevel{
			Level: users, Held: margins[0] >= 0, Start: metav1.NewTime(begin), End: metav1.NewTime(begin.Add(3 * time.Minute)),
			Observations: []v1alpha1.Observation{
				{Metric: "cico/Check-In/p95", Value: decimal.Format(p95), Unit: "ms"},
				{Metric: "cico/Check-In/errors", Value: "0", Unit: "%"},
				{Metric: "cico/iterationsPerSecond", Value: decimal.Format(math.Min(float64(users), 1.2*most) / 5), Unit: "1/s"},
				{Metric: "module/gateway/cpu/average", Value: decimal.Format(0.05 + 0.0004*float64(users)), Unit: "cores"},
				{Metric: "module/gateway/cpu/percentOfLimit", Value: decimal.Format(100 * used), Unit: "%"},
			},
		})
	}
	estimate := capacity.FromRun(seen)
	found.Side, found.Low, found.High = v1alpha1.CapacitySide(estimate.Side), int32(estimate.Low), int32(estimate.High)
	if estimate.Limiting >= 0 {
		found.Limiting = "cico/Check-In/p95"
	}
	found.Value, found.Coarse = decimal.Format(estimate.Load), estimate.Coarse
	if !estimate.Coarse {
		run.Status.Observations = []v1alpha1.Observation{{Metric: "cico/capacity", Value: found.Value, Unit: "users"}}
	}
	run.Status.Capacity, run.Status.Phase = found, v1alpha1.RunSucceeded
	run.Status.Timings = v1alpha1.RunTimings{LoadStart: &metav1.Time{Time: at}, LoadFinish: &metav1.Time{Time: at.Add(30 * time.Minute)}, Finish: &metav1.Time{Time: at.Add(35 * time.Minute)}}
}

func TestCapacityIsReported(t *testing.T) {
	page := markdownOf(t, halved(7))
	expect.Contains(t, page, []string{
		"half is worse than full in capacity for cico",
		"Desk: full sustains 394 users (381 to 407), half 203 (195 to 211); Check-In p95 response time limits both.",
		"Capacity of desk",
		"cico/Check-In/p95 in 6 of 6 runs",
		"module/gateway/cpu, 88 % of its limit",
		"| `full` | module/gateway/cpu | 0.4000 | 0.4000 to 0.4000 |",
		"The capacity is the highest level at which all objectives are met: cico/Check-In/p95 ≤ 1s and cico/Check-In/errors ≤ 1%.",
	}, "the page")
}

// The arms are listed by whether they take the required load.
func TestRequiredLoadIsReported(t *testing.T) {
	for required, want := range map[int32]string{
		100: "Required: 100 users, met by full and half.",
		300: "Required: 300 users, met by full, not met by half.",
		395: "Required: 395 users, not met by half, uncertain for full.",
	} {
		input := halved(7)
		input.Experiment.Spec.Scenarios[0].Capacity.Required = &required
		for i := range input.Runs {
			input.Runs[i].Spec.Scenario.Capacity = input.Experiment.Spec.Scenarios[0].Capacity
		}
		expect.Contains(t, markdownOf(t, input), []string{want}, "the page")
	}
}

// The levels of each run are in a separate CSV, which the stored report also has.
func TestLevelsAreWritten(t *testing.T) {
	input := halved(2)
	input.Runs[0].Status.Capacity.Levels[5].Observations = nil
	text, err := reportOf(t, input).LevelsCSV()
	expect.NoError(t, err)
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || len(rows) != 1+4*6*5-4 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for at, want := range map[int]string{
		0:  "run,block,arm,scenario,load,level,held,metric,unit,value",
		1:  "gateway-cpu-1-full,1,full,desk,cico,10,true,cico/Check-In/p95,ms," + input.Runs[0].Status.Capacity.Levels[0].Observations[0].Value,
		26: "gateway-cpu-1-full,1,full,desk,cico,1000,false,,,",
	} {
		expect.Equal(t, want, strings.Join(rows[at], ","), "row %d", at)
	}
	for _, c := range []struct {
		input report.Input
		want  bool
	}{{input, true}, {recorded.Experiment(seed), false}} {
		_, stored, _, err := reportOf(t, c.input).Stored()
		if _, has := stored[report.KeyLevels]; err != nil || has != c.want {
			t.Errorf("the stored report has levels: %t, want %t; %v", has, c.want, err)
		}
	}
}

// An arm whose runs mostly miss their levels has no value, and the page says why.
func TestCapacityOutsideTheRange(t *testing.T) {
	input := halved(7)
	for i := range input.Runs {
		if run := &input.Runs[i]; run.Spec.Arm == "half" && run.Spec.Block > 3 {
			run.Status.Capacity.Side = v1alpha1.CapacityAbove
		}
	}
	page := markdownOf(t, input)
	expect.Contains(t, page, []string{
		"half: every level met all objectives in 4 of 7 runs, so its capacity is unknown and not compared.",
		`The capacity of arm "half" under desk is above the levels of 4 of 7 runs, which end at`,
		"the capacity of half is outside the tested levels",
		"| `half` | 6 | – | – |",
	}, "the page")
	if strings.Contains(page, "is worse than full") {
		t.Error("half is compared")
	}
}
