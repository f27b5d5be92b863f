// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/capacity"
	"perflab.dev/perflab/internal/inference/stats"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/planning/levels"
	"perflab.dev/perflab/internal/runs/runorder"
	"perflab.dev/perflab/internal/text/decimal"
	"perflab.dev/perflab/internal/text/prose"
)

// Capacities summarizes the capacity of each arm, in the order of scenarios and arms.
func Capacities(all []arms.Arm, scenarios []v1alpha1.Scenario, runs []v1alpha1.PerfRun, confidence float64) []v1alpha1.ArmCapacity {
	var summaries []v1alpha1.ArmCapacity
	ordered := runorder.Sorted(runs)
	for _, scenario := range scenarios {
		for _, arm := range all {
			if summary, any := Capacity(scenario, arm.Name, ordered, confidence); any {
				summaries = append(summaries, summary)
			}
		}
	}
	return summaries
}

// Capacity summarizes the capacity of an arm over its valid runs; false without any. The interval
// is the t interval of the logarithms of the runs' values.
func Capacity(scenario v1alpha1.Scenario, arm string, runs []*v1alpha1.PerfRun, confidence float64) (v1alpha1.ArmCapacity, bool) {
	if scenario.Capacity == nil {
		return v1alpha1.ArmCapacity{}, false
	}
	load, found := scenario.Capacity.LoadOf(scenario.Loads)
	if !found {
		return v1alpha1.ArmCapacity{}, false
	}
	summary := v1alpha1.ArmCapacity{
		Scenario: scenario.Name, Arm: arm, Metric: metric.Name(load.Name, metric.Capacity), Unit: kinds.LevelUnit(load),
	}
	own := capacityRuns(runs, scenario.Name, arm)
	summarizeCapacity(&summary, load.Name, own, confidence)
	if scenario.Capacity.Required != nil {
		summary.Required = requirement(float64(*scenario.Capacity.Required), summary, own)
	}
	// A larger import takes longer, not more CPUs.
	if !kinds.IsBatch(load) {
		summary.Demand = demand(own, confidence)
	}
	return summary, len(own) > 0
}

// requirement tells whether an arm takes a load. A capacity outside the levels of the runs is at
// least the highest level, or less than the lowest one.
func requirement(required float64, of v1alpha1.ArmCapacity, runs []*v1alpha1.RunCapacity) v1alpha1.CapacityRequirement {
	low, errLow := decimal.Parse(of.Low)
	high, errHigh := decimal.Parse(of.High)
	switch side := levels.Outside(runs); {
	case errLow == nil && low >= required, side == capacity.Above && required <= confirmed(runs, v1alpha1.CapacityAbove):
		return v1alpha1.RequirementMet
	case errHigh == nil && high < required, side == capacity.Below && required >= confirmed(runs, v1alpha1.CapacityBelow):
		return v1alpha1.RequirementNotMet
	}
	return v1alpha1.RequirementUncertain
}

// confirmed returns the load that all runs confirm whose capacity is on a side of their levels:
// the lowest of the highest levels if it is above them, the highest of the lowest levels if it is
// below. It is NaN if there is no such run.
func confirmed(runs []*v1alpha1.RunCapacity, side v1alpha1.CapacitySide) float64 {
	var bounds []float64
	for _, run := range runs {
		if run.Side != side || len(run.Levels) == 0 {
			continue
		}
		of := make([]float64, len(run.Levels))
		for i, level := range run.Levels {
			of[i] = float64(level.Level)
		}
		if side == v1alpha1.CapacityAbove {
			bounds = append(bounds, slices.Max(of))
		} else {
			bounds = append(bounds, slices.Min(of))
		}
	}
	switch {
	case len(bounds) == 0:
		return math.NaN()
	case side == v1alpha1.CapacityAbove:
		return slices.Min(bounds)
	default:
		return slices.Max(bounds)
	}
}

func capacityRuns(runs []*v1alpha1.PerfRun, scenario, arm string) []*v1alpha1.RunCapacity {
	var found []*v1alpha1.RunCapacity
	for _, run := range runs {
		isOwn := run.Spec.Scenario.Name == scenario && run.Spec.Arm == arm
		if isOwn && run.Status.Phase == v1alpha1.RunSucceeded && run.Status.Capacity != nil {
			found = append(found, run.Status.Capacity)
		}
	}
	return found
}

