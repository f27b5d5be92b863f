// SPDX-License-Identifier: Apache-2.0

package console

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fatih/color"
	"github.com/rivo/uniseg"
)

// columnGap is the number of spaces before each column.
const columnGap = 2

// preferredWidth is the width down to which columns are wrapped. If that does not
// suffice, the least important columns are omitted, and the others are wrapped
// further.
const preferredWidth = 16

// nameColumns have names of several parts, which may break after a slash. Units have
// slashes, too.
var nameColumns = []string{"metric", "file:line"}

// fit is the layout of a table on a terminal.
type fit struct {
	rows [][]string
	// widths of the columns.
	widths []int
	// omitted are the headers of columns that did not fit.
	omitted []string
	// stacked is the line width of a layout with one cell per line; 0: columns side
	// by side.
	stacked int
}

// fitTable lays out a table for a width; 0: any. Columns named by spare may be
// omitted, the first one first. Words stay whole: if the table still does not fit,
// its cells are stacked.
func fitTable(rows [][]string, width int, spare []string) fit {
	table := fit{rows: rows, widths: naturalWidths(rows)}
	for width > 0 && !table.shrink(width, table.preferredWidths()) {
		at := -1
		for _, header := range spare {
			if at = slices.Index(table.rows[0], header); at >= 0 {
				break
			}
		}
		switch {
		case at >= 0:
			table = table.withoutColumn(at)
		case table.shrink(width, table.minWidths()):
			return table
		default:
			return fit{rows: rows, widths: naturalWidths(rows), stacked: width}
		}
	}
	return table
}

func naturalWidths(rows [][]string) []int {
	var widths []int
	for _, row := range rows {
		for column, text := range row {
			if column == len(widths) {
				widths = append(widths, 0)
			}
			widths[column] = max(widths[column], uniseg.StringWidth(text))
		}
	}
	return widths
}

// withoutColumn removes a column and resets the others to their natural widths.
func (f fit) withoutColumn(column int) fit {
	rows := make([][]string, 0, len(f.rows))
	for _, row := range f.rows {
		rows = append(rows, slices.Delete(slices.Clone(row), column, column+1))
	}
	return fit{rows: rows, widths: naturalWidths(rows), omitted: append(f.omitted, f.rows[0][column])}
}

// shrink narrows the widest columns until the table fits, and reports whether it does.
func (f fit) shrink(width int, bounds []int) bool {
	for f.total() > width {
		widest := -1
		for column, bound := range bounds {
			if f.widths[column] > bound && (widest < 0 || f.widths[column] > f.widths[widest]) {
				widest = column
			}
		}
		if widest < 0 {
			return false
		}
		f.widths[widest]--
	}
	return true
}

func (f fit) total() int {
	total := 0
	for _, width := range f.widths {
		total += columnGap + width
	}
	return total
}

// preferredWidths are the minimum widths while other columns can be omitted.
func (f fit) preferredWidths() []int {
	bounds := f.minWidths()
	for column, width := range f.widths {
		bounds[column] = max(bounds[column], min(width, preferredWidth))
	}
	return bounds
}

// minWidths are the widths of the longest words.
func (f fit) minWidths() []int {
	bounds := make([]int, len(f.widths))
	for _, row := range f.rows {
		for column, text := range row {
			for _, word := range splitWords(text, f.rows[0][column]) {
				bounds[column] = max(bounds[column], uniseg.StringWidth(strings.TrimRight(word, " ")))
			}
		}
	}
	return bounds
}

// splitWords splits a text where it may wrap: at spaces, unless a percent sign
// follows, between the characters of scripts without spaces, and after slashes of
// names.
func splitWords(text, header string) []string {
	found := []string{""}
	for state := -1; text != ""; {
		var piece string
		piece, text, _, state = uniseg.FirstLineSegmentInString(text, state)
		found[len(found)-1] += piece
		end, _ := utf8.DecodeLastRuneInString(piece)
		if text != "" && text[0] != '%' && (end == ' ' || end == '/' && slices.Contains(nameColumns, header) || uniseg.StringWidth(string(end)) > 1) {
			found = append(found, "")
		}
	}
	return found
}

