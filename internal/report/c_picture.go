// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"perflab.dev/perflab/internal/text/prose"
)

// role is a colour by what it is for.
type role struct {
	// variable of the style sheet.
	variable    string
	light, dark color.RGBA
}

func hex(rgb uint32) color.RGBA {
	return color.RGBA{R: uint8(rgb >> 16), G: uint8(rgb >> 8), B: uint8(rgb), A: 255}
}

// Roles of colours. Those of arms are Okabe and Ito's, which people who see few
// colours can tell apart, lightened for dark pages; marks differ in shape too.
var (
	roleInk    = role{"ink", hex(0x1f2430), hex(0xe7e9ee)}
	roleMuted  = role{"muted", hex(0x5d6675), hex(0xa3abba)}
	roleGrid   = role{"grid", hex(0xe2e5ea), hex(0x333a47)}
	roleWindow = role{"window", hex(0xeef1f6), hex(0x252b37)}
	roleMargin = role{"margin", hex(0xe4ecf5), hex(0x243245)}

	roleBetter       = role{"better", hex(0x00704f), hex(0x35c79a)}
	roleWorse        = role{"worse", hex(0xb43c00), hex(0xff9258)}
	roleEquivalent   = role{"equivalent", hex(0x005fa3), hex(0x6cb8f0)}
	roleInconclusive = role{"inconclusive", hex(0x667081), hex(0x9ba4b4)}

	shades = []role{
		{"arm-0", hex(0x3d4654), hex(0xcdd3de)},
		{"arm-1", hex(0x0072b2), hex(0x5ab4ec)},
		{"arm-2", hex(0xd55e00), hex(0xff8f47)},
		{"arm-3", hex(0x009e73), hex(0x33c79c)},
		{"arm-4", hex(0xbb5c92), hex(0xe49cc6)},
		{"arm-5", hex(0xa87400), hex(0xecb43c)},
		{"arm-6", hex(0x7a5cc0), hex(0xb39df0)},
	}
	roleTwin = role{"twin", hex(0x858e9c), hex(0x858e9d)}
)

func roles() []role {
	return append([]role{roleInk, roleMuted, roleGrid, roleWindow, roleMargin, roleBetter, roleWorse, roleEquivalent, roleInconclusive}, armRoles()...)
}

// armRoles are too light for words, some of them, and have variables of their own for
// those.
func armRoles() []role { return append([]role{roleTwin}, shades...) }

// Sizes in points, which a page shows as CSS pixels. A chart is as wide as a
// telephone, so that its words stay readable there; wider pages have several
// side by side.
const (
	chartWidth = vg.Length(420)
	smallText  = vg.Length(11)
	labelText  = vg.Length(12)
)

// faint is the strength of a colour that others show through: a sixth of 0xffff.
const faint = 0x2b2b

// shaded is a colour at a part of its strength. The canvas gets its parts back from those
// of RGBA and cuts off what is behind the point, so that they are rounded up.
type shaded struct {
	of       color.RGBA
	strength uint32
}

// RGBA is the colour, weakened.
func (s shaded) RGBA() (r, g, b, a uint32) {
	part := func(of uint8) uint32 { return (uint32(of)*s.strength + 0xfe) / 0xff }
	return part(s.of.R), part(s.of.G), part(s.of.B), s.strength
}

func newPlot(xLabel string) *plot.Plot {
	p := plot.New()
	// The page's shows through; the canvas writes no colour that a transparent one could have.
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
		axis.Tick.Marker = fewTicks{}
		alignX, alignY := axis.Tick.Label.XAlign, axis.Tick.Label.YAlign
		axis.Tick.Label = textStyle(smallText, roleMuted)
		axis.Tick.Label.XAlign, axis.Tick.Label.YAlign = alignX, alignY
	}
	return p
}

func textStyle(size vg.Length, of role) text.Style {
	return text.Style{
		Color: of.light, Handler: plot.DefaultTextHandler,
		Font: font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size),
	}
}

// fewTicks are four to nine round numbers, written as the rest of the page
// writes numbers.
type fewTicks struct{}

