// SPDX-License-Identifier: Apache-2.0

package prose

import (
	"strings"
	"unicode"
)

// Printable is a text without characters that steer a terminal, turn the direction
// of writing or are not allowed in XML: what others called something may hold them.
// Ends of lines and tabs stay.
func Printable(text string) string {
	return strings.Map(func(letter rune) rune {
		if letter != '\n' && letter != '\t' && (unicode.IsControl(letter) || unicode.Is(unicode.Bidi_Control, letter) || letter == '\ufffe' || letter == '\uffff') {
			return unicode.ReplacementChar
		}
		return letter
	}, text)
}
