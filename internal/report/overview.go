// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"

	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/text/prose"
)

// overview says what was compared, on what, and how far it came.
func overview(r *record) []block {
	system := "the system it declares"
	if reference := r.Experiment.Spec.SystemRef; reference != nil {
		system = "PerfSystem " + reference.Name
	}
	if r.isElsewhere() {
		system = "an undeclared system"
	}
	on := fmt.Sprintf("%s, on %s, under %s.", r.answer.Baseline, system, prose.Counted(len(r.scenarios), "scenario"))
	text := "This experiment measures " + on + " It has no other arm to compare with."
	var others []string
	for _, arm := range r.candidates() {
		others = append(others, arm.Name)
	}
	if len(others) > 0 {
		text = "This experiment compares " + listed(others) + " with the baseline " + on
	}
	if r.isElsewhere() {
		text += " " + r.elsewhereSentence()
	}
	return []block{paragraph(text), {Table: armsTable(r)}, {Table: scenariosTable(r.scenarios)}}
}

// maxDifferences are listed per arm; a heap that differs in ninety modules is
// told once.
const maxDifferences = 8

func armsTable(r *record) *table {
	result := &table{Caption: "Arms and how they differ from the baseline", Columns: words("Arm", "Name", "Setting", "Baseline", "This arm")}
	for _, arm := range r.arms {
		result.Rows = append(result.Rows, armRows(r, arm)...)
	}
	return result
}

// armRows are what an arm changes, or the one row that says why nothing.
func armRows(r *record, of arm) []row {
	named := []cell{ofArm(of.Name), {}}
	if real := r.labels.nameOf(of.Name); real != of.Name {
		named[1] = name(real)
	}
	only := func(text string) []row {
		return []row{{First: true, Cells: append(named, texts(text, "", "")...)}}
	}
	switch {
	case of.Baseline:
		return only("the baseline")
	case of.Twin:
		return only("none: the baseline once more, to measure noise")
	}
	changes, unlisted := changesOf(r, of)
	if len(changes) == 0 {
		return only("nothing recorded")
	}
	var rows []row
	for i, change := range changes[:min(len(changes), maxDifferences)] {
		rows = append(rows, row{First: i == 0, Cells: slices.Concat(named, texts(change.Setting, change.Baseline, change.Arm))})
	}
	if more := max(len(changes)-maxDifferences, 0) + unlisted; more > 0 {
		rows = append(rows, row{Cells: slices.Concat(named, texts(fmt.Sprintf("and %d more", more), "", ""))})
	}
	return rows
}

// changesOf an arm from the baseline, by what their runs were given. Without
// such runs they are those of the status, which leaves some unlisted.
func changesOf(r *record, of arm) (changes []arms.Change, unlisted int) {
	baseline, system := arms.RecordedSystem(r.Runs, r.answer.Baseline), arms.RecordedSystem(r.Runs, of.Name)
	if baseline == nil || system == nil {
		return arms.Changes(of.Differences), int(of.MoreDifferences)
	}
	return arms.Changes(arms.Differences(*baseline, *system)), 0
}

func scenariosTable(scenarios []*scenario) *table {
	result := &table{Caption: "Scenarios and their loads", Columns: words("Scenario", "Load", "What it does")}
	for _, scenario := range scenarios {
		for i, load := range scenario.Loads {
			result.Rows = append(result.Rows, row{First: i == 0, Cells: []cell{name(scenario.Name), name(load.Name), {Text: capital(describeLoad(load))}}})
		}
	}
	return result
}
