// SPDX-License-Identifier: Apache-2.0

package section

import (
	"slices"
	"strconv"

	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/digits"
)

// runTables show every run of the deciding metrics: so few runs need no summary.
func runTables(r *Record) []document.Block {
	var blocks []document.Block
	for _, scenario := range r.scenarios {
		result := &document.Table{
			Caption: "Primary metrics of every run under " + scenario.Name,
			Columns: document.TextColumns("Metric", "Arm"),
		}
		for block := range min(r.blocks, verdict.MinimumBlocks) {
			result.Columns = append(result.Columns, document.NumberColumns("Block "+strconv.Itoa(int(block)+1))...)
		}
		result.Columns = append(result.Columns, document.NumberColumns("Center", "Delta")...)
		for _, subject := range primaryMetrics(r, scenario) {
			result.Rows = append(result.Rows, runRows(r, scenario, subject)...)
		}
		result.More = max(len(result.Rows)-maxCompared, 0)
		result.Rows = result.Rows[:min(len(result.Rows), maxCompared)]
		blocks = append(blocks, result.Blocks()...)
	}
	return blocks
}

// runRows has the runs of one metric, an arm per row.
func runRows(r *Record, under *scenario, subject string) []document.Row {
	var rows []document.Row
	in := under.display(subject)
	for i, arm := range under.arms {
		found := under.at(subject, arm.Name)
		if found == nil {
			continue
		}
		found = found.scaledTo(in)
		m := metric.Parse(subject)
		cells := []document.Cell{{Text: titleWithUnit(capitalizePhrase(m, m.Phrase()), unitLabel(found.unit))}, armCell(arm.Name)}
		for block := range min(r.blocks, verdict.MinimumBlocks) {
			cells = append(cells, document.Cell{Text: found.blockText(block + 1)})
		}
		cells = append(cells, document.TextCells(found.text(), armDelta(r.answer, under.Name, subject, arm.Name))...)
		rows = append(rows, document.Row{First: i == 0, Cells: cells})
	}
	return rows
}

// blockText is the value of the run in a block.
func (v *values) blockText(block int32) string {
	at := slices.Index(v.blocks, block)
	if at < 0 {
		return digits.Dash
	}
	return digits.Fixed(v.numbers[at], v.places)
}

// armDelta is the delta of an arm; empty for the baseline.
func armDelta(a *answer, scenario, subject, arm string) string {
	for _, c := range a.compared {
		if c.Scenario == scenario && c.Metric == subject && c.Arm == arm {
			return c.deltaCell()
		}
	}
	return ""
}
