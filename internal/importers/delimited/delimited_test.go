// SPDX-License-Identifier: Apache-2.0

package delimited_test

import (
	"slices"
	"strings"
	"testing"

	"perflab.dev/perflab/internal/importers/delimited"
)

// Each separator gives the same rows, and the same lines.
func TestSeparators(t *testing.T) {
	for name, text := range map[string]string{
		"comma":       "a,b,c\n1,\"2,5\",x;y\n",
		"semicolon":   "a;b;c\n1;2,5;\"x;y\"\n",
		"tab":         "a\tb\tc\r\n1\t2,5\tx;y\r\n",
		"bar":         "\"a\"|b|c\n1|2,5|x;y\n",
		"old Mac":     "a,b,c\r1,\"2,5\",x;y\r",
		"blank lines": "\n\na;b;c\n1;2,5;\"x;y\"\n",
	} {
		reader := delimited.NewReader(strings.NewReader(text))
		for _, want := range [][]string{{"a", "b", "c"}, {"1", "2,5", "x;y"}} {
			if got, err := reader.Read(); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: %q, %v, want %q", name, got, err, want)
			}
		}
	}
}

func TestHintOfExcel(t *testing.T) {
	reader := delimited.NewReader(strings.NewReader("sep=;\r\na;b\r\n1;2\r\n"))
	header, err := reader.Read()
	if line, _ := reader.FieldPos(0); err != nil || !slices.Equal(header, []string{"a", "b"}) || line != 2 {
		t.Errorf("line %d is %q, %v", line, header, err)
	}
}
