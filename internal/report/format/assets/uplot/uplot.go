// SPDX-License-Identifier: Apache-2.0

// Package uplot is uPlot 1.6.32 by Leon Sorokin, as its authors minified it: it draws the charts
// of a report's page in a browser. It is under the MIT license, which is part of every page.
// hack/assets.sh fetches it.
package uplot

import _ "embed" // Embeds uPlot's files.

var (
	//go:embed uPlot.iife.min.js
	code string
	//go:embed LICENSE
	licence string
	// Style is uPlot's style sheet.
	//
	//go:embed uPlot.min.css
	Style string
)

// Script is the library, which defines uPlot, below its license.
func Script() string { return "/*\n" + licence + "*/\n" + code }
