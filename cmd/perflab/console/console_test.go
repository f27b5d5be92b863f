// SPDX-License-Identifier: Apache-2.0

package console

import (
	"strings"
	"testing"

	"github.com/rivo/uniseg"

	"perflab.dev/perflab/internal/testing/expect"
)

// At any width, words stay whole, names break only after slashes, and omitted columns
// are named.
func TestTablesKeepWords(t *testing.T) {
	rows := [][]string{
		{"metric", "arm", "delta", "interval", "p adjusted", "verdict", "notes"},
		{"cico/Check-In/average@during-create-100k", "maxram-default", "-0.55 %", "-7.7 to -1.2", "0.5000", "Inconclusive", "1,2,3"},
		{"module/mod-source-record-manager/memory", "one-split", "+12.5 records/s", "-1 to +0.58", "<0.0001", "Worse", ""},
		{"kafka/lag", "größer", "+0.0 points", "-", "-", "Equivalent", "1"},
	}
	whole := wordsOf(rows)
	for width := 12; width < 160; width++ {
		table := fitTable(rows, width, []string{"p adjusted"})
		lines := table.render(Style{})
		for _, word := range strings.Fields(strings.Join(lines, " ")) {
			if !whole[word] {
				t.Errorf("at %d characters a word is broken: %q in\n%s", width, word, strings.Join(lines, "\n"))
			}
		}
		expect.Equal(t, lettersOf(table), letters(lines...), "letters at %d characters", width)
		for _, line := range lines {
			if table.stacked == 0 && uniseg.StringWidth(line) > width {
				t.Errorf("at %d characters %q is wider", width, line)
			}
			if strings.Contains(line, "  %") {
				t.Errorf("at %d characters a percent sign has no number: %q", width, line)
			}
		}
	}
}

// wordsOf returns the words of a table, and the parts of metrics between slashes,
// with their counts.
func wordsOf(rows [][]string) map[string]bool {
	found := map[string]bool{}
	for _, row := range rows {
		for column, text := range row {
			for _, word := range strings.Fields(text) {
				found[word] = true
			}
			parts := strings.SplitAfter(text, "/")
			for first := range parts {
				for last := first; column == 0 && last < len(parts); last++ {
					found[strings.Join(parts[first:last+1], "")] = true
				}
			}
		}
	}
	return found
}

func letters(texts ...string) int {
	return len(strings.Join(strings.Fields(strings.Join(texts, " ")), ""))
}

// lettersOf returns all characters of a table.
func lettersOf(table fit) int {
	count := 0
	for i, row := range table.rows {
		for column, text := range row {
			switch {
			case table.stacked == 0:
				count += letters(text)
			case i > 0 && text != "":
				count += letters(table.rows[0][column], text)
			}
		}
	}
	return count
}

// A percent sign stays with its number.
func TestLinesKeepPercentSign(t *testing.T) {
	for width := 12; width < 40; width++ {
		for line := range strings.Lines(wrapHanging("adjusted 95 % intervals; margin 5 % of it", width)) {
			if strings.HasPrefix(strings.TrimSpace(line), "%") {
				t.Errorf("at %d characters a line is %q", width, line)
			}
		}
	}
}
