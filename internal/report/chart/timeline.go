// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"perflab.dev/perflab/internal/report/document"
)

// Timeline draws lines from zero, with the names of the series at their ends, and above them what
// ran or happened meanwhile.
func Timeline(lines []Line, bands []Band) document.Picture {
	return timeline(lines, bands, sinceLoad)
}

// Since draws lines from an event, such as the start of a fault.
func Since(event string, lines []Line, unit string) (document.Picture, *Live) {
	live := NewLive(lines, nil, unit)
	live.Axis = newTimeAxis(lastMinute(lines), event).Label
	return timeline(lines, nil, event), live
}

func timeline(lines []Line, bands []Band, since string) document.Picture {
	last, highest, top := lastMinute(lines), HighestAmong(lines), 0.0
	for _, one := range lines {
		for _, at := range one.Around {
			top = math.Max(top, at.High)
		}
	}
	axis := newTimeAxis(last, since)
	p := newPlot(axis.Label)
	p.X.Tick.Marker = axis
	p.Add(&timeLines{lines: lines, bands: bands, last: last})
	p.X.Min, p.X.Max = 0, last
	p.Y.Min, p.Y.Max = 0, math.Max(highest, math.Min(top, highest*mostAbove))*1.15
	return renderWithKeys(p, 230+newHeadroom(lines, bands).height(), newKeys(lines))
}

// mostAbove is the height of a chart at most, as a multiple of the lines' maximum: a single
// extreme would flatten the lines.
const mostAbove = 3

// timeLines draws bands, a grid and lines with their names on the right.
type timeLines struct {
	lines []Line
	bands []Band
	last  float64
}

// GlyphBoxes reserve room for the lines' names.
func (t *timeLines) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	all := make([]Series, 0, len(t.lines))
	for _, one := range t.lines {
		all = append(all, one.Series)
	}
	return append(roomForNames(all), plot.GlyphBox{X: 0.5, Y: 1, Rectangle: vg.Rectangle{Max: vg.Point{Y: newHeadroom(t.lines, t.bands).height()}}})
}

// Plot draws the lines.
func (t *timeLines) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	right := x(t.last)
	above := newHeadroom(t.lines, t.bands)
	for _, one := range t.bands {
		one.shade(c, x, right, c.Max.Y+above.aboveBands())
	}
	drawGrid(c, p, right)
	for i, one := range t.lines {
		grouped(c, one.Series.Index, func() {
			one.fill(c, x, y)
			one.mark(c, x, above.aboveBatches(i))
		})
	}
	for _, one := range t.lines {
		grouped(c, one.Series.Index, func() { one.stroke(c, x, y) })
	}
	number, row := 1, 0
	for _, one := range t.lines {
		if len(one.Marks) > 0 {
			grouped(c, one.Series.Index, func() { one.annotate(c, x, right, above.aboveMarks(row), number) })
			number, row = number+len(one.Marks), row+1
		}
	}
	ends := make([]end, 0, len(t.lines))
	for _, one := range t.lines {
		ends = append(ends, end{one.Series, y(one.end().Value)})
	}
	writeNames(c, ends, right)
}

// fill shades the extremes, up to the top of the chart.
func (l Line) fill(c draw.Canvas, x, y func(float64) vg.Length) {
	if l.Around == nil {
		return
	}
	var upper, lower []vg.Point
	for i, at := range l.Points {
		upper = append(upper, vg.Point{X: x(at.Minutes), Y: min(y(l.Around[i].High), c.Max.Y)})
		lower = append(lower, vg.Point{X: x(at.Minutes), Y: y(l.Around[i].Low)})
	}
	slices.Reverse(lower)
	c.FillPolygon(shaded{l.Series.role().light, faint}, append(upper, lower...))
}

// mark shows when batches ran, above the lines.
func (l Line) mark(c draw.Canvas, x func(float64) vg.Length, above vg.Length) {
	for _, one := range l.Batches {
		from, to := clamp(x(one.From), c.Min.X, c.Max.X), clamp(x(one.To), c.Min.X, c.Max.X)
		c.FillPolygon(l.Series.color(), rectangle(from, c.Max.Y+above, to, c.Max.Y+above+thickBatch))
	}
}

func (l Line) stroke(c draw.Canvas, x, y func(float64) vg.Length) {
	path := make([]vg.Point, 0, len(l.Points))
	for _, at := range l.Points {
		path = append(path, vg.Point{X: x(at.Minutes), Y: y(at.Value)})
	}
	c.StrokeLines(l.Series.stroke(), path)
}
