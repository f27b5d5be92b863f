// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"fmt"
	"image/color"
	"math"
	"strings"
)

// panels are the backgrounds behind text: the darkest of a light page and the lightest of a dark
// one.
var panelLight, panelDark = rgb(0xf6f7f9), rgb(0x1f242d)

// leastContrast is the minimum contrast for text in WCAG level AA.
const leastContrast = 4.5

// legibleColor makes a color legible as text: darker, or lighter on a dark page, until the
// contrast suffices.
func legibleColor(of color.RGBA, dark bool) color.RGBA {
	behind, to := panelLight, 0.0
	if dark {
		behind, to = panelDark, 255.0
	}
	shown := of
	for share := 0.0; share < 1 && contrast(shown, behind) < leastContrast; share += 0.02 {
		shown = color.RGBA{mixChannel(of.R, to, share), mixChannel(of.G, to, share), mixChannel(of.B, to, share), of.A}
	}
	return shown
}

func mixChannel(from uint8, to, share float64) uint8 {
	return uint8(math.Round(float64(from)*(1-share) + to*share))
}

// contrast is the contrast of two colors, as WCAG 2 defines it.
func contrast(a, b color.RGBA) float64 {
	one, other := luminance(a), luminance(b)
	return (math.Max(one, other) + 0.05) / (math.Min(one, other) + 0.05)
}

func luminance(of color.RGBA) float64 {
	return 0.2126*linearChannel(of.R) + 0.7152*linearChannel(of.G) + 0.0722*linearChannel(of.B)
}

func linearChannel(channel uint8) float64 {
	value := float64(channel) / 255
	if value <= 0.04045 {
		return value / 12.92
	}
	return math.Pow((value+0.055)/1.055, 2.4)
}

// StyleVariables are the colors of the roles as CSS variables.
func StyleVariables(dark bool) string {
	var written strings.Builder
	for _, one := range roles() {
		written.WriteString("--" + one.variable + ":" + hexColor(one.shown(dark)) + ";")
	}
	for _, one := range seriesRoles() {
		written.WriteString("--" + one.variable + "-text:" + hexColor(legibleColor(one.shown(dark), dark)) + ";")
	}
	return written.String()
}

func (r Role) shown(dark bool) color.RGBA {
	if dark {
		return r.dark
	}
	return r.light
}

// Role is a color with a purpose.
type Role struct {
	// variable in the style sheet.
	variable    string
	light, dark color.RGBA
}

func rgb(rgb uint32) color.RGBA {
	return color.RGBA{R: uint8(rgb >> 16), G: uint8(rgb >> 8), B: uint8(rgb), A: 255}
}

// Roles of colors. The colors of arms are Okabe and Ito's, which color-blind readers can
// distinguish, lightened for dark pages; marks differ in shape too.
var (
	roleInk    = Role{"ink", rgb(0x1f2430), rgb(0xe7e9ee)}
	roleMuted  = Role{"muted", rgb(0x5d6675), rgb(0xa3abba)}
	roleGrid   = Role{"grid", rgb(0xe2e5ea), rgb(0x333a47)}
	roleWindow = Role{"window", rgb(0xeef1f6), rgb(0x252b37)}
	roleMargin = Role{"margin", rgb(0xe4ecf5), rgb(0x243245)}

	Better       = Role{"better", rgb(0x00704f), rgb(0x35c79a)}
	Worse        = Role{"worse", rgb(0xb43c00), rgb(0xff9258)}
	Equivalent   = Role{"equivalent", rgb(0x005fa3), rgb(0x6cb8f0)}
	Inconclusive = Role{"inconclusive", rgb(0x667081), rgb(0x9ba4b4)}

	shades = []Role{
		{"arm-0", rgb(0x3d4654), rgb(0xcdd3de)},
		{"arm-1", rgb(0x0072b2), rgb(0x5ab4ec)},
		{"arm-2", rgb(0xd55e00), rgb(0xff8f47)},
		{"arm-3", rgb(0x009e73), rgb(0x33c79c)},
		{"arm-4", rgb(0xbb5c92), rgb(0xe49cc6)},
		{"arm-5", rgb(0xa87400), rgb(0xecb43c)},
		{"arm-6", rgb(0x7a5cc0), rgb(0xb39df0)},
	}
	roleMutedSeries = Role{"twin", rgb(0x858e9c), rgb(0x858e9d)}
)

func roles() []Role {
	return append([]Role{roleInk, roleMuted, roleGrid, roleWindow, roleMargin, Better, Worse, Equivalent, Inconclusive}, seriesRoles()...)
}

// seriesRoles are the colors of series. Some are too light for text, so text has separate
// variables.
func seriesRoles() []Role { return append([]Role{roleMutedSeries}, shades...) }

func hexColor(of color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", of.R, of.G, of.B) }
