// SPDX-License-Identifier: Apache-2.0

package document

import (
	"strings"

	"perflab.dev/perflab/internal/naming"
)

// maxFileName leaves room for an extension within the limits of file systems.
const maxFileName = 200

// FileName turns the name of a chart into a file name, whatever the metric's name. A digest keeps
// it unique if the name was cut, or if more than its separators were replaced.
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

// Slug is a text in letters, digits and hyphens, short enough for a URL.
func Slug(text string) string {
	const enough = 60
	words := strings.FieldsFunc(strings.ToLower(text), func(letter rune) bool {
		return (letter < 'a' || letter > 'z') && (letter < '0' || letter > '9')
	})
	joined := strings.Join(words, "-")
	return strings.TrimSuffix(joined[:min(len(joined), enough)], "-")
}
