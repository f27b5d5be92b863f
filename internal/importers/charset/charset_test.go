// SPDX-License-Identifier: Apache-2.0

package charset_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/text/encoding/unicode"
	"perflab.dev/perflab/internal/importers/charset"
)

const text = "label,µs,Größe,日本,😀\nb,1\n"

func encoded(t *testing.T, order unicode.Endianness, mark unicode.BOMPolicy, text string) string {
	t.Helper()
	made, err := unicode.UTF16(order, mark).NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// Each encoding gives the same text, however it is cut into reads.
func TestUTF8(t *testing.T) {
	for name, in := range map[string]string{
		"UTF-8":                        text,
		"UTF-8 with a mark":            "\ufeff" + text,
		"little-endian UTF-16":         encoded(t, unicode.LittleEndian, unicode.UseBOM, text),
		"big-endian UTF-16":            encoded(t, unicode.BigEndian, unicode.UseBOM, text),
		"little-endian without a mark": encoded(t, unicode.LittleEndian, unicode.IgnoreBOM, text),
		"big-endian without a mark":    encoded(t, unicode.BigEndian, unicode.IgnoreBOM, text),
		"a few bytes of Windows-1252":  strings.NewReplacer("µ", "\xb5", "ö", "\xf6", "ß", "\xdf").Replace(text),
	} {
		for way, reader := range map[string]io.Reader{"whole": strings.NewReader(in), "byte by byte": iotest.OneByteReader(strings.NewReader(in))} {
			got, err := io.ReadAll(charset.UTF8(reader))
			if err != nil || string(got) != text {
				t.Errorf("%s, %s: %q, %v", name, way, got, err)
			}
		}
	}
}

// Windows-1252 keeps characters distinct that a replacement character would make equal.
func TestWindows1252(t *testing.T) {
	for in, want := range map[string]string{"caf\xe9": "café", "caf\xe8": "cafè", "\x80 5": "€ 5", "a\xc3": "aÃ", "": "", "a": "a", "\x00\x00\x00\x063.13": "\x00\x00\x00\x063.13"} {
		if got, err := io.ReadAll(charset.UTF8(strings.NewReader(in))); err != nil || string(got) != want {
			t.Errorf("%q: %q, %v, want %q", in, got, err, want)
		}
	}
}

func TestErrorsPassThrough(t *testing.T) {
	broken := errors.New("broken")
	if _, err := io.ReadAll(charset.UTF8(io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)))); !errors.Is(err, broken) {
		t.Errorf("the error is %v", err)
	}
}
