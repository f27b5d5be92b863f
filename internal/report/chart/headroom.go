// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/digits"
)

// headroom is the space above the lines of a chart over time, so that text never overlaps a line.
// From the bottom: a row for each arm's batches, one for the names of bands, and one for the
// numbers of each arm's marks.
type headroom struct {
	batches, marks int
	bands          bool
}

// Heights of the rows, and the thickness of a batch.
const (
	batchRow   = vg.Length(4)
	textRow    = vg.Length(13)
	thickBatch = vg.Length(2.5)
)

func newHeadroom(lines []Line, bands []Band) headroom {
	found := headroom{bands: len(bands) > 0}
	for i, one := range lines {
		if len(one.Batches) > 0 {
			found.batches = i + 1
		}
		if len(one.Marks) > 0 {
			found.marks++
		}
	}
	return found
}

func (h headroom) aboveBatches(row int) vg.Length { return 2 + batchRow*vg.Length(row) }

func (h headroom) aboveBands() vg.Length {
	if h.batches == 0 {
		return 0
	}
	return h.aboveBatches(h.batches) + 1
}

func (h headroom) aboveMarks(row int) vg.Length {
	base := h.aboveBands()
	if h.bands {
		base += textRow
	}
	return base + textRow*vg.Length(row)
}

func (h headroom) height() vg.Length { return h.aboveMarks(h.marks) }

// shade draws a band, with its name at a height.
func (b Band) shade(c draw.Canvas, x func(float64) vg.Length, right, name vg.Length) {
	from, to := clamp(x(b.From), c.Min.X, right), clamp(x(b.To), c.Min.X, right)
	c.FillPolygon(roleWindow.light, rectangle(from, c.Min.Y, to, c.Max.Y))
	label := textStyle(smallText, roleMuted)
	label.YAlign = draw.YBottom
	c.FillText(label, vg.Point{X: from, Y: name}, elide(b.Name, label, right-from))
}

// annotate draws marks as moments or ranges, each with its number above, moved aside if another
// number is there.
func (l Line) annotate(c draw.Canvas, x func(float64) vg.Length, right, above vg.Length, number int) {
	style := textStyle(smallText, roleInk)
	style.Color, style.YAlign = l.Series.color(), draw.YBottom
	taken := c.Min.X
	for i, one := range l.marksInOrder() {
		from, to := clamp(x(one.From), c.Min.X, right), clamp(x(one.To), c.Min.X, right)
		if to > from {
			c.FillPolygon(shaded{l.Series.role().light, faint}, rectangle(from, c.Min.Y, to, c.Max.Y))
		}
		c.StrokeLine2(draw.LineStyle{Color: l.Series.color(), Width: 1, Dashes: []vg.Length{2, 2}}, from, c.Min.Y, from, c.Max.Y)
		text := strconv.Itoa(number + i)
		wide := style.Width(text) * widerFont
		at := max(from-wide/2, taken)
		c.FillText(style, vg.Point{X: at, Y: c.Max.Y + above}, text)
		taken = at + wide + 2
	}
}

// key explains a sign of a chart.
type key struct {
	series     Series
	sign, text string
}

// newKeys explains the numbers of the lines' marks, those with the same text together, and the
// bars of their batches.
func newKeys(lines []Line) []key {
	var keys []key
	number := 1
	for _, one := range lines {
		numbers := map[string][]int{}
		var order []string
		for _, mark := range one.marksInOrder() {
			if numbers[mark.Name] == nil {
				order = append(order, mark.Name)
			}
			numbers[mark.Name] = append(numbers[mark.Name], number)
			number++
		}
		for _, name := range order {
			keys = append(keys, key{one.Series, ranges(numbers[name]), name})
		}
		for _, batch := range one.Batches {
			known := slices.ContainsFunc(keys, func(known key) bool { return known.sign == batchSign && known.text == batch.Name })
			if !known {
				keys = append(keys, key{one.Series, batchSign, batch.Name})
			}
		}
	}
	return keys
}

// batchSign is the sign for the bars of batches.
const batchSign = "▬"

// ranges joins consecutive numbers: 1–3, 5.
func ranges(numbers []int) string {
	text := ""
	for i := 0; i < len(numbers); {
		last := i
		for last+1 < len(numbers) && numbers[last+1] == numbers[last]+1 {
			last++
		}
		if text != "" {
			text += ", "
		}
		text += strconv.Itoa(numbers[i])
		if last > i {
			text += digits.Dash + strconv.Itoa(numbers[last])
		}
		i = last + 1
	}
	return text
}

// renderWithKeys draws a plot above the legend of its signs.
func renderWithKeys(p *plot.Plot, height vg.Length, keys []key) document.Picture {
	below := vg.Length(0)
	if len(keys) > 0 {
		below = textRow*vg.Length(len(keys)) + 4
	}
	return renderCanvas(chartWidth, height+below, func(c draw.Canvas) {
		p.Draw(draw.Crop(c, 0, 0, below, 0))
		for i, one := range keys {
			grouped(c, one.series.Index, func() { one.write(c, c.Min.Y+textRow*vg.Length(len(keys)-1-i)+2) })
		}
	})
}

func (k key) write(c draw.Canvas, y vg.Length) {
	const indent = vg.Length(38)
	style := textStyle(smallText, roleMuted)
	style.Color, style.YAlign = k.series.color(), draw.YBottom
	wide := max(indent, style.Width(k.sign)*widerFont+6)
	c.FillText(style, vg.Point{X: c.Min.X, Y: y}, k.sign)
	style.Color = roleMuted.light
	c.FillText(style, vg.Point{X: c.Min.X + wide, Y: y}, elide(k.text, style, c.Max.X-c.Min.X-wide))
}
