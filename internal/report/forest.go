// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/text/prose"
)

// maxForest is how many comparisons a chart shows before it is a thicket.
const maxForest = 24

// forest shows deltas with their intervals against the margin.
func forest(r *record, under *scenario, _ string) (chart, bool) {
	return forestOf(r, under, "Deltas and intervals under ", func(c shownComparison) bool { return !c.Twin && inForest(c) })
}

// noiseForest shows the same of the baseline's twin.
func noiseForest(r *record, under *scenario, _ string) (chart, bool) {
	return forestOf(r, under, "The baseline's twin under ", func(c shownComparison) bool { return c.Twin && c.Primary })
}

// inForest: what decides, and what belongs to it.
func inForest(c shownComparison) bool {
	return c.Primary || !c.metric.IsServer() && c.metric.Request == "" && c.metric.Window == "" && (c.metric.Statistic == metric.P95 || c.metric.Statistic == metric.RecordsPerSecond)
}

func forestOf(r *record, under *scenario, title string, wanted func(shownComparison) bool) (chart, bool) {
	rows := r.answer.where(func(c shownComparison) bool {
		return c.Scenario == under.Name && c.Scale == comparison.Ratio && !math.IsNaN(c.Delta) && c.judged() && wanted(c)
	})
	if len(rows) == 0 {
		return chart{}, false
	}
	title += under.Name
	if more := len(rows) - maxForest; more > 0 {
		title += fmt.Sprintf(" (%d more in the tables)", more)
	}
	rows = rows[:min(len(rows), maxForest)]
	p := newPlot("Delta, % of " + r.answer.Baseline)
	p.HideY()
	p.Add(&forestRows{rows: rows, margin: r.answer.marginPercent, indexOf: r.indexOfArms(), namesArms: r.severalArms()})
	p.X.Min, p.X.Max = reachOf(rows, r.answer.marginPercent)
	p.Y.Min, p.Y.Max = 0, float64(len(rows))
	return chart{Title: title, Alt: forestAlt(r.answer, under.Name, rows), SVG: drawn(p, vg.Length(len(rows))*rowHeight+46)}, true
}

// reachOf a forest is from where to where its deltas and intervals go, in percent,
// with none and the margin in view.
func reachOf(rows []shownComparison, margin float64) (low, high float64) {
	low, high = -margin*1.25, margin*1.25
	for _, c := range rows {
		for _, end := range []float64{c.Delta, c.Low, c.High} {
			if !math.IsNaN(end) && !math.IsInf(end, 0) {
				// An interval far wider than the rest is cut off rather than
				// squeezing all others together.
				most := 4*margin + 2*math.Abs(c.Delta)
				end = math.Max(-most, math.Min(most, end)) * 1.08
				low, high = math.Min(low, end), math.Max(high, end)
			}
		}
	}
	return low, high
}

func forestAlt(a *answer, scenario string, rows []shownComparison) string {
	alt := fmt.Sprintf("Deltas of %s to %s under %s with the intervals that decided; the margin of %s %% is shaded. ", prose.Counted(len(rows), "comparison"), a.Baseline, scenario, plain(a.marginPercent))
	for _, c := range rows {
		alt += fmt.Sprintf("%s, %s: %s %% (%s), %s. ", metric.Plain(c.Metric), c.Arm, c.delta(), c.interval(), c.verdict())
	}
	return alt
}

const (
	rowHeight = vg.Length(34)
	// belowName of a row its interval has room.
	belowName = vg.Length(18)
)

// forestRows draws a row per comparison: its name and verdict over its interval.
type forestRows struct {
	rows   []shownComparison
	margin float64
	// indexOf the arms among the report's.
	indexOf map[string]int
	// namesArms: there are several.
	namesArms bool
}

// Plot draws the rows from the top down.
func (f *forestRows) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	c.FillPolygon(roleMargin.light, rectangle(x(-f.margin), c.Min.Y, x(f.margin), c.Max.Y))
	for i, one := range f.rows {
		top := y(float64(len(f.rows) - i))
		// None is marked beside the intervals: a line through all rows would go through their names.
		c.StrokeLine2(draw.LineStyle{Color: roleMuted.light, Width: 0.75}, x(0), top-rowHeight, x(0), top-belowName)
		marked(c, f.indexOf[one.Arm], func() { f.row(c, one, x, top) })
	}
}

func (f *forestRows) row(c draw.Canvas, one shownComparison, x func(float64) vg.Length, top vg.Length) {
	of := lookOf(string(one.Verdict)).role
	line := top - 25
	left := textStyle(labelText, roleInk)
	left.YAlign = draw.YTop
	name := metric.Plain(one.Metric)
	if f.namesArms {
		name += "  " + one.Arm
	}
	right := textStyle(labelText, of)
	right.YAlign = draw.YTop
	delta := one.delta() + " %"
	if !one.Twin {
		delta += "  " + one.verdict()
	} else {
		of = roleInconclusive
	}
	right.Color = of.light
	writeUntil(c, right, vg.Point{X: c.Max.X, Y: top - 3}, delta)
	room := c.Max.X - c.Min.X - (right.Width(delta)+10)*widerFont
	c.FillText(left, vg.Point{X: c.Min.X, Y: top - 3}, shortened(name, left, room))
	interval(c, x, one.Low, one.High, line, of.light)
	at := clamp(x(one.Delta), c.Min.X, c.Max.X)
	c.DrawGlyph(draw.GlyphStyle{Color: of.light, Radius: 4, Shape: draw.CircleGlyph{}}, vg.Point{X: at, Y: line})
}

// interval draws a line with ends; an end outside the chart has none.
func interval(c draw.Canvas, x func(float64) vg.Length, low, high float64, line vg.Length, of color.Color) {
	if math.IsNaN(low) || math.IsNaN(high) {
		return
	}
	style := draw.LineStyle{Color: of, Width: 2}
	from, to := clamp(x(low), c.Min.X, c.Max.X), clamp(x(high), c.Min.X, c.Max.X)
	c.StrokeLine2(style, from, line, to, line)
	style.Width = 1.25
	if from > c.Min.X {
		c.StrokeLine2(style, from, line-3.5, from, line+3.5)
	}
	if to < c.Max.X {
		c.StrokeLine2(style, to, line-3.5, to, line+3.5)
	}
}

func rectangle(left, bottom, right, top vg.Length) []vg.Point {
	return []vg.Point{{X: left, Y: bottom}, {X: right, Y: bottom}, {X: right, Y: top}, {X: left, Y: top}}
}

func clamp(value, low, high vg.Length) vg.Length { return max(low, min(value, high)) }

// shortened cuts the middle out of a text that is too wide, in whatever font it comes out.
func shortened(text string, style draw.TextStyle, width vg.Length) string {
	runes := []rune(text)
	for keep := len(runes); style.Width(text)*widerFont > width && keep > 4; keep-- {
		text = string(runes[:keep/2]) + "…" + string(runes[len(runes)-keep/2:])
	}
	return text
}
