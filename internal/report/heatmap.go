// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/text/prose"
	"perflab.dev/perflab/payload"
)

// heat is how many samples of a transaction there were, by the time in the run and by
// how long they took.
type heat struct {
	// width of a column.
	width time.Duration
	cells []heatCell
}

// heatCell is a field of a heat map: the column, the step of response times, and how
// many samples lie there.
type heatCell struct {
	column, step int16
	samples      uint32
}

const (
	// heatColumns are there at most.
	heatColumns = 30
	// heatSteps make a factor of ten of response times.
	heatSteps = 6
)

// heatWidths are what a column can be wide: runs that take about as long have the same.
var heatWidths = []time.Duration{
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

// heatOf a transaction's successful samples.
func heatOf(own *payload.Payload, transaction string, start time.Time) heat {
	if start.IsZero() {
		return heat{}
	}
	found := heat{width: heatWidth(own, start)}
	counts := map[[2]int16]uint32{}
	for bucket := range successes(own, transaction) {
		middle := time.Unix(bucket.Index*int64(own.BucketSeconds), 0).Add(time.Duration(own.BucketSeconds) * time.Second / 2)
		column := middle.Sub(start) / found.width
		if middle.Before(start) || bucket.Histogram == nil {
			continue
		}
		for duration, samples := range bucket.Histogram.All() {
			counts[[2]int16{int16(min(column, math.MaxInt16)), heatStep(duration)}] += samples
		}
	}
	for place, samples := range counts {
		found.cells = append(found.cells, heatCell{place[0], place[1], samples})
	}
	slices.SortFunc(found.cells, func(a, b heatCell) int {
		return cmp.Or(cmp.Compare(a.column, b.column), cmp.Compare(a.step, b.step))
	})
	return found
}

// heatWidth is the narrowest with which a load has few enough columns, and no buckets
// that are wider.
func heatWidth(own *payload.Payload, start time.Time) time.Duration {
	least := max(own.End.Sub(start)/heatColumns, time.Duration(own.BucketSeconds)*time.Second)
	for _, width := range heatWidths {
		if width >= least {
			return width
		}
	}
	return least
}

func heatStep(duration time.Duration) int16 {
	const shortest = 0.01
	return int16(math.Floor(heatSteps*math.Log10(math.Max(milliseconds(duration), shortest)) + 1e-9))
}

// longerThan is where a step begins, in milliseconds.
func longerThan(step int16) float64 { return math.Pow(10, float64(step)/heatSteps) }

// heatRow is an arm's: of each column, which share of its samples took how long.
type heatRow struct {
	arm    arm
	runs   int
	width  time.Duration
	shares map[[2]int16]float64
}

// heatRows of a transaction, of the arms whose runs have raw results.
func (s *scenario) heatRows(subject string) []heatRow {
	var rows []heatRow
	for _, arm := range s.arms {
		one := heatRow{arm: arm, shares: map[[2]int16]float64{}}
		var all []heat
		for _, run := range s.valid(arm.Name) {
			if trace := s.traces[run.Name]; trace != nil && len(trace.heats[subject].cells) > 0 {
				all = append(all, trace.heats[subject])
				one.width = max(one.width, trace.heats[subject].width)
			}
		}
		if one.runs = len(all); one.runs > 0 {
			one.add(all)
			rows = append(rows, one)
		}
	}
	return rows
}

// add the samples of runs, and make shares of them.
func (r heatRow) add(all []heat) {
	sums := map[int16]float64{}
	for _, one := range all {
		for _, cell := range one.cells {
			column := int16((one.width*time.Duration(cell.column) + one.width/2) / r.width)
			r.shares[[2]int16{column, cell.step}] += float64(cell.samples)
			sums[column] += float64(cell.samples)
		}
	}
	for place := range r.shares {
		r.shares[place] /= sums[place[0]]
	}
}

// extent are the first and the last step, and how many columns there are.
func (r heatRow) extent() (low, high, columns int16) {
	low, high = math.MaxInt16, math.MinInt16
	for place := range r.shares {
		low, high, columns = min(low, place[1]), max(high, place[1]), max(columns, place[0]+1)
	}
	return low, high, columns
}

// densest is the step with most of the samples of all columns.
func (r heatRow) densest() int16 {
	low, high, columns := r.extent()
	densest, most := low, 0.0
	for step := low; step <= high; step++ {
		sum := 0.0
		for column := int16(0); column < columns; column++ {
			sum += r.shares[[2]int16{column, step}]
		}
		if sum > most {
			densest, most = step, sum
		}
	}
	return densest
}

// heatMap shows how the response times of a transaction spread over the run, over all
// runs of each arm: two humps, or a tail that comes and goes, are in no mean.
func heatMap(_ *record, under *scenario, subject string) (chart, bool) {
	rows := under.heatRows(subject)
	if len(rows) == 0 || len(under.arms) > mostAround {
		return chart{}, false
	}
	_, transaction := metric.CutOwner(metric.Plain(subject))
	drawing := &heatMaps{rows: rows, low: math.MaxInt16, high: math.MinInt16}
	alt := fmt.Sprintf("How long %s took under %s over the run, in all runs of each arm: the darker, the larger the share of the samples of that time. ", transaction, under.Name)
	last := 0.0
	for _, row := range rows {
		low, high, columns := row.extent()
		drawing.low, drawing.high = min(drawing.low, low), max(drawing.high, high)
		last = math.Max(last, float64(columns)*row.width.Minutes())
		alt += fmt.Sprintf("%s (%s): most from %s to %s ms, all from %s to %s ms. ", row.arm.Name, prose.Counted(row.runs, "run"),
			rough(longerThan(row.densest())), rough(longerThan(row.densest()+1)), rough(longerThan(low)), rough(longerThan(high+1)))
	}
	axis := timeAxisOf(last)
	p := newPlot(axis.label)
	p.X.Tick.Marker = axis
	p.HideY()
	p.Add(drawing)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, last, 0, 1
	return chart{Title: transaction + ", all samples over the run, ms", Alt: alt, SVG: heatPicture(p, vg.Length(len(rows))*heatRowHeight+46)}, true
}

// heatPicture is the plot over the legend of its shades.
func heatPicture(p *plot.Plot, height vg.Length) picture {
	const below = vg.Length(34)
	return sketched(chartWidth, height+below, func(c draw.Canvas) {
		p.Draw(draw.Crop(c, 0, 0, below, 0))
		heatLegend(draw.Crop(c, 0, 0, 0, below-height))
	})
}

// heatLegend says which share of a column's samples a shade stands for.
func heatLegend(c draw.Canvas) {
	const side, apart = vg.Length(10), vg.Length(92)
	style := textStyle(smallText, roleMuted)
	style.YAlign = draw.YBottom
	c.FillText(style, vg.Point{X: c.Min.X, Y: c.Min.Y + 18}, "Share of the samples of the same time:")
	until := 100.0
	for i, one := range heatStrengths {
		left := c.Min.X + apart*vg.Length(len(heatStrengths)-1-i)
		c.FillPolygon(shaded{roleInk.light, one.strength}, rectangle(left, c.Min.Y+3, left+side, c.Min.Y+3+side))
		c.FillText(style, vg.Point{X: left + side + 4, Y: c.Min.Y + 2}, fmt.Sprintf("%s to %s", plain(100*one.share), percent(until)))
		until = 100 * one.share
	}
}

const heatRowHeight = vg.Length(92)

// heatMaps draws a row for each arm: its name above its fields, response times on the
// right.
type heatMaps struct {
	rows      []heatRow
	low, high int16
}

// GlyphBoxes keep room for the response times.
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
		marked(c, row.arm.index, func() {
			label := textStyle(labelText, roleInk)
			label.YAlign = draw.YTop
			c.FillText(label, vg.Point{X: c.Min.X, Y: top}, shortened(row.arm.Name, label, c.Max.X-c.Min.X))
			h.row(c, row, x, top-each+gap, top-name)
		})
	}
}

