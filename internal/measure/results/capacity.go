// SPDX-License-Identifier: Apache-2.0

package results

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/capacity"
	"perflab.dev/perflab/internal/load/kind"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/load/steps"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/measure/observation"
	"perflab.dev/perflab/internal/text/decimal"
	"perflab.dev/perflab/internal/text/unit"
	"perflab.dev/perflab/payload"
)

// Limits of a level's observations in the status: of objectives and the load, and of servers' CPU,
// the largest shares of limits and the largest uses.
const (
	maxLoadObservations   = 24
	maxServerObservations = 20
)

// ObserveCapacity returns the capacity found in a run, and its observation; no observation if the
// levels are far apart, as in an arm's first run. samples may be nil.
func ObserveCapacity(spec *v1alpha1.PerfRunSpec, measured map[string]Measured, samples *payload.Samples) (*v1alpha1.RunCapacity, []v1alpha1.Observation, *Fault) {
	load, timetable, known := steps.FromScenario(spec.Scenario, spec.Measurement, spec.Levels)
	own := measured[load.Name]
	if !known || own.Histograms == nil {
		return nil, nil, kind.Faultf(v1alpha1.ReasonResultsMissing, "capacity: no load of the scenario has levels and histograms")
	}
	objectives := spec.Scenario.Capacity.Objectives
	var seen []capacity.Level
	var levels []v1alpha1.CapacityLevel
	for i, span := range timetable.Measured() {
		window := Window{From: own.Start.Add(span.From), To: own.Start.Add(span.To)}
		batch, isBatch := kinds.ForLoad(load).(kind.SteppedBatch)
		var observations []v1alpha1.Observation
		if isBatch {
			window, observations = observeBatch(batch.ObserveLevel(own.Histograms, timetable, i), own, samples)
		} else {
			observations = observeLevel(spec, measured, samples, window)
		}
		margins, fault := margins(objectives, observations)
		if fault != nil {
			return nil, nil, fault
		}
		// The system is too slow if the declared users can't start all iterations.
		margins = append(margins, capacity.Margin(own.Histograms.Between(window.From, window.To).Total(metricDroppedIterations), 0, capacity.Max))
		seen = append(seen, capacity.Level{Load: float64(timetable.Levels[i]), Margins: margins})
		levels = append(levels, v1alpha1.CapacityLevel{
			Level: timetable.Levels[i], Start: metav1.NewTime(window.From), End: metav1.NewTime(window.To),
			Observations: selectForLevel(observations, objectives, load.Name),
		})
	}
	if fault := fillMissing(seen, objectives); fault != nil {
		return nil, nil, fault
	}
	for i := range levels {
		levels[i].Held = allHold(seen[i].Margins)
	}
	found := capacity.FromRun(seen)
	if found.Side == capacity.Unknown {
		return nil, nil, kind.Faultf(v1alpha1.ReasonResultsMissing, "capacity: the run reached no level")
	}
	return summarizeCapacity(load, objectives, found, levels)
}

// observeBatch returns the window of a level that is a unit of work, and the observations of its
// load and of servers. Work that did not end has no window of its own.
func observeBatch(done kind.BatchLevel, own Measured, samples *payload.Samples) (Window, []v1alpha1.Observation) {
	if done.To.IsZero() {
		return Window{From: own.Start, To: own.End}, done.Observations
	}
	window := Window{From: done.From, To: done.To}
	if samples == nil {
		return window, done.Observations
	}
	return window, append(done.Observations, ObserveServers(samples, window)...)
}

// observeLevel returns the observations of loads and servers in a window.
func observeLevel(spec *v1alpha1.PerfRunSpec, measured map[string]Measured, samples *payload.Samples, window Window) []v1alpha1.Observation {
	var observations []v1alpha1.Observation
	for _, load := range spec.Scenario.Loads {
		if own := measured[load.Name]; own.Histograms != nil && !kinds.IsBatch(load) {
			observations = append(observations, observeTransactions(load.Name, own.Histograms, window)...)
		}
	}
	if samples != nil {
		observations = append(observations, ObserveServers(samples, window)...)
		// A lag that grows shows within a level.
		observations = append(observations, observeGrowth(samples, window, spec.Measurement, 0)...)
	}
	return observations
}

