// SPDX-License-Identifier: Apache-2.0

// Package decimal writes and reads the decimal strings in which the API holds
// numbers.
package decimal

import (
	"fmt"
	"strconv"
)

// Format writes a number without an exponent and with as many digits as a
// reader can use: six significant ones.
func Format(value float64) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(value, 'g', 6, 64), 64)
	if err != nil {
		// The largest numbers, rounded, are none.
		rounded = value
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// Parse reads what Format wrote.
func Parse(text string) (float64, error) {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, fmt.Errorf("reading %q as a number: %w", text, err)
	}
	return value, nil
}
