// SPDX-License-Identifier: Apache-2.0

package section

import (
	"fmt"
	"slices"

	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/digits"
)

// maxMarkedRuns is the number of runs listed for a mark.
const maxMarkedRuns = 5

// markTable lists the marks with their runs.
func markTable(r *Record) []document.Block {
	result := &document.Table{
		Caption: "Manual marks, not measured (UTC)",
		Columns: slices.Concat(document.TextColumns("Mark", "From", "Until"), document.NumberColumns("Block"), document.TextColumns("Scenario", "Arm"), document.NumberColumns("Into the load"), document.TextColumns("Run")),
	}
	more := 0
	for _, one := range r.marks {
		for i, at := range one.at[:min(len(one.at), maxMarkedRuns)] {
			result.Rows = append(result.Rows, document.Row{First: i == 0, Cells: append(one.cells(),
				document.Cell{Text: digits.Count(at.run.Spec.Block)}, nameCell(at.run.Spec.Scenario.Name), armCell(at.run.Spec.Arm), document.Cell{Text: timeIntoLoad(at.Band)}, nameCell(at.run.Name))})
		}
		if len(one.at) == 0 {
			result.Rows = append(result.Rows, document.Row{First: true, Cells: append(one.cells(), document.TextCells(digits.Dash, digits.Dash, digits.Dash, digits.Dash, "outside all loads")...)})
		}
		more += max(0, len(one.at)-maxMarkedRuns)
	}
	result.Note = "Charts over time show the typical run of each arm, with its marks. Marks in other runs are only listed here."
	if more > 0 {
		result.Note += fmt.Sprintf(" The first %d runs of each mark are listed; %s.", maxMarkedRuns, document.LeftOut(more, "run"))
	}
	return result.Blocks()
}

func (m mark) cells() []document.Cell {
	until := digits.Dash
	if m.until.After(m.from) {
		until = digits.Time(m.until)
	}
	return document.TextCells(m.words, digits.Time(m.from), until)
}
