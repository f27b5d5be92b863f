// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strings"
	"time"

	"perflab.dev/perflab/internal/report/format"
	"perflab.dev/perflab/internal/runs/provenance"
	"perflab.dev/perflab/internal/text/prose"
)

// Brief is the answer card as text, for places without room for a page, such as an index or a
// comment.
type Brief struct {
	// Origin is where the experiment was measured.
	Origin provenance.Origin
	// Title is the question; Subtitle names the experiment and its size.
	Title, Subtitle string
	// Banner replaces the answer if too few runs give one: what the runs show, and the next step.
	Banner []string
	// Sentence is the answer; empty below a banner.
	Sentence string
	// Verdicts have counts, the certain and the bad ones first.
	Verdicts []Statement
	// Figures are the key comparisons, each as a sentence.
	Figures []Statement
	// Sure is the confidence of the answer and its reservations; Cost is empty without prices.
	Sure, Cost string
	// Runs is the number of valid runs.
	Runs int
	// Measured is when the last run ended; zero without runs.
	Measured time.Time
}

// Statement is a sentence with its verdict.
type Statement struct {
	Verdict string `json:"verdict"`
	Text    string `json:"text"`
}

// Class is the verdict's class in a style sheet.
func (s Statement) Class() string { return format.Class(s.Verdict) }

// Brief returns the page's card without its pictures.
func (r *Report) Brief() Brief {
	shown := r.page.Card
	result := Brief{
		Origin: provenance.OriginOf(&r.record.Experiment), Title: r.page.Title, Subtitle: r.page.Subtitle,
		Sentence: shown.Sentence, Sure: strings.Join(append([]string{shown.Detail}, shown.Remarks...), " "), Cost: shown.Footer,
		Runs: len(r.record.CountedRuns()), Measured: r.record.Measured().UTC(),
	}
	if shown.Banner != nil {
		result.Banner = append([]string{shown.Banner.Title + "."}, shown.Banner.Sentences...)
	}
	for _, one := range shown.Chips {
		result.Verdicts = append(result.Verdicts, Statement{one.Status, one.Text})
	}
	for _, one := range shown.Figures {
		result.Figures = append(result.Figures, Statement{one.Status, one.Text})
	}
	return result
}

// Markdown is the brief for a comment. Names in it create no mentions and no references.
func (b Brief) Markdown() string {
	var text strings.Builder
	paragraph := func(format string, words ...string) {
		for _, one := range words {
			if one != "" {
				fmt.Fprintf(&text, format+"\n\n", comment(one))
			}
		}
	}
	paragraph("### %s", b.Title)
	paragraph("%s", b.Subtitle)
	paragraph("> %s", b.Banner...)
	paragraph("%s", b.Sentence)
	verdicts := make([]string, 0, len(b.Verdicts))
	for _, one := range b.Verdicts {
		verdicts = append(verdicts, "**"+comment(one.Text)+"**")
	}
	if len(verdicts) > 0 {
		text.WriteString(strings.Join(verdicts, " · ") + "\n\n")
	}
	for _, one := range b.Figures {
		fmt.Fprintf(&text, "- %s\n", comment(one.Text))
	}
	if len(b.Figures) > 0 {
		text.WriteString("\n")
	}
	paragraph("%s", b.Sure, b.Cost)
	return prose.Printable(strings.TrimRight(text.String(), "\n") + "\n")
}

// mentions are the characters that GitHub turns into mentions or references. An HTML comment
// within them prevents both and is invisible.
var mentions = strings.NewReplacer("@", "@<!-- -->", `\#`, `\#<!-- -->`, "://", ":<!-- -->//")

// comment escapes a text so that GitHub shows it literally.
func comment(text string) string { return mentions.Replace(format.EscapeMarkdown(text)) }
