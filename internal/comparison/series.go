// SPDX-License-Identifier: Apache-2.0

package comparison

import (
	"math"

	"perflab.dev/perflab/internal/metric"
	"perflab.dev/perflab/internal/stats"
)

// Series are the values of one metric in one scenario, for models of one's own.
type Series struct {
	Unit  string
	Scale Scale
	// Plain values as they were measured, Scaled as they are to be fitted:
	// logarithms on the ratio scale. Arms count as they were asked for, blocks
	// as in Blocks.
	Plain, Scaled []stats.Cell
	Blocks        []string
}

// Series gives the values of a metric for the arms asked for, by block and then
// by arm; false where there are none.
func (t *Table) Series(scenario, name string, arms []string) (Series, bool) {
	of, known := t.series[scenario][name]
	if !known {
		return Series{}, false
	}
	made := Series{Unit: of.unit, Scale: Ratio}
	if of.unit == metric.UnitPercent {
		made.Scale = Difference
	}
	for _, block := range t.blocks.sorted() {
		before := len(made.Plain)
		for i, name := range arms {
			arm, known := t.arms.number[name]
			if !known || arm >= len(of.runs) || block >= len(of.runs[arm]) || of.runs[arm][block].place == 0 {
				continue
			}
			value := of.runs[arm][block].value
			made.Plain = append(made.Plain, stats.Cell{Arm: i, Block: len(made.Blocks), Value: value})
			if value <= 0 {
				made.Scale = Difference
			}
		}
		if len(made.Plain) > before {
			made.Blocks = append(made.Blocks, t.blocks.list[block])
		}
	}
	made.Scaled = made.Plain
	if made.Scale == Ratio {
		made.Scaled = logarithms(made.Plain)
	}
	return made, len(made.Plain) > 0
}

func logarithms(cells []stats.Cell) []stats.Cell {
	logs := make([]stats.Cell, len(cells))
	for i, cell := range cells {
		logs[i] = stats.Cell{Arm: cell.Arm, Block: cell.Block, Value: math.Log(cell.Value)}
	}
	return logs
}

// Metrics are the names of all metrics of a scenario, in order.
func (t *Table) Metrics(scenario string) []string {
	var names []string
	for _, of := range t.sorted() {
		if of.scenario == scenario {
			names = append(names, of.metric)
		}
	}
	return names
}

// Scenarios are the names of all scenarios, in order.
func (t *Table) Scenarios() []string {
	var names []string
	for _, of := range t.sorted() {
		if len(names) == 0 || names[len(names)-1] != of.scenario {
			names = append(names, of.scenario)
		}
	}
	return names
}
