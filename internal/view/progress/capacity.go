// SPDX-License-Identifier: Apache-2.0

package progress

import (
	"slices"
	"strings"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/text/decimal"
	"perflab.dev/perflab/internal/text/digits"
)

// maxSearched is the number of an arm's runs that a search lists, the newest.
const maxSearched = 6

// Search is how the runs of a scenario look for the capacity of each arm.
type Search struct {
	Scenario, Load string
	// Unit of the levels; empty if it is unknown.
	Unit string
	// Runs in the order of arms and blocks.
	Runs []SearchRun
	// Omitted is the number of earlier runs that are not listed.
	Omitted int
}

// SearchRun are the levels that a valid run visited.
type SearchRun struct {
	Arm   string
	Block int32
	// Held are the levels at which all objectives held, Failed the others, in ascending order.
	Held, Failed []int32
	// Capacity is what the run found, Limit the metric that limits it.
	Capacity, Limit string
	// Remark limits the meaning of the capacity.
	Remark string
}

// Searches are those of the scenarios with a capacity, as far as runs have visited levels.
func Searches(experiment *v1alpha1.PerfExperiment, runs []v1alpha1.PerfRun) []Search {
	var all []Search
	for _, scenario := range experiment.Spec.Scenarios {
		if scenario.Capacity == nil {
			continue
		}
		load, _ := scenario.Capacity.LoadOf(scenario.Loads)
		one := Search{Scenario: scenario.Name, Load: load.Name}
		if unit := kinds.LevelUnit(load); unit != metric.UnitCount {
			one.Unit = unit
		}
		for _, arm := range experiment.Status.Arms {
			found := searchRuns(scenario.Name, arm.Name, runs)
			omitted := max(len(found)-maxSearched, 0)
			one.Runs, one.Omitted = append(one.Runs, found[omitted:]...), one.Omitted+omitted
		}
		if len(one.Runs) > 0 {
			all = append(all, one)
		}
	}
	return all
}

// searchRuns are an arm's valid runs with levels, in the order of blocks.
func searchRuns(scenario, arm string, runs []v1alpha1.PerfRun) []SearchRun {
	var found []SearchRun
	for i := range runs {
		run := &runs[i]
		isOwn := run.Spec.Scenario.Name == scenario && run.Spec.Arm == arm
		if isOwn && run.Status.Phase == v1alpha1.RunSucceeded && run.Status.Capacity != nil {
			found = append(found, newSearchRun(run))
		}
	}
	slices.SortStableFunc(found, func(a, b SearchRun) int { return int(a.Block - b.Block) })
	return found
}

func newSearchRun(run *v1alpha1.PerfRun) SearchRun {
	found := run.Status.Capacity
	searched := SearchRun{Arm: run.Spec.Arm, Block: run.Spec.Block, Limit: metric.Plain(found.Limiting), Remark: remark(found)}
	if value, err := decimal.Parse(found.Value); err == nil {
		searched.Capacity = digits.Rough(value)
	}
	for _, level := range found.Levels {
		if level.Held {
			searched.Held = append(searched.Held, level.Level)
		} else {
			searched.Failed = append(searched.Failed, level.Level)
		}
	}
	slices.Sort(searched.Held)
	slices.Sort(searched.Failed)
	return searched
}

// remark describes what limits the meaning of a run's capacity.
func remark(found *v1alpha1.RunCapacity) string {
	var parts []string
	if found.Coarse {
		parts = append(parts, "coarse search, not compared")
	}
	switch found.Side {
	case v1alpha1.CapacityBelow:
		parts = append(parts, "no level passed")
	case v1alpha1.CapacityAbove:
		parts = append(parts, "every level passed")
	case v1alpha1.CapacityWithin:
	}
	if found.NonMonotone {
		parts = append(parts, "a level failed below one that passed")
	}
	return strings.Join(parts, "; ")
}
