// SPDX-License-Identifier: Apache-2.0

// Package charset reads text in the encodings that shells, spreadsheets and other
// tools write as UTF-8.
package charset

import (
	"bufio"
	"bytes"
	"io"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
	"golang.org/x/text/transform"
)

// UTF8 reads text as UTF-8 without a byte order mark. UTF-16 is recognized by its
// byte order mark or by the zero bytes of its first characters, UTF-32 by its mark. In all else, bytes
// that are not UTF-8 are characters of Windows-1252, which includes Latin-1.
func UTF8(in io.Reader) io.Reader {
	buffered := bufio.NewReader(in)
	head, _ := buffered.Peek(sniffed) // A shorter text is whole; the reader reports any error.
	return transform.NewReader(buffered, decoder(head))
}

// sniffed is the number of bytes that identify the encoding.
const sniffed = 8

func decoder(head []byte) transform.Transformer {
	otherwise := transform.Transformer(windows1252{})
	switch {
	case isUTF32(head):
		return utf32.UTF32(utf32.LittleEndian, utf32.UseBOM).NewDecoder()
	case isUTF16(head, 1):
		otherwise = unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewDecoder()
	case isUTF16(head, 0):
		otherwise = unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewDecoder()
	}
	return unicode.BOMOverride(otherwise)
}

// isUTF32 checks for its byte order mark, which begins like that of UTF-16.
func isUTF32(head []byte) bool {
	return bytes.HasPrefix(head, []byte("\xff\xfe\x00\x00")) || bytes.HasPrefix(head, []byte("\x00\x00\xfe\xff"))
}

// isUTF16 reports whether all high bytes, which start at the offset, are zero, and no low
// byte is.
func isUTF16(head []byte, high int) bool {
	for i, value := range head {
		if (value == 0) != (i%2 == high) {
			return false
		}
	}
	return len(head) >= 4
}

// windows1252 passes UTF-8 on and decodes all other bytes as Windows-1252.
type windows1252 struct{ transform.NopResetter }

func (windows1252) Transform(dst, src []byte, atEOF bool) (written, read int, err error) {
	for read < len(src) {
		letter, size := utf8.DecodeRune(src[read:])
		if letter == utf8.RuneError && size == 1 {
			if !atEOF && !utf8.FullRune(src[read:]) {
				return written, read, transform.ErrShortSrc
			}
			letter = charmap.Windows1252.DecodeByte(src[read])
		}
		if written+utf8.RuneLen(letter) > len(dst) {
			return written, read, transform.ErrShortDst
		}
		written += utf8.EncodeRune(dst[written:], letter)
		read += size
	}
	return written, read, nil
}
