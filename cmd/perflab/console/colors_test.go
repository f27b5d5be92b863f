// SPDX-License-Identifier: Apache-2.0

package console

import (
	"testing"

	"github.com/fatih/color"
)

// A line longer than the terminal's width takes several rows, which are all
// overwritten.
func TestTerminalRows(t *testing.T) {
	for _, tc := range []struct {
		text string
		want int
	}{
		{"", 0}, {"one\n", 1}, {"\n", 1}, {"ten 4567890\n", 2}, {"1234567890\n", 1}, {"a\nµµµµµµµµµµ\nb\n", 3}, {"123456789012345678901\nx\n", 4},
	} {
		if got := TerminalRows(tc.text, 10); got != tc.want {
			t.Errorf("%q takes %d rows, want %d", tc.text, got, tc.want)
		}
	}
}

func TestCellColors(t *testing.T) {
	for cell, want := range map[[2]string]*color.Color{
		{"outcome", "outcome"}: nil, {"outcome", OutcomeMatches}: nil, {"outcome", OutcomeMatch}: nil, {"outcome", "1 of 2 do not match"}: ColorBad,
		{"equivalent", "yes"}: nil, {"equivalent", NotEquivalent}: ColorWarning, {"verdict", "Worse"}: ColorBad, {"metric", "Worse"}: nil,
	} {
		if got := cellColor(cell[0], cell[1]); got != want {
			t.Errorf("%q has another color than it should", cell)
		}
	}
}
