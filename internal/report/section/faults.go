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
				part := fmt.Sprintf("%s with %s", lossText(found), arm.Name)
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

// lossText is "none" if more was done after the fault than before, by chance.
func lossText(lost *values) string {
	if lost.center() <= 0 {
		return "none"
	}
	return withUnit(lost.text(), metric.UnitSeconds)
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
			"Excess errors", "Excess response time, s")),
	}
	for _, fault := range under.Faults {
		for _, load := range under.Loads {
			if !kinds.IsBatch(load) {
				result.Rows = append(result.Rows, faultRows(under, fault.Name, load.Name)...)
			}
		}
	}
	if len(result.Rows) == 0 {
		return faultPhaseTable(under)
	}
	blocks := append(result.Blocks(), document.Paragraph(
		"Lost time is how long the undisturbed load takes for the successful transactions that are missing after the fault. "+
			objectivesText(under)+
			"Excess errors and response times are relative to the undisturbed part of the same run, until the observation ends."))
	return append(blocks, faultPhaseTable(under)...)
}

// faultPhaseTable has the times of what follows each fault.
func faultPhaseTable(under *scenario) []document.Block {
	columns := slices.DeleteFunc(slices.Clone(faultPhases), func(phase faultPhase) bool { return !phase.isKnown(under) })
	if len(columns) == 0 {
		return nil
	}
	result := &document.Table{Caption: "Phases after faults, in seconds since the start of the fault", Columns: document.TextColumns("Fault", "Load", "Arm")}
	for _, phase := range columns {
		result.Columns = append(result.Columns, document.NumberColumns(phase.title)...)
	}
	for _, fault := range under.Faults {
		for _, load := range under.Loads {
			for i, arm := range under.arms {
				cells := []document.Cell{nameCell(fault.Name), nameCell(load.Name), armCell(arm.Name)}
				for _, phase := range columns {
					cells = append(cells, document.TextCells(phase.text(under, load.Name, fault.Name, arm.Name))...)
				}
				result.Rows = append(result.Rows, document.Row{First: i == 0, Cells: cells})
			}
		}
	}
	text := "Times are means over runs. During an outage, fewer than half of the usual transactions succeed, or the share of failures is over 10 points above the usual one."
	if slices.ContainsFunc(columns, func(phase faultPhase) bool { return phase.title == lagDrained }) {
		text += " The Kafka consumer lag has drained when it is at most its maximum before the fault."
	}
	return append(result.Blocks(), document.Paragraph(text))
}

// lagDrained is the title of a phase.
const lagDrained = "Lag drained"

// faultPhase is a column of faultPhaseTable.
type faultPhase struct {
	title string
	// metric of a load and a fault; empty for the pods.
	metric func(load, fault string) string
}

var faultPhases = []faultPhase{
	{"First outage", func(load, fault string) string { return faultMetric(load, fault, metric.OutageStart) }},
	{"End of the last outage", func(load, fault string) string { return faultMetric(load, fault, metric.RecoveryTime) }},
	{title: "Ready again"},
	{lagDrained, func(_, fault string) string { return lagMetric(fault, metric.DrainTime) }},
	{"Highest lag, messages", func(_, fault string) string { return lagMetric(fault, metric.Max) }},
}

// lagMetric is a statistic of the lag of all Kafka consumers after a fault.
func lagMetric(fault, statistic string) string {
	return metric.In(metric.Name(metric.KafkaLag, statistic), metric.AfterFault(fault))
}

// isKnown reports whether any arm has the phase.
func (p faultPhase) isKnown(under *scenario) bool {
	for _, fault := range under.Faults {
		for _, load := range under.Loads {
			for _, arm := range under.arms {
				if p.text(under, load.Name, fault.Name, arm.Name) != digits.Dash {
					return true
				}
			}
		}
	}
	return false
}

func (p faultPhase) text(under *scenario, load, fault, arm string) string {
	if p.metric == nil {
		return readyText(under.validRuns(arm), fault)
	}
	return under.at(p.metric(load, fault), arm).text()
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
	return fmt.Sprintf("Transactions that take longer than the objective (%s) count as missing. ", prose.List(parts, "and"))
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
				of(metric.ExcessTime).text())...)})
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
		Title: fmt.Sprintf("Successful transactions of %s after %s, %% of the undisturbed rate", of.Of, fault),
		Alt:   fmt.Sprintf("Rate of successful transactions of %s under %s from the start of fault %s, as the mean over the runs of each arm, in percent of the undisturbed rate. %s", of.Of, under.Name, fault, text),
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
