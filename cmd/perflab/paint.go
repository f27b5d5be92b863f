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
		if text == "not shown" {
			return colorWarning
		}
	case "outcome":
		if strings.HasSuffix(text, "do not match") {
			return colorBad
		}
	case "slip":
		if audit.Outcome(text).IsError() {
			return colorBad
		}
	}
	return nil
}

// statusVerdict matches the verdict at the end of a comparison in the status.
var statusVerdict = regexp.MustCompile(`: (\w+)(?:, about .* needed)?$`)

// paintStatus highlights problems and verdicts in the status of an experiment.
func (l style) paintStatus(text string) string {
	if !l.colors {
		return text
	}
	var painted strings.Builder
	for line := range strings.Lines(text) {
		painted.WriteString(l.paintStatusLine(strings.TrimSuffix(line, "\n")))
		if strings.HasSuffix(line, "\n") {
			painted.WriteString("\n")
		}
	}
	return painted.String()
}

func (l style) paintStatusLine(line string) string {
	if strings.HasPrefix(line, "  invalid: ") {
		return strings.Replace(line, "invalid", l.paint(colorWarning, "invalid"), 1)
	}
	if phase, is := strings.CutSuffix(line, ": "+string(v1alpha1.ExperimentStalled)); is {
		return phase + ": " + l.paint(colorBad, string(v1alpha1.ExperimentStalled))
	}
	if at := statusVerdict.FindStringSubmatchIndex(line); at != nil {
		return line[:at[2]] + l.paint(verdictColor(line[at[2]:at[3]]), line[at[2]:at[3]]) + line[at[3]:]
	}
	return line
}
