// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/payload"
)

// quantiles of a run's response times, in milliseconds at the levels, and how many
// response times there are.
type quantiles struct {
	at      []float64
	samples int64
}

// levels of quantiles: even steps for the body, and steps that are even in the
// logarithm of what lies beyond for the tail, as HdrHistogram's plots have them.
var levels = levelsOfQuantiles()

func levelsOfQuantiles() []float64 {
	// As the tables have them.
	all := []float64{0.95, 0.99}
	for percent := 0.0; percent < 90; percent += 5 {
		all = append(all, percent/100)
	}
	for nines := 5; nines <= 20; nines++ {
		all = append(all, 1-math.Pow(10, -float64(nines)/5))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// quantilesOf the successful ones of a transaction.
func quantilesOf(own *payload.Payload, transaction string) (quantiles, bool) {
	at, samples := own.Quantiles(transaction, payload.OK, levels...)
	found := quantiles{samples: samples}
	for _, duration := range at {
		found.at = append(found.at, milliseconds(duration))
	}
	return found, samples > 0
}

// known says whether a level has a sample beyond it.
func (q quantiles) known(level float64) bool { return float64(q.samples)*(1-level) >= 1-1e-9 }

// distribution is an arm's: at each level, the center of its runs and their extremes.
type distribution struct {
	arm  arm
	runs int
	at   []quantile
}

type quantile struct{ level, center, low, high float64 }

// distributions of a transaction, of the arms whose runs have raw results; an arm's
// goes as far as its smallest run does.
func (s *scenario) distributions(subject string) []distribution {
	var all []distribution
	for _, arm := range s.arms {
		found := s.at(metric.Name(subject, metric.Average), arm.Name)
		runs := s.quantiles(subject, arm)
		if found == nil || len(runs) == 0 {
			continue
		}
		one := distribution{arm: arm, runs: len(runs)}
		for i, level := range levels {
			if one.takes(i, level, found.scale, runs); len(one.at) <= i {
				break
			}
		}
		if len(one.at) >= leastOfTrend {
			all = append(all, one)
		}
	}
	return all
}

// quantiles of an arm's runs.
func (s *scenario) quantiles(subject string, of arm) []quantiles {
	var all []quantiles
	for _, run := range s.valid(of.Name) {
		if trace := s.traces[run.Name]; trace != nil {
			if found, any := trace.quantiles[subject]; any {
				all = append(all, found)
			}
		}
	}
	return all
}

// takes the level that is i-th, if all runs know it.
func (d *distribution) takes(i int, level float64, scale comparison.Scale, runs []quantiles) {
	values := make([]float64, 0, len(runs))
	for _, one := range runs {
		if !one.known(level) {
			return
		}
		values = append(values, one.at[i])
	}
	d.at = append(d.at, quantile{level, scale.Center(values), slices.Min(values), slices.Max(values)})
}

// upTo leaves the levels up to one.
func (d distribution) upTo(level float64) distribution {
	d.at = slices.Clone(d.at)
	d.at = slices.DeleteFunc(d.at, func(one quantile) bool { return one.level > level })
	return d
}

// told are levels that charts mark and describe.
var told = []float64{0.5, 0.9, 0.95, 0.99, 0.999}

// find a level; false where runs are too small for it.
func (d distribution) find(level float64) (quantile, bool) {
	at := slices.IndexFunc(d.at, func(one quantile) bool { return math.Abs(one.level-level) < 1e-9 })
	if at < 0 {
		return quantile{}, false
	}
	return d.at[at], true
}

// describe the arms at the levels that are told.
func describe(all []distribution) string {
	text := ""
	for _, one := range all {
		text += one.arm.Name + ":"
		for _, level := range told {
			if found, any := one.find(level); any {
				text += fmt.Sprintf(" %s %.0f ms,", percentile(level), found.center)
			}
		}
		text = text[:len(text)-1] + ". "
	}
	return text
}

func percentile(level float64) string { return fmt.Sprintf("%.4g %%", 100*level) }

// percentiles show how long all but the slowest take, down to the rarest that the
// runs tell.
func percentiles(_ *record, under *scenario, subject string) (chart, bool) {
	all := under.distributions(subject)
	if len(all) == 0 {
		return chart{}, false
	}
	_, transaction := metric.CutOwner(metric.Plain(subject))
	p := newPlot("Share of samples that took no longer")
	p.Add(&curves{all: all, place: func(one quantile) (x, y float64) { return nines(one.level), one.center }, marked: true})
	p.X.Tick.Marker = ticksOfNines{}
	p.X.Min, p.Y.Min = 0, 0
	for _, one := range all {
		p.X.Max = math.Max(p.X.Max, nines(one.at[len(one.at)-1].level))
		p.Y.Max = math.Max(p.Y.Max, one.top()*1.1)
	}
	return chart{
		Title: transaction + ", percentiles, ms",
		Alt: fmt.Sprintf("Percentiles of %s under %s; of each arm the center of its runs, with their lowest and highest. ", transaction, under.Name) +
			describe(all),
		SVG: drawn(p, 230),
	}, true
}

// cumulative shows which share of samples took no longer than a time, for all but the
// slowest hundredth, which percentiles shows.
func cumulative(_ *record, under *scenario, subject string) (chart, bool) {
	const most = 0.99
	all := under.distributions(subject)
	if len(all) == 0 {
		return chart{}, false
	}
	_, transaction := metric.CutOwner(metric.Plain(subject))
	p := newPlot("Milliseconds")
	p.Y.Min, p.Y.Max = 0, 100
	for i, one := range all {
		all[i] = one.upTo(most)
		p.X.Max = math.Max(p.X.Max, all[i].at[len(all[i].at)-1].center*1.02)
	}
	p.X.Min = 0
	p.Add(&curves{all: all, place: func(one quantile) (x, y float64) { return one.center, 100 * one.level }})
	return chart{
		Title: transaction + ", share that took no longer, %",
		Alt:   fmt.Sprintf("Cumulative distribution of %s under %s, up to 99 %%. ", transaction, under.Name) + describe(all),
		SVG:   drawn(p, 230),
	}, true
}

// top is the highest that is drawn of an arm.
func (d distribution) top() float64 {
	top := d.at[len(d.at)-1].center
	for _, level := range told {
		if found, any := d.find(level); any {
			top = math.Max(top, found.high)
		}
	}
	return top
}

// nines is where a level stands: 90 % at 1, 99 % at 2, 99.9 % at 3.
func nines(level float64) float64 { return -math.Log10(1 - level) }

// ticksOfNines are at levels that people name.
type ticksOfNines struct{}

// Ticks of the levels within an axis, labelled where there is room: those that people name
// most first.
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
			tick.Label, labelled = percentile(level), append(labelled, at)
		}
		ticks = append(ticks, tick)
	}
	return ticks
}

