// SPDX-License-Identifier: Apache-2.0

package report

import (
	"time"

	"perflab.dev/perflab/internal/origin"
)

// Brief is the answer card in words, for what has no room for a page: an index, a
// comment.
type Brief struct {
	// Origin is where the experiment was measured.
	Origin origin.Origin
	// Title is the question; Subtitle names the experiment and its size.
	Title, Subtitle string
	// Banner stands for the answer where too few runs give none: what they can say,
	// and what the next step is.
	Banner []string
	// Sentence is the answer; empty below a banner.
	Sentence string
	// Verdicts are counted, the sure and the bad ones first.
	Verdicts []Statement
	// Figures are the key comparisons, each as a sentence.
	Figures []Statement
	// Sure says how sure the answer is; Cost is empty where no prices are given.
	Sure, Cost string
	// Runs are those that count.
	Runs int
	// Measured is when the last run ended; zero where none has.
	Measured time.Time
}

// Statement is a sentence with the verdict it tells of.
type Statement struct {
	Verdict string `json:"verdict"`
	Text    string `json:"text"`
}

// Brief is the page's card without its pictures.
func (r *Report) Brief() Brief {
	shown := r.page.Card
	_, last := r.record.journal.span()
	result := Brief{
		Origin: origin.Of(&r.record.Experiment), Title: r.page.Title, Subtitle: r.page.Subtitle,
		Sentence: shown.Sentence, Sure: shown.Sure, Cost: shown.Cost,
		Runs: len(r.record.counted()), Measured: last.UTC(),
	}
	if shown.Banner != nil {
		result.Banner = append([]string{shown.Banner.Title + "."}, shown.Banner.Sentences...)
	}
	for _, one := range shown.Chips {
		result.Verdicts = append(result.Verdicts, Statement{one.Verdict, one.Text})
	}
	for _, one := range shown.Figures {
		result.Figures = append(result.Figures, Statement{one.Verdict, one.Text})
	}
	return result
}
