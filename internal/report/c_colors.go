// SPDX-License-Identifier: Apache-2.0

package report

import (
	"image/color"
	"math"
)

// panels are what the darkest text stands on in a light page, and the lightest in a
// dark one.
var panelLight, panelDark = hex(0xf6f7f9), hex(0x1f242d)

// leastContrast is what WCAG's level AA asks of text.
const leastContrast = 4.5

// legible is a colour for words: darker, on a dark page lighter, by as much as it
// takes to be read.
func legible(of color.RGBA, dark bool) color.RGBA {
	behind, to := panelLight, 0.0
	if dark {
		behind, to = panelDark, 255.0
	}
	shown := of
	for share := 0.0; share < 1 && contrast(shown, behind) < leastContrast; share += 0.02 {
		shown = color.RGBA{mixed(of.R, to, share), mixed(of.G, to, share), mixed(of.B, to, share), of.A}
	}
	return shown
}

func mixed(from uint8, to, share float64) uint8 {
	return uint8(math.Round(float64(from)*(1-share) + to*share))
}

// contrast of two colours, as WCAG 2 defines it.
func contrast(a, b color.RGBA) float64 {
	one, other := luminance(a), luminance(b)
	return (math.Max(one, other) + 0.05) / (math.Min(one, other) + 0.05)
}

func luminance(of color.RGBA) float64 {
	return 0.2126*linear(of.R) + 0.7152*linear(of.G) + 0.0722*linear(of.B)
}

func linear(channel uint8) float64 {
	value := float64(channel) / 255
	if value <= 0.04045 {
		return value / 12.92
	}
	return math.Pow((value+0.055)/1.055, 2.4)
}
