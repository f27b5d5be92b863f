// SPDX-License-Identifier: Apache-2.0

// Package label writes what users call their transactions and requests as parts of one
// text, and reads them back: the name of a metric. What a user writes may hold any letter.
//
// The parts of a text have slashes between them. A part with a slash of its own has a
// backslash before it. An address, such as "GET /orders/items" or "https://host/path",
// stands as it is where nothing but its statistic follows.
package label

import (
	"regexp"
	"strings"
)

// Separator is between the parts of a text.
const Separator = "/"

// Nameless is what a transaction without a name is called.
const Nameless = "(no name)"

var (
	// address is a path or a URL, with or without the method before it.
	address = regexp.MustCompile(`^([A-Z]+ )?(/|[a-z][a-z0-9+.-]*://)`)
	// asked begins as what a client asks for: a method and what follows, a path or a URL.
	asked = regexp.MustCompile(`^([A-Z]+ |/|https?://)`)

	escaped = strings.NewReplacer(`\`, `\\`, Separator, `\`+Separator)
	escape  = regexp.MustCompile(`\\(.)`)
)

// Join writes a transaction within others, the outermost first.
func Join(path ...string) string {
	if len(path) == 1 && address.MatchString(path[0]) && !strings.Contains(path[0], `\`) {
		return path[0]
	}
	return escapedPath(path)
}

// Request writes a request of a transaction that Join wrote.
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
			// What follows would read as the rest of a URL.
			parts[i] = scheme + `\:`
		}
		if i > 0 && asked.MatchString(parts[i]) {
			parts[i] = `\` + parts[i]
		}
	}
	return strings.Join(parts, Separator)
}

// Cut reads what Join or Request wrote: a transaction by its path, and the request; empty
// if it is the transaction itself. It never fails.
func Cut(text string) (path []string, request string) {
	if address.MatchString(text) {
		return []string{text}, ""
	}
	parts := Split(text)
	for i, part := range parts {
		if rest := strings.Join(parts[i:], Separator); i > 0 && asked.MatchString(rest) {
			return path, rest
		}
		path = append(path, Plain(strings.TrimSpace(part)))
	}
	return path, ""
}

// Split a text at its separators. The parts keep their backslashes.
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
