// SPDX-License-Identifier: Apache-2.0

package elsewhere

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/transform"
)

// decoded is text in an encoding that was decoded before the text came here, whatever
// the document says of itself.
func decoded(encoding string, in io.Reader) (io.Reader, error) {
	switch strings.ToLower(encoding) {
	case "utf-16", "utf-16le", "utf-16be", "iso-8859-1", "windows-1252", "us-ascii", "ascii":
		return in, nil
	}
	return nil, fmt.Errorf("the encoding %q is not read: save the file as UTF-8", encoding)
}

// legalXML replaces what XML 1.0 has no place for with spaces: control characters, and
// references to them. Responses of servers bring them into documents.
type legalXML struct{ transform.NopResetter }

// longestReference to a character in bytes: &#1114111; and as many zeros again.
const longestReference = 20

var reference = regexp.MustCompile(`^&#(x[0-9A-Fa-f]+|[0-9]+);`)

func (legalXML) Transform(dst, src []byte, atEOF bool) (written, read int, err error) {
	for read < len(src) {
		rest := src[read:]
		if !atEOF && len(rest) < longestReference {
			return written, read, transform.ErrShortSrc
		}
		size, isLegal := nextInXML(rest)
		if written+size > len(dst) {
			return written, read, transform.ErrShortDst
		}
		copy(dst[written:], rest[:size])
		if !isLegal {
			copy(dst[written:], strings.Repeat(" ", size))
		}
		written, read = written+size, read+size
	}
	return written, read, nil
}

// nextInXML is the size of the next character or reference.
func nextInXML(text []byte) (size int, isLegal bool) {
	if text[0] == '&' {
		if found := reference.FindSubmatch(text[:min(len(text), longestReference)]); found != nil {
			return len(found[0]), isReferable(string(found[1]))
		}
	}
	letter, size := utf8.DecodeRune(text)
	return size, isInXML(letter)
}

func isReferable(number string) bool {
	base := 10
	if hexadecimal, found := strings.CutPrefix(number, "x"); found {
		number, base = hexadecimal, 16
	}
	code, err := strconv.ParseInt(number, base, 32)
	return err == nil && isInXML(rune(code))
}

// isInXML tells the characters that XML 1.0 has.
func isInXML(letter rune) bool {
	return letter == '\t' || letter == '\n' || letter == '\r' ||
		letter >= 0x20 && letter <= 0xd7ff || letter >= 0xe000 && letter <= 0xfffd || letter >= 0x10000 && letter <= utf8.MaxRune
}