// margins returns the margin of each objective; NaN for one that was not measured.
func margins(objectives []v1alpha1.Objective, observations []v1alpha1.Observation) ([]float64, *Fault) {
	var all []float64
	for _, objective := range objectives {
		at := slices.IndexFunc(observations, func(one v1alpha1.Observation) bool { return isMetricOf(objective, one) })
		if at < 0 {
			all = append(all, math.NaN())
			continue
		}
		margin, err := marginOf(objective, observations[at])
		if err != nil {
			return nil, kind.Faultf(v1alpha1.ReasonResultsMissing, "capacity: objective %q: %v", objective.Metric, err)
		}
		all = append(all, margin)
	}
	return all, nil
}

// fillMissing rejects objectives that no level measured. A load without a response time at a level,
// because nothing worked there, does not hold its objective.
func fillMissing(levels []capacity.Level, objectives []v1alpha1.Objective) *Fault {
	for i, objective := range objectives {
		isMissing := func(level capacity.Level) bool { return math.IsNaN(level.Margins[i]) }
		if len(levels) > 0 && !slices.ContainsFunc(levels, func(level capacity.Level) bool { return !isMissing(level) }) {
			return kind.Faultf(v1alpha1.ReasonResultsMissing,
				"capacity: the objective's metric %q was not measured at any level: check its name, and lengthen the step", objective.Metric)
		}
		for _, level := range levels {
			if isMissing(level) && !metric.Parse(objective.Metric).IsServer() {
				level.Margins[i] = -1
			}
		}
	}
	return nil
}

// allHold reports whether all measured objectives held.
func allHold(margins []float64) bool {
	return !slices.ContainsFunc(margins, func(margin float64) bool { return margin < 0 })
}

// isMetricOf reports whether an observation has an objective's metric.
func isMetricOf(objective v1alpha1.Objective, one v1alpha1.Observation) bool {
	return objective.Metric == one.Metric || metric.Same(objective.Metric, one.Metric)
}

func marginOf(objective v1alpha1.Objective, measured v1alpha1.Observation) (float64, error) {
	value, err := decimal.Parse(measured.Value)
	if err != nil {
		return 0, fmt.Errorf("its value %q: %w", measured.Value, err)
	}
	bound, text := capacity.Max, objective.Max
	if text == "" {
		bound, text = capacity.Min, objective.Min
	}
	limit, err := ParseLimit(text, measured.Unit)
	if err != nil {
		return 0, err
	}
	return capacity.Margin(value, limit, bound), nil
}

var limitFormat = regexp.MustCompile(`^(-?[0-9]+(?:[.][0-9]+)?) *([^0-9 ]*)$`)

// ParseLimit returns a limit, such as 1s, in the unit of its metric.
func ParseLimit(text, in string) (float64, error) {
	parts := limitFormat.FindStringSubmatch(text)
	if parts == nil {
		return math.NaN(), fmt.Errorf("the limit %q is not a number with an optional unit: write one, for example 500ms", text)
	}
	value, err := decimal.Parse(parts[1])
	if err != nil || parts[2] == "" {
		return value, err
	}
	factor, same := unit.Factor(parts[2], in)
	if !same {
		return math.NaN(), fmt.Errorf("the limit %q has another unit than the metric, which is in %q: write the limit in this unit", text, in)
	}
	return value * factor, nil
}

