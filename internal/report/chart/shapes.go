// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

func rectangle(left, bottom, right, top vg.Length) []vg.Point {
	return []vg.Point{{X: left, Y: bottom}, {X: right, Y: bottom}, {X: right, Y: top}, {X: left, Y: top}}
}

// drawGrid draws a line at each tick of the Y axis, up to the right.
func drawGrid(c draw.Canvas, p *plot.Plot, right vg.Length) {
	_, y := p.Transforms(&c)
	for _, tick := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		c.StrokeLine2(draw.LineStyle{Color: roleGrid.light, Width: 0.5}, c.Min.X, y(tick.Value), right, y(tick.Value))
	}
}

func clamp(value, low, high vg.Length) vg.Length { return max(low, min(value, high)) }

// elide cuts the middle out of a text that is too wide, in any font a reader may have.
func elide(text string, style draw.TextStyle, width vg.Length) string {
	runes := []rune(text)
	for keep := len(runes); style.Width(text)*widerFont > width && keep > 4; keep-- {
		text = string(runes[:keep/2]) + "…" + string(runes[len(runes)-keep/2:])
	}
	return text
}

// widerFont is how much wider than measured a text may be: browsers without Arial use DejaVu Sans
// or Verdana.
const widerFont = 1.2
