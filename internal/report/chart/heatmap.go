// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/digits"
)

// HeatRow is the distribution of a quantity over time, for one series. Columns of equal width
// divide the time; steps of equal logarithmic size divide the quantity.
type HeatRow struct {
	Series Series
	// Width of a column.
	Width time.Duration
	// Shares of the samples of a column, by column and step.
	Shares map[[2]int16]float64
}

// heatSteps is the number of steps per factor of ten.
const heatSteps = 6

// HeatStep is the step of a value.
func HeatStep(value float64) int16 {
	const least = 0.01
	return int16(math.Floor(heatSteps*math.Log10(math.Max(value, least)) + 1e-9))
}

// StepStart is the value at which a step begins.
func StepStart(step int16) float64 { return math.Pow(10, float64(step)/heatSteps) }

// Extent returns the first and the last step, and the number of columns.
func (r HeatRow) Extent() (low, high, columns int16) {
	low, high = math.MaxInt16, math.MinInt16
	for place := range r.Shares {
		low, high, columns = min(low, place[1]), max(high, place[1]), max(columns, place[0]+1)
	}
	return low, high, columns
}

// Densest is the step with the most samples across all columns.
func (r HeatRow) Densest() int16 {
	low, high, columns := r.Extent()
	densest, most := low, 0.0
	for step := low; step <= high; step++ {
		sum := 0.0
		for column := int16(0); column < columns; column++ {
			sum += r.Shares[[2]int16{column, step}]
		}
		if sum > most {
			densest, most = step, sum
		}
	}
	return densest
}

// HeatMap draws a row for each series: the darker a field, the larger its share of the samples.
func HeatMap(rows []HeatRow) document.Picture {
	drawing := &heatMaps{rows: rows, low: math.MaxInt16, high: math.MinInt16}
	last := 0.0
	for _, row := range rows {
		low, high, columns := row.Extent()
		drawing.low, drawing.high = min(drawing.low, low), max(drawing.high, high)
		last = math.Max(last, float64(columns)*row.Width.Minutes())
	}
	axis := NewTimeAxis(last)
	p := newPlot(axis.Label)
	p.X.Tick.Marker = axis
	p.HideY()
	p.Add(drawing)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, last, 0, 1
	return heatPicture(p, vg.Length(len(rows))*heatRowHeight+46)
}

// heatPicture is the plot above the legend of its shades.
func heatPicture(p *plot.Plot, height vg.Length) document.Picture {
	const below = vg.Length(34)
	return renderCanvas(chartWidth, height+below, func(c draw.Canvas) {
		p.Draw(draw.Crop(c, 0, 0, below, 0))
		heatLegend(draw.Crop(c, 0, 0, 0, below-height))
	})
}

// heatLegend shows which share of a column's samples each shade means.
func heatLegend(c draw.Canvas) {
	const side, apart = vg.Length(10), vg.Length(92)
	style := textStyle(smallText, roleMuted)
	style.YAlign = draw.YBottom
	c.FillText(style, vg.Point{X: c.Min.X, Y: c.Min.Y + 18}, "Share of the samples at the same time:")
	until := 100.0
	for i, one := range heatStrengths {
		left := c.Min.X + apart*vg.Length(len(heatStrengths)-1-i)
		c.FillPolygon(shaded{roleInk.light, one.strength}, rectangle(left, c.Min.Y+3, left+side, c.Min.Y+3+side))
		c.FillText(style, vg.Point{X: left + side + 4, Y: c.Min.Y + 2}, fmt.Sprintf("%s to %s", digits.Exact(100*one.share), digits.Exact(until)+digits.Space+"%"))
		until = 100 * one.share
	}
}

const heatRowHeight = vg.Length(92)

// heatMaps draws a row for each arm: its name above its fields, with response times on the right.
type heatMaps struct {
	rows      []HeatRow
	low, high int16
}

// GlyphBoxes reserve room for the response times.
func (h *heatMaps) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	width := textStyle(smallText, roleMuted).Width("10000")
	return []plot.GlyphBox{{X: 1, Y: 0.5, Rectangle: vg.Rectangle{Max: vg.Point{X: width*widerFont + 9, Y: 1}}}}
}