// row draws the fields of an arm between two heights.
func (h *heatMaps) row(c draw.Canvas, of heatRow, x func(float64) vg.Length, bottom, top vg.Length) {
	y := func(step int16) vg.Length {
		return bottom + (top-bottom)*vg.Length(step-h.low)/vg.Length(h.high+1-h.low)
	}
	for _, tick := range h.ticks(top - bottom) {
		at := bottom + (top-bottom)*vg.Length(heatSteps*math.Log10(tick)-float64(h.low))/vg.Length(h.high+1-h.low)
		c.StrokeLine2(draw.LineStyle{Color: roleGrid.light, Width: 0.5}, c.Min.X, at, c.Max.X+3, at)
		label := textStyle(smallText, roleMuted)
		label.YAlign = draw.YCenter
		c.FillText(label, vg.Point{X: c.Max.X + 5, Y: at}, plain(tick))
	}
	for _, field := range of.fields() {
		from, to := float64(field.from)*of.width.Minutes(), float64(field.to)*of.width.Minutes()
		c.FillPolygon(shaded{of.arm.role().light, field.strength}, rectangle(x(from), y(field.step), min(x(to), c.Max.X), y(field.step+1)))
	}
}

// ticks are round response times that have room beside each other in a height: powers of ten
// first, then twice and five times as much.
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

// heatField is a stretch of columns that are alike at a step.
type heatField struct {
	step, from, to int16
	strength       uint32
}

// heatStrengths are the shares of a column's samples from which on a field is so strong,
// in parts of 0xffff.
var heatStrengths = []struct {
	share    float64
	strength uint32
}{{0.35, 0xe6e6}, {0.15, 0x9999}, {0.04, 0x5a5a}, {0, 0x2b2b}}

func strengthOf(share float64) uint32 {
	for _, one := range heatStrengths {
		if share > one.share {
			return one.strength
		}
	}
	return 0
}

// fields join neighbours that are alike, for a page has a line of text for each.
func (r heatRow) fields() []heatField {
	low, high, columns := r.extent()
	var fields []heatField
	for step := low; step <= high; step++ {
		for column := int16(0); column < columns; column++ {
			strength := strengthOf(r.shares[[2]int16{column, step}])
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
