// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/digits"
)

// Sequence is a quantity of a series in steps: by block, by import, by size.
type Sequence struct {
	Series Series
	Stages []Stage
}

// Stage is a value at a step, with its interval; without one, Low and High are NaN.
type Stage struct{ At, Value, Low, High float64 }

// CompareStages orders stages.
func CompareStages(a, b Stage) int { return cmp.Compare(a.At, b.At) }

// Sequences draws lines from step to step, with intervals. The labels of the steps have that many
// decimal places.
func Sequences(all []Sequence, xLabel string, places int) document.Picture {
	p := newPlot(xLabel)
	drawing := &steppedLines{all, places}
	p.X.Min, p.X.Max = math.Inf(1), math.Inf(-1)
	for _, one := range all {
		for _, at := range one.Stages {
			p.X.Min, p.X.Max = math.Min(p.X.Min, at.At), math.Max(p.X.Max, at.At)
			p.Y.Max = math.Max(p.Y.Max, at.Value)
			if !math.IsNaN(at.High) {
				p.Y.Max = math.Max(p.Y.Max, at.High)
			}
		}
	}
	p.Y.Min, p.Y.Max = 0, p.Y.Max*1.08
	margin := 0.03 * (p.X.Max - p.X.Min)
	p.X.Min, p.X.Max = p.X.Min-margin, p.X.Max+margin
	p.X.Tick.Marker = drawing
	p.Add(drawing)
	return render(p, 230)
}

// steppedLines draws Sequences, with the names of the series at their ends.
type steppedLines struct {
	all    []Sequence
	places int
}

// Ticks are at the steps, labeled where there is room.
func (l *steppedLines) Ticks(low, high float64) []plot.Tick {
	const apart = 0.07
	var steps []float64
	for _, one := range l.all {
		for _, at := range one.Stages {
			steps = append(steps, at.At)
		}
	}
	slices.Sort(steps)
	var ticks []plot.Tick
	last := math.Inf(-1)
	for _, step := range slices.Compact(steps) {
		tick := plot.Tick{Value: step}
		if step-last >= apart*(high-low) {
			tick.Label, last = digits.Fixed(step, l.places), step
		}
		ticks = append(ticks, tick)
	}
	return ticks
}

// GlyphBoxes reserve room for the names of the series.
func (l *steppedLines) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	shown := make([]Series, 0, len(l.all))
	for _, one := range l.all {
		shown = append(shown, one.Series)
	}
	return roomForNames(shown)
}

// Plot draws a grid, and the lines with their intervals side by side.
func (l *steppedLines) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	drawGrid(c, p, c.Max.X)
	ends := make([]end, 0, len(l.all))
	for i, one := range l.all {
		aside := 3 * (vg.Length(i) - vg.Length(len(l.all)-1)/2)
		grouped(c, one.Series.Index, func() { one.draw(c, func(at float64) vg.Length { return x(at) + aside }, y) })
		ends = append(ends, end{one.Series, y(one.Stages[len(one.Stages)-1].Value)})
	}
	writeNames(c, ends, c.Max.X)
}

func (s Sequence) draw(c draw.Canvas, x, y func(float64) vg.Length) {
	var path []vg.Point
	for _, at := range s.Stages {
		path = append(path, vg.Point{X: x(at.At), Y: y(at.Value)})
		if !math.IsNaN(at.Low) {
			c.StrokeLine2(draw.LineStyle{Color: s.Series.color(), Width: 1}, x(at.At), max(y(at.Low), c.Min.Y), x(at.At), y(at.High))
		}
	}
	if len(path) >= MinPoints {
		c.StrokeLines(s.Series.stroke(), path)
	}
	for _, at := range path {
		c.DrawGlyph(draw.GlyphStyle{Color: s.Series.color(), Radius: 2.4, Shape: s.Series.mark()}, at)
	}
}
