// SPDX-License-Identifier: Apache-2.0

package section

import (
	"fmt"
	"slices"
	"strings"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/stats"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/measure/results"
	"perflab.dev/perflab/internal/report/chart"
	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/digits"
	"perflab.dev/perflab/internal/text/prose"
)

// faultMetric is the cost of a fault for a load.
func faultMetric(load, fault, statistic string) string {
	return metric.In(metric.Name(load, statistic), metric.AfterFault(fault))
}

// faultSentence states what the faults of a scenario cost each arm. For example: After
// primary-lost, cico loses 3.1 s with asynchronous (2.4 to 4.0) and 9.8 s with
// synchronous (8.1 to 11.5) of its undisturbed work.
func faultSentence(under *scenario) string {
	var sentences []string
	for _, fault := range under.Faults {
		for _, load := range under.Loads {
			var parts []string
			for _, arm := range under.armsInTables() {
				found := under.at(faultMetric(load.Name, fault.Name, metric.LostTime), arm.Name)
				if found == nil {
					continue
				}
				part := fmt.Sprintf("%s with %s", withUnit(found.text(), metric.UnitSeconds), arm.Name)
				if interval := intervalText(found); interval != digits.Dash {
					part += " (" + interval + ")"
				}
				parts = append(parts, part)
			}
			if len(parts) > 0 {
				sentences = append(sentences, fmt.Sprintf("After %s, %s loses %s of its undisturbed work%s.", fault.Name, load.Name, prose.List(parts, "and"), objectiveText(under, fault.Name)))
			}
		}
	}
	return strings.Join(sentences, " ")
}

// objectiveText is empty without an objective.
func objectiveText(under *scenario, fault string) string {
	if objective := under.Objective(fault); objective > 0 {
		return " within " + prose.Duration(objective)
	}
	return ""
}

// faultTable has the cost of each fault for each load in each arm.
func faultTable(_ *Record, under *scenario) []document.Block {
	result := &document.Table{
		Caption: "Cost of faults",
		Columns: slices.Concat(document.TextColumns("Fault", "Load", "Arm"), document.NumberColumns("Runs", "Lost time, s", "Interval",
			"Excess errors", "Excess response time, s", "Recovery time, s", "Pods ready again after, s")),
	}
	for _, fault := range under.Faults {
		for _, load := range under.Loads {
			if !kinds.IsBatch(load) {
				result.Rows = append(result.Rows, faultRows(under, fault.Name, load.Name)...)
			}
		}
	}
	if len(result.Rows) == 0 {
		return nil
	}
	return append(result.Blocks(), document.Paragraph(
		"Lost time is how long the load takes, undisturbed, for the successful transactions that are missing after the fault. "+
			objectivesText(under)+
			"Errors and response times are those beyond the undisturbed ones of the same run, until the observation ends. "+
			"The recovery time ends with the last stretch in which fewer than half of the usual transactions succeed, or a tenth more fail than usual."))
}

