// SPDX-License-Identifier: Apache-2.0

package section

import (
	"fmt"
	"slices"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/report/chart"
)

// mark is a moment or a period that a note describes.
type mark struct {
	words       string
	from, until time.Time
	// at are the runs whose load overlaps the mark, with the minutes of each.
	at []markedRun
}

type markedRun struct {
	run *v1alpha1.PerfRun
	chart.Band
}

// newMarks are the experiment's marks, in chronological order.
func newMarks(experiment *v1alpha1.PerfExperiment, runs journal) []mark {
	var all []mark
	for i := range experiment.Spec.Notes {
		declared := &experiment.Spec.Notes[i]
		if declared.At == nil {
			continue
		}
		one := mark{words: declared.Text, from: declared.At.Time, until: laterTime(declared.At.Time, timeValue(declared.Until))}
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

// within returns the part of the mark within a run's load, in minutes since its start. The load
// of an active run is open-ended.
func (m mark) within(run *v1alpha1.PerfRun) (chart.Band, bool) {
	start, end := timeValue(run.Status.Timings.LoadStart), timeValue(run.Status.Timings.LoadFinish)
	isOver := !end.IsZero() || run.Status.Phase.IsFinal()
	if start.IsZero() || m.until.Before(start) || isOver && m.from.After(end) {
		return chart.Band{}, false
	}
	until := m.until
	if isOver {
		until = earlierTime(until, end)
	}
	return chart.Band{Name: m.words, From: minutes(start, laterTime(m.from, start)), To: minutes(start, until)}, true
}

// runMarks are the marks of a run.
func runMarks(all []mark, run string) []chart.Band {
	var own []chart.Band
	for _, one := range all {
		for _, at := range one.at {
			if at.run.Name == run {
				own = append(own, at.Band)
			}
		}
	}
	return own
}

// timeIntoLoad formats a time like the axis of a run of that length.
func timeIntoLoad(b chart.Band) string {
	axis := chart.NewTimeAxis(b.To)
	from, to := axis.Format(b.From), axis.Format(b.To)
	if from == to {
		return withUnit(to, axis.Unit)
	}
	return from + " to " + withUnit(to, axis.Unit)
}

// marksText describes the marks of a line.
func marksText(all []chart.Band) string {
	text := ""
	for _, one := range all {
		text += fmt.Sprintf("Manual mark %s into the load: %s. ", timeIntoLoad(one), one.Name)
	}
	return text
}
