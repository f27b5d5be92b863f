// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"perflab.dev/perflab/internal/metric"
	"perflab.dev/perflab/internal/prose"
	"perflab.dev/perflab/internal/stats"
)

// mostDots is how many charts of single runs a scenario has.
const mostDots = 6

// dotCharts show every run of every arm, with mean and interval, for the
// metrics that decide.
func (r *record) dotCharts(scenario string) []chart {
	var charts []chart
	for _, m := range r.metrics[scenario] {
		if !r.answer.Question.IsPrimary(m.Name) || len(charts) == mostDots {
			continue
		}
		charts = append(charts, r.dots(scenario, m))
	}
	return charts
}

func (r *record) dots(scenario string, m metric.Metric) chart {
	unit := r.unit(scenario, m.Name)
	p := newPlot(shownUnit(unit))
	p.HideY()
	low, high := math.Inf(1), math.Inf(-1)
	var shown []arm
	alt := fmt.Sprintf("Every valid run of each arm: %s, in %s. ", m.Under(scenario), unit)
	for _, arm := range r.arms {
		found := r.at(scenario, m.Name, arm.Name)
		if found == nil {
			continue
		}
		shown = append(shown, arm)
		least, most := stats.Mean(found.numbers).Interval(r.confidence())
		for _, value := range append([]float64{least, most}, found.numbers...) {
			if !math.IsNaN(value) {
				low, high = math.Min(low, value), math.Max(high, value)
			}
		}
		alt += fmt.Sprintf("%s: %s from %s to %s, mean %s. ", arm.Name, prose.Counted(len(found.numbers), "run"), fixed(minimum(found.numbers), 1), fixed(peak(found), 1), found.shown(r.confidence()))
	}
	p.Add(&dotRows{record: r, scenario: scenario, metric: m.Name, arms: shown})
	margin := math.Max((high-low)*0.04, math.Abs(high)*1e-3)
	p.X.Min, p.X.Max = low-margin, high+margin
	p.Y.Min, p.Y.Max = 0, float64(len(shown))
	return chart{
		Name: "runs-" + scenario + "-" + fileName(m.Name), Title: "Every run: " + m.Phrase(),
		Alt: alt, SVG: drawn(p, vg.Length(len(shown))*dotRowHeight+46),
	}
}

func minimum(numbers []float64) float64 {
	least := math.Inf(1)
	for _, number := range numbers {
		least = math.Min(least, number)
	}
	return least
}

const dotRowHeight = vg.Length(40)

// dotRows draws a row per arm: its name and mean over its runs.
type dotRows struct {
	record           *record
	scenario, metric string
	arms             []arm
}

// Plot draws the rows from the top down.
func (d *dotRows) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for i, arm := range d.arms {
		found := d.record.at(d.scenario, d.metric, arm.Name)
		top := y(float64(len(d.arms) - i))
		if i > 0 {
			c.StrokeLine2(draw.LineStyle{Color: roleGrid.light, Width: 0.75}, c.Min.X, top, c.Max.X, top)
		}
		label := textStyle(labelText, roleInk)
		label.YAlign = draw.YTop
		c.FillText(label, vg.Point{X: c.Min.X, Y: top - 4}, arm.Name)
		label.XAlign, label.Color = draw.XRight, roleMuted.light
		c.FillText(label, vg.Point{X: c.Max.X, Y: top - 4}, "mean "+withUnit(found.shown(d.record.confidence()), found.unit))
		line := top - 29
		low, high := stats.Mean(found.numbers).Interval(d.record.confidence())
		if !math.IsNaN(low) {
			c.FillPolygon(roleWindow.light, rectangle(x(low), line-7, x(high), line+7))
		}
		mean := x(found.mean())
		c.StrokeLine2(draw.LineStyle{Color: arm.color(), Width: 2}, mean, line-7, mean, line+7)
		for _, value := range found.numbers {
			c.DrawGlyph(draw.GlyphStyle{Color: arm.color(), Radius: 3.2, Shape: arm.mark()}, vg.Point{X: x(value), Y: line})
		}
	}
}

// fileName makes a metric's name fit for a file.
func fileName(metric string) string {
	made := []rune(metric)
	for i, letter := range made {
		isPlain := letter >= 'a' && letter <= 'z' || letter >= 'A' && letter <= 'Z' || letter >= '0' && letter <= '9' || letter == '-'
		if !isPlain {
			made[i] = '-'
		}
	}
	return string(made)
}
