// SPDX-License-Identifier: Apache-2.0

package report

// card is the answer at a glance: what came out, how much, and how sure that is.
type card struct {
	// Banner stands in front of all else.
	Banner *banner
	// Sentence is the answer.
	Sentence string
	// Chips are counts in a few words.
	Chips   []item
	Figures []figure
	// Legend explains what the figures' pictures show.
	Legend string
	// Hero is the one chart of the card, or nil.
	Hero *chart
	// Detail is a line below the figures, Remarks a list under its title, Footer the last line.
	Detail       string
	RemarksTitle string
	Remarks      []string
	Footer       string
}

// banner is a warning with a title.
type banner struct {
	Title     string
	Sentences []string
}

// figure is a number with its change, in a picture and in words.
type figure struct {
	Label, Delta, Values, Interval, Verdict string
	// Text is all of it in a sentence.
	Text string
	SVG  picture
}

func (c *card) finish() {
	c.Sentence = withMinus(c.Sentence)
	for i := range c.Remarks {
		c.Remarks[i] = withMinus(c.Remarks[i])
	}
}
