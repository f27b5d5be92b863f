// SPDX-License-Identifier: Apache-2.0

package importers

import (
	"slices"
	"strings"
	"unicode"

	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/payload/label"
)

// longestName is the length limit of a transaction in bytes; it is part of its metrics'
// names.
const longestName = 200

// digestLength is the length of digests in names.
const digestLength = 8

// pathName returns the path of a transaction as a part of a metric's name.
func pathName(path []string) string {
	parts := slices.Clone(path)
	for i, part := range path {
		parts[i] = metricName(part, longestName/len(path))
	}
	return label.Join(parts...)
}

// metricName returns a tool's name without control characters. A too long name ends in its
// digest, so that it stays unique.
func metricName(text string, longest int) string {
	name := strings.Map(func(letter rune) rune {
		if unicode.IsControl(letter) {
			return ' '
		}
		return letter
	}, text)
	name = strings.TrimSpace(strings.ToValidUTF8(name, "�"))
	if end := "…" + digest(text); len(name) > longest {
		name = strings.ToValidUTF8(name[:max(longest-len(end), 0)], "") + end
	}
	if name == "" {
		return label.Nameless
	}
	return name
}

func digest(text string) string { return naming.Hash(text)[:digestLength] }

// distinct maps tools' names to metric names: if two collide, the changed ones end in their
// digests.
func distinct(texts []string, nameOf func(string) string) (names map[string]string) {
	count := map[string]int{}
	for _, text := range texts {
		count[nameOf(text)]++
	}
	names = map[string]string{}
	for _, text := range texts {
		name := nameOf(text)
		if count[name] > 1 && name != text {
			name += "~" + digest(text)
		}
		names[text] = name
	}
	return names
}
