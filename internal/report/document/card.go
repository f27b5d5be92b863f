// SPDX-License-Identifier: Apache-2.0

package document

import "perflab.dev/perflab/internal/text/digits"

// Card is the answer at a glance: the effect, its size and its confidence.
type Card struct {
	// Banner precedes everything else.
	Banner *Banner
	// Sentence is the answer.
	Sentence string
	// Chips are short counts.
	Chips   []Item
	Figures []Figure
	// Legend explains what the figures' pictures show.
	Legend string
	// Chart is the one chart of the card, or nil.
	Chart *Chart
	// Detail is a line below the figures, Remarks a list under its title, Footer the last line.
	Detail       string
	RemarksTitle string
	Remarks      []string
	Footer       string
}

// Banner is a warning with a title.
type Banner struct {
	Title     string
	Sentences []string
}

// Figure is a number with its change, in a picture and in words.
type Figure struct {
	Label, Delta, Values, Interval, Status string
	// Text is the whole figure in a sentence.
	Text string
	SVG  Picture
}

func (c *Card) finish() {
	c.Sentence = digits.WithMinus(c.Sentence)
	for i := range c.Remarks {
		c.Remarks[i] = digits.WithMinus(c.Remarks[i])
	}
}
