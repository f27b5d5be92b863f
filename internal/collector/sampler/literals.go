// SPDX-License-Identifier: Apache-2.0

package sampler

import (
	"regexp"
	"strings"
)

// tokens of SQL that are changed or must be kept whole. pg_stat_statements
// leaves literals in what it does not parse into a plan: CREATE ROLE … PASSWORD,
// SET, COPY, DO.
var tokens = regexp.MustCompile(`(?s)` + strings.Join([]string{
	`--[^\n]*`,                  // comment
	`/\*.*?\*/`,                 // comment
	`"(?:[^"]|"")*"?`,           // quoted name
	`\$[0-9]+`,                  // parameter
	`[eE]'(?:[^'\\]|\\.|'')*'?`, // string with escapes
	`'(?:[^']|'')*'?`,           // string
	`\$[A-Za-z_]*\$`,            // begin of a string between dollars
	`[A-Za-z_\x80-\x{10FFFF}][\w$\x80-\x{10FFFF}]*`,    // name or word
	`[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|\.[0-9]+`, // number
}, "|"))

var spaces = regexp.MustCompile(`\s+`)

// withoutLiterals puts a question mark in the place of every literal, takes
// comments out, which may hold anything, and writes what is left on one line.
func withoutLiterals(text string) string {
	var clean strings.Builder
	for text != "" {
		at := tokens.FindStringIndex(text)
		if at == nil {
			clean.WriteString(text)
			break
		}
		clean.WriteString(text[:at[0]])
		token, rest := text[at[0]:at[1]], text[at[1]:]
		if isDollarQuote(token) {
			// A string whose end was cut off reaches to the end of the text.
			_, rest, _ = strings.Cut(rest, token)
		}
		clean.WriteString(replaced(token))
		text = rest
	}
	return strings.TrimSpace(spaces.ReplaceAllString(clean.String(), " "))
}

func isDollarQuote(token string) bool {
	return len(token) >= 2 && token[0] == '$' && token[len(token)-1] == '$'
}

func replaced(token string) string {
	switch {
	case strings.HasPrefix(token, "--"), strings.HasPrefix(token, "/*"):
		return " "
	case isDollarQuote(token), strings.HasSuffix(token, "'"), strings.HasPrefix(token, "'"),
		strings.HasPrefix(token, "e'"), strings.HasPrefix(token, "E'"):
		return "?"
	case token[0] >= '0' && token[0] <= '9', token[0] == '.':
		return "?"
	default:
		return token
	}
}
