// SPDX-License-Identifier: Apache-2.0

// Package decimal formats and parses the API's decimal strings.
package decimal

import (
	"fmt"
	"strconv"
)

// Format formats a number without an exponent and with six significant digits.
func Format(value float64) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(value, 'g', 6, 64), 64)
	if err != nil {
		// Rounding the largest numbers overflows.
		rounded = value
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// Parse parses the output of Format.
func Parse(text string) (float64, error) {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, fmt.Errorf("reading %q as a number: %w", text, err)
	}
	return value, nil
}
