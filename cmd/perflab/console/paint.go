// SPDX-License-Identifier: Apache-2.0

package console

import (
	"strings"

	"github.com/fatih/color"

	"perflab.dev/perflab/internal/inference/audit"
	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/text/prose"
)

// Colors highlight words; they carry no information of their own.
var (
	ColorGood    = newColor(color.FgGreen)
	ColorBad     = newColor(color.FgRed)
	ColorWarning = newColor(color.FgYellow)
	ColorStrong  = newColor(color.Bold)
)

// newColor returns a color that is always enabled: style decides whether to use it.
func newColor(attribute color.Attribute) *color.Color {
	made := color.New(attribute)
	made.EnableColor()
	return made
}

// Paint colors a text if colors are enabled; nil is no color.
func (l Style) Paint(shade *color.Color, text string) string {
	if !l.Colors || shade == nil || text == "" {
		return text
	}
	return shade.Sprint(text)
}

// verdictColor is the color of a verdict.
func verdictColor(text string) *color.Color {
	switch verdict.Verdict(text) {
	case verdict.Better:
		return ColorGood
	case verdict.Worse:
		return ColorBad
	case verdict.Inconclusive:
		return ColorWarning
	default:
		return nil
	}
}

// cellColor is the color of a table's cell, by the header of its column.
func cellColor(header, text string) *color.Color {
	switch header {
	case "verdict":
		return verdictColor(text)
	case "equivalent":
		if text == NotEquivalent {
			return ColorWarning
		}
	case "outcome":
		if text != header && text != OutcomeMatches && text != OutcomeMatch {
			return ColorBad
		}
	case "slip":
		if audit.Outcome(text).IsError() {
			return ColorBad
		}
	}
	return nil
}

// StatusLine is a line of text with a highlighted word; a nil shade highlights nothing.
type StatusLine struct {
	Before, Word, After string
	Shade               *color.Color
}

// VerdictLine highlights a verdict.
func VerdictLine(before, verdict, after string) StatusLine {
	return StatusLine{before, verdict, after, verdictColor(verdict)}
}

func (l StatusLine) String() string { return l.Before + l.Word + l.After }

// Indented is the line within a list.
func (l StatusLine) Indented() StatusLine {
	l.Before = "  " + l.Before
	return l
}

// PaintStatus joins the lines of a status, with highlights if colors are enabled.
func (l Style) PaintStatus(lines []StatusLine) string {
	var painted strings.Builder
	for _, line := range lines {
		painted.WriteString(prose.Printable(line.Before) + l.Paint(line.Shade, prose.Printable(line.Word)) + prose.Printable(line.After) + "\n")
	}
	return painted.String()
}

// NotEquivalent are baselines that are not shown to be equivalent.
const NotEquivalent = "not shown"

// Outcomes of links that hold: of one, and of several.
const (
	OutcomeMatches = "matches"
	OutcomeMatch   = "match"
)
