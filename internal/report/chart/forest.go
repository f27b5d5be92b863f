// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"perflab.dev/perflab/internal/report/document"
)

// Delta is a difference with its interval, in percent or in a unit.
type Delta struct {
	// Series is the index of the series that differs.
	Series int
	// Name stands above the interval on the left, Label on the right.
	Name, Label      string
	Value, Low, High float64
	Tone             Role
}

// Forest draws a row for each delta, with the margin around zero shaded.
func Forest(rows []Delta, margin float64, xLabel string) document.Picture {
	p := newPlot(xLabel)
	p.HideY()
	p.Add(&forestRows{rows, margin})
	p.X.Min, p.X.Max = deltaExtent(rows, margin)
	p.Y.Min, p.Y.Max = 0, float64(len(rows))
	return render(p, vg.Length(len(rows))*rowHeight+46)
}

// deltaExtent is the extent of all deltas and intervals, with zero and the margin in view.
func deltaExtent(rows []Delta, margin float64) (low, high float64) {
	low, high = -margin*1.25, margin*1.25
	for _, one := range rows {
		for _, end := range []float64{one.Value, one.Low, one.High} {
			if !math.IsNaN(end) && !math.IsInf(end, 0) {
				// An interval far wider than the rest is cut off rather than
				// squeezing all others together.
				most := 4*margin + 2*math.Abs(one.Value)
				end = math.Max(-most, math.Min(most, end)) * 1.08
				low, high = math.Min(low, end), math.Max(high, end)
			}
		}
	}
	if low == high {
		// All are 0, and so is the margin.
		return -1, 1
	}
	return low, high
}

const (
	rowHeight = vg.Length(34)
	// belowName is the room for the interval of a row.
	belowName = vg.Length(18)
)

// forestRows draws a row for each delta: its name and label over its interval.
type forestRows struct {
	rows   []Delta
	margin float64
}

// Plot draws the rows from the top down.
func (f *forestRows) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	c.FillPolygon(roleMargin.light, rectangle(x(-f.margin), c.Min.Y, x(f.margin), c.Max.Y))
	for i, one := range f.rows {
		top := y(float64(len(f.rows) - i))
		// Zero is marked beside the intervals: a line through all rows would cross their names.
		c.StrokeLine2(draw.LineStyle{Color: roleMuted.light, Width: 0.75}, x(0), top-rowHeight, x(0), top-belowName)
		grouped(c, one.Series, func() { one.row(c, x, top) })
	}
}

func (d Delta) row(c draw.Canvas, x func(float64) vg.Length, top vg.Length) {
	left, right := textStyle(labelText, roleInk), textStyle(labelText, d.Tone)
	left.YAlign, right.YAlign = draw.YTop, draw.YTop
	fillTextUntil(c, right, vg.Point{X: c.Max.X, Y: top - 3}, d.Label)
	room := c.Max.X - c.Min.X - (right.Width(d.Label)+10)*widerFont
	c.FillText(left, vg.Point{X: c.Min.X, Y: top - 3}, elide(d.Name, left, room))
	d.draw(c, x, top-25, 4)
}

// draw the interval and its middle.
func (d Delta) draw(c draw.Canvas, x func(float64) vg.Length, line, radius vg.Length) {
	interval(c, x, d.Low, d.High, line, d.Tone.light)
	at := clamp(x(d.Value), c.Min.X, c.Max.X)
	c.DrawGlyph(draw.GlyphStyle{Color: d.Tone.light, Radius: radius, Shape: draw.CircleGlyph{}}, vg.Point{X: at, Y: line})
}

// Size of an interval on its own, in points.
const (
	intervalWidth  = vg.Length(260)
	intervalHeight = vg.Length(22)
)

// Interval draws one delta against zero and the margin, on the scale of those beside it.
func Interval(one Delta, beside []Delta, margin float64) document.Picture {
	low, high := deltaExtent(beside, margin)
	return renderCanvas(intervalWidth, intervalHeight, func(c draw.Canvas) {
		x := func(value float64) vg.Length {
			return c.Min.X + vg.Length((value-low)/(high-low))*(c.Max.X-c.Min.X)
		}
		c.FillPolygon(roleMargin.light, rectangle(x(-margin), c.Min.Y, x(margin), c.Max.Y))
		c.StrokeLine2(draw.LineStyle{Color: roleMuted.light, Width: 0.75}, x(0), c.Min.Y, x(0), c.Max.Y)
		one.draw(c, x, (c.Min.Y+c.Max.Y)/2, 5)
	})
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