// Ticks leaves the labels of the outermost ticks room within the axis.
func (fewTicks) Ticks(low, high float64) []plot.Tick {
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
			ticks = append(ticks, plot.Tick{Value: at * step, Label: fixed(at*step, places)})
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

// drawn turns a plot into a picture.
func drawn(p *plot.Plot, height vg.Length) picture { return sketched(chartWidth, height, p.Draw) }

// sketched is a picture of what is drawn on a canvas.
func sketched(width, height vg.Length, onto func(draw.Canvas)) picture {
	canvas := vgsvg.New(width, height)
	onto(draw.New(canvas))
	var out bytes.Buffer
	if _, err := canvas.WriteTo(&out); err != nil {
		// A buffer takes every write.
		panic(fmt.Sprintf("writing a chart: %v", err))
	}
	return picture(tidy(out.String(), width, height))
}

// Marks of what belongs to an arm: paths without extent, in colours that no role has,
// as the canvas knows no groups. What others call something is text, and can't be
// taken for one.
var (
	markBegin, markEnd = hex(0xa53d01), hex(0xa53d02)
	// markRight is before a text that ends where the mark is.
	markRight = hex(0xa53d03)
)

// marked draws what belongs to an arm, so that a page can hide it.
func marked(c draw.Canvas, arm int, onto func()) {
	putMark(c, markBegin, vg.Length(arm))
	onto()
	putMark(c, markEnd, 0)
}

func putMark(c draw.Canvas, of color.Color, at vg.Length) {
	var here vg.Path
	here.Move(vg.Point{X: at})
	c.SetColor(of)
	c.Fill(here)
}

// writeUntil writes a text that ends at a point, however wide a reader's font makes it.
func writeUntil(c draw.Canvas, style draw.TextStyle, at vg.Point, text string) {
	putMark(c, markRight, at.X)
	c.FillText(style, at, text)
}

var viewBox = regexp.MustCompile(`viewBox="0 0 ([0-9.]+) ([0-9.]+)"`)

// chartFile is the picture on its own, on white, below its title: on a wiki nothing else
// says what it shows.
func chartFile(p picture, title, alt string) []byte {
	svg := unmarked(string(p))
	at := strings.IndexByte(svg, '>') + 1
	size := viewBox.FindStringSubmatch(svg[:at])
	if size == nil {
		panic("a chart has no size")
	}
	lines := wrapped(title, titleLength)
	above := titleHeight*len(lines) + 6
	height, _ := strconv.ParseFloat(size[2], 64) // As the expression has it.
	box := fmt.Sprintf(`font-family="Liberation Sans, Arial, Helvetica, sans-serif" viewBox="0 -%d %s %g"`, above, size[1], height+float64(above))
	var heading strings.Builder
	for i, line := range lines {
		fmt.Fprintf(&heading, `<text x="4" y="%d" style="font-size:12px;font-weight:bold;fill:#1c2330">%s</text>`+"\n", titleHeight*(i+1)-above, escapeXML(line))
	}
	return []byte(prose.Printable(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" + strings.Replace(svg[:at], size[0], box, 1) + "\n<title>" + escapeXML(alt) + "</title>\n" +
		fmt.Sprintf(`<rect y="-%d" width="100%%" height="100%%" fill="#ffffff"/>`, above) + "\n" + heading.String() + svg[at:] + "\n"))
}

const (
	titleHeight = 16
	// titleLength is how many characters stand beside each other above a chart.
	titleLength = 62
)

// wrapped breaks a text into lines of so many characters, between words where it can.
func wrapped(text string, length int) []string {
	var lines []string
	for _, word := range strings.Fields(text) {
		last := len(lines) - 1
		if last >= 0 && utf8.RuneCountInString(lines[last])+1+utf8.RuneCountInString(word) <= length {
			lines[last] += " " + word
			continue
		}
		lines = append(lines, word)
	}
	return lines
}

func css(of color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", of.R, of.G, of.B) }

var xmlEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;")

func escapeXML(text string) string { return xmlEscapes.Replace(text) }
