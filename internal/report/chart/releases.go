// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"perflab.dev/perflab/internal/report/document"
)

// Releases draws sequences with named steps, and dashed lines at changes.
func Releases(all []Sequence, names []string, changes []float64, xLabel string) document.Picture {
	p := newPlot(xLabel)
	low, high := stageExtent(all)
	// On an axis from zero, a step of a few percent would be invisible.
	room := 0.08 * (high - low)
	if room == 0 {
		room = math.Abs(high)/10 + 1
	}
	p.Y.Min, p.Y.Max = low-room, high+room
	if low >= 0 {
		p.Y.Min = max(p.Y.Min, 0)
	}
	p.X.Min, p.X.Max = -0.5, float64(len(names))-0.5
	lines := &namedLines{steppedLines{all, 0}, names, changes}
	p.X.Tick.Marker = lines
	p.Add(lines)
	return render(p, 230)
}

// stageExtent is the extent of all values and intervals.
func stageExtent(all []Sequence) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, one := range all {
		for _, at := range one.Stages {
			for _, value := range []float64{at.Value, at.Low, at.High} {
				if !math.IsNaN(value) {
					low, high = min(low, value), max(high, value)
				}
			}
		}
	}
	return low, high
}

// namedLines draws sequences with named steps.
type namedLines struct {
	steppedLines
	steps   []string
	changes []float64
}

// Ticks name the releases where there is room, and always the last one.
func (o *namedLines) Ticks(float64, float64) []plot.Tick {
	longest := 1
	for _, step := range o.steps {
		longest = max(longest, len([]rune(step)))
	}
	// This many characters fit side by side below a chart.
	const characters = 44
	every := (len(o.steps)*(longest+2) + characters - 1) / characters
	ticks := make([]plot.Tick, 0, len(o.steps))
	for i, step := range o.steps {
		tick := plot.Tick{Value: float64(i)}
		if (len(o.steps)-1-i)%max(every, 1) == 0 {
			tick.Label = step
		}
		ticks = append(ticks, tick)
	}
	return ticks
}

// Plot draws a dashed line at each change, and the lines over it.
func (o *namedLines) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	for _, at := range o.changes {
		style := draw.LineStyle{Color: roleMuted.light, Width: 0.75, Dashes: []vg.Length{3, 3}}
		c.StrokeLine2(style, x(at), c.Min.Y, x(at), c.Max.Y)
	}
	o.steppedLines.Plot(c, p)
}
