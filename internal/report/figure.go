// SPDX-License-Identifier: Apache-2.0

package report

import (
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

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

// Size of a figure's picture, in points.
const (
	figureWidth  = vg.Length(260)
	figureHeight = vg.Length(22)
)

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
	low, high := reachOf(rows, margin)
	return sketched(figureWidth, figureHeight, func(canvas draw.Canvas) {
		x := func(value float64) vg.Length {
			return canvas.Min.X + vg.Length((value-low)/(high-low))*(canvas.Max.X-canvas.Min.X)
		}
		line, of := (canvas.Min.Y+canvas.Max.Y)/2, lookOf(string(c.Verdict)).role.light
		canvas.FillPolygon(roleMargin.light, rectangle(x(-margin), canvas.Min.Y, x(margin), canvas.Max.Y))
		canvas.StrokeLine2(draw.LineStyle{Color: roleMuted.light, Width: 0.75}, x(0), canvas.Min.Y, x(0), canvas.Max.Y)
		interval(canvas, x, c.Low, c.High, line, of)
		at := clamp(x(c.Delta), canvas.Min.X, canvas.Max.X)
		canvas.DrawGlyph(draw.GlyphStyle{Color: of, Radius: 5, Shape: draw.CircleGlyph{}}, vg.Point{X: at, Y: line})
	})
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