// objectivesText explains the objectives of the scenario's faults; empty without any.
func objectivesText(under *scenario) string {
	var parts []string
	for _, fault := range under.Faults {
		if objective := under.Objective(fault.Name); objective > 0 {
			parts = append(parts, fmt.Sprintf("%s for %s", prose.Duration(objective), fault.Name))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("Transactions that take longer than the objective (%s) are missing, too. ", prose.List(parts, "and"))
}

func faultRows(under *scenario, fault, load string) []document.Row {
	var rows []document.Row
	for i, arm := range under.arms {
		of := func(statistic string) *values { return under.at(faultMetric(load, fault, statistic), arm.Name) }
		lost := of(metric.LostTime)
		if lost == nil {
			continue
		}
		rows = append(rows, document.Row{First: i == 0, Cells: append(
			[]document.Cell{nameCell(fault), nameCell(load), armCell(arm.Name)},
			document.TextCells(digits.Count(len(lost.numbers)), lost.text(), intervalText(lost), of(metric.ExcessErrors).text(),
				of(metric.ExcessTime).text(), of(metric.RecoveryTime).text(), readyText(under.validRuns(arm.Name), fault))...)})
	}
	return rows
}

// readyText is the mean time until as many pods were ready as before, and the number of runs in
// which they were not.
func readyText(runs journal, fault string) string {
	var seconds []float64
	missing := 0
	for _, run := range runs {
		switch status := run.Status.Fault(fault); {
		case status == nil || status.Begin == nil:
		case status.Ready == nil:
			missing++
		default:
			seconds = append(seconds, status.Ready.Sub(status.Begin.Time).Seconds())
		}
	}
	text := digits.Dash
	if len(seconds) > 0 {
		text = digits.Rough(stats.Describe(seconds).Mean)
	}
	if missing > 0 {
		text += fmt.Sprintf(" (not in %s)", prose.Counted(missing, "run"))
	}
	return text
}

// faultBands are the moments of a run's faults, in minutes since its load began.
func faultBands(run *v1alpha1.PerfRun) []chart.Band {
	var all []chart.Band
	for _, status := range run.Status.Faults {
		if start := timeValue(run.Status.Timings.LoadStart); status.Begin != nil && !start.IsZero() {
			at := minutes(start, status.Begin.Time)
			all = append(all, chart.Band{Name: "fault " + status.Name, From: at, To: at})
		}
	}
	return all
}

// faultsText describes when the faults of a line's run happened.
func faultsText(all []chart.Band) string {
	text := ""
	for _, one := range all {
		text += fmt.Sprintf("%s %s into the load. ", capitalize(one.Name), timeIntoLoad(one))
	}
	return text
}

// recoveryCourse names the course of a load after a fault.
func recoveryCourse(load, fault string) string {
	return metric.In(rateCourse(load, doneCourse), metric.AfterFault(fault))
}

// addRecoveries adds the rate of successful transactions after each fault, in percent of the
// undisturbed rate.
func (t *Trace) addRecoveries(run *v1alpha1.PerfRun, load v1alpha1.Load, all map[string]results.Measured) {
	for _, fault := range run.Status.Faults {
		objective := run.Spec.Scenario.Objective(fault.Name)
		for _, at := range results.ObserveRecovery(load, all, run.Spec.Measurement, objective, fault) {
			t.add(recoveryCourse(load.Name, fault.Name), chart.SinglePoint(at.After.Minutes(), at.Percent))
		}
	}
}

// recoveredLoads are the loads and faults with a course after the fault.
func recoveredLoads(_ *Record, under *scenario) []string {
	var subjects []string
	for _, fault := range under.Faults {
		for _, load := range under.Loads {
			if !kinds.IsBatch(load) {
				subjects = append(subjects, faultMetric(load.Name, fault.Name, metric.LostTime))
			}
		}
	}
	return subjects
}

// recoveryChart draws, for each arm, the mean of its runs after a fault, with their extremes.
func recoveryChart(_ *Record, under *scenario, subject string) (document.Chart, bool) {
	of := metric.Parse(subject)
	fault, _ := metric.CutFault(of.Window)
	var lines []chart.Line
	text := ""
	for _, arm := range under.arms {
		points, around := under.meanRecovery(arm.Name, recoveryCourse(of.Of, fault))
		if len(points) < chart.MinPoints {
			continue
		}
		lines = append(lines, chart.Line{Series: arm.series(), Points: points, Around: around})
		text += fmt.Sprintf("%s: lowest %.0f %%. ", arm.Name, chart.Lowest(points))
	}
	if len(lines) == 0 || len(lines) > mostLines {
		return document.Chart{}, false
	}
	if len(lines) > mostAround {
		for i := range lines {
			lines[i].Around = nil
		}
	}
	drawn, live := chart.Since("the fault began", lines, metric.UnitPercent)
	return document.Chart{
		Title: fmt.Sprintf("Successful transactions of %s after %s, %% of undisturbed", of.Of, fault),
		Alt:   fmt.Sprintf("The rate of successful transactions of %s under %s from the begin of fault %s, as the mean of each arm's runs, in percent of the undisturbed rate. %s", of.Of, under.Name, fault, text),
		SVG:   drawn, Live: live,
	}, true
}

// meanRecovery is the mean of an arm's runs at each time after a fault, with their extremes. It
// omits runs with other times, which have wider buckets.
func (s *scenario) meanRecovery(arm, course string) (points []chart.Point, around []chart.Extent) {
	var courses [][]chart.Point
	for _, run := range s.validRuns(arm) {
		trace := s.traces[run.Name]
		if trace == nil {
			continue
		}
		if own := trace.courses[course]; len(own) > 0 && (len(courses) == 0 || own[0].Minutes == courses[0][0].Minutes) {
			courses = append(courses, own)
		}
	}
	for i := range shortest(courses) {
		at := chart.Point{Minutes: courses[0][i].Minutes}
		extent := courses[0][i].Extent
		for _, own := range courses {
			at.Value += own[i].Value / float64(len(courses))
			extent = extent.With(own[i].Extent)
		}
		at.Extent = chart.Extent{Low: at.Value, High: at.Value}
		points, around = append(points, at), append(around, extent)
	}
	if len(courses) < 2 {
		around = nil
	}
	return points, around
}

func shortest(courses [][]chart.Point) int {
	if len(courses) == 0 {
		return 0
	}
	return len(slices.MinFunc(courses, func(a, b []chart.Point) int { return len(a) - len(b) }))
}
