// SPDX-License-Identifier: Apache-2.0

package console

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/fatih/color"

	"perflab.dev/perflab/internal/text/prose"
)

// Page writes lines and keeps the first error.
type Page struct {
	out io.Writer
	Style
	Err error
	// omitted are the columns that the previous table omitted.
	omitted string
}

// NewPage returns a page in the style of the writer.
func NewPage(out io.Writer) *Page { return &Page{out: out, Style: StyleOf(out)} }

// Line writes a line, wrapped to the width of the terminal.
func (p *Page) Line(format string, values ...any) {
	p.Write(wrapHanging(prose.Printable(fmt.Sprintf(format, values...)), p.width))
}

// Heading begins a section.
func (p *Page) Heading(shade *color.Color, format string, values ...any) {
	p.Write("\n" + p.Paint(shade, wrapHanging(prose.Printable(fmt.Sprintf(format, values...)), p.width)))
}

// Write writes a line as it is.
func (p *Page) Write(line string) {
	if p.Err == nil {
		_, p.Err = fmt.Fprintln(p.out, line)
	}
}

// Table writes aligned rows. On a terminal they fit its width, and columns named by
// spare may be omitted.
func (p *Page) Table(rows [][]string, spare ...string) {
	if p.Err != nil {
		return
	}
	if p.Style != (Style{}) {
		p.fit(rows, spare)
		return
	}
	var aligned bytes.Buffer
	writer := tabwriter.NewWriter(&aligned, 0, 0, columnGap, ' ', 0)
	for _, row := range rows {
		// Writes to the buffer can't fail.
		_, _ = fmt.Fprintln(writer, prose.Printable("  "+strings.Join(row, "\t")))
	}
	_ = writer.Flush()
	for line := range strings.Lines(aligned.String()) {
		p.Write(strings.TrimRight(line, " \n"))
	}
}

// fit writes a table that fits, and mentions omitted columns once.
func (p *Page) fit(rows [][]string, spare []string) {
	printable := make([][]string, 0, len(rows))
	for _, row := range rows {
		cells := make([]string, 0, len(row))
		for _, text := range row {
			cells = append(cells, strings.Join(strings.FieldsFunc(prose.Printable(text), func(r rune) bool { return r == '\n' || r == '\t' }), " "))
		}
		printable = append(printable, cells)
	}
	table := fitTable(printable, p.width, spare)
	for _, line := range table.render(p.Style) {
		p.Write(line)
	}
	if left := strings.Join(table.omitted, ", "); left != "" && left != p.omitted {
		p.Line("  columns omitted to fit the terminal: %s; use a wider terminal, a pipe or -o json", left)
		p.omitted = left
	}
}
