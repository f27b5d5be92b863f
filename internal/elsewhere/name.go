// SPDX-License-Identifier: Apache-2.0

package elsewhere

import (
	"strings"
	"unicode"

	"perflab.dev/perflab/internal/naming"
)

// longestName of a transaction in bytes; it is a part of its metrics' names.
const longestName = 200

// nameless is what a transaction without a name is called.
const nameless = "(no name)"

// digestLength is how much of a digest tells names apart.
const digestLength = 8

// nameOf is what a tool calls a transaction, fit to be a part of a metric's name. One
// that is too long ends in its digest, so that it stays apart from others that begin
// like it.
func nameOf(text string) string {
	name := strings.Map(func(letter rune) rune {
		if unicode.IsControl(letter) {
			return ' '
		}
		return letter
	}, text)
	name = strings.TrimSpace(strings.ToValidUTF8(name, "�"))
	if len(name) > longestName {
		end := "…" + digest(text)
		name = strings.ToValidUTF8(name[:longestName-len(end)], "") + end
	}
	if name == "" {
		return nameless
	}
	return name
}

// withoutMark replaces the mark of windows, which no metric that decides has in its name.
var withoutMark = strings.NewReplacer("@", "_")

func digest(text string) string { return naming.Hash(text)[:digestLength] }

// distinct names what tools call by other names: where two would get the same, those
// that had to be changed for it end in their digests. It tells whether nameOf changed
// any.
func distinct(texts []string, shown func(string) string) (names map[string]string, renamed bool) {
	count := map[string]int{}
	for _, text := range texts {
		count[nameOf(shown(text))]++
	}
	names = map[string]string{}
	for _, text := range texts {
		name := nameOf(shown(text))
		renamed = renamed || name != shown(text)
		if count[name] > 1 && name != text {
			name += "~" + digest(text)
		}
		names[text] = name
	}
	return names, renamed
}
