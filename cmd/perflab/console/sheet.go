// SPDX-License-Identifier: Apache-2.0

package console

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"perflab.dev/perflab/internal/text/prose"
)

// Sheet writes tables, for a terminal or as Markdown.
type Sheet struct {
	Page
	Markdown bool
	// All disables the limits of rows.
	All bool
	// admitted is the number of rows in all tables so far.
	admitted int
}

// Limits of rows per table and in total on a terminal.
const (
	maxTableRows = 200
	maxTotalRows = 1000
)

// Admit returns how many rows of a table to write.
func (s *Sheet) Admit(rows int) int {
	if s.All {
		return rows
	}
	admitted := min(rows, maxTableRows, maxTotalRows-s.admitted)
	s.admitted += admitted
	return admitted
}

// WriteOmitted writes how many rows were omitted, if any.
func (s *Sheet) WriteOmitted(rows int) {
	if rows == 0 {
		return
	}
	if s.Markdown {
		s.Line("")
	}
	s.Line("%s omitted: use --all or -o json", prose.Counted(rows, "further row"))
}

// AddAllFlag adds --all.
func AddAllFlag(flags *pflag.FlagSet, all *bool) {
	flags.BoolVar(all, "all", false, fmt.Sprintf("show all rows of a table, not only the first %d", maxTableRows))
}

// Title begins a section.
func (s *Sheet) Title(text string) {
	if s.Markdown {
		s.Line("\n## %s\n", text)
		return
	}
	s.Heading(ColorStrong, "%s", text)
}

// Item writes a numbered line.
func (s *Sheet) Item(number int, text string) {
	if s.Markdown {
		s.Line("%d. %s", number, text)
		return
	}
	s.Line("  %d  %s", number, text)
}

// Rows writes a header and its rows. Columns named by spare may be omitted on a narrow
// terminal. A last column without cells, such as that of notes, is omitted.
func (s *Sheet) Rows(rows [][]string, spare ...string) {
	rows = withoutEmptyLastColumn(rows)
	if !s.Markdown {
		s.Table(rows, spare...)
		return
	}
	for i, row := range rows {
		escaped := make([]string, len(row))
		for column, text := range row {
			escaped[column] = strings.NewReplacer("|", `\|`, "\n", " ").Replace(text)
		}
		s.Line("| %s |", strings.Join(escaped, " | "))
		if i == 0 {
			s.Line("|%s", strings.Repeat(" --- |", len(row)))
		}
	}
}

func withoutEmptyLastColumn(rows [][]string) [][]string {
	last := len(rows[0]) - 1
	if slices.ContainsFunc(rows[1:], func(row []string) bool { return row[last] != "" }) {
		return rows
	}
	shorter := make([][]string, 0, len(rows))
	for _, row := range rows {
		shorter = append(shorter, row[:last])
	}
	return shorter
}
