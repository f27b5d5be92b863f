// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"perflab.dev/perflab/internal/report/document"
)

// Distribution of a series: at each level, the center of its runs and their extremes.
type Distribution struct {
	Series Series
	Runs   int
	At     []Quantile
}

// Quantile is the value at a level, a share from 0 to 1.
type Quantile struct{ Level, Center, Low, High float64 }

// UpTo drops the levels above a given one.
func (d Distribution) UpTo(level float64) Distribution {
	d.At = slices.Clone(d.At)
	d.At = slices.DeleteFunc(d.At, func(one Quantile) bool { return one.Level > level })
	return d
}

// MarkedLevels are the levels that charts mark.
var MarkedLevels = []float64{0.5, 0.9, 0.95, 0.99, 0.999}

// Find finds a level; false if the runs are too small for it.
func (d Distribution) Find(level float64) (Quantile, bool) {
	at := slices.IndexFunc(d.At, func(one Quantile) bool { return math.Abs(one.Level-level) < 1e-9 })
	if at < 0 {
		return Quantile{}, false
	}
	return d.At[at], true
}

// Percentile formats a level.
func Percentile(level float64) string { return fmt.Sprintf("%.4g %%", 100*level) }

// top is the highest value drawn for an arm.
func (d Distribution) top() float64 {
	top := d.At[len(d.At)-1].Center
	for _, level := range MarkedLevels {
		if found, any := d.Find(level); any {
			top = math.Max(top, found.High)
		}
	}
	return top
}

// nines is the position of a level on the axis: 90 % at 1, 99 % at 2, 99.9 % at 3.
func nines(level float64) float64 { return -math.Log10(1 - level) }

// ticksOfNines are ticks at common levels.
type ticksOfNines struct{}

// Ticks of the levels within an axis, labeled where there is room: the most common levels first.
func (ticksOfNines) Ticks(low, high float64) []plot.Tick {
	const apart = 0.11
	var ticks []plot.Tick
	var labelled []float64
	for _, level := range []float64{0.99, 0.95, 0.5, 0.9, 0.999, 0.9999, 0.75, 0} {
		at := nines(level)
		if at < low || at > high {
			continue
		}
		tick := plot.Tick{Value: at}
		if !slices.ContainsFunc(labelled, func(other float64) bool { return math.Abs(other-at) < apart*(high-low) }) {
			tick.Label, labelled = Percentile(level), append(labelled, at)
		}
		ticks = append(ticks, tick)
	}
	return ticks
}

// curves draw distributions.
type curves struct {
	all   []Distribution
	place func(Quantile) (x, y float64)
	// marked levels show the extremes of the runs.
	marked bool
}

// Plot draws a grid, the curves and the marked levels.
func (k *curves) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	drawGrid(c, p, c.Max.X)
	for i, one := range k.all {
		grouped(c, one.Series.Index, func() {
			c.StrokeLines(one.Series.stroke(), k.path(one, x, y))
			if k.marked {
				one.extremes(c, x, y, vg.Length(i)-vg.Length(len(k.all)-1)/2)
			}
		})
	}
	k.names(c, y)
}

// names writes the names of all series at the ends of their curves.
func (k *curves) names(c draw.Canvas, y func(float64) vg.Length) {
	ends := make([]end, 0, len(k.all))
	for _, one := range k.all {
		_, last := k.place(one.At[len(one.At)-1])
		ends = append(ends, end{one.Series, y(last)})
	}
	writeNames(c, ends, c.Max.X)
}

// GlyphBoxes reserve room for the names of all series.
func (k *curves) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	all := make([]Series, 0, len(k.all))
	for _, one := range k.all {
		all = append(all, one.Series)
	}
	return roomForNames(all)
}

func (k *curves) path(of Distribution, x, y func(float64) vg.Length) []vg.Point {
	path := make([]vg.Point, 0, len(of.At))
	for _, one := range of.At {
		atX, atY := k.place(one)
		path = append(path, vg.Point{X: x(atX), Y: y(atY)})
	}
	return path
}

// extremes draws the extremes of an arm's runs beside those of the other arms.
func (d Distribution) extremes(c draw.Canvas, x, y func(float64) vg.Length, place vg.Length) {
	const apart = 3
	for _, level := range MarkedLevels {
		found, any := d.Find(level)
		if !any || d.Runs < 2 {
			continue
		}
		at := x(nines(level)) + apart*place
		c.StrokeLine2(draw.LineStyle{Color: d.Series.color(), Width: 1}, at, y(found.Low), at, y(found.High))
		c.DrawGlyph(draw.GlyphStyle{Color: d.Series.color(), Radius: 2.4, Shape: d.Series.mark()}, vg.Point{X: at, Y: y(found.Center)})
	}
}

// Percentiles draws values by level, on an axis that stretches the highest levels.
func Percentiles(all []Distribution, xLabel string) document.Picture {
	p := newPlot(xLabel)
	p.Add(&curves{all: all, place: func(one Quantile) (x, y float64) { return nines(one.Level), one.Center }, marked: true})
	p.X.Tick.Marker = ticksOfNines{}
	p.X.Min, p.Y.Min = 0, 0
	for _, one := range all {
		p.X.Max = math.Max(p.X.Max, nines(one.At[len(one.At)-1].Level))
		p.Y.Max = math.Max(p.Y.Max, one.top()*1.1)
	}
	return render(p, 230)
}

// Cumulative draws levels by value.
func Cumulative(all []Distribution, xLabel string) document.Picture {
	p := newPlot(xLabel)
	p.Y.Min, p.Y.Max = 0, 100
	for _, one := range all {
		p.X.Max = math.Max(p.X.Max, one.At[len(one.At)-1].Center*1.02)
	}
	p.X.Min = 0
	p.Add(&curves{all: all, place: func(one Quantile) (x, y float64) { return one.Center, 100 * one.Level }})
	return render(p, 230)
}
