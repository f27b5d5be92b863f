// SPDX-License-Identifier: Apache-2.0

// Package sqltext removes confidential parts from SQL statements. Literals and comments may
// contain anything. It parses statements with PostgreSQL's own parser, compiled to
// WebAssembly, and assembles the result from the parts that the parser understands, instead of
// removing known secrets: unknown parts are hidden.
package sqltext

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// MaxText is the longest statement that is parsed, in bytes. A longer one is shown by its first
// word.
const MaxText = 64 << 10

// placeholder replaces every literal.
const placeholder = "?"

// WithoutLiterals returns a statement without confidential parts. A query is shown on one line,
// with question marks instead of literals and without comments. Any other statement is shown by its
// command alone, because it may contain queries, code and passwords: ALTER ROLE, SET, DO. A text
// that PostgreSQL's parser does not accept as one statement is shown by its first word if that
// begins a command, else as UNREADABLE.
func WithoutLiterals(text string) string {
	if !isReadable(text) {
		return byFirstWord(text)
	}
	prepare()
	read, err := sharedParser.read(text)
	if err != nil {
		return byFirstWord(text)
	}
	pieces, understood := newPieces(text, read.tokens)
	switch {
	case !understood:
		return byFirstWord(text)
	case !read.isQuery:
		return command(keywords(text, read.tokens))
	default:
		return line(pieces)
	}
}

// isReadable reports whether the parser accepts the text, which ends at a zero byte.
func isReadable(text string) bool {
	return len(text) <= MaxText && utf8.ValidString(text) && !strings.Contains(text, "\x00") && longestOperator(text) <= maxOperator
}

// maxOperator limits operators, in characters, because the parser's time is quadratic: 16,000
// take seconds. PostgreSQL's operators have up to 63, but comments have lines of such
// characters.
const maxOperator = 250

// longestOperator is the most characters of operators in a row.
func longestOperator(text string) int {
	run, longest := 0, 0
	for i := range len(text) {
		if strings.IndexByte("+-*/<>=~!@#%^&|`?", text[i]) < 0 {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// piece of a statement.
type piece struct {
	text string
	// apart: there was a space or a comment before it.
	apart bool
}

// newPieces returns the visible pieces of a text. It is not understood if a token differs from
// its description, or if the server may have parsed it otherwise.
func newPieces(text string, tokens []token) (pieces []piece, understood bool) {
	end := 0
	for _, token := range tokens {
		if token.from < end || token.to <= token.from || token.to > len(text) {
			return nil, false
		}
		if token.kind.isComment() {
			continue
		}
		shown, understood := displayToken(token.kind, text[token.from:token.to])
		if !understood {
			return nil, false
		}
		pieces = append(pieces, piece{text: shown, apart: token.from > end})
		end = token.to
	}
	return pieces, true
}

// written are the shapes of what is shown as it was written. No literal has one.
var written = regexp.MustCompile(`^(?:` + strings.Join([]string{
	`(?:[Uu]&)?"(?:[^"]|"")*"`,                          // quoted name
	`[A-Za-z_\x{80}-\x{10FFFF}][\w$\x{80}-\x{10FFFF}]*`, // name or word
	`\$[0-9]+`, // parameter
	`[-+*/<>=~!@#%^&|` + "`" + `?]+|::|:=|\.\.|[:.,;()\[\]]`, // operator or mark
}, "|") + `)$`)

func displayToken(kind kind, text string) (shown string, understood bool) {
	if kind.isLiteral() {
		return placeholder, !isAmbiguous(text)
	}
	return text, written.MatchString(text)
}

// isAmbiguous reports whether a quoted string contains a backslash: without
// standard_conforming_strings it is an escape, and the string may end elsewhere than the parser's.
func isAmbiguous(literal string) bool {
	return strings.HasPrefix(literal, "'") && strings.Contains(literal, `\`)
}

var spaces = regexp.MustCompile(`\s+`)

// line joins pieces.
func line(pieces []piece) string {
	var line strings.Builder
	for _, piece := range pieces {
		if piece.apart {
			line.WriteByte(' ')
		}
		line.WriteString(piece.text)
	}
	return strings.TrimSpace(spaces.ReplaceAllString(line.String(), " "))
}

// keywords returns the leading keywords of a statement, in capitals.
func keywords(text string, tokens []token) []string {
	var found []string
	for _, token := range tokens {
		if token.kind.isComment() {
			continue
		}
		if !token.isKeyword {
			break
		}
		found = append(found, strings.ToUpper(text[token.from:token.to]))
	}
	return found
}
