// SPDX-License-Identifier: Apache-2.0

package document

import (
	"slices"

	"perflab.dev/perflab/internal/text/digits"
	"perflab.dev/perflab/internal/text/prose"
)

// Section is a chapter of a document.
type Section struct {
	ID, Title string
	Blocks    []Block
	// Folded sections are for reference.
	Folded bool
}

// Block is one of: a heading, a paragraph, a list, steps, a table, charts, a note, a declaration,
// commands to copy.
type Block struct {
	Heading string
	Text    string
	List    []Item
	Steps   []string
	Table   *Table
	Charts  []Chart
	// Markdown is a text with its own markup.
	Markdown *Markdown
	// Code is folded under its title where a format can fold.
	Code, CodeTitle string
	// Commands, one per line.
	Commands string
}

// Item is an entry of a list, with its status, if any.
type Item struct {
	Status string
	Text   string
}

func (b *Block) finish(first []string) {
	b.Text = digits.WithMinus(b.Text)
	for i := range b.List {
		b.List[i].Text = digits.WithMinus(b.List[i].Text)
	}
	for i := range b.Steps {
		b.Steps[i] = digits.WithMinus(b.Steps[i])
	}
	if b.Table != nil {
		b.Table.Note = digits.WithMinus(b.Table.Note)
		b.Table.dropEmpty()
		b.Table.leadWith(first)
	}
}

// LeftOut counts omitted entries of a list.
func LeftOut(number int, noun string) string {
	return prose.Counted(number, "further "+noun) + prose.Verb(number, " is", " are") + " omitted"
}

// HasStatus reports whether an entry of the list has a status.
func (b Block) HasStatus() bool {
	return slices.ContainsFunc(b.List, func(one Item) bool { return one.Status != "" })
}

// Paragraph is a block of text.
func Paragraph(text string) Block { return Block{Text: text} }

// Heading is a block that titles those after it.
func Heading(text string) Block { return Block{Heading: text} }

// Titled puts a heading over blocks, if there are any.
func Titled(title string, blocks []Block) []Block {
	if len(blocks) == 0 {
		return nil
	}
	return append([]Block{Heading(title)}, blocks...)
}

// List returns a block with the items; none without items.
func List(items []Item) []Block {
	if len(items) == 0 {
		return nil
	}
	return []Block{{List: items}}
}

// Items turns sentences into entries of a list.
func Items(sentences []string) []Item {
	items := make([]Item, 0, len(sentences))
	for _, sentence := range sentences {
		items = append(items, Item{Text: sentence})
	}
	return items
}

// Blocks returns the table; none without rows.
func (t *Table) Blocks() []Block {
	if len(t.Rows) == 0 {
		return nil
	}
	return []Block{{Table: t}}
}
