// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// widestName is the maximum width of a series' name beside its line.
const widestName = vg.Length(110)

// roomForNames is a strip on the right.
func roomForNames(all []Series) []plot.GlyphBox {
	style := textStyle(smallText, roleInk)
	var widest vg.Length
	for _, one := range all {
		widest = max(widest, style.Width(one.Name))
	}
	return []plot.GlyphBox{{X: 1, Y: 0.5, Rectangle: vg.Rectangle{Max: vg.Point{X: min(widest, widestName)*widerFont + 8, Y: 1}}}}
}

// end of a series' line.
type end struct {
	series Series
	y      vg.Length
}

// writeNames writes each series' name at the end of its line, and separates names where lines end
// together.
func writeNames(c draw.Canvas, ends []end, right vg.Length) {
	const apart = vg.Length(13)
	slices.SortStableFunc(ends, func(a, b end) int { return cmp.Compare(a.y, b.y) })
	for i := range ends {
		if i > 0 {
			ends[i].y = max(ends[i].y, ends[i-1].y+apart)
		}
	}
	if over := len(ends) - 1; ends[over].y > c.Max.Y-6 {
		shift := ends[over].y - (c.Max.Y - 6)
		for i := range ends {
			ends[i].y -= shift
		}
	}
	for _, one := range ends {
		style := textStyle(smallText, roleInk)
		style.Color, style.YAlign = one.series.color(), draw.YCenter
		at := vg.Point{X: right + 6, Y: one.y}
		grouped(c, one.series.Index, func() { c.FillText(style, at, elide(one.series.Name, style, widestName*widerFont)) })
	}
}
