// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/text/prose"
)

// primaryMetrics are those that decide, of what a scenario has.
func primaryMetrics(r *record, under *scenario) []string {
	var subjects []string
	for _, m := range under.metrics {
		if r.answer.Question.IsPrimary(m.Name) {
			subjects = append(subjects, m.Name)
		}
	}
	return subjects
}

// dots show every run of every arm, with their center and its interval.
func dots(_ *record, under *scenario, subject string) (chart, bool) {
	m, in := metric.Parse(subject), under.display(subject)
	rows := &dotRows{}
	alt := fmt.Sprintf("Every valid run of each arm: %s, in %s. ", m.Under(under.Name), in.unit)
	for _, arm := range under.arms {
		if found := under.at(subject, arm.Name); found != nil {
			found = found.in(in)
			rows.arms, rows.values = append(rows.arms, arm), append(rows.values, found)
			alt += fmt.Sprintf("%s: %s from %s to %s, %s %s. ", arm.Name, prose.Counted(len(found.numbers), "run"), fixed(slices.Min(found.numbers), found.places), fixed(found.peak(), found.places), found.scale.CenterWord(), found.shown())
		}
	}
	p := newPlot(shownUnit(in.unit))
	p.HideY()
	p.Add(rows)
	low, high := rows.extent()
	margin := math.Max((high-low)*0.04, math.Abs(high)*1e-3)
	if low == high {
		// A finer axis would show digits that no run tells.
		margin = math.Max(math.Abs(high)/10, 1e-3)
	}
	p.X.Min, p.X.Max = low-margin, high+margin
	if low >= 0 {
		// What cannot be negative has no axis below zero.
		p.X.Min = math.Max(p.X.Min, 0)
	}
	p.Y.Min, p.Y.Max = 0, float64(len(rows.arms))
	return chart{Title: "Every run: " + m.Phrase(), Alt: alt, SVG: drawn(p, vg.Length(len(rows.arms))*dotRowHeight+46)}, true
}

const dotRowHeight = vg.Length(40)

// dotRows draws a row per arm: its name and center over its runs.
type dotRows struct {
	arms   []arm
	values []*values
}

// extent of all runs and intervals.
func (d *dotRows) extent() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, found := range d.values {
		from, to := found.shownInterval()
		for _, value := range append([]float64{from, to}, found.numbers...) {
			if !math.IsNaN(value) {
				low, high = math.Min(low, value), math.Max(high, value)
			}
		}
	}
	return low, high
}

// Plot draws the rows from the top down.
func (d *dotRows) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for i := range d.arms {
		top := y(float64(len(d.arms) - i))
		if i > 0 {
			c.StrokeLine2(draw.LineStyle{Color: roleGrid.light, Width: 0.75}, c.Min.X, top, c.Max.X, top)
		}
		marked(c, d.arms[i].index, func() {
			d.label(c, i, top)
			d.runs(c, i, x, top-29)
		})
	}
}

func (d *dotRows) label(c draw.Canvas, of int, top vg.Length) {
	label := textStyle(labelText, roleInk)
	label.YAlign = draw.YTop
	center := d.values[of].scale.CenterWord() + " " + d.values[of].shownWithUnit()
	room := c.Max.X - c.Min.X - (label.Width(center)+10)*widerFont
	c.FillText(label, vg.Point{X: c.Min.X, Y: top - 4}, shortened(d.arms[of].Name, label, room))
	label.Color = roleMuted.light
	writeUntil(c, label, vg.Point{X: c.Max.X, Y: top - 4}, center)
}

func (d *dotRows) runs(c draw.Canvas, of int, x func(float64) vg.Length, line vg.Length) {
	arm, found := d.arms[of], d.values[of]
	if low, high := found.shownInterval(); !math.IsNaN(low) {
		c.FillPolygon(roleWindow.light, rectangle(x(low), line-7, x(high), line+7))
	}
	center := x(found.center())
	c.StrokeLine2(draw.LineStyle{Color: arm.color(), Width: 2}, center, line-7, center, line+7)
	for _, value := range found.numbers {
		c.DrawGlyph(draw.GlyphStyle{Color: arm.color(), Radius: 3.2, Shape: arm.mark()}, vg.Point{X: x(value), Y: line})
	}
}
