// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"perflab.dev/perflab/internal/report/document"
)

// Sample is every value of a series, with their center and its interval.
type Sample struct {
	Series Series
	Values []float64
	Center float64
	// Low and High are the interval of the center; NaN without one.
	Low, High float64
	// Label is the center in words.
	Label string
}

// Dots draws a row for each sample.
func Dots(rows []Sample, unit string) document.Picture {
	p := newPlot(unit)
	p.HideY()
	p.Add(dotRows(rows))
	low, high := dotRows(rows).extent()
	margin := math.Max((high-low)*0.04, math.Abs(high)*1e-3)
	if low == high {
		// A finer axis would show digits that no run supports.
		margin = math.Max(math.Abs(high)/10, 1e-3)
	}
	p.X.Min, p.X.Max = low-margin, high+margin
	if low >= 0 {
		// A quantity that cannot be negative has no axis below zero.
		p.X.Min = math.Max(p.X.Min, 0)
	}
	p.Y.Min, p.Y.Max = 0, float64(len(rows))
	return render(p, vg.Length(len(rows))*dotRowHeight+46)
}

const dotRowHeight = vg.Length(40)

// dotRows draws a row for each sample: its name and center over its values.
type dotRows []Sample

// extent of all values and intervals.
func (d dotRows) extent() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, one := range d {
		for _, value := range append([]float64{one.Low, one.High}, one.Values...) {
			if !math.IsNaN(value) {
				low, high = math.Min(low, value), math.Max(high, value)
			}
		}
	}
	return low, high
}

// Plot draws the rows from the top down.
func (d dotRows) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for i, one := range d {
		top := y(float64(len(d) - i))
		if i > 0 {
			c.StrokeLine2(draw.LineStyle{Color: roleGrid.light, Width: 0.75}, c.Min.X, top, c.Max.X, top)
		}
		grouped(c, one.Series.Index, func() {
			one.label(c, top)
			one.dots(c, x, top-29)
		})
	}
}

func (s Sample) label(c draw.Canvas, top vg.Length) {
	label := textStyle(labelText, roleInk)
	label.YAlign = draw.YTop
	room := c.Max.X - c.Min.X - (label.Width(s.Label)+10)*widerFont
	c.FillText(label, vg.Point{X: c.Min.X, Y: top - 4}, elide(s.Series.Name, label, room))
	label.Color = roleMuted.light
	fillTextUntil(c, label, vg.Point{X: c.Max.X, Y: top - 4}, s.Label)
}

func (s Sample) dots(c draw.Canvas, x func(float64) vg.Length, line vg.Length) {
	if !math.IsNaN(s.Low) {
		c.FillPolygon(roleWindow.light, rectangle(x(s.Low), line-7, x(s.High), line+7))
	}
	center := x(s.Center)
	c.StrokeLine2(draw.LineStyle{Color: s.Series.color(), Width: 2}, center, line-7, center, line+7)
	for _, value := range s.Values {
		c.DrawGlyph(draw.GlyphStyle{Color: s.Series.color(), Radius: 3.2, Shape: s.Series.mark()}, vg.Point{X: x(value), Y: line})
	}
}
