// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/digits"
)

// Sizes in points, which a page shows as CSS pixels. A chart is as wide as a phone, so that its
// text stays readable there; wider pages have several side by side.
const (
	chartWidth = vg.Length(420)
	smallText  = vg.Length(11)
	labelText  = vg.Length(12)
)

// faint is the strength of a translucent color: a sixth of 0xffff.
const faint = 0x2b2b

// shaded is a color at partial strength. The canvas computes its components from RGBA and
// truncates them, so they are rounded up.
type shaded struct {
	of       color.RGBA
	strength uint32
}

// RGBA is the color, weakened.
func (s shaded) RGBA() (r, g, b, a uint32) {
	part := func(of uint8) uint32 { return (uint32(of)*s.strength + 0xfe) / 0xff }
	return part(s.of.R), part(s.of.G), part(s.of.B), s.strength
}

func newPlot(xLabel string) *plot.Plot {
	p := plot.New()
	// The page's background shows through, because the canvas can't write a transparent color.
	p.BackgroundColor = nil
	p.X.Label.Text = xLabel
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Color = roleMuted.light
		axis.Width = 0.75
		axis.Label.TextStyle = textStyle(smallText, roleMuted)
		axis.Label.TextStyle.XAlign = draw.XCenter
		axis.Tick.Color = roleMuted.light
		axis.Tick.Width = 0.75
		axis.Tick.Length = 4
		axis.Padding = 0
		axis.Tick.Marker = roundTicks{}
		alignX, alignY := axis.Tick.Label.XAlign, axis.Tick.Label.YAlign
		axis.Tick.Label = textStyle(smallText, roleMuted)
		axis.Tick.Label.XAlign, axis.Tick.Label.YAlign = alignX, alignY
	}
	return p
}

func textStyle(size vg.Length, of Role) text.Style {
	return text.Style{
		Color: of.light, Handler: plot.DefaultTextHandler,
		Font: font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size),
	}
}

// roundTicks are four to nine round numbers, in the number format of the page.
type roundTicks struct{}

// Ticks keep their outermost labels within the axis.
func (roundTicks) Ticks(low, high float64) []plot.Tick {
	const room = 0.03
	step := roundStep((high - low) / 4)
	if step == 0 {
		return nil
	}
	places := max(-int(math.Floor(math.Log10(step)+1e-9)), 0)
	var ticks []plot.Tick
	for at := math.Ceil(low / step); at*step <= high; at++ {
		share := (at*step - low) / (high - low)
		atEdge := share > 0 && share < room || share > 1-room && share < 1
		if !atEdge {
			ticks = append(ticks, plot.Tick{Value: at * step, Label: digits.Fixed(at*step, places)})
		}
	}
	return ticks
}

// roundStep is 1, 2 or 5 times a power of ten, and at most the given number.
func roundStep(limit float64) float64 {
	if !(limit > 0) || math.IsInf(limit, 0) {
		return 0
	}
	power := math.Pow(10, math.Floor(math.Log10(limit)))
	for _, factor := range []float64{5, 2} {
		if factor*power <= limit {
			return factor * power
		}
	}
	return power
}

// render turns a plot into a picture.
func render(p *plot.Plot, height vg.Length) document.Picture {
	return renderCanvas(chartWidth, height, p.Draw)
}

// renderCanvas returns what a function draws on a canvas as a picture.
func renderCanvas(width, height vg.Length, onto func(draw.Canvas)) document.Picture {
	canvas := vgsvg.New(width, height)
	onto(draw.New(canvas))
	var out bytes.Buffer
	if _, err := canvas.WriteTo(&out); err != nil {
		// Writes to a buffer never fail.
		panic(fmt.Sprintf("writing a chart: %v", err))
	}
	return document.Picture(tidy(out.String(), width, height))
}

var xmlEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;")

// EscapeXML escapes a text for character data or an attribute value.
func EscapeXML(text string) string { return xmlEscapes.Replace(text) }
