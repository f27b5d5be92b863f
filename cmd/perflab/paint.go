// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"

	"github.com/fatih/color"

	"perflab.dev/perflab/internal/inference/audit"
	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/text/prose"
)

// Colors highlight words; they carry no information of their own.
var (
	colorGood    = newColor(color.FgGreen)
	colorBad     = newColor(color.FgRed)
	colorWarning = newColor(color.FgYellow)
	colorStrong  = newColor(color.Bold)
)

// newColor returns a color that is always enabled: style decides whether to use it.
func newColor(attribute color.Attribute) *color.Color {
	made := color.New(attribute)
	made.EnableColor()
	return made
}

// paint colors a text if colors are enabled; nil is no color.
func (l style) paint(shade *color.Color, text string) string {
	if !l.colors || shade == nil || text == "" {
		return text
	}
	return shade.Sprint(text)
}

// verdictColor is the color of a verdict.
func verdictColor(text string) *color.Color {
	switch verdict.Verdict(text) {
	case verdict.Better:
		return colorGood
	case verdict.Worse:
		return colorBad
	case verdict.Inconclusive:
		return colorWarning
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
		if text == notEquivalent {
			return colorWarning
		}
	case "outcome":
		if text != header && text != outcomeMatches && text != outcomeMatch {
			return colorBad
		}
	case "slip":
		if audit.Outcome(text).IsError() {
			return colorBad
		}
	}
	return nil
}

// statusLine is a line of text with a highlighted word; a nil shade highlights nothing.
type statusLine struct {
	before, word, after string
	shade               *color.Color
}

// verdictLine highlights a verdict.
func verdictLine(before, verdict, after string) statusLine {
	return statusLine{before, verdict, after, verdictColor(verdict)}
}

func (l statusLine) String() string { return l.before + l.word + l.after }

// indented is the line within a list.
func (l statusLine) indented() statusLine {
	l.before = "  " + l.before
	return l
}

// paintStatus joins the lines of a status, with highlights if colors are enabled.
func (l style) paintStatus(lines []statusLine) string {
	var painted strings.Builder
	for _, line := range lines {
		painted.WriteString(prose.Printable(line.before) + l.paint(line.shade, prose.Printable(line.word)) + prose.Printable(line.after) + "\n")
	}
	return painted.String()
}