// selectForLevel returns the observations that fit into the status: those of objectives, of the
// load's transactions and rates, and of the servers' CPU.
func selectForLevel(observations []v1alpha1.Observation, objectives []v1alpha1.Objective, load string) []v1alpha1.Observation {
	var first, second, shares, uses []v1alpha1.Observation
	for _, one := range observations {
		of := metric.Parse(one.Metric)
		switch {
		case slices.ContainsFunc(objectives, func(objective v1alpha1.Objective) bool { return isMetricOf(objective, one) }):
			first = append(first, one)
		case of.Of == load && (of.IsWhole() || of.IsTransaction() && slices.Contains([]string{metric.Average, metric.P95, metric.Errors}, of.Statistic)):
			second = append(second, one)
		case of.Resource == metric.CPU && of.Statistic == metric.PercentOfLimit:
			shares = append(shares, one)
		case of.Resource == metric.CPU && of.Statistic == metric.Average && of.Component != metric.Generator && of.Component != metric.Node:
			uses = append(uses, one)
		}
	}
	ofLoad := append(first, second...)
	return slices.Concat(ofLoad[:min(len(ofLoad), maxLoadObservations)], largest(shares), largest(uses))
}

// largest returns the observations with the largest values.
func largest(observations []v1alpha1.Observation) []v1alpha1.Observation {
	value := func(one v1alpha1.Observation) float64 {
		number, err := decimal.Parse(one.Value)
		if err != nil {
			return 0
		}
		return number
	}
	slices.SortStableFunc(observations, func(a, b v1alpha1.Observation) int { return cmp.Compare(value(b), value(a)) })
	return observations[:min(len(observations), maxServerObservations)]
}

// summarizeCapacity writes an estimate for the status, with its observation.
func summarizeCapacity(load v1alpha1.Load, objectives []v1alpha1.Objective, found capacity.Estimate, levels []v1alpha1.CapacityLevel) (*v1alpha1.RunCapacity, []v1alpha1.Observation, *Fault) {
	result := &v1alpha1.RunCapacity{
		Side: v1alpha1.CapacitySide(found.Side), Low: int32(found.Low), NonMonotone: found.NonMonotone, Levels: levels,
	}
	if !math.IsInf(found.High, 0) {
		result.High = int32(found.High)
	}
	switch {
	case found.Limiting >= len(objectives):
		result.Limiting = metric.Name(load.Name, metricDroppedIterations)
	case found.Limiting >= 0:
		result.Limiting = objectives[found.Limiting].Metric
	}
	observed := observation.New(load.Name, metric.Capacity, found.Load, int64(len(levels)))
	observed.Unit, result.Value, result.Coarse = kinds.LevelUnit(load), observed.Value, found.Coarse
	if found.Coarse {
		return result, nil, nil
	}
	return result, []v1alpha1.Observation{observed}, nil
}

// CapacityWarnings describe what limits a run's capacity in the levels of a load, in one sentence
// each.
func CapacityWarnings(found *v1alpha1.RunCapacity, load v1alpha1.Load) []string {
	var sentences []string
	visited := make([]string, len(found.Levels))
	for i, level := range found.Levels {
		visited[i] = fmt.Sprint(level.Level)
	}
	switch found.Side {
	case v1alpha1.CapacityBelow:
		sentences = append(sentences, fmt.Sprintf("capacity: no level (%s) held all objectives; %s is the first to fail", strings.Join(visited, ", "), found.Limiting))
	case v1alpha1.CapacityAbove:
		sentences = append(sentences, fmt.Sprintf("capacity: every level (%s) held all objectives", strings.Join(visited, ", ")))
	case v1alpha1.CapacityWithin:
	}
	if found.NonMonotone {
		sentences = append(sentences, fmt.Sprintf("capacity: a higher level clearly held the objectives that a lower one did not (%s): %s", strings.Join(visited, ", "), NonMonotoneAdvice(load)))
	}
	return sentences
}

// NonMonotoneAdvice says what to do if lower levels of a load are worse than higher ones. Batches
// have neither steps nor a longer warm-up.
func NonMonotoneAdvice(load v1alpha1.Load) string {
	if _, isBatch := kinds.ForLoad(load).(kind.SteppedBatch); isBatch {
		return "early imports take longer than later ones, so plan more blocks"
	}
	return "lengthen measurement.warmUp, step or settle"
}
