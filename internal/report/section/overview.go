// SPDX-License-Identifier: Apache-2.0

package section

import (
	"fmt"
	"slices"

	"perflab.dev/perflab/internal/load/faults"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/prose"
)

// overview describes what was compared, on what, and the progress.
func overview(r *Record) []document.Block {
	system := "the declared system"
	if reference := r.Experiment.Spec.SystemRef; reference != nil {
		system = "PerfSystem " + reference.Name
	}
	if r.measuredElsewhere() {
		system = "an undeclared system"
	}
	on := fmt.Sprintf("%s, on %s, under %s.", r.answer.Baseline, system, prose.Counted(len(r.scenarios), "scenario"))
	text := "This experiment measures " + on + " It has no other arm to compare with."
	var others []string
	for _, arm := range r.candidates() {
		others = append(others, arm.Name)
	}
	if len(others) > 0 {
		text = "This experiment compares " + joinAnd(others) + " with the baseline " + on
	}
	if r.measuredElsewhere() {
		text += " " + r.elsewhereSentence()
	}
	blocks := []document.Block{document.Paragraph(text), {Table: armsTable(r)}, {Table: scenariosTable(r.scenarios)}}
	if declared := faultsTable(r.scenarios); len(declared.Rows) > 0 {
		blocks = append(blocks, document.Block{Table: declared})
	}
	return blocks
}

// maxDifferences is the number of differences listed per arm; one heap setting in ninety modules
// is listed once.
const maxDifferences = 8

func armsTable(r *Record) *document.Table {
	result := &document.Table{Caption: "Arms and their differences from the baseline", Columns: document.TextColumns("Arm", "Name", "Setting", "Baseline", "This arm")}
	for _, arm := range r.arms {
		result.Rows = append(result.Rows, armRows(r, arm)...)
	}
	return result
}

// armRows are the changes of an arm, or one row with the reason for none.
func armRows(r *Record, of arm) []document.Row {
	named := []document.Cell{armCell(of.Name), {}}
	if real := r.labels.armName(of.Name); real != of.Name {
		named[1] = nameCell(real)
	}
	only := func(text string) []document.Row {
		return []document.Row{{First: true, Cells: append(named, document.TextCells(text, "", "")...)}}
	}
	switch {
	case of.Baseline:
		return only("the baseline")
	case of.Twin:
		return only("none: A/A control, to measure noise")
	}
	changes, unlisted := armChanges(r, of)
	if len(changes) == 0 {
		return only("nothing recorded")
	}
	var rows []document.Row
	for i, change := range changes[:min(len(changes), maxDifferences)] {
		rows = append(rows, document.Row{First: i == 0, Cells: slices.Concat(named, document.TextCells(change.Setting, change.Baseline, change.Arm))})
	}
	if more := max(len(changes)-maxDifferences, 0) + unlisted; more > 0 {
		rows = append(rows, document.Row{Cells: slices.Concat(named, document.TextCells(fmt.Sprintf("and %d more", more), "", ""))})
	}
	return rows
}

// armChanges are the differences of an arm from the baseline, from the systems of their runs.
// Without such runs they come from the status, which omits some.
func armChanges(r *Record, of arm) (changes []arms.Change, unlisted int) {
	baseline, system := arms.RecordedSystem(r.Runs, r.answer.Baseline), arms.RecordedSystem(r.Runs, of.Name)
	if baseline == nil || system == nil {
		return arms.Changes(of.Differences), int(of.MoreDifferences)
	}
	return arms.Changes(arms.Differences(*baseline, *system)), 0
}

func scenariosTable(scenarios []*scenario) *document.Table {
	result := &document.Table{Caption: "Scenarios and their loads", Columns: document.TextColumns("Scenario", "Load", "Description")}
	for _, scenario := range scenarios {
		for i, load := range scenario.Loads {
			result.Rows = append(result.Rows, document.Row{First: i == 0, Cells: []document.Cell{nameCell(scenario.Name), nameCell(load.Name), {Text: capitalize(describeLoad(load))}}})
		}
	}
	return result
}

// faultsTable has what the faults of each scenario do, and when.
func faultsTable(scenarios []*scenario) *document.Table {
	result := &document.Table{Caption: "Faults", Columns: document.TextColumns("Scenario", "Fault", "Effect", "Time", "Observed for")}
	for _, scenario := range scenarios {
		for i, fault := range scenario.Faults {
			result.Rows = append(result.Rows, document.Row{First: i == 0, Cells: slices.Concat([]document.Cell{nameCell(scenario.Name), nameCell(fault.Name)},
				document.TextCells(capitalize(fault.Effect()), faults.When(fault), prose.Duration(fault.ObserveOrDefault())))})
		}
	}
	return result
}
