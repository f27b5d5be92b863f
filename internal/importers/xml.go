// SPDX-License-Identifier: Apache-2.0

package importers

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/transform"
)

// decoded returns text that is already decoded, whatever encoding the document declares.
func decoded(encoding string, in io.Reader) (io.Reader, error) {
	switch strings.ToLower(encoding) {
	case "utf-16", "utf-16le", "utf-16be", "iso-8859-1", "windows-1252", "us-ascii", "ascii":
		return in, nil
	}
	return nil, fmt.Errorf("the encoding %q is not supported: save the file as UTF-8", encoding)
}

// legalXML replaces what XML 1.0 does not allow: control characters and references to them,
// which servers' responses contain, by spaces, and an ampersand without a reference by
// &amp;.
type legalXML struct{ transform.NopResetter }

// longestReference is the length limit of a character reference in bytes: &#1114111; and as
// many zeros.
const longestReference = 20

var reference = regexp.MustCompile(`^&(?:#(x[0-9A-Fa-f]+|[0-9]+)|amp|lt|gt|quot|apos);`)

func (legalXML) Transform(dst, src []byte, atEOF bool) (written, read int, err error) {
	for read < len(src) {
		rest := src[read:]
		if !atEOF && len(rest) < longestReference {
			return written, read, transform.ErrShortSrc
		}
		size, legal := nextInXML(rest)
		if written+len(legal) > len(dst) {
			return written, read, transform.ErrShortDst
		}
		copy(dst[written:], legal)
		written, read = written+len(legal), read+size
	}
	return written, read, nil
}

// nextInXML returns the size of the next character or reference, and its replacement.
func nextInXML(text []byte) (size int, legal string) {
	isLegal := false
	if text[0] == '&' {
		found := reference.FindSubmatch(text[:min(len(text), longestReference)])
		if found == nil {
			return 1, "&amp;"
		}
		size, isLegal = len(found[0]), found[1] == nil || isReferable(string(found[1]))
	} else {
		var letter rune
		letter, size = utf8.DecodeRune(text)
		isLegal = isInXML(letter)
	}
	if !isLegal {
		return size, strings.Repeat(" ", size)
	}
	return size, string(text[:size])
}

func isReferable(number string) bool {
	base := 10
	if hexadecimal, found := strings.CutPrefix(number, "x"); found {
		number, base = hexadecimal, 16
	}
	code, err := strconv.ParseInt(number, base, 32)
	return err == nil && isInXML(rune(code))
}

// isInXML reports whether XML 1.0 allows the character.
func isInXML(letter rune) bool {
	return letter == '\t' || letter == '\n' || letter == '\r' ||
		letter >= 0x20 && letter <= 0xd7ff || letter >= 0xe000 && letter <= 0xfffd || letter >= 0x10000 && letter <= utf8.MaxRune
}