// curves draw distributions.
type curves struct {
	all   []distribution
	place func(quantile) (x, y float64)
	// marked levels have their runs' extremes.
	marked bool
}

// Plot draws a grid, the curves and what is marked.
func (k *curves) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, tick := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		c.StrokeLine2(draw.LineStyle{Color: roleGrid.light, Width: 0.5}, c.Min.X, y(tick.Value), c.Max.X, y(tick.Value))
	}
	for i, one := range k.all {
		marked(c, one.arm.index, func() {
			c.StrokeLines(one.arm.stroke(), k.path(one, x, y))
			if k.marked {
				one.extremes(c, x, y, vg.Length(i)-vg.Length(len(k.all)-1)/2)
			}
		})
	}
	k.names(c, y)
}

// names of the arms at the ends of their curves.
func (k *curves) names(c draw.Canvas, y func(float64) vg.Length) {
	ends := make([]end, 0, len(k.all))
	for _, one := range k.all {
		_, last := k.place(one.at[len(one.at)-1])
		ends = append(ends, end{one.arm, y(last)})
	}
	writeNames(c, ends, c.Max.X)
}

// GlyphBoxes keep room for the arms' names.
func (k *curves) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	arms := make([]arm, 0, len(k.all))
	for _, one := range k.all {
		arms = append(arms, one.arm)
	}
	return roomForNames(arms)
}

func (k *curves) path(of distribution, x, y func(float64) vg.Length) []vg.Point {
	path := make([]vg.Point, 0, len(of.at))
	for _, one := range of.at {
		atX, atY := k.place(one)
		path = append(path, vg.Point{X: x(atX), Y: y(atY)})
	}
	return path
}

// extremes of an arm's runs beside those of other arms.
func (d distribution) extremes(c draw.Canvas, x, y func(float64) vg.Length, place vg.Length) {
	const apart = 3
	for _, level := range told {
		found, any := d.find(level)
		if !any || d.runs < 2 {
			continue
		}
		at := x(nines(level)) + apart*place
		c.StrokeLine2(draw.LineStyle{Color: d.arm.color(), Width: 1}, at, y(found.low), at, y(found.high))
		c.DrawGlyph(draw.GlyphStyle{Color: d.arm.color(), Radius: 2.4, Shape: d.arm.mark()}, vg.Point{X: at, Y: y(found.center)})
	}
}
