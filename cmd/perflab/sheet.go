// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"perflab.dev/perflab/internal/text/prose"
)

// sheet writes tables, for a terminal or as Markdown.
type sheet struct {
	page
	markdown bool
	// all disables the limits of rows.
	all bool
	// admitted is the number of rows in all tables so far.
	admitted int
}

// Limits of rows per table and in total on a terminal.
const (
	maxTableRows = 200
	maxTotalRows = 1000
)

// admit returns how many rows of a table to write.
func (s *sheet) admit(rows int) int {
	if s.all {
		return rows
	}
	admitted := min(rows, maxTableRows, maxTotalRows-s.admitted)
	s.admitted += admitted
	return admitted
}

// writeOmitted writes how many rows were omitted, if any.
func (s *sheet) writeOmitted(rows int) {
	if rows == 0 {
		return
	}
	if s.markdown {
		s.line("")
	}
	s.line("%s omitted: use --all or -o json", prose.Counted(rows, "further row"))
}

// addAllFlag adds --all.
func addAllFlag(flags *pflag.FlagSet, all *bool) {
	flags.BoolVar(all, "all", false, fmt.Sprintf("show all rows of a table, not only the first %d", maxTableRows))
}

func (s *sheet) title(text string) {
	if s.markdown {
		s.line("\n## %s\n", text)
		return
	}
	s.heading(colorStrong, "%s", text)
}

func (s *sheet) item(number int, text string) {
	if s.markdown {
		s.line("%d. %s", number, text)
		return
	}
	s.line("  %d  %s", number, text)
}

// rows writes a header and its rows. Columns named by spare may be omitted on a narrow
// terminal. A last column without cells, such as that of notes, is omitted.
func (s *sheet) rows(rows [][]string, spare ...string) {
	rows = withoutEmptyLastColumn(rows)
	if !s.markdown {
		s.table(rows, spare...)
		return
	}
	for i, row := range rows {
		escaped := make([]string, len(row))
		for column, text := range row {
			escaped[column] = strings.NewReplacer("|", `\|`, "\n", " ").Replace(text)
		}
		s.line("| %s |", strings.Join(escaped, " | "))
		if i == 0 {
			s.line("|%s", strings.Repeat(" --- |", len(row)))
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
