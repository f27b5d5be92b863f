// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"perflab.dev/perflab/internal/comparison"
	"perflab.dev/perflab/internal/metric"
	"perflab.dev/perflab/internal/prose"
	"perflab.dev/perflab/internal/verdict"
)

// mostForest is how many comparisons a chart shows before it is a thicket.
const mostForest = 24

// forests show deltas with their intervals against the margin, a chart per
// scenario.
func (r *record) forests() []chart {
	return r.forestsOf("Deltas and intervals under ", "forest-", func(t told) bool { return !t.Twin && inForest(t) })
}

// noiseForests show the same of the baseline's twin.
func (r *record) noiseForests() []chart {
	return r.forestsOf("The twin under ", "noise-", func(t told) bool { return t.Twin && t.Primary })
}

func (r *record) forestsOf(title, file string, wanted func(told) bool) []chart {
	var charts []chart
	for _, scenario := range r.scenarios {
		var rows []told
		for i := range r.answer.Comparisons {
			one := tell(&r.answer.Comparisons[i])
			if one.Scenario == scenario.Name && one.Scale == comparison.Ratio && !math.IsNaN(one.Delta) && wanted(one) {
				rows = append(rows, one)
			}
		}
		if len(rows) == 0 {
			continue
		}
		made := r.forest(scenario.Name, rows[:min(len(rows), mostForest)])
		made.Title, made.Name = title+scenario.Name, file+scenario.Name
		if more := len(rows) - mostForest; more > 0 {
			made.Title += fmt.Sprintf(" (%d more in the tables)", more)
		}
		charts = append(charts, made)
	}
	return charts
}

// inForest: what decides, and what belongs to it.
func inForest(t told) bool {
	return t.Primary || !t.metric.IsServer() && t.metric.Request == "" && t.metric.Window == "" && (t.metric.Statistic == metric.P95 || t.metric.Statistic == metric.RecordsPerSecond)
}

func (r *record) forest(scenario string, rows []told) chart {
	p := newPlot("Delta, % of " + r.baseline())
	p.HideY()
	drawnRows := &forestRows{rows: rows, margin: r.answer.marginPercent, record: r}
	p.Add(drawnRows)
	reach := r.answer.marginPercent * 1.25
	for _, one := range rows {
		reach = math.Max(reach, math.Abs(one.Delta)*1.15)
		for _, end := range []float64{one.Low, one.High} {
			if !math.IsNaN(end) && !math.IsInf(end, 0) {
				// An interval far wider than the rest is cut off rather than
				// squeezing all others together.
				reach = math.Max(reach, math.Min(math.Abs(end)*1.08, 4*r.answer.marginPercent+2*math.Abs(one.Delta)))
			}
		}
	}
	p.X.Min, p.X.Max = -reach, reach
	p.Y.Min, p.Y.Max = 0, float64(len(rows))
	alt := fmt.Sprintf("Deltas of %s to %s under %s with %s %% intervals; the margin of %s %% is shaded. ", prose.Counted(len(rows), "comparison"), r.baseline(), scenario, plain(r.answer.confidencePercent), plain(r.answer.marginPercent))
	for _, one := range rows {
		alt += fmt.Sprintf("%s, %s: %s %% (%s), %s. ", one.Metric, one.Arm, one.delta(), one.interval(), one.verdict())
	}
	return chart{Alt: alt, SVG: drawn(p, vg.Length(len(rows))*rowHeight+46)}
}

const rowHeight = vg.Length(34)

// forestRows draws a row per comparison: its name and verdict over its interval.
type forestRows struct {
	rows   []told
	margin float64
	record *record
}

// Plot draws the rows from the top down.
func (f *forestRows) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	c.FillPolygon(roleMargin.light, rectangle(x(-f.margin), c.Min.Y, x(f.margin), c.Max.Y))
	c.StrokeLine2(draw.LineStyle{Color: roleMuted.light, Width: 0.75}, x(0), c.Min.Y, x(0), c.Max.Y)
	for i, one := range f.rows {
		top := y(float64(len(f.rows) - i))
		f.row(c, one, x, top)
	}
}

func (f *forestRows) row(c draw.Canvas, one told, x func(float64) vg.Length, top vg.Length) {
	of := roleOf(one.Verdict)
	line := top - 25
	left := textStyle(labelText, roleInk)
	left.YAlign = draw.YTop
	name := one.Metric
	if f.record.severalArms() {
		name += "  " + one.Arm
	}
	right := textStyle(labelText, of)
	right.XAlign, right.YAlign = draw.XRight, draw.YTop
	told := one.delta() + " %"
	if !one.Twin {
		told += "  " + one.verdict()
	} else {
		of = roleInconclusive
	}
	right.Color = of.light
	c.FillText(right, vg.Point{X: c.Max.X, Y: top - 3}, told)
	c.FillText(left, vg.Point{X: c.Min.X, Y: top - 3}, shortened(name, left, c.Max.X-c.Min.X-right.Width(told)-10))
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

func roleOf(of verdict.Verdict) role {
	switch of {
	case verdict.Better:
		return roleBetter
	case verdict.Worse:
		return roleWorse
	case verdict.Equivalent:
		return roleEquivalent
	default:
		return roleInconclusive
	}
}

func rectangle(left, bottom, right, top vg.Length) []vg.Point {
	return []vg.Point{{X: left, Y: bottom}, {X: right, Y: bottom}, {X: right, Y: top}, {X: left, Y: top}}
}

func clamp(value, low, high vg.Length) vg.Length { return max(low, min(value, high)) }

// shortened cuts the middle out of a text that is too wide.
func shortened(text string, style draw.TextStyle, width vg.Length) string {
	runes := []rune(text)
	for keep := len(runes); style.Width(text) > width && keep > 4; keep-- {
		text = string(runes[:keep/2]) + "…" + string(runes[len(runes)-keep/2:])
	}
	return text
}
