// SPDX-License-Identifier: Apache-2.0

package analysis_test

import (
	"math"
	"testing"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/analysis"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/text/decimal"
)

// level returns the results of a level: CPU that grows by this many cores per user.
func level(users int32, held bool, cores float64) v1alpha1.CapacityLevel {
	observe := func(metric string, value float64, unit string) v1alpha1.Observation {
		return v1alpha1.Observation{Metric: metric, Value: decimal.Format(value), Unit: unit}
	}
	used := cores * float64(users)
	return v1alpha1.CapacityLevel{Level: users, Held: held, Observations: []v1alpha1.Observation{
		observe("cico/iterationsPerSecond", float64(users)/5, "1/s"),
		observe("module/gateway/cpu/percentOfLimit", 50*used, "%"),
		observe("module/users/cpu/percentOfLimit", 10*used, "%"),
		observe("module/gateway/cpu/average", used, "cores"),
		observe("module/users/cpu/average", used/10, "cores"),
	}}
}

func capacityRun(arm string, block int32, value string, side v1alpha1.CapacitySide, limiting string, cores float64) v1alpha1.PerfRun {
	run := v1alpha1.PerfRun{Spec: v1alpha1.PerfRunSpec{Arm: arm, Block: block, Position: block, Scenario: v1alpha1.Scenario{Name: "desk"}}}
	run.Status.Phase = v1alpha1.RunSucceeded
	run.Status.Capacity = &v1alpha1.RunCapacity{Side: side, Value: value, Low: 40, High: 80, Limiting: limiting, Levels: []v1alpha1.CapacityLevel{
		level(10, true, cores), level(20, true, cores), level(40, true, cores), level(80, false, cores),
	}}
	return run
}

func TestCapacities(t *testing.T) {
	scenario := v1alpha1.Scenario{
		Name: "desk", Loads: []v1alpha1.Load{{Name: "cico", CheckInCheckOut: &v1alpha1.CheckInCheckOut{Users: 80}}},
		Capacity: &v1alpha1.Capacity{Min: 10},
	}
	const p95, cpu = "cico/Check-In/p95", "postgres/primary/cpu/percentOfLimit"
	invalid := capacityRun("base", 5, "10", v1alpha1.CapacityWithin, p95, 1)
	invalid.Status.Phase = v1alpha1.RunInvalid
	coarse := capacityRun("base", 4, "20", v1alpha1.CapacityWithin, cpu, 0.025)
	coarse.Status.Capacity.Coarse = true
	runs := []v1alpha1.PerfRun{
		capacityRun("base", 1, "40", v1alpha1.CapacityWithin, p95, 0.02),
		capacityRun("base", 2, "80", v1alpha1.CapacityWithin, p95, 0.03),
		capacityRun("base", 3, "56.5685", v1alpha1.CapacityAbove, "", 0.025),
		coarse,
		invalid,
		capacityRun("other", 1, "90", v1alpha1.CapacityAbove, "", 0.01),
	}
	all := analysis.Capacities([]arms.Arm{{Name: "base"}, {Name: "other"}, {Name: "absent"}}, []v1alpha1.Scenario{{Name: "plain"}, scenario}, runs, 0.95)
	if len(all) != 2 || all[0].Arm != "base" || all[1].Arm != "other" {
		t.Fatalf("capacities of %+v", all)
	}
	base := all[0]
	if base.Runs != 3 || base.Above != 1 || base.Below != 0 || base.Coarse != 1 || base.Unit != "users" || base.Metric != "cico/capacity" {
		t.Errorf("capacity %+v", base)
	}
	expectNumber(t, "value", base.Value, math.Sqrt(40*80))
	// Three values whose logarithms are 0.347 apart, with a t quantile of 4.303.
	half := math.Exp(4.30265 * math.Log(2) / 2 / math.Sqrt(3))
	expectNumber(t, "low", base.Low, math.Sqrt(40*80)/half)
	expectNumber(t, "high", base.High, math.Sqrt(40*80)*half)
	// 40 users make 8 iterations a second, 80 make 16, and halfway between their logarithms 12.
	expectNumber(t, "iterations", base.IterationsPerSecond, math.Cbrt(8*16*12))
	if base.Limiting != p95 || base.LimitingRuns != 2 || base.Busiest != "module/gateway/cpu/percentOfLimit" {
		t.Errorf("limited by %s in %d runs, busiest %s", base.Limiting, base.LimitingRuns, base.Busiest)
	}
	expectNumber(t, "busiest", base.BusiestPercent, 50*0.025*80)
	if len(base.Demand) != 2 || base.Demand[0].Metric != "module/gateway/cpu/average" {
		t.Fatalf("demand %+v", base.Demand)
	}
	expectNumber(t, "demand", base.Demand[0].Value, 25)
	expectNumber(t, "demand of users", base.Demand[1].Value, 2.5)
	if other := all[1]; other.Runs != 1 || other.Above != 1 || other.Value != "" || other.Low != "" || other.Limiting != "" {
		t.Errorf("an arm above its levels: %+v", other)
	}
}

