// SPDX-License-Identifier: Apache-2.0

// Package levels chooses the levels that a run visits to find a capacity. It is pure: the same
// earlier runs and seed give the same levels.
package levels

import (
	"math"
	"math/rand/v2"
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/capacity"
	"perflab.dev/perflab/internal/text/decimal"
)

// Next returns the levels of a run, given those of the experiment so far; nil if its scenario has
// no capacity.
func Next(run *v1alpha1.PerfRunSpec, runs []v1alpha1.PerfRun) []int32 {
	declared := run.Scenario.Capacity
	if declared == nil {
		return nil
	}
	load, found := declared.LoadOf(run.Scenario.Loads)
	if !found {
		return nil
	}
	within := capacity.Range{
		Min: float64(declared.Min), Max: float64(declared.MaxOrDefault(load)), Count: int(declared.LevelsOrDefault()), Integer: true,
	}
	random := rand.New(rand.NewPCG(uint64(run.Seed), uint64(run.Position)<<32|uint64(run.Attempt)))
	var levels []int32
	for _, level := range capacity.Next(within, Earlier(runs, run), random) {
		levels = append(levels, int32(level))
	}
	return levels
}

// Earlier returns the capacities that valid runs of an arm and a scenario found before a run, in
// order.
func Earlier(runs []v1alpha1.PerfRun, before *v1alpha1.PerfRunSpec) []capacity.Estimate {
	var own []*v1alpha1.PerfRun
	for i := range runs {
		spec := &runs[i].Spec
		isEarlier := spec.Arm == before.Arm && spec.Scenario.Name == before.Scenario.Name && spec.Position < before.Position
		if isEarlier && runs[i].Status.Phase == v1alpha1.RunSucceeded && runs[i].Status.Capacity != nil && len(spec.Levels) > 0 {
			own = append(own, &runs[i])
		}
	}
	slices.SortFunc(own, func(a, b *v1alpha1.PerfRun) int { return int(a.Spec.Position - b.Spec.Position) })
	estimates := make([]capacity.Estimate, len(own))
	for i, run := range own {
		estimates[i] = estimate(run)
	}
	return estimates
}

func estimate(run *v1alpha1.PerfRun) capacity.Estimate {
	found := run.Status.Capacity
	read := capacity.Estimate{Side: capacity.Side(found.Side), Low: float64(found.Low), High: float64(found.High), Limiting: -1}
	if found.High == 0 {
		read.High = math.Inf(1)
	}
	switch found.Side {
	case v1alpha1.CapacityBelow:
		read.Load = float64(slices.Min(run.Spec.Levels))
	case v1alpha1.CapacityAbove:
		read.Load = float64(slices.Max(run.Spec.Levels))
	default:
		value, err := decimal.Parse(found.Value)
		if err != nil || !(value > 0) {
			read.Side = capacity.Unknown
		}
		read.Load = value
	}
	return read
}
