// SPDX-License-Identifier: Apache-2.0

package document

import (
	"strings"

	"perflab.dev/perflab/internal/naming"
)

// maxFileName leaves room for an ending within what file systems take.
const maxFileName = 200

// FileName makes the name of a chart fit for a file, whatever a metric is called.
// Where more than its parts' separators had to be replaced, or it had to be cut, a
// digest tells it from others.
func FileName(of string) string {
	name := []rune(of)
	exact := len(name) <= maxFileName
	for i, letter := range name {
		isPlain := letter >= 'a' && letter <= 'z' || letter >= 'A' && letter <= 'Z' || letter >= '0' && letter <= '9' || letter == '-'
		if !isPlain {
			exact = exact && strings.ContainsRune("/_.", letter)
			name[i] = '-'
		}
	}
	if !exact {
		return withDigest(string(name[:min(len(name), maxFileName)]), of)
	}
	return string(name)
}

func withDigest(name, of string) string { return name + "-" + naming.Hash(of)[:naming.DigestLength] }

// Slug is a text in letters, digits and hyphens, and not longer than an address
// that people pass on may be.
func Slug(text string) string {
	const enough = 60
	words := strings.FieldsFunc(strings.ToLower(text), func(letter rune) bool {
		return (letter < 'a' || letter > 'z') && (letter < '0' || letter > '9')
	})
	joined := strings.Join(words, "-")
	return strings.TrimSuffix(joined[:min(len(joined), enough)], "-")
}
