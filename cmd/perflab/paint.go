// SPDX-License-Identifier: Apache-2.0

package main

import (
	"regexp"
	"strings"

	"github.com/fatih/color"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/audit"
	"perflab.dev/perflab/internal/inference/verdict"
)

// Colours are for what a reader looks for. The words say the same without them.
var (
	good     = shade(color.FgGreen)
	bad      = shade(color.FgRed)
	doubtful = shade(color.FgYellow)
	strong   = shade(color.Bold)
)

// shade is there whatever the library thinks of the terminal: that is our look's to
// tell.
func shade(attribute color.Attribute) *color.Color {
	made := color.New(attribute)
	made.EnableColor()
	return made
}

// paint colours a text where colours may be used; nil is no colour.
func (l look) paint(shade *color.Color, text string) string {
	if !l.colours || shade == nil || text == "" {
		return text
	}
	return shade.Sprint(text)
}

// ofVerdict is the colour of what a comparison says.
func ofVerdict(text string) *color.Color {
	switch verdict.Verdict(text) {
	case verdict.Better:
		return good
	case verdict.Worse:
		return bad
	case verdict.Inconclusive:
		return doubtful
	default:
		return nil
	}
}

// ofCell is the colour of a table's cell, by the header of its column.
func ofCell(header, text string) *color.Color {
	switch header {
	case "verdict":
		return ofVerdict(text)
	case "alike":
		if text == "not shown" {
			return doubtful
		}
	case "outcome":
		if strings.HasSuffix(text, "do not hold") {
			return bad
		}
	case "slip":
		if audit.Outcome(text).Slip() {
			return bad
		}
	}
	return nil
}

// found ends a line of the status that tells a comparison.
var foundVerdict = regexp.MustCompile(`: (\w+)(?:, about .* would tell)?$`)

// status colours what a person has to look at in the lines of an experiment's status.
func (l look) status(text string) string {
	if !l.colours {
		return text
	}
	var painted strings.Builder
	for line := range strings.Lines(text) {
		painted.WriteString(l.statusLine(strings.TrimSuffix(line, "\n")))
		if strings.HasSuffix(line, "\n") {
			painted.WriteString("\n")
		}
	}
	return painted.String()
}

func (l look) statusLine(line string) string {
	if strings.HasPrefix(line, "  invalid: ") {
		return strings.Replace(line, "invalid", l.paint(doubtful, "invalid"), 1)
	}
	if phase, is := strings.CutSuffix(line, ": "+string(v1alpha1.ExperimentStalled)); is {
		return phase + ": " + l.paint(bad, string(v1alpha1.ExperimentStalled))
	}
	if at := foundVerdict.FindStringSubmatchIndex(line); at != nil {
		return line[:at[2]] + l.paint(ofVerdict(line[at[2]:at[3]]), line[at[2]:at[3]]) + line[at[3]:]
	}
	return line
}
