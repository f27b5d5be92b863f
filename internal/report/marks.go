// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
)

// mark is a moment, or a stretch of time, that a person has put words to.
type mark struct {
	words       string
	from, until time.Time
	// at are the runs whose load it falls in, with the minutes of each.
	at []markedRun
}

type markedRun struct {
	run *v1alpha1.PerfRun
	Band
}

// marksIn are the experiment's marks, in the order of time.
func marksIn(experiment *v1alpha1.PerfExperiment, runs journal) []mark {
	var all []mark
	for i := range experiment.Spec.Notes {
		declared := &experiment.Spec.Notes[i]
		if declared.At == nil {
			continue
		}
		one := mark{words: declared.Text, from: declared.At.Time, until: later(declared.At.Time, timeOf(declared.Until))}
		for _, run := range runs {
			if within, falls := one.within(run); falls {
				one.at = append(one.at, markedRun{run, within})
			}
		}
		all = append(all, one)
	}
	slices.SortStableFunc(all, func(a, b mark) int { return a.from.Compare(b.from) })
	return all
}

// within a run's load, in minutes since it began. That of a run that is on has no end.
func (m mark) within(run *v1alpha1.PerfRun) (Band, bool) {
	start, end := timeOf(run.Status.Timings.LoadStart), timeOf(run.Status.Timings.LoadFinish)
	isOver := !end.IsZero() || run.Status.Phase.IsFinal()
	if start.IsZero() || m.until.Before(start) || isOver && m.from.After(end) {
		return Band{}, false
	}
	until := m.until
	if isOver {
		until = earlier(until, end)
	}
	return Band{m.words, minutes(start, later(m.from, start)), minutes(start, until)}, true
}

// marksOf a run.
func marksOf(all []mark, run string) []Band {
	var own []Band
	for _, one := range all {
		for _, at := range one.at {
			if at.run.Name == run {
				own = append(own, at.Band)
			}
		}
	}
	return own
}

// intoLoad says when something was, as the axis of a run of that length does.
func intoLoad(b Band) string {
	axis := TimeAxisUntil(b.To)
	from, to := axis.Write(b.From), axis.Write(b.To)
	if from == to {
		return withUnit(to, axis.Unit)
	}
	return from + " to " + withUnit(to, axis.Unit)
}

// toldMarks says in words which marks a line bears.
func toldMarks(all []Band) string {
	text := ""
	for _, one := range all {
		text += fmt.Sprintf("Marked by hand %s into the load: %s. ", intoLoad(one), one.Name)
	}
	return text
}

// maxMarkedRuns of a mark are listed.
const maxMarkedRuns = 5

// markTable lists what people have marked, with the runs it falls in.
func markTable(r *record) []block {
	result := &table{
		Caption: "Marked by hand, not measured (UTC)",
		Columns: slices.Concat(words("Mark", "From", "Until"), numbers("Block"), words("Scenario", "Arm"), numbers("Into the load"), words("Run")),
	}
	more := 0
	for _, one := range r.marks {
		for i, at := range one.at[:min(len(one.at), maxMarkedRuns)] {
			result.Rows = append(result.Rows, row{First: i == 0, Cells: append(one.cells(),
				cell{Text: whole(at.run.Spec.Block)}, name(at.run.Spec.Scenario.Name), ofArm(at.run.Spec.Arm), cell{Text: intoLoad(at.Band)}, name(at.run.Name))})
		}
		if len(one.at) == 0 {
			result.Rows = append(result.Rows, row{First: true, Cells: append(one.cells(), texts(dash, dash, dash, dash, "in no run's load")...)})
		}
		more += max(0, len(one.at)-maxMarkedRuns)
	}
	result.Note = "Charts over time show an arm's typical run, and its marks. A mark in another run stands here alone."
	if more > 0 {
		result.Note += fmt.Sprintf(" Of a mark the first %d runs are listed; %s.", maxMarkedRuns, leftOut(more, "run"))
	}
	return result.blocks()
}

func (m mark) cells() []cell {
	until := dash
	if m.until.After(m.from) {
		until = moment(m.until)
	}
	return texts(m.words, moment(m.from), until)
}
