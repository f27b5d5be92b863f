// SPDX-License-Identifier: Apache-2.0

package comparison

import (
	"math"
	"slices"

	"perflab.dev/perflab/internal/inference/stats"
	"perflab.dev/perflab/internal/measure/metric"
)

// Series are the values of one metric in one scenario, for other models.
type Series struct {
	Unit  string
	Scale Scale
	// Plain values are as measured, Scaled ones ready to be fitted: logarithms on the ratio scale.
	// Arms are in the requested order, blocks as in Blocks.
	Plain, Scaled []stats.Cell
	Blocks        []string
}

// Series returns the values of a metric for the requested arms, by block and then by arm; false
// without any.
func (t *Table) Series(scenario, name string, arms []string) (Series, bool) {
	observed, known := t.series[scenario][name]
	if !known {
		return Series{}, false
	}
	result := Series{Unit: observed.unit, Scale: Ratio}
	if observed.unit == metric.UnitPercent {
		result.Scale = Difference
	}
	for _, block := range t.blocks.sorted() {
		before := len(result.Plain)
		for i, name := range arms {
			arm, known := t.arms.number[name]
			if !known || arm >= len(observed.runs) || block >= len(observed.runs[arm]) || observed.runs[arm][block].place == 0 {
				continue
			}
			value := observed.runs[arm][block].value
			result.Plain = append(result.Plain, stats.Cell{Arm: i, Block: len(result.Blocks), Value: value})
			if value <= 0 {
				result.Scale = Difference
			}
		}
		if len(result.Plain) > before {
			result.Blocks = append(result.Blocks, t.blocks.list[block])
		}
	}
	result.Scaled = result.Plain
	if result.Scale == Ratio {
		result.Scaled = logarithms(result.Plain)
	}
	return result, len(result.Plain) > 0
}

func logarithms(cells []stats.Cell) []stats.Cell {
	logs := make([]stats.Cell, len(cells))
	for i, cell := range cells {
		logs[i] = stats.Cell{Arm: cell.Arm, Block: cell.Block, Value: math.Log(cell.Value)}
	}
	return logs
}

// Metrics returns the names of all metrics of a scenario, in order.
func (t *Table) Metrics(scenario string) []string {
	var names []string
	for _, series := range t.sorted() {
		if series.scenario == scenario {
			names = append(names, series.metric)
		}
	}
	return names
}

// Names returns the distinct names of all metrics.
func (t *Table) Names() []string {
	var names []string
	for _, series := range t.sorted() {
		names = append(names, series.metric)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Scenarios returns the names of all scenarios, in order.
func (t *Table) Scenarios() []string {
	var names []string
	for _, series := range t.sorted() {
		if len(names) == 0 || names[len(names)-1] != series.scenario {
			names = append(names, series.scenario)
		}
	}
	return names
}
