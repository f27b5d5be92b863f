// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/digits"
)

// Levels are the values of a series' runs at the levels of a load.
type Levels struct {
	Series Series
	// Runs have the levels in ascending order.
	Runs [][]Stage
	// Curve is a law fitted to the runs; nil without one.
	Curve []Stage
	// Low and High are the interval of the capacity; NaN without one.
	Low, High float64
}

// AgainstLoad draws values by level, a thin line for each run, on logarithmic axes. Limit is the
// value at which the objective fails; NaN without one. A band shows each capacity.
func AgainstLoad(all []Levels, limit float64, xLabel string) document.Picture {
	p := newPlot(xLabel)
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = logTicks{}, logTicks{}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, one := range all {
		for _, run := range one.Runs {
			for _, at := range run {
				p.X.Min, p.X.Max = math.Min(p.X.Min, at.At), math.Max(p.X.Max, at.At)
				p.Y.Min, p.Y.Max = math.Min(p.Y.Min, at.Value), math.Max(p.Y.Max, at.Value)
			}
		}
	}
	if !math.IsNaN(limit) {
		p.Y.Min, p.Y.Max = math.Min(p.Y.Min, limit), math.Max(p.Y.Max, limit)
	}
	const room = 1.15
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = p.X.Min/room, p.X.Max*room, p.Y.Min/room, p.Y.Max*room
	p.Add(&levelLines{all, limit})
	return render(p, 230)
}

// logTicks are at 1, 2 and 5 times powers of ten.
type logTicks struct{}

// Ticks are labeled.
func (logTicks) Ticks(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	for power := math.Floor(math.Log10(low)); power <= math.Log10(high); power++ {
		for _, factor := range []float64{1, 2, 5} {
			if at := factor * math.Pow(10, power); at >= low && at <= high {
				ticks = append(ticks, plot.Tick{Value: at, Label: digits.Fixed(at, max(-int(power), 0))})
			}
		}
	}
	return ticks
}

// levelLines draws AgainstLoad.
type levelLines struct {
	all   []Levels
	limit float64
}

// GlyphBoxes reserve room for the names of the series.
func (l *levelLines) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	shown := make([]Series, 0, len(l.all))
	for _, one := range l.all {
		shown = append(shown, one.Series)
	}
	return roomForNames(shown)
}

// Plot draws a grid, the bands of the capacities, the limit, and the runs.
func (l *levelLines) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	drawGrid(c, p, c.Max.X)
	if !math.IsNaN(l.limit) {
		c.StrokeLine2(draw.LineStyle{Color: roleInk.light, Width: 1, Dashes: []vg.Length{4, 3}}, c.Min.X, y(l.limit), c.Max.X, y(l.limit))
	}
	var ends []end
	for _, one := range l.all {
		grouped(c, one.Series.Index, func() {
			if !math.IsNaN(one.Low) {
				left, right := clamp(x(one.Low), c.Min.X, c.Max.X), clamp(x(one.High), c.Min.X, c.Max.X)
				c.FillPolygon(shaded{one.Series.role().light, faint}, rectangle(left, c.Min.Y, max(right, left+1), c.Max.Y))
			}
			for _, run := range one.Runs {
				one.Series.drawRun(c, run, x, y)
			}
			if one.Curve != nil {
				c.StrokeLines(draw.LineStyle{Color: one.Series.color(), Width: 1.6, Dashes: []vg.Length{6, 3}}, path(one.Curve, x, y))
			}
		})
		if top, any := one.top(); any {
			ends = append(ends, end{one.Series, y(top)})
		}
	}
	writeNames(c, ends, c.Max.X)
}

func (s Series) drawRun(c draw.Canvas, run []Stage, x, y func(float64) vg.Length) {
	points := path(run, x, y)
	stroke := s.stroke()
	stroke.Width = 0.5
	c.StrokeLines(stroke, points)
	for _, at := range points {
		c.DrawGlyph(draw.GlyphStyle{Color: s.color(), Radius: 2, Shape: s.mark()}, at)
	}
}

// path of values on a canvas.
func path(stages []Stage, x, y func(float64) vg.Length) []vg.Point {
	points := make([]vg.Point, 0, len(stages))
	for _, at := range stages {
		points = append(points, vg.Point{X: x(at.At), Y: y(at.Value)})
	}
	return points
}

// top is the value at the highest level.
func (l Levels) top() (value float64, any bool) {
	highest := math.Inf(-1)
	for _, run := range l.Runs {
		for _, at := range run {
			if at.At > highest {
				highest, value, any = at.At, at.Value, true
			}
		}
	}
	return value, any
}
