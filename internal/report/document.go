// SPDX-License-Identifier: Apache-2.0

package report

import (
	"iter"
	"slices"
	"strings"

	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/measure/metric"
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
	Note    *note
	Code    string
	// Commands, one in a line.
	Commands string
}

// item is an entry of a list, with the verdict it tells of, if any.
type item struct {
	Verdict string
	Text    string
}

type table struct {
	// Caption says what the table holds; it is also its accessible name.
	Caption string
	Columns []column
	Rows    []row
	// Note stands below the table.
	Note string
	// More is the number of rows that are left out.
	More int
	// Folded: it explains rather than decides, so that a page which can fold does.
	Folded bool
	// Judged: the first column has verdicts.
	Judged bool
}

// finish brings all tables into the shape in which they are read, and gives each chart a
// file of its own.
func (d *document) finish() {
	d.nameCharts()
	d.Card.finish()
	for _, one := range d.Sections {
		for i := range one.Blocks {
			one.Blocks[i].finish()
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

// charts of all sections.
func (d *document) charts() iter.Seq[*chart] {
	return func(yield func(*chart) bool) {
		for _, section := range d.Sections {
			for _, block := range section.Blocks {
				for i := range block.Charts {
					if !yield(&block.Charts[i]) {
						return
					}
				}
			}
		}
	}
}

// nameCharts adds a digest to names that are the same, also where a file system does not
// tell capital letters.
func (d *document) nameCharts() {
	named := map[string]int{}
	for one := range d.charts() {
		named[strings.ToLower(one.Name)]++
	}
	for one := range d.charts() {
		if named[strings.ToLower(one.Name)] > 1 {
			one.Name = withDigest(one.Name, one.from)
		}
	}
}

func (c *card) finish() {
	c.Sentence = withMinus(c.Sentence)
	for i := range c.Reservations {
		c.Reservations[i] = withMinus(c.Reservations[i])
	}
}

func (b *block) finish() {
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
		b.Table.judgeFirst()
	}
}

// dropEmpty takes the columns away in which no row has anything.
func (t *table) dropEmpty() {
	t.drop(func(at int) bool {
		return len(t.Rows) > 0 && !slices.ContainsFunc(t.Rows, func(r row) bool { return r.Cells[at].Text != "" && r.Cells[at].Text != dash })
	})
}

// judgeFirst moves the column with verdicts to the front, where a narrow screen shows it.
func (t *table) judgeFirst() {
	at := slices.IndexFunc(t.Columns, func(one column) bool { return slices.Contains(judging, one.Title) })
	if at < 0 {
		return
	}
	t.Judged = true
	toFront(t.Columns, at)
	for i := range t.Rows {
		toFront(t.Rows[i].Cells, at)
	}
}

// judging are the columns that say how the rest of a row is to be taken.
var judging = []string{"Verdict", "Alike", "Differs", "Status"}

func toFront[T any](list []T, at int) {
	one := list[at]
	copy(list[1:], list[:at])
	list[0] = one
}

// header is the cell that says what a row is about.
func (t *table) header() int {
	if t.Judged {
		return 1
	}
	return 0
}

// without the columns of these titles.
func (t *table) without(titles ...string) *table {
	t.drop(func(at int) bool { return slices.Contains(titles, t.Columns[at].Title) })
	return t
}

func (t *table) drop(unwanted func(at int) bool) {
	gone := make([]bool, len(t.Columns))
	for at := range gone {
		gone[at] = unwanted(at)
	}
	isGone := func(at int) bool { return gone[at] }
	t.Columns = deleteAt(t.Columns, isGone)
	for i := range t.Rows {
		t.Rows[i].Cells = deleteAt(t.Rows[i].Cells, isGone)
	}
}

// deleteAt copies a list but for the places that are unwanted.
func deleteAt[T any](list []T, unwanted func(int) bool) []T {
	var kept []T
	for i, one := range list {
		if !unwanted(i) {
			kept = append(kept, one)
		}
	}
	return kept
}

// Left says how many rows are left out.
func (t *table) Left() string {
	return leftOut(t.More, "row") + "; see the CSV."
}

// leftOut counts things that are not listed.
func leftOut(number int, noun string) string {
	return prose.Counted(number, "further "+noun) + prose.Verb(number, " is", " are") + " left out"
}

// Repeats tells whether a row is about the same as the one above it, so that its
// name need not stand out again.
func (t *table) Repeats(at int) bool {
	return at > 0 && !t.Rows[at].First && t.Rows[at].Cells[t.header()].Text == t.Rows[at-1].Cells[t.header()].Text
}

// Judged tells whether a list tells of verdicts.
func (b block) Judged() bool {
	return slices.ContainsFunc(b.List, func(one item) bool { return one.Verdict != "" })
}

// column has numbers, set flush right, or words.
type column struct {
	Title  string
	Number bool
	// Date: its cells are not to be broken.
	Date bool
	// Arm is the one the column is of, if it is of one.
	Arm string
}

// shortTitle stands in one line.
const shortTitle = 14

// lines of the column's title, two at most: the arm and what is told of it, or halves that
// are about as long.
func (c column) lines() []string {
	if what, isOfArm := strings.CutPrefix(c.Title, c.Arm+" "); isOfArm && c.Arm != "" {
		return []string{c.Arm, what}
	}
	words := strings.Split(c.Title, " ")
	if len([]rune(c.Title)) <= shortTitle || len(words) < 2 {
		return []string{c.Title}
	}
	halves := func(at int) []string { return []string{strings.Join(words[:at], " "), strings.Join(words[at:], " ")} }
	longer := func(at int) int { return max(len(halves(at)[0]), len(halves(at)[1])) }
	best := 1
	for at := 2; at < len(words); at++ {
		if longer(at) < longer(best) {
			best = at
		}
	}
	return halves(best)
}

// row's first cell is the row's header, or the second, behind a verdict.
type row struct {
	Cells []cell
	// First begins a group of rows that belong together.
	First bool
}

// cell is a text, a name as the cluster knows it, or a verdict.
type cell struct {
	Text    string
	Name    bool
	Verdict string
	// Arm: the text is the name of the arm that the row is about.
	Arm bool
	// Heat shades a change, from 1 for little more to 4 for much more, and below zero
	// for less.
	Heat int
}

// chart is a picture with what it says in words.
type chart struct {
	// Name of the file it is written to, without its ending, and what that was made of.
	Name, from string
	Title      string
	// Alt says what the picture shows to those who don't see it.
	Alt string
	SVG picture
	// Live is what a page that is alive draws instead; nil: the picture stays.
	Live *Live
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

// blocks are the table, unless it has no rows.
func (t *table) blocks() []block {
	if len(t.Rows) == 0 {
		return nil
	}
	return []block{{Table: t}}
}

// listOf sentences.
func listOf(sentences []string) []item {
	items := make([]item, 0, len(sentences))
	for _, sentence := range sentences {
		items = append(items, item{Text: sentence})
	}
	return items
}

func words(titles ...string) []column {
	columns := make([]column, 0, len(titles))
	for _, title := range titles {
		columns = append(columns, column{Title: title})
	}
	return columns
}

func numbers(titles ...string) []column {
	columns := words(titles...)
	for i := range columns {
		columns[i].Number = true
	}
	return columns
}

func texts(texts ...string) []cell {
	cells := make([]cell, 0, len(texts))
	for _, one := range texts {
		cells = append(cells, cell{Text: one})
	}
	return cells
}

func name(name string) cell { return cell{Text: metric.Plain(name), Name: true} }

// ofArm names the arm that a row is about.
func ofArm(name string) cell { return cell{Text: name, Name: clusterName.MatchString(name), Arm: true} }

// columnOf numbers of an arm.
func columnOf(arm, title string) column { return column{Title: title, Number: true, Arm: arm} }

func names(names ...string) []cell {
	cells := make([]cell, 0, len(names))
	for _, one := range names {
		cells = append(cells, name(one))
	}
	return cells
}

// What is shown as verdicts are: that there is none, and that a run is no good.
const (
	noVerdict  = "No verdict"
	invalidRun = "Invalid"
)

// look is how a verdict is shown.
type look struct {
	role role
	// lozenge is the colour of Confluence's status macro.
	lozenge string
}

var looks = map[string]look{
	string(verdict.Better):       {roleBetter, "Green"},
	string(verdict.Worse):        {roleWorse, "Red"},
	invalidRun:                   {roleWorse, "Red"},
	string(verdict.Equivalent):   {roleEquivalent, "Blue"},
	string(verdict.Inconclusive): {roleInconclusive, "Yellow"},
}

func lookOf(verdict string) look {
	if found, known := looks[verdict]; known {
		return found
	}
	return look{roleInconclusive, "Grey"}
}
