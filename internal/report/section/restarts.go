// SPDX-License-Identifier: Apache-2.0

package section

import (
	"cmp"
	"fmt"
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/digits"
)

// runRestart is a restart with its run.
type runRestart struct {
	run *v1alpha1.PerfRun
	restart
}

// maxListedRestarts is the maximum number of restarts listed for an experiment.
const maxListedRestarts = 50

// restartTable lists the containers that ended under load, in the order of the runs.
func restartTable(r *Record) []document.Block {
	all := allRestarts(r)
	result := &document.Table{
		Caption: "Container restarts under load (UTC)",
		Columns: slices.Concat(document.TextColumns("Component", "Container", "At"), document.NumberColumns("Times"), document.TextColumns("Reason"), document.NumberColumns("Block"), document.TextColumns("Scenario", "Arm"), document.NumberColumns("Attempt", "Into the load")),
	}
	for i, one := range all[:min(len(all), maxListedRestarts)] {
		result.Rows = append(result.Rows, document.Row{First: i == 0 || one.run != all[i-1].run, Cells: []document.Cell{
			nameCell(one.component()), nameCell(one.Instance),
			{Text: digits.Time(one.At)},
			{Text: digits.Count(one.Count)},
			{Text: cmp.Or(one.reason(), digits.Dash)},
			{Text: digits.Count(one.run.Spec.Block)},
			nameCell(one.run.Spec.Scenario.Name), armCell(one.run.Spec.Arm),
			{Text: digits.Count(one.run.Spec.Attempt)},
			{Text: timeIntoLoad(one.band())},
		}})
	}
	if len(all) > 0 {
		result.Note = "Charts over time show the restarts of the runs that they draw."
	}
	if more := len(all) - maxListedRestarts; more > 0 {
		result.Note += fmt.Sprintf(" The first %d are listed; %s.", maxListedRestarts, document.LeftOut(more, "restart"))
	}
	return result.Blocks()
}

// allRestarts are the restarts of all runs.
func allRestarts(r *Record) []runRestart {
	var all []runRestart
	for _, run := range r.journal {
		if trace := r.Traces[run.Name]; trace != nil {
			for _, one := range trace.restarts {
				all = append(all, runRestart{run, one})
			}
		}
	}
	return all
}
