// SPDX-License-Identifier: Apache-2.0

// Package levels chooses the levels that a run visits to find a capacity. It is pure: the same
// earlier runs and seed give the same levels.
package levels

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/capacity"
	"perflab.dev/perflab/internal/runs/runorder"
	"perflab.dev/perflab/internal/text/decimal"
)

// Next returns the levels of a run, given the experiment's earlier runs; nil if its scenario has no
// capacity.
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
	earlier := estimates(runs, func(spec *v1alpha1.PerfRunSpec) bool {
		return spec.Scenario.Name == run.Scenario.Name && spec.Position < run.Position
	})
	own := earlier[run.Arm]
	delete(earlier, run.Arm)
	var others [][]capacity.Estimate
	for _, arm := range slices.Sorted(maps.Keys(earlier)) {
		others = append(others, earlier[arm])
	}
	var levels []int32
	for _, level := range capacity.Next(within, own, others, random) {
		levels = append(levels, int32(level))
	}
	return levels
}

// Outside returns where the capacity of an arm is, relative to the levels of its valid runs.
func Outside(runs []*v1alpha1.RunCapacity) capacity.Side {
	own := make([]capacity.Estimate, len(runs))
	for i, run := range runs {
		own[i] = estimate(run)
	}
	return capacity.Outside(own)
}

// estimates returns the capacities from valid runs, in order, by arm.
func estimates(runs []v1alpha1.PerfRun, among func(*v1alpha1.PerfRunSpec) bool) map[string][]capacity.Estimate {
	byArm := map[string][]capacity.Estimate{}
	for _, run := range runorder.Sorted(runs) {
		if among(&run.Spec) && run.Status.Phase == v1alpha1.RunSucceeded && run.Status.Capacity != nil {
			byArm[run.Spec.Arm] = append(byArm[run.Spec.Arm], estimate(run.Status.Capacity))
		}
	}
	return byArm
}

func estimate(found *v1alpha1.RunCapacity) capacity.Estimate {
	read := capacity.Estimate{Side: capacity.Side(found.Side), Low: float64(found.Low), High: float64(found.High), Limiting: -1, Coarse: found.Coarse}
	if found.High == 0 {
		read.High = math.Inf(1)
	}
	value, err := decimal.Parse(found.Value)
	if err != nil || !(value > 0) {
		read.Side = capacity.Unknown
	}
	read.Load = value
	return read
}
