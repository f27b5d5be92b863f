// SPDX-License-Identifier: Apache-2.0

package section

import (
	"fmt"
	"math"

	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/report/chart"
	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/digits"
	"perflab.dev/perflab/internal/text/prose"
)

// maxForest is the number of comparisons in a chart.
const maxForest = 24

// forest shows deltas with their intervals against the margin.
func forest(r *Record, under *scenario, _ string) (document.Chart, bool) {
	return forestChart(r, under, "Deltas and intervals under ", func(c shownComparison) bool { return !c.Twin && isInForest(c) })
}

// noiseForest shows the same for the baseline's A/A control.
func noiseForest(r *Record, under *scenario, _ string) (document.Chart, bool) {
	return forestChart(r, under, "A/A control under ", func(c shownComparison) bool { return c.Twin && c.Primary })
}

// isInForest reports whether a comparison is deciding or closely related.
func isInForest(c shownComparison) bool {
	return c.Primary || !c.metric.IsServer() && c.metric.Request == "" && c.metric.Window == "" && (c.metric.Statistic == metric.P95 || c.metric.Statistic == metric.RecordsPerSecond)
}

func forestChart(r *Record, under *scenario, title string, wanted func(shownComparison) bool) (document.Chart, bool) {
	rows := r.answer.filter(func(c shownComparison) bool {
		return c.Scenario == under.Name && c.Scale == comparison.Ratio && !math.IsNaN(c.Delta) && c.hasEnoughBlocks() && wanted(c)
	})
	if len(rows) == 0 {
		return document.Chart{}, false
	}
	title += under.Name
	if more := len(rows) - maxForest; more > 0 {
		title += fmt.Sprintf(" (%d more in the tables)", more)
	}
	rows = rows[:min(len(rows), maxForest)]
	drawing := chart.Forest(r.forestRows(rows), r.answer.marginPercent, "Delta, % of "+r.answer.Baseline)
	return document.Chart{Title: title, Alt: forestAlt(r.answer, under.Name, rows), SVG: drawing}, true
}

func forestAlt(a *answer, scenario string, rows []shownComparison) string {
	alt := fmt.Sprintf("Deltas of %s with %s under %s, with the intervals behind the verdicts; the margin of %s %% is shaded. ", prose.Counted(len(rows), "comparison"), a.Baseline, scenario, digits.Exact(a.marginPercent))
	for _, c := range rows {
		alt += fmt.Sprintf("%s, %s: %s %% (%s), %s. ", metric.Plain(c.Metric), c.Arm, c.delta(), c.interval(), c.verdict())
	}
	return alt
}

// forestRows name the arms if there are several.
func (r *Record) forestRows(all []shownComparison) []chart.Delta {
	rows, indexes := chartDeltas(all), r.indexOfArms()
	for i, c := range all {
		one := &rows[i]
		one.Series, one.Name, one.Label = indexes[c.Arm], metric.Plain(c.Metric), c.delta()+" %"
		if r.severalArms() {
			one.Name += "  " + c.Arm
		}
		if c.Twin {
			one.Tone = chart.Inconclusive
		} else {
			one.Label += "  " + c.verdict()
		}
	}
	return rows
}

// chartDeltas are the deltas and intervals of comparisons, in the colors of their verdicts.
func chartDeltas(all []shownComparison) []chart.Delta {
	rows := make([]chart.Delta, 0, len(all))
	for _, c := range all {
		rows = append(rows, chart.Delta{Value: c.Delta, Low: c.Low, High: c.High, Tone: tones[c.Verdict]})
	}
	return rows
}

var tones = map[verdict.Verdict]chart.Role{
	verdict.Better: chart.Better, verdict.Worse: chart.Worse, verdict.Equivalent: chart.Equivalent,
	verdict.Inconclusive: chart.Inconclusive, verdict.None: chart.Inconclusive,
}