// A required load is met or not by the whole interval of a capacity, or by the levels of the runs
// that the capacity is outside of.
func TestRequiredLoads(t *testing.T) {
	outside := func(side v1alpha1.CapacitySide, levels ...int32) v1alpha1.PerfRun {
		run := capacityRun("base", 1, "50", side, "", 0.01)
		run.Status.Capacity.Levels = nil
		for _, users := range levels {
			run.Status.Capacity.Levels = append(run.Status.Capacity.Levels, level(users, side == v1alpha1.CapacityAbove, 0.01))
		}
		return run
	}
	within := func(values ...string) (runs []v1alpha1.PerfRun) {
		for i, value := range values {
			runs = append(runs, capacityRun("base", int32(i+1), value, v1alpha1.CapacityWithin, "cico/Check-In/p95", 0.01))
		}
		return runs
	}
	const met, not, uncertain = v1alpha1.RequirementMet, v1alpha1.RequirementNotMet, v1alpha1.RequirementUncertain
	for name, tc := range map[string]struct {
		runs []v1alpha1.PerfRun
		want map[int32]v1alpha1.CapacityRequirement
	}{
		"an interval": {within("48", "50", "52"), map[int32]v1alpha1.CapacityRequirement{40: met, 50: uncertain, 60: not}},
		"one run":     {within("50"), map[int32]v1alpha1.CapacityRequirement{40: uncertain, 60: uncertain}},
		"above":       {[]v1alpha1.PerfRun{outside(v1alpha1.CapacityAbove, 20, 70), outside(v1alpha1.CapacityAbove, 30, 60)}, map[int32]v1alpha1.CapacityRequirement{60: met, 61: uncertain}},
		"below":       {[]v1alpha1.PerfRun{outside(v1alpha1.CapacityBelow, 20, 70), outside(v1alpha1.CapacityBelow, 30, 60)}, map[int32]v1alpha1.CapacityRequirement{29: uncertain, 30: not}},
	} {
		for required, want := range tc.want {
			scenario := v1alpha1.Scenario{
				Name: "desk", Loads: []v1alpha1.Load{{Name: "cico", CheckInCheckOut: &v1alpha1.CheckInCheckOut{Users: 80}}},
				Capacity: &v1alpha1.Capacity{Min: 10, Required: &required},
			}
			all := analysis.Capacities([]arms.Arm{{Name: "base"}}, []v1alpha1.Scenario{scenario}, tc.runs, 0.95)
			expect.Equal(t, want, all[0].Required, "%s: %d users are required", name, required)
		}
	}
}

func expectNumber(t *testing.T, what, number string, want float64) {
	t.Helper()
	got, err := decimal.Parse(number)
	expect.NoError(t, err)
	if math.Abs(got-want) > 1e-3*want {
		t.Errorf("%s is %s, want %g", what, number, want)
	}
}
