// SPDX-License-Identifier: Apache-2.0

// Package label encodes the names of transactions and requests as parts of one text, the name of
// a metric, and decodes them. The names may contain any character.
//
// The parts of a text are separated by slashes. A slash within a part is escaped with a
// backslash. An address, such as "GET /orders/items" or "https://host/path", is not escaped if
// only its statistic follows.
package label

import (
	"regexp"
	"strings"
)

// Separator separates the parts of a text.
const Separator = "/"

// Nameless is the name of a transaction without a name.
const Nameless = "(no name)"

var (
	// address matches a path or a URL, with or without a method before it.
	address = regexp.MustCompile(`^([A-Z]+ )?(/|[a-z][a-z0-9+.-]*://)`)
	// requestStart matches the start of a request: a method with a path or URL, a path or a URL.
	requestStart = regexp.MustCompile(`^([A-Z]+ |/|https?://)`)

	escaped = strings.NewReplacer(`\`, `\\`, Separator, `\`+Separator)
	escape  = regexp.MustCompile(`\\(.)`)
)

// Join encodes the path of a transaction, the outermost first.
func Join(path ...string) string {
	if len(path) == 1 && address.MatchString(path[0]) && !strings.Contains(path[0], `\`) {
		return path[0]
	}
	return escapedPath(path)
}

// Request encodes a request of a transaction that Join encoded.
func Request(transaction, request string) string {
	path, _ := Cut(transaction)
	return escapedPath(path) + Separator + request
}

func escapedPath(path []string) string {
	parts := make([]string, len(path))
	for i, part := range path {
		part = strings.TrimSpace(part)
		if part == "" {
			part = Nameless
		}
		parts[i] = escaped.Replace(part)
		if scheme, found := strings.CutSuffix(parts[i], ":"); found {
			// The following text would be read as the rest of a URL.
			parts[i] = scheme + `\:`
		}
		if i > 0 && requestStart.MatchString(parts[i]) {
			parts[i] = `\` + parts[i]
		}
	}
	return strings.Join(parts, Separator)
}

// Cut decodes the output of Join or Request: the path of a transaction, and the request, which is
// empty for the transaction itself. It never fails.
func Cut(text string) (path []string, request string) {
	if address.MatchString(text) {
		return []string{text}, ""
	}
	parts := Split(text)
	for i, part := range parts {
		if rest := strings.Join(parts[i:], Separator); i > 0 && requestStart.MatchString(rest) {
			return path, rest
		}
		path = append(path, Plain(strings.TrimSpace(part)))
	}
	return path, ""
}

// Split splits a text at its separators. The parts keep their backslashes.
func Split(text string) []string {
	parts := []string{""}
	for i := 0; i < len(text); i++ {
		last := &parts[len(parts)-1]
		switch {
		case text[i] == '\\' && i+1 < len(text):
			*last += text[i : i+2]
			i++
		case text[i] == Separator[0]:
			parts = append(parts, "")
		default:
			*last += text[i : i+1]
		}
	}
	return parts
}

// Plain returns a text as users read it: without backslashes.
func Plain(text string) string { return escape.ReplaceAllString(text, "$1") }
