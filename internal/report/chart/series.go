// SPDX-License-Identifier: Apache-2.0

// Package chart draws charts as SVG from plain values.
package chart

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"perflab.dev/perflab/internal/report/document"
)

// Series is one of the things that charts compare. Its color and mark are the same in all charts.
type Series struct {
	Name string
	// Index is its place among the document's series.
	Index int
	// Shade selects its color and mark. Shades beyond the colors repeat them, with dashes.
	Shade int
	// Muted series are gray and dashed, with rings for marks.
	Muted bool
}

// marks distinguish series without color.
var marks = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.CrossGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.PlusGlyph{}}

// dashes distinguish series of the same color.
var dashes = [][]int{nil, {9, 4}, {2, 3}, {12, 3, 2, 3}}

func (s Series) color() color.Color { return s.role().light }

func (s Series) role() Role {
	if s.Muted {
		return roleMutedSeries
	}
	return shades[s.Shade%len(shades)]
}

func (s Series) mark() draw.GlyphDrawer {
	if s.Muted {
		return draw.RingGlyph{}
	}
	return marks[s.Shade%len(marks)]
}

// stroke is the style of lines.
func (s Series) stroke() draw.LineStyle {
	style := draw.LineStyle{Color: s.color(), Width: 1.6}
	if s.Muted {
		style.Dashes = []vg.Length{4, 3}
	}
	return style
}

// InDocument returns the series as a page lists it.
func (s Series) InDocument() document.Series {
	shown := document.Series{Name: s.Name, Color: s.role().variable, Dash: dashes[s.Shade/len(shades)%len(dashes)]}
	if s.Muted {
		shown.Dash = []int{4, 3}
	}
	return shown
}