// wrapText wraps a text to a width, or to its longest word.
func wrapText(text, header string, width int) []string {
	lines := []string{""}
	for _, word := range splitWords(text, header) {
		last := len(lines) - 1
		if lines[last] != "" && uniseg.StringWidth(lines[last]+strings.TrimRight(word, " ")) > width {
			lines = append(lines, "")
			last++
		}
		lines[last] += word
	}
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

// render returns the lines of the table, each cell colored by the header of its
// column.
func (f fit) render(seen Style) []string {
	if f.stacked > 0 {
		return f.renderStacked(seen)
	}
	var written []string
	for _, row := range f.rows {
		cells, height := make([][]string, len(row)), 1
		for column, text := range row {
			cells[column] = wrapText(text, f.rows[0][column], f.widths[column])
			height = max(height, len(cells[column]))
		}
		for line := range height {
			written = append(written, f.renderLine(cells, line, func(column int, cell string) string { return seen.Paint(f.colorAt(row, column), cell) }))
		}
	}
	return written
}

// colorAt is the color of a cell.
func (f fit) colorAt(row []string, column int) *color.Color {
	return cellColor(f.rows[0][column], row[column])
}

// renderStacked returns a line for each cell, after the header of its column.
func (f fit) renderStacked(seen Style) []string {
	widest := 0
	for _, header := range f.rows[0] {
		widest = max(widest, uniseg.StringWidth(header))
	}
	var written []string
	for i, row := range f.rows[1:] {
		if i > 0 {
			written = append(written, "")
		}
		for column, text := range row {
			if text != "" {
				written = append(written, f.renderStackedCell(column, text, widest, func(line string) string { return seen.Paint(f.colorAt(row, column), line) })...)
			}
		}
	}
	return written
}

// renderStackedCell puts a cell after its header or, if a word is too long for that,
// below it.
func (f fit) renderStackedCell(column int, text string, widest int, paint func(string) string) []string {
	header, indent := f.rows[0][column], strings.Repeat(" ", columnGap)
	lead := indent + header + strings.Repeat(" ", widest-uniseg.StringWidth(header)) + indent
	lines := wrapText(text, header, f.stacked-uniseg.StringWidth(lead))
	var written []string
	if slices.ContainsFunc(lines, func(line string) bool { return uniseg.StringWidth(lead+line) > f.stacked }) {
		written = []string{indent + header}
		lead = indent + indent
		lines = wrapText(text, header, f.stacked-uniseg.StringWidth(lead))
	}
	for _, line := range lines {
		written = append(written, lead+paint(line))
		if len(written) == 1 {
			lead = strings.Repeat(" ", uniseg.StringWidth(lead))
		}
	}
	return written
}

// renderLine returns one of the lines of a row.
func (f fit) renderLine(cells [][]string, number int, paint func(column int, cell string) string) string {
	var text strings.Builder
	gap := columnGap
	for column := range cells {
		cell := ""
		if number < len(cells[column]) {
			cell = cells[column][number]
		}
		if cell != "" {
			text.WriteString(strings.Repeat(" ", gap) + paint(column, cell))
			gap = 0
		}
		gap += f.widths[column] - uniseg.StringWidth(cell) + columnGap
	}
	return text.String()
}

// gluedPercent keeps a percent sign with its number.
const gluedPercent = "\u00a0%"

// wrapHanging wraps a line at spaces with a hanging indent; width 0 keeps it.
func wrapHanging(line string, width int) string {
	text := strings.TrimLeft(line, " \n")
	lead := line[:len(line)-len(text)]
	indent := strings.TrimLeft(lead, "\n")
	if width == 0 || uniseg.StringWidth(indent+text) <= width {
		return line
	}
	written, column := lead, len(indent)
	for i, word := range strings.Split(strings.ReplaceAll(text, " %", gluedPercent), " ") {
		word = strings.ReplaceAll(word, gluedPercent, " %")
		space := uniseg.StringWidth(word)
		switch {
		case i == 0:
		case column+1+space > width:
			written += "\n" + indent + "  "
			column = len(indent) + 2
		default:
			written += " "
			column++
		}
		written += word
		column += space
	}
	return written
}