func summarizeCapacity(summary *v1alpha1.ArmCapacity, load string, runs []*v1alpha1.RunCapacity, confidence float64) {
	var logs, rates []float64
	limiting, shares := map[string]int32{}, map[string][]float64{}
	for _, run := range runs {
		value, err := decimal.Parse(run.Value)
		switch {
		case err != nil || value <= 0:
			continue
		case run.Coarse:
			summary.Coarse++
			continue
		case run.Side == v1alpha1.CapacityBelow:
			summary.Below++
		case run.Side == v1alpha1.CapacityAbove:
			summary.Above++
		}
		summary.Runs++
		if run.NonMonotone {
			summary.NonMonotone++
		}
		if run.Limiting != "" {
			limiting[run.Limiting]++
		}
		if name, percent := busiest(run); name != "" {
			shares[name] = append(shares[name], percent)
		}
		logs = append(logs, math.Log(value))
		if rate := rateAt(run, load, value); rate > 0 {
			rates = append(rates, rate)
		}
	}
	if levels.Outside(runs) == capacity.Within && len(logs) > 0 {
		mean := stats.Mean(logs)
		summary.Value = decimal.Format(math.Exp(mean.Value))
		if low, high := mean.Interval(confidence); !math.IsNaN(low) {
			summary.Low, summary.High = decimal.Format(math.Exp(low)), decimal.Format(math.Exp(high))
		}
	}
	if len(rates) > 0 && summary.Value != "" {
		summary.IterationsPerSecond = decimal.Format(stats.GeometricMean(rates))
	}
	summary.Limiting, summary.LimitingRuns = mostFrequent(limiting)
	summary.Busiest, summary.BusiestPercent = mostBusy(shares)
}

// outsideLevels returns the metrics of capacities that lie outside the levels in too many of an
// arm's runs: their values would be those of the levels.
func outsideLevels(runs []*v1alpha1.PerfRun) map[cell]string {
	found, metrics := map[cell][]*v1alpha1.RunCapacity{}, map[cell]string{}
	for _, run := range runs {
		if own := run.Status.Capacity; own != nil && run.Status.Phase == v1alpha1.RunSucceeded && run.Spec.Scenario.Capacity != nil {
			at := cell{run.Spec.Scenario.Name, "", run.Spec.Arm}
			load, _ := run.Spec.Scenario.Capacity.LoadOf(run.Spec.Scenario.Loads)
			found[at], metrics[at] = append(found[at], own), metric.Name(load.Name, metric.Capacity)
		}
	}
	maps.DeleteFunc(metrics, func(at cell, _ string) bool { return levels.Outside(found[at]) == capacity.Within })
	return metrics
}

// outsideWarnings describe capacities that are not compared: they are outside the levels.
func outsideWarnings(spec *v1alpha1.PerfExperimentSpec, all []arms.Arm, runs []*v1alpha1.PerfRun) []string {
	var sentences []string
	for _, scenario := range spec.Scenarios {
		for _, arm := range all {
			own := capacityRuns(runs, scenario.Name, arm.Name)
			if sentence := outsideWarning(own); sentence != "" {
				sentences = append(sentences, fmt.Sprintf("the capacity of arm %q under %s is %s, so it has no value and is not compared", arm.Name, scenario.Name, sentence))
			}
		}
	}
	return sentences
}

// outsideWarning describes where the capacity is; empty if it is within the levels of most runs.
func outsideWarning(runs []*v1alpha1.RunCapacity) string {
	side, count := levels.Outside(runs), 0
	var ends []int32
	for _, run := range runs {
		if capacity.Side(run.Side) != side {
			continue
		}
		count++
		for _, level := range run.Levels {
			ends = append(ends, level.Level)
		}
	}
	switch {
	case len(ends) == 0:
		return ""
	case side == capacity.Below:
		return fmt.Sprintf("below the levels of %d of %s, which begin at %d", count, prose.Counted(len(runs), "run"), slices.Min(ends))
	case side == capacity.Above:
		return fmt.Sprintf("above the levels of %d of %s, which end at %d", count, prose.Counted(len(runs), "run"), slices.Max(ends))
	}
	return ""
}

func mostFrequent(counts map[string]int32) (name string, count int32) {
	for _, one := range slices.Sorted(maps.Keys(counts)) {
		if counts[one] > count {
			name, count = one, counts[one]
		}
	}
	return name, count
}

