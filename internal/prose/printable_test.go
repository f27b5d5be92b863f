// SPDX-License-Identifier: Apache-2.0

package prose_test

import (
	"testing"

	"perflab.dev/perflab/internal/prose"
)

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"Check-In, 3 ms\n\tnext": "Check-In, 3 ms\n\tnext",
		"größer ≥ 語":             "größer ≥ 語",
		"\x1b[2Jgone":            "\ufffd[2Jgone",
		"a\rb":                   "a\ufffdb",
		"\u009b31m":              "\ufffd31m",
		"\u202efdp.exe":          "\ufffdfdp.exe",
		"\x00\x7f":               "\ufffd\ufffd",
		"\xff":                   "\ufffd",
	} {
		if got := prose.Printable(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
