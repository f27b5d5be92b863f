// SPDX-License-Identifier: Apache-2.0

package payload

import "fmt"

// The characters of a histogram's text; see the package comment. JSON does not escape any of
// them.
const (
	firstDigit, digits = '#', 32 // the last digit of a count: # to B
	firstCarry, carry  = 'C', 24 // a digit before it: C to Z
	firstGap, gaps     = ']', 34 // empty cells, from one: ] to ~
)

// appendText appends the text of the cells from the first used one to the last.
func (h *Histogram) appendText(text []byte) []byte {
	if h.packed != "" {
		return append(text, h.packed...)
	}
	for i, cell := range h.cells {
		if i > 0 {
			text = appendGap(text, int(cell-h.cells[i-1])-1)
		}
		text = appendCarry(text, h.counts[i]/digits)
		text = append(text, firstDigit+byte(h.counts[i]%digits))
	}
	return text
}

func appendGap(text []byte, cells int) []byte {
	for ; cells > gaps; cells -= gaps {
		text = append(text, firstGap+gaps-1)
	}
	if cells > 0 {
		text = append(text, firstGap+byte(cells-1))
	}
	return text
}

func appendCarry(text []byte, n uint32) []byte {
	if n == 0 {
		return text
	}
	return append(appendCarry(text, n/carry), firstCarry+byte(n%carry))
}

// parseText decodes the output of appendText, starting at the cell first.
func (h *Histogram) parseText(first int64, text string) error {
	cell, high := first, int64(0)
	for _, c := range []byte(text) {
		switch {
		case c >= firstGap && c < firstGap+gaps:
			cell += int64(c-firstGap) + 1
		case c >= firstCarry && c < firstCarry+carry:
			high = high*carry + int64(c-firstCarry)
		case c >= firstDigit && c < firstDigit+digits:
			count := high*digits + int64(c-firstDigit)
			if count == 0 || count > maxCount {
				return fmt.Errorf("histogram cell %d with count %d", cell, count)
			}
			if cell < 0 || cell > int64(lastCell) {
				return fmt.Errorf("histogram cell %d out of range", cell)
			}
			h.push(uint16(cell), uint32(count))
			cell, high = cell+1, 0
		default:
			return fmt.Errorf("histogram with invalid character %q", c)
		}
		if high > maxCount {
			return fmt.Errorf("histogram cell %d out of range", cell)
		}
	}
	return nil
}
