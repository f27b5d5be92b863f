// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// grouped draws what belongs to an arm, so that a page can hide it.
func grouped(c draw.Canvas, arm int, onto func()) {
	setMark(c, markBegin, vg.Length(arm))
	onto()
	setMark(c, markEnd, 0)
}

func setMark(c draw.Canvas, of color.Color, at vg.Length) {
	var here vg.Path
	here.Move(vg.Point{X: at})
	c.SetColor(of)
	c.Fill(here)
}

// fillTextUntil writes a text that ends at a point, however wide a reader's font makes it.
func fillTextUntil(c draw.Canvas, style draw.TextStyle, at vg.Point, text string) {
	setMark(c, markRight, at.X)
	c.FillText(style, at, text)
}

// Marks of what belongs to an arm: paths without extent, in colors that no role has,
// as the canvas knows no groups. What others call something is text, and can't be
// taken for one.
var (
	markBegin, markEnd = rgb(0xa53d01), rgb(0xa53d02)
	// markRight is before a text that ends where the mark is.
	markRight = rgb(0xa53d03)
)
