// SPDX-License-Identifier: Apache-2.0

package report

import (
	"slices"
	"strings"
)

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

// dropEmpty takes the columns away in which no row has anything.
func (t *table) dropEmpty() {
	t.drop(func(at int) bool {
		return len(t.Rows) > 0 && !slices.ContainsFunc(t.Rows, func(r row) bool { return r.Cells[at].Text != "" && r.Cells[at].Text != dash })
	})
}

// judgeFirst moves the first column with one of these titles to the front, where a narrow
// screen shows it.
func (t *table) judgeFirst(titles []string) {
	at := slices.IndexFunc(t.Columns, func(one column) bool { return slices.Contains(titles, one.Title) })
	if at < 0 {
		return
	}
	t.Judged = true
	toFront(t.Columns, at)
	for i := range t.Rows {
		toFront(t.Rows[i].Cells, at)
	}
}

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

// Repeats tells whether a row is about the same as the one above it, so that its
// name need not stand out again.
func (t *table) Repeats(at int) bool {
	return at > 0 && !t.Rows[at].First && t.Rows[at].Cells[t.header()].Text == t.Rows[at-1].Cells[t.header()].Text
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

// blocks are the table, unless it has no rows.
func (t *table) blocks() []block {
	if len(t.Rows) == 0 {
		return nil
	}
	return []block{{Table: t}}
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

// columnOf numbers of an arm.
func columnOf(arm, title string) column { return column{Title: title, Number: true, Arm: arm} }
