// SPDX-License-Identifier: Apache-2.0

package report

import (
	"slices"

	"perflab.dev/perflab/internal/text/prose"
)

// document is a report before it has a format. Its texts are plain: every
// format escapes them in its own way.
type document struct {
	Title    string
	Subtitle string
	Card     card
	Sections []section
	Series   []documentSeries
}

type section struct {
	ID, Title string
	Blocks    []block
	// Folded: it is there to be looked up.
	Folded bool
}

// block is one of: a heading, a paragraph, a list, steps, a table, charts, what a
// person wrote, a declaration, commands to be copied.
type block struct {
	Heading string
	Text    string
	List    []item
	Steps   []string
	Table   *table
	Charts  []chart
	// Markdown is a text with markup of its own.
	Markdown *Markdown
	// Code is folded under its title where a format can fold.
	Code, CodeTitle string
	// Commands, one in a line.
	Commands string
}

// item is an entry of a list, with the verdict it tells of, if any.
type item struct {
	Verdict string
	Text    string
}

// finish writes all numbers of sentences alike, drops empty columns, puts the columns with
// these titles first, and gives each chart a file of its own.
func (d *document) finish(first ...string) {
	d.nameCharts()
	d.Card.finish()
	for _, one := range d.Sections {
		for i := range one.Blocks {
			one.Blocks[i].finish(first)
		}
	}
}

// documentSeries is a series that a page can hide.
type documentSeries struct {
	Name string `json:"name"`
	// Color is the variable of the style sheet.
	Color string `json:"color"`
	// Dash of its lines; nil for solid lines.
	Dash []int `json:"dash,omitempty"`
}

func (b *block) finish(first []string) {
	b.Text = withMinus(b.Text)
	for i := range b.List {
		b.List[i].Text = withMinus(b.List[i].Text)
	}
	for i := range b.Steps {
		b.Steps[i] = withMinus(b.Steps[i])
	}
	if b.Table != nil {
		b.Table.Note = withMinus(b.Table.Note)
		b.Table.dropEmpty()
		b.Table.judgeFirst(first)
	}
}

// leftOut counts things that are not listed.
func leftOut(number int, noun string) string {
	return prose.Counted(number, "further "+noun) + prose.Verb(number, " is", " are") + " left out"
}

// Judged tells whether a list tells of verdicts.
func (b block) Judged() bool {
	return slices.ContainsFunc(b.List, func(one item) bool { return one.Verdict != "" })
}

func paragraph(text string) block { return block{Text: text} }

func heading(text string) block { return block{Heading: text} }

// titled puts a heading over blocks, if there are any.
func titled(title string, blocks []block) []block {
	if len(blocks) == 0 {
		return nil
	}
	return append([]block{heading(title)}, blocks...)
}

// list is a block, unless it is empty.
func list(items []item) []block {
	if len(items) == 0 {
		return nil
	}
	return []block{{List: items}}
}

// listOf sentences.
func listOf(sentences []string) []item {
	items := make([]item, 0, len(sentences))
	for _, sentence := range sentences {
		items = append(items, item{Text: sentence})
	}
	return items
}
