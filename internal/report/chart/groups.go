// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// grouped draws the elements of an arm, so that a page can hide them.
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

// fillTextUntil writes right-aligned text, whatever the width of the reader's font.
func fillTextUntil(c draw.Canvas, style draw.TextStyle, at vg.Point, text string) {
	setMark(c, markRight, at.X)
	c.FillText(style, at, text)
}

// Marks around the elements of an arm: paths without extent, in colors that no role has, because
// the canvas has no groups. Third-party names are text, so they can't be mistaken for marks.
var (
	markBegin, markEnd = rgb(0xa53d01), rgb(0xa53d02)
	// markRight precedes a text that ends at the mark's position.
	markRight = rgb(0xa53d03)
)
