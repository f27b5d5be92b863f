// SPDX-License-Identifier: Apache-2.0

package document

import (
	"slices"
	"strings"

	"perflab.dev/perflab/internal/text/digits"
)

// Table has rows of cells.
type Table struct {
	// Caption says what the table holds; it is also its accessible name.
	Caption string
	Columns []Column
	Rows    []Row
	// Note stands below the table.
	Note string
	// More is the number of omitted rows.
	More int
	// Folded tables explain rather than decide; formats that can fold them do.
	Folded bool
	// StatusFirst means that the first column has verdicts.
	StatusFirst bool
}

// dropEmpty removes columns without content.
func (t *Table) dropEmpty() {
	t.dropColumns(func(at int) bool {
		return len(t.Rows) > 0 && !slices.ContainsFunc(t.Rows, func(r Row) bool { return r.Cells[at].Text != "" && r.Cells[at].Text != digits.Dash })
	})
}

// leadWith moves the first column with one of these titles to the front, where a narrow
// screen shows it.
func (t *Table) leadWith(titles []string) {
	at := slices.IndexFunc(t.Columns, func(one Column) bool { return slices.Contains(titles, one.Title) })
	if at < 0 {
		return
	}
	t.StatusFirst = true
	moveToFront(t.Columns, at)
	for i := range t.Rows {
		moveToFront(t.Rows[i].Cells, at)
	}
}

func moveToFront[T any](list []T, at int) {
	one := list[at]
	copy(list[1:], list[:at])
	list[0] = one
}

// HeaderIndex is the index of the cell that names the row's subject.
func (t *Table) HeaderIndex() int {
	if t.StatusFirst {
		return 1
	}
	return 0
}

// Without removes the columns with these titles.
func (t *Table) Without(titles ...string) *Table {
	t.dropColumns(func(at int) bool { return slices.Contains(titles, t.Columns[at].Title) })
	return t
}

func (t *Table) dropColumns(unwanted func(at int) bool) {
	gone := make([]bool, len(t.Columns))
	for at := range gone {
		gone[at] = unwanted(at)
	}
	isGone := func(at int) bool { return gone[at] }
	t.Columns = withoutPlaces(t.Columns, isGone)
	for i := range t.Rows {
		t.Rows[i].Cells = withoutPlaces(t.Rows[i].Cells, isGone)
	}
}

// withoutPlaces copies a list without the unwanted indexes.
func withoutPlaces[T any](list []T, unwanted func(int) bool) []T {
	var kept []T
	for i, one := range list {
		if !unwanted(i) {
			kept = append(kept, one)
		}
	}
	return kept
}

// MoreText says how many rows are omitted.
func (t *Table) MoreText() string {
	return LeftOut(t.More, "row") + "; see the CSV."
}

// RepeatsHeader reports whether a row has the same header as the one above it, so that it need
// not stand out again.
func (t *Table) RepeatsHeader(at int) bool {
	return at > 0 && !t.Rows[at].First && t.Rows[at].Cells[t.HeaderIndex()].Text == t.Rows[at-1].Cells[t.HeaderIndex()].Text
}

// Column has numbers, aligned right, or words.
type Column struct {
	Title  string
	Number bool
	// Date keeps the cells on one line.
	Date bool
	// Series that the column belongs to, if any.
	Series string
}

// shortTitle is the maximum length of a title on one line.
const shortTitle = 14

// TitleLines splits the column's title into two lines at most: the arm and the rest, or halves of
// similar length.
func (c Column) TitleLines() []string {
	if what, isOfArm := strings.CutPrefix(c.Title, c.Series+" "); isOfArm && c.Series != "" {
		return []string{c.Series, what}
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

// Row is a row of a table. Its first cell is its header, or the second one after a status.
type Row struct {
	Cells []Cell
	// First starts a group of rows.
	First bool
}

// Cell is a text, a name of an object in the cluster, or a status.
type Cell struct {
	Text   string
	Name   bool
	Status string
	// IsSeries means that the text is the name of the row's arm.
	IsSeries bool
	// Heat shades a change: 1 is a small increase and 4 a large one; negative values are
	// decreases.
	Heat int
}

// TextColumns are columns with words.
func TextColumns(titles ...string) []Column {
	columns := make([]Column, 0, len(titles))
	for _, title := range titles {
		columns = append(columns, Column{Title: title})
	}
	return columns
}

// NumberColumns are columns with numbers.
func NumberColumns(titles ...string) []Column {
	columns := TextColumns(titles...)
	for i := range columns {
		columns[i].Number = true
	}
	return columns
}

// TextCells are cells with plain text.
func TextCells(texts ...string) []Cell {
	cells := make([]Cell, 0, len(texts))
	for _, one := range texts {
		cells = append(cells, Cell{Text: one})
	}
	return cells
}

// SeriesColumn is a column with numbers of a series.
func SeriesColumn(arm, title string) Column { return Column{Title: title, Number: true, Series: arm} }