// Plot draws the rows from the top down.
func (h *heatMaps) Plot(c draw.Canvas, p *plot.Plot) {
	const name, gap = vg.Length(18), vg.Length(6)
	x, _ := p.Transforms(&c)
	each := (c.Max.Y - c.Min.Y) / vg.Length(len(h.rows))
	for i, row := range h.rows {
		top := c.Max.Y - vg.Length(i)*each
		grouped(c, row.Series.Index, func() {
			label := textStyle(labelText, roleInk)
			label.YAlign = draw.YTop
			c.FillText(label, vg.Point{X: c.Min.X, Y: top}, elide(row.Series.Name, label, c.Max.X-c.Min.X))
			h.row(c, row, x, top-each+gap, top-name)
		})
	}
}

// row draws the fields of an arm between two heights.
func (h *heatMaps) row(c draw.Canvas, of HeatRow, x func(float64) vg.Length, bottom, top vg.Length) {
	y := func(step int16) vg.Length {
		return bottom + (top-bottom)*vg.Length(step-h.low)/vg.Length(h.high+1-h.low)
	}
	for _, tick := range h.ticks(top - bottom) {
		at := bottom + (top-bottom)*vg.Length(heatSteps*math.Log10(tick)-float64(h.low))/vg.Length(h.high+1-h.low)
		c.StrokeLine2(draw.LineStyle{Color: roleGrid.light, Width: 0.5}, c.Min.X, at, c.Max.X+3, at)
		label := textStyle(smallText, roleMuted)
		label.YAlign = draw.YCenter
		c.FillText(label, vg.Point{X: c.Max.X + 5, Y: at}, digits.Exact(tick))
	}
	for _, field := range of.fields() {
		from, to := float64(field.from)*of.Width.Minutes(), float64(field.to)*of.Width.Minutes()
		c.FillPolygon(shaded{of.Series.role().light, field.strength}, rectangle(x(from), y(field.step), min(x(to), c.Max.X), y(field.step+1)))
	}
}

// ticks are round response times that fit beside each other in a height: powers of ten first,
// then 2, 5 and 3 times those.
func (h *heatMaps) ticks(height vg.Length) []float64 {
	const apart = vg.Length(12)
	var ticks []float64
	perStep := height / vg.Length(h.high+1-h.low)
	for _, factor := range []float64{1, 2, 5, 3} {
		for power := math.Floor(float64(h.low)/heatSteps) - 1; power <= math.Ceil(float64(h.high+1)/heatSteps); power++ {
			tick := factor * math.Pow(10, power)
			near := func(other float64) bool {
				return vg.Length(math.Abs(math.Log10(other/tick)))*heatSteps*perStep < apart
			}
			if at := heatSteps * math.Log10(tick); at >= float64(h.low) && at <= float64(h.high+1) && !slices.ContainsFunc(ticks, near) {
				ticks = append(ticks, tick)
			}
		}
	}
	return ticks
}

// heatField is a range of columns with the same strength at a step.
type heatField struct {
	step, from, to int16
	strength       uint32
}

// heatStrengths are the strengths of fields, in parts of 0xffff, by the minimum share of a
// column's samples.
var heatStrengths = []struct {
	share    float64
	strength uint32
}{{0.35, 0xe6e6}, {0.15, 0x9999}, {0.04, 0x5a5a}, {0, 0x2b2b}}

func heatStrength(share float64) uint32 {
	for _, one := range heatStrengths {
		if share > one.share {
			return one.strength
		}
	}
	return 0
}

// fields joins neighbors of the same strength, because each field takes a line of text in a page.
func (r HeatRow) fields() []heatField {
	low, high, columns := r.Extent()
	var fields []heatField
	for step := low; step <= high; step++ {
		for column := int16(0); column < columns; column++ {
			strength := heatStrength(r.Shares[[2]int16{column, step}])
			if strength == 0 {
				continue
			}
			last := len(fields) - 1
			if last >= 0 && fields[last].step == step && fields[last].to == column && fields[last].strength == strength {
				fields[last].to++
				continue
			}
			fields = append(fields, heatField{step, column, column + 1, strength})
		}
	}
	return fields
}
