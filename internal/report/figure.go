// SPDX-License-Identifier: Apache-2.0

package report

import (
	"math"
	"slices"

	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/measure/metric"
)

// figureOf a comparison, drawn on the scale of those shown beside it.
func figureOf(r *record, c shownComparison, beside []shownComparison) figure {
	label := opened(c.metric, c.metric.Phrase())
	if len(r.scenarios) > 1 {
		label = opened(c.metric, c.metric.Under(c.Scenario))
	}
	if r.severalArms() {
		label = c.Arm + ": " + label
	}
	baseline, arm := c.centers()
	return figure{
		Label: label, Delta: c.deltaCell(), Verdict: c.verdict(), Text: c.sentence(r.answer),
		Values: baseline + " → " + withUnit(arm, c.display().unit), Interval: c.interval(),
		SVG: intervalPicture(r.answer, c, beside),
	}
}

// intervalPicture draws delta and interval against none and the margin. Ratios beside
// each other share one scale.
func intervalPicture(a *answer, c shownComparison, beside []shownComparison) picture {
	if !c.judged() || math.IsNaN(c.Delta) {
		return ""
	}
	margin, rows := a.marginPercent, []shownComparison{c}
	if c.Scale == comparison.Ratio {
		rows = slices.DeleteFunc(slices.Clone(beside), func(other shownComparison) bool {
			return other.Scale != comparison.Ratio || !other.judged()
		})
	} else {
		margin *= math.Abs(c.BaselineCenter) / 100
	}
	return Interval(drawnDeltas([]shownComparison{c})[0], drawnDeltas(rows), margin)
}

// maxHeroArms are shown in the card's chart: more would fill the first screen.
const maxHeroArms = 4

// heroOf is the one chart of the card: every run of the metric that decides most.
func heroOf(r *record) *chart {
	scenario, subject := heroSubject(r)
	if subject == "" {
		return nil
	}
	under := *r.under(scenario)
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

// heroSubject is the scenario and metric of the first key comparison; where nothing is
// judged, of the first primary metric that some run has.
func heroSubject(r *record) (scenario, subject string) {
	if key := keyComparisons(r.answer); len(key) > 0 && !r.describesOnly() {
		return key[0].Scenario, key[0].Metric
	}
	for _, under := range r.scenarios {
		if primary := primaryMetrics(r, under); len(primary) > 0 {
			return under.Name, primary[0]
		}
	}
	return "", ""
}
