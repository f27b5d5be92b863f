// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/measure/results"
	"perflab.dev/perflab/internal/text/prose"
	"perflab.dev/perflab/payload"
)

// restart is a container of the system that ended while load was on, and was started again.
type restart struct {
	payload.ContainerEnd
	// minute since the load began.
	minute float64
}

// takeRestarts takes those that the collector saw under load, in the order of time.
func (t *Trace) takeRestarts(samples *payload.Samples, load results.Window) {
	for _, one := range results.Ends(samples, load) {
		t.restarts = append(t.restarts, restart{one, minutes(load.From, one.At)})
	}
	slices.SortStableFunc(t.restarts, func(a, b restart) int { return a.At.Compare(b.At) })
}

// mostRestarts of a run are drawn; more would hide its line.
const mostRestarts = 8

// restartBands are the restarts to draw, each at its moment.
func restartBands(all []restart) []Band {
	var bands []Band
	for _, one := range all[:min(len(all), mostRestarts)] {
		bands = append(bands, one.band())
	}
	return bands
}

func (r restart) band() Band { return Band{r.words(), r.minute, r.minute} }

// words name who ended, and why.
func (r restart) words() string {
	text := r.who() + " restarted"
	if r.Count > 1 {
		text += " " + times(r.Count)
	}
	if why := r.why(); why != "" {
		text += " (" + why + ")"
	}
	return text
}

// who ended: a module by its name, other components as metrics name them.
func (r restart) who() string { return strings.TrimPrefix(r.Component, metric.Module+"/") }

// why it ended, as far as the kubelet told. Error is all it says of any exit code.
func (r restart) why() string {
	if r.ExitCode != 0 && (r.Reason == "" || r.Reason == "Error") {
		return fmt.Sprintf("exit code %d", r.ExitCode)
	}
	return r.Reason
}

// toldRestarts says in words which restarts a line bears.
func toldRestarts(all []restart) string {
	text := ""
	for _, one := range restartBands(all) {
		text += fmt.Sprintf("%s into the load: %s. ", intoLoad(one), one.Name)
	}
	if more := len(all) - mostRestarts; more > 0 {
		text += fmt.Sprintf("And %s. ", prose.Counted(more, "further restart"))
	}
	return text
}

// runRestart is a restart with the run it was in.
type runRestart struct {
	run *v1alpha1.PerfRun
	restart
}

// maxListedRestarts of an experiment are listed.
const maxListedRestarts = 50

// restartTable lists the containers that ended under load, in the order of the runs.
func restartTable(r *record) []block {
	all := restartsOf(r)
	result := &table{
		Caption: "Containers that ended under load and were started again (UTC)",
		Columns: slices.Concat(words("Component", "Container", "At"), numbers("Times"), words("Why"), numbers("Block"), words("Scenario", "Arm"), numbers("Attempt", "Into the load")),
	}
	for i, one := range all[:min(len(all), maxListedRestarts)] {
		result.Rows = append(result.Rows, row{First: i == 0 || one.run != all[i-1].run, Cells: []cell{
			name(one.who()), name(one.Instance),
			{Text: moment(one.At)},
			{Text: whole(one.Count)},
			{Text: cmp.Or(one.why(), dash)},
			{Text: whole(one.run.Spec.Block)},
			name(one.run.Spec.Scenario.Name), ofArm(one.run.Spec.Arm),
			{Text: whole(one.run.Spec.Attempt)},
			{Text: intoLoad(one.band())},
		}})
	}
	if len(all) > 0 {
		result.Note = "Charts over time show those of the runs they draw."
	}
	if more := len(all) - maxListedRestarts; more > 0 {
		result.Note += fmt.Sprintf(" The first %d are listed; %s.", maxListedRestarts, leftOut(more, "restart"))
	}
	return result.blocks()
}

// restartsOf all runs.
func restartsOf(r *record) []runRestart {
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
