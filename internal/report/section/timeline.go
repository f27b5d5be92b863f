// SPDX-License-Identifier: Apache-2.0

package section

import (
	"fmt"
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/report/chart"
	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/digits"
	"perflab.dev/perflab/internal/text/prose"
)

// timedTransactions are the transactions of a scenario with a course over time.
func timedTransactions(_ *Record, scenario *scenario) []string {
	var subjects []string
	for _, load := range scenario.Loads {
		if kinds.IsBatch(load) {
			continue
		}
		for _, transaction := range scenario.transactions(load.Name) {
			subjects = append(subjects, metric.Name(load.Name, transaction))
		}
	}
	return subjects
}

// timeline shows response times over a typical run of each arm.
func timeline(_ *Record, under *scenario, subject string) (document.Chart, bool) {
	_, transaction := metric.CutOwner(metric.Plain(subject))
	whole := func(value float64) string { return digits.Fixed(value, 0) }
	return courseChart{subject, metric.Name(subject, metric.Average), transaction + " over a typical run", metric.UnitMilliseconds, whole}.chart(under,
		fmt.Sprintf("Average response time of %s under %s over the typical run of each arm, the one with the median average. ", transaction, under.Name))
}

// courseChart is a quantity with a course over a run, and its format.
type courseChart struct {
	// subject names the course; by is the metric that selects the typical run.
	subject, by string
	title, unit string
	// written formats a value without its unit.
	written func(float64) string
}

// chart draws a quantity over the typical run of each arm, and adds its ranges to the text.
func (c courseChart) chart(under *scenario, alt string) (document.Chart, bool) {
	result := document.Chart{Alt: alt}
	var lines []chart.Line
	var bands []chart.Band
	for _, arm := range under.arms {
		run := under.typicalRun(arm.Name, c.by)
		if run == nil {
			continue
		}
		trace, byHand, faults := under.traces[run.Name], runMarks(under.marks, run.Name), faultBands(run)
		one := chart.Line{Series: arm.series(), Block: run.Spec.Block, Points: trace.courses[c.subject], Batches: batchBands(run), Marks: slices.Concat(byHand, faults, restartBands(trace.restarts))}
		if metric.Parse(c.by).IsServer() {
			one.Marks = append(one.Marks, trace.silent...)
		}
		if len(one.Points) == 0 {
			continue
		}
		if len(one.Points) < chart.MinPoints {
			// Without the arms to compare with, no arm is shown.
			return result, false
		}
		var runs int
		one.Around, runs = under.around(c.subject, arm, one.Points)
		result.Alt += c.lineText(one, runs) + marksText(byHand) + faultsText(faults) + restartsText(trace.restarts)
		lines, bands = append(lines, one), warmUpBands(run)
	}
	if len(lines) > mostAround {
		for i := range lines {
			lines[i].Around = nil
		}
	}
	if len(lines) == 0 {
		return result, false
	}
	in := newDisplay(c.unit, chart.HighestAmong(lines))
	for i := range lines {
		lines[i] = lines[i].Times(in.factor)
	}
	result.Title = titleWithUnit(c.title, in.unit)
	result.SVG, result.Live = chart.Timeline(lines, bands), chart.NewLive(lines, bands, unitLabel(in.unit))
	return result, true
}

// lineText describes a line, and the number of runs around it.
func (c courseChart) lineText(one chart.Line, runs int) string {
	in := newDisplay(c.unit, chart.Lowest(one.Points), chart.Highest(one.Points))
	write := func(value float64) string { return c.written(value * in.factor) }
	text := fmt.Sprintf("%s (block %d): from %s to %s", one.Series.Name, one.Block, write(chart.Lowest(one.Points)), withUnit(write(chart.Highest(one.Points)), in.unit))
	if one.Around != nil {
		all := extremes(one.Around)
		text += fmt.Sprintf("; %s: from %s to %s", prose.Counted(runs, "run"), write(all.Low), withUnit(write(all.High), in.unit))
	}
	return text + ". "
}

// batchBands are the batches of a run that ran beside other load.
func batchBands(run *v1alpha1.PerfRun) []chart.Band {
	var batches []chart.Band
	start := timeValue(run.Status.Timings.LoadStart)
	for _, load := range run.Spec.Scenario.Loads {
		for _, status := range run.Status.Loads {
			if status.Name == load.Name && kinds.IsBatch(load) && status.StartTime != nil && status.FinishTime != nil {
				batches = append(batches, chart.Band{Name: load.Name, From: minutes(start, status.StartTime.Time), To: minutes(start, status.FinishTime.Time)})
			}
		}
	}
	return batches
}

// warmUpBands is the warm-up of a run, if it has one.
func warmUpBands(run *v1alpha1.PerfRun) []chart.Band {
	if warmUp := run.Spec.Measurement.WarmUpOrDefault(); warmUp > 0 {
		return []chart.Band{{Name: "warm-up", From: 0, To: warmUp.Minutes()}}
	}
	return nil
}