// mostBusy returns the server that is the busiest in most runs, with its mean share.
func mostBusy(shares map[string][]float64) (name, percent string) {
	most := 0
	for _, one := range slices.Sorted(maps.Keys(shares)) {
		if len(shares[one]) > most {
			name, most = one, len(shares[one])
		}
	}
	if name == "" {
		return "", ""
	}
	return name, decimal.Format(stats.Describe(shares[name]).Mean)
}

// busiest returns the server with the largest share of its CPU limit at the level above the
// capacity, or at the highest one.
func busiest(run *v1alpha1.RunCapacity) (name string, percent float64) {
	at := slices.IndexFunc(run.Levels, func(level v1alpha1.CapacityLevel) bool { return level.Level == run.High })
	if at < 0 {
		at = len(run.Levels) - 1
	}
	if at < 0 {
		return "", 0
	}
	for _, observed := range run.Levels[at].Observations {
		of := metric.Parse(observed.Metric)
		value, err := decimal.Parse(observed.Value)
		if err == nil && of.IsServer() && of.Resource == metric.CPU && of.Statistic == metric.PercentOfLimit && value > percent {
			name, percent = observed.Metric, value
		}
	}
	return name, percent
}

// rateAt interpolates the load's iterations per second at its capacity; 0 if it is unknown.
func rateAt(run *v1alpha1.RunCapacity, load string, at float64) float64 {
	levels := slices.Clone(run.Levels)
	slices.SortStableFunc(levels, func(a, b v1alpha1.CapacityLevel) int { return cmp.Compare(a.Level, b.Level) })
	var lower, lowerRate float64
	for _, level := range levels {
		x, rate := float64(level.Level), levelRate(level, load)
		if rate <= 0 {
			continue
		}
		if x >= at {
			if lower == 0 || x == lower {
				return rate
			}
			share := math.Log(at/lower) / math.Log(x/lower)
			return lowerRate + share*(rate-lowerRate)
		}
		lower, lowerRate = x, rate
	}
	return 0
}

func levelRate(level v1alpha1.CapacityLevel, load string) float64 {
	for _, observed := range level.Observations {
		if observed.Metric == metric.Name(load, metric.IterationsPerSecond) {
			rate, err := decimal.Parse(observed.Value)
			if err == nil {
				return rate
			}
		}
	}
	return 0
}

const (
	// perUnits is the number of levels' units that a demand is for.
	perUnits = 1000
	// maxDemand is the number of servers whose demand a status has.
	maxDemand = 20
	// minLevels is the number of held levels that a slope requires.
	minLevels = 3
)

// demand returns the means over runs of the slopes of servers' CPU over the levels that held. The
// runs are the unit: levels of one run depend on each other.
func demand(runs []*v1alpha1.RunCapacity, confidence float64) []v1alpha1.CapacityDemand {
	slopes := map[string][]float64{}
	for _, run := range runs {
		for name, line := range cpuLines(run) {
			if slope, err := stats.Slope(line.X, line.Y); err == nil && len(line.X) >= minLevels {
				slopes[name] = append(slopes[name], perUnits*slope.Value)
			}
		}
	}
	means := map[string]stats.Estimate{}
	for name, own := range slopes {
		if mean := stats.Mean(own); mean.Value > 0 {
			means[name] = mean
		}
	}
	names := slices.SortedFunc(maps.Keys(means), func(a, b string) int {
		return cmp.Or(cmp.Compare(means[b].Value, means[a].Value), cmp.Compare(a, b))
	})
	var found []v1alpha1.CapacityDemand
	for _, name := range names[:min(len(names), maxDemand)] {
		one := v1alpha1.CapacityDemand{Metric: name, Value: decimal.Format(means[name].Value)}
		if low, high := means[name].Interval(confidence); !math.IsNaN(low) {
			one.Low, one.High = decimal.Format(low), decimal.Format(high)
		}
		found = append(found, one)
	}
	return found
}

// cpuLines returns the cores used by servers at the levels of a run that held, by metric.
func cpuLines(run *v1alpha1.RunCapacity) map[string]stats.Line {
	lines := map[string]stats.Line{}
	for _, level := range run.Levels {
		if !level.Held {
			continue
		}
		for _, observed := range level.Observations {
			of := metric.Parse(observed.Metric)
			cores, err := decimal.Parse(observed.Value)
			if err != nil || !of.IsServer() || of.Resource != metric.CPU || of.Statistic != metric.Average {
				continue
			}
			line := lines[observed.Metric]
			line.X, line.Y = append(line.X, float64(level.Level)), append(line.Y, cores)
			lines[observed.Metric] = line
		}
	}
	return lines
}
