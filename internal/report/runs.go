// SPDX-License-Identifier: Apache-2.0

package report

import (
	"slices"
	"strconv"

	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/measure/metric"
)

// runTables show every run of the metrics that decide: with so few there is nothing
// to say of them that they don't say themselves.
func runTables(r *record) []block {
	var blocks []block
	for _, scenario := range r.scenarios {
		result := &table{
			Caption: "Every run's deciding metrics under " + scenario.Name,
			Columns: words("Metric", "Arm"),
		}
		for block := range min(r.blocks, verdict.MinimumBlocks) {
			result.Columns = append(result.Columns, numbers("Block "+strconv.Itoa(int(block)+1))...)
		}
		result.Columns = append(result.Columns, numbers("Center", "Delta")...)
		for _, subject := range primaryMetrics(r, scenario) {
			result.Rows = append(result.Rows, runRows(r, scenario, subject)...)
		}
		result.More = max(len(result.Rows)-maxCompared, 0)
		result.Rows = result.Rows[:min(len(result.Rows), maxCompared)]
		blocks = append(blocks, result.blocks()...)
	}
	return blocks
}

// runRows has the runs of one metric, an arm per row.
func runRows(r *record, under *scenario, subject string) []row {
	var rows []row
	in := under.display(subject)
	for i, arm := range under.arms {
		found := under.at(subject, arm.Name)
		if found == nil {
			continue
		}
		found = found.in(in)
		m := metric.Parse(subject)
		cells := []cell{{Text: headed(opened(m, m.Phrase()), shownUnit(found.unit))}, ofArm(arm.Name)}
		for block := range min(r.blocks, verdict.MinimumBlocks) {
			cells = append(cells, cell{Text: found.inBlock(block + 1)})
		}
		cells = append(cells, texts(found.shown(), deltaOf(r.answer, under.Name, subject, arm.Name))...)
		rows = append(rows, row{First: i == 0, Cells: cells})
	}
	return rows
}

// inBlock is the value of the run in a block.
func (v *values) inBlock(block int32) string {
	at := slices.Index(v.blocks, block)
	if at < 0 {
		return dash
	}
	return fixed(v.numbers[at], v.places)
}

// deltaOf an arm; empty for the baseline.
func deltaOf(a *answer, scenario, subject, arm string) string {
	for _, c := range a.compared {
		if c.Scenario == scenario && c.Metric == subject && c.Arm == arm {
			return c.deltaCell()
		}
	}
	return ""
}
