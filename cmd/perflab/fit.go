// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"

	"github.com/fatih/color"
	"github.com/rivo/uniseg"
)

// between is how many characters stand between two columns, and before the first.
const between = 2

// readable is the width down to which columns are wrapped. Where that does not do, the
// least important columns are left out, and what is left is wrapped further.
const readable = 16

// wholeWords are the lengths up to which words then stay whole.
var wholeWords = []int{12, 6, 3}

// fit is a table as it stands on a terminal.
type fit struct {
	rows [][]string
	// widths of the columns.
	widths []int
	// leftOut are the headers of columns that there was no room for.
	leftOut []string
}

// fitted makes a table fit a width; 0: any. Columns named by spare may be left out,
// the first one first.
func fitted(rows [][]string, width int, spare []string) fit {
	table := fit{rows: rows, widths: naturalWidths(rows)}
	for {
		if width == 0 || table.shrink(width, table.readable()) {
			return table
		}
		at := -1
		for _, header := range spare {
			if at = slices.Index(table.rows[0], header); at >= 0 {
				break
			}
		}
		if at < 0 {
			return table.squeezed(width)
		}
		table = table.without(at)
	}
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

// squeezed is a table of which nothing can be left out, in what width there is.
func (f fit) squeezed(width int) fit {
	for _, whole := range wholeWords {
		if f.shrink(width, f.legible(whole)) {
			break
		}
	}
	return f
}

// without a column, the others as wide as they are by themselves.
func (f fit) without(column int) fit {
	rows := make([][]string, 0, len(f.rows))
	for _, row := range f.rows {
		rows = append(rows, slices.Delete(slices.Clone(row), column, column+1))
	}
	return fit{rows: rows, widths: naturalWidths(rows), leftOut: append(f.leftOut, f.rows[0][column])}
}

// shrink narrows the widest columns until the table fits; false: it does not, with none
// below its bound.
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
		total += between + width
	}
	return total
}

// readable are the widths that columns have at least while others may be left out.
func (f fit) readable() []int {
	bounds := slices.Clone(f.widths)
	for column := range bounds {
		bounds[column] = min(bounds[column], readable)
	}
	return bounds
}

// legible are the widths of columns with which words up to a length are whole.
func (f fit) legible(whole int) []int {
	bounds := make([]int, len(f.widths))
	for _, row := range f.rows {
		for column, text := range row {
			for _, word := range words(text) {
				bounds[column] = max(bounds[column], min(whole, uniseg.StringWidth(strings.TrimRight(word, " "))))
			}
		}
	}
	return bounds
}

// words are the pieces that a text can be broken into.
func words(text string) []string {
	var found []string
	for state := -1; text != ""; {
		var word string
		word, text, _, state = uniseg.FirstLineSegmentInString(text, state)
		found = append(found, word)
	}
	return found
}

// broken is a text in lines of a width. What has no place to break in is broken anywhere.
func broken(text string, width int) []string {
	lines := []string{""}
	for _, word := range words(text) {
		last := len(lines) - 1
		if uniseg.StringWidth(lines[last]+strings.TrimRight(word, " ")) <= width {
			lines[last] += word
			continue
		}
		if lines[last] != "" {
			lines = append(lines, "")
		}
		for _, piece := range cut(word, width) {
			lines[len(lines)-1] += piece
			lines = append(lines, "")
		}
		lines = lines[:len(lines)-1]
	}
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

// cut is a word in pieces of a width at the most.
func cut(word string, width int) []string {
	pieces := []string{""}
	for letters := uniseg.NewGraphemes(word); letters.Next(); {
		last := len(pieces) - 1
		if pieces[last] != "" && letters.Str() != " " && uniseg.StringWidth(pieces[last])+letters.Width() > width {
			pieces = append(pieces, "")
			last++
		}
		pieces[last] += letters.Str()
	}
	return pieces
}

// lines of the table, each cell coloured by the header of its column.
func (f fit) lines(seen look) []string {
	var written []string
	for i, row := range f.rows {
		cells, height := make([][]string, len(row)), 1
		for column, text := range row {
			cells[column] = broken(text, f.widths[column])
			height = max(height, len(cells[column]))
		}
		shades := make([]*color.Color, len(row))
		for column, text := range row {
			if i > 0 {
				shades[column] = ofCell(f.rows[0][column], text)
			}
		}
		for line := range height {
			written = append(written, f.line(cells, line, func(column int, cell string) string { return seen.paint(shades[column], cell) }))
		}
	}
	return written
}

// line is one of those that a row takes.
func (f fit) line(cells [][]string, number int, paint func(column int, cell string) string) string {
	var text strings.Builder
	gap := between
	for column := range cells {
		cell := ""
		if number < len(cells[column]) {
			cell = cells[column][number]
		}
		if cell != "" {
			text.WriteString(strings.Repeat(" ", gap) + paint(column, cell))
			gap = 0
		}
		gap += f.widths[column] - uniseg.StringWidth(cell) + between
	}
	return text.String()
}

// hanging is a line in lines of a width, broken at spaces and those after the first
// indented further; as it is, where any width will do.
func hanging(line string, width int) string {
	text := strings.TrimLeft(line, " \n")
	lead := line[:len(line)-len(text)]
	indent := strings.TrimLeft(lead, "\n")
	if width == 0 || uniseg.StringWidth(indent+text) <= width {
		return line
	}
	written, column := lead, len(indent)
	for i, word := range strings.Split(text, " ") {
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
