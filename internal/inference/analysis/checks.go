// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"fmt"
	"math"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/inference/stats"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/planning/arms"
)

// minRunsForDrift is the number of blocks that the analysis of a slope requires.
const minRunsForDrift = 5

// check checks for effects that the random order spreads over the arms, but does not remove:
// carry-over from run to run, and drift over the blocks. Its p-values are adjusted together, so
// that an experiment without either is suspected once in twenty.
func (a *Answer) check(table *comparison.Table, all []arms.Arm, ordered []*v1alpha1.PerfRun, scenarios int) {
	sequence := newSequence(all, ordered, scenarios)
	var found suspicions
	for _, scenario := range table.Scenarios() {
		for _, metric := range a.Question.Primary {
			fitted, ok := fit(table, scenario, metric, all)
			if !ok {
				continue
			}
			found.test(fitted, sequence.levels(fitted, scenario, func(s sequenceEntry) int { return s.part }),
				"carry-over: the position of a run in its block explains part of")
			found.test(fitted, sequence.levels(fitted, scenario, func(s sequenceEntry) int { return s.before }),
				"carry-over: the previous arm explains part of")
			found.drift(fitted, 1-a.Question.Alpha())
		}
	}
	for _, one := range found.significant(a.Question.Alpha()) {
		a.warn(one.warning.Message)
		a.attach(one)
	}
}

// attach adds the warning to the comparisons that it affects.
func (a *Answer) attach(sure suspicion) {
	for i := range a.Comparisons {
		if c := &a.Comparisons[i]; c.Scenario == sure.scenario && c.Metric == sure.metric {
			c.Warnings = append(c.Warnings, sure.warning)
		}
	}
}

// fitted is the model of one metric in one scenario, over all arms in their order.
type fitted struct {
	scenario, metric string
	series           comparison.Series
	model            stats.BlockModel
	names            []string
	baseline         int
}

func fit(table *comparison.Table, scenario, metric string, all []arms.Arm) (fitted, bool) {
	names, baseline := make([]string, len(all)), 0
	for i, arm := range all {
		names[i] = arm.Name
		if arm.Baseline {
			baseline = i
		}
	}
	series, found := table.Series(scenario, metric, names)
	if !found {
		return fitted{}, false
	}
	model, err := stats.FitBlocks(series.Scaled, len(all), len(series.Blocks), baseline)
	return fitted{scenario, metric, series, model, names, baseline}, err == nil
}

// suspicion is a possible finding of a check, which is real if its p-value is small.
type suspicion struct {
	scenario, metric string
	p                float64
	warning          comparison.Warning
}

type suspicions []suspicion

// significant returns the suspicions that remain after adjusting p for all of them.
func (s suspicions) significant(alpha float64) []suspicion {
	p := make([]float64, len(s))
	for i := range s {
		p[i] = s[i].p
	}
	var found []suspicion
	for i, adjusted := range stats.Holm(p, alpha) {
		if adjusted.P < alpha {
			found = append(found, s[i])
		}
	}
	return found
}

func (s *suspicions) test(of fitted, levels []int, what string) {
	test, err := stats.AddedFactor(of.series.Scaled, levels, len(of.names), len(of.series.Blocks), of.baseline)
	if err != nil || math.IsNaN(test.P) {
		return
	}
	warning := comparison.NewWarning(comparison.CodeCarryOver, "%s %s (p = %.2g): runs are not independent: reset more between runs, or extend the warm-up",
		what, metric.Parse(of.metric).Under(of.scenario), test.P)
	*s = append(*s, suspicion{of.scenario, of.metric, test.P, warning})
}

// drift fits a line through the blocks, without the arms' effects.
func (s *suspicions) drift(of fitted, confidence float64) {
	blocks := len(of.series.Blocks)
	if blocks < minRunsForDrift {
		return
	}
	sum, count := make([]float64, blocks), make([]float64, blocks)
	for _, cell := range of.series.Scaled {
		if effect := of.model.Effect(cell.Arm).Value; !math.IsNaN(effect) {
			sum[cell.Block] += cell.Value - effect
			count[cell.Block]++
		}
	}
	var x, y []float64
	for block := range sum {
		if count[block] > 0 {
			x, y = append(x, float64(block)), append(y, sum[block]/count[block])
		}
	}
	slope, err := stats.Slope(x, y)
	if err != nil || math.IsNaN(slope.P()) {
		return
	}
	unit := of.series.Unit
	if of.series.Scale == comparison.Ratio {
		unit = "%"
	}
	low, high := slope.Interval(confidence)
	shown := of.series.Scale.Display
	warning := comparison.NewWarning(comparison.CodeDrift, "drift: %s changes by %+.2g %s from block to block (%+.2g to %+.2g): comparing within blocks removes it from the deltas, but the system does not return to its initial state: check reset",
		metric.Parse(of.metric).Under(of.scenario), shown(slope.Value), unit, shown(low), shown(high))
	*s = append(*s, suspicion{of.scenario, of.metric, slope.P(), warning})
}

// sequence contains the positions of valid runs among all runs.
type sequence map[runPosition]sequenceEntry

type sequenceEntry struct {
	// part of the block, from 0: the first, second or last third.
	part int
	// before is the arm of the previous run, valid or not; -1: none.
	before int
}

func newSequence(all []arms.Arm, ordered []*v1alpha1.PerfRun, scenarios int) sequence {
	number := map[string]int{}
	for i, arm := range all {
		number[arm.Name] = i
	}
	spots, before, runs := sequence{}, -1, len(all)*scenarios
	for _, run := range ordered {
		const parts = 3
		position := int(run.Spec.Position-1) - int(run.Spec.Block-1)*runs
		if run.Status.Phase == v1alpha1.RunSucceeded {
			spots[runPosition{run.Spec.Block, run.Spec.Arm, run.Spec.Scenario.Name}] = sequenceEntry{position * parts / runs, before}
		}
		if at, known := number[run.Spec.Arm]; known {
			before = at
		}
	}
	return spots
}

// levels returns the level of a further factor for each cell of a series.
func (s sequence) levels(of fitted, scenario string, level func(sequenceEntry) int) []int {
	levels := make([]int, len(of.series.Scaled))
	byPlace := map[[2]string]int{}
	for at, stood := range s {
		if at.scenario == scenario {
			byPlace[[2]string{fmt.Sprint(at.block), at.arm}] = level(stood)
		}
	}
	for i, cell := range of.series.Scaled {
		levels[i] = byPlace[[2]string{of.series.Blocks[cell.Block], of.names[cell.Arm]}]
	}
	return levels
}
