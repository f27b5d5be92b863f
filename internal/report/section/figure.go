// SPDX-License-Identifier: Apache-2.0

package section

import (
	"fmt"
	"math"
	"slices"

	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/report/chart"
	"perflab.dev/perflab/internal/report/document"
)

// newFigure shows a comparison, on the scale of those beside it.
func newFigure(r *Record, c shownComparison, beside []shownComparison) document.Figure {
	label := capitalizePhrase(c.metric, c.metric.Phrase())
	if len(r.scenarios) > 1 {
		label = capitalizePhrase(c.metric, c.metric.Under(c.Scenario))
	}
	if r.severalArms() {
		label = c.Arm + ": " + label
	}
	baseline, arm := c.centers()
	return document.Figure{
		Label: label, Delta: c.deltaCell(), Status: c.verdict(), Text: c.sentence(r.answer),
		Values: baseline + " → " + withUnit(arm, c.display().unit), Interval: c.interval(),
		SVG: intervalPicture(r.answer, c, beside),
	}
}

// intervalPicture draws delta and interval against zero and the margin. Ratios beside each other
// share one scale.
func intervalPicture(a *answer, c shownComparison, beside []shownComparison) document.Picture {
	if !c.hasEnoughBlocks() || math.IsNaN(c.Delta) {
		return ""
	}
	margin, rows := a.marginPercent, []shownComparison{c}
	if c.Scale == comparison.Ratio {
		rows = slices.DeleteFunc(slices.Clone(beside), func(other shownComparison) bool {
			return other.Scale != comparison.Ratio || !other.hasEnoughBlocks()
		})
	} else {
		margin *= math.Abs(c.BaselineCenter) / 100
	}
	return chart.Interval(chartDeltas([]shownComparison{c})[0], chartDeltas(rows), margin)
}

// maxHeroArms is the number of arms in the card's chart: more would fill the first screen.
const maxHeroArms = 4

// cardChart is the one chart of the card: every run of the most important metric.
func cardChart(r *Record) *document.Chart {
	scenario, subject := cardChartSubject(r)
	if subject == "" {
		return nil
	}
	under := *r.scenarioNamed(scenario)
	under.arms = slices.Clone(under.arms)
	if len(under.arms) > maxHeroArms {
		shown := []string{r.answer.Baseline}
		for _, c := range keyComparisons(r.answer) {
			if c.Scenario == scenario && c.Metric == subject {
				shown = append(shown, c.Arm)
			}
		}
		under.arms = slices.DeleteFunc(under.arms, func(one arm) bool { return !slices.Contains(shown, one.Name) })
	}
	result, _ := dots(r, &under, subject)
	result.Name = "hero"
	if len(r.scenarios) > 1 {
		result.Title = "Every run: " + metric.Parse(subject).Under(scenario)
	}
	return &result
}

// cardChartSubject is the scenario and metric of the first key comparison, or without verdicts of
// the first declared primary metric that some run has.
func cardChartSubject(r *Record) (scenario, subject string) {
	if key := keyComparisons(r.answer); len(key) > 0 && !r.describesOnly() {
		return key[0].Scenario, key[0].Metric
	}
	for _, under := range r.scenarios {
		primary := primaryMetrics(r, under)
		for _, declared := range r.answer.Question.Primary {
			if slices.Contains(primary, declared) {
				return under.Name, declared
			}
		}
	}
	return "", ""
}

func legend(a *answer) string {
	return fmt.Sprintf("The line is the interval behind the verdict; the shaded band is the margin of %s, within which differences do not matter.", percent(a.marginPercent))
}
