// SPDX-License-Identifier: Apache-2.0

package prose_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/text/prose"
)

func TestNumbersInSentences(t *testing.T) {
	for want, got := range map[string]string{
		"1 broker":         prose.Counted(1, "broker"),
		"0 brokers":        prose.Counted(int32(0), "broker"),
		"2 brokers":        prose.Counted(int64(2), "broker"),
		"is":               prose.Verb(1, "is", "are"),
		"are":              prose.Verb(0, "is", "are"),
		"0 of 1 node is":   prose.Partly(0, 1, "node"),
		"1 of 1 node is":   prose.Partly(1, 1, "node"),
		"1 of 2 nodes is":  prose.Partly(1, 2, "node"),
		"0 of 2 nodes are": prose.Partly(0, 2, "node"),
	} {
		expect.Equal(t, want, got)
	}
}

func TestSentence(t *testing.T) {
	cases := map[string]string{
		`rpc error: code = NotFound desc = failed to pull "r/a:1"`: `failed to pull "r/a:1"`,
		`pods "a-6d4-x7k2p" is forbidden: exceeded quota.`:         "exceeded quota",
		"two\nlines":                       "two lines",
		"Back-off pulling image \"r/a:1\"": "",
	}
	for message, want := range cases {
		expect.Equal(t, want, prose.Sentence(message), "%q", message)
	}
}

func TestDurationsAreReadable(t *testing.T) {
	cases := map[string]string{
		"90s": "1m30s", "30m": "30m", "13h": "13h", "47h59m": "47h59m", "48h": "2 days", "49h20m": "2 days 1 hour", "293h6m": "12 days 5 hours", "71h40m": "3 days",
	}
	for text, want := range cases {
		duration, err := time.ParseDuration(text)
		if got := prose.Duration(duration); err != nil || got != want {
			t.Errorf("%s is written as %q, want %q (%v)", text, got, want, err)
		}
	}
}

func TestSentenceIsBounded(t *testing.T) {
	got := prose.Sentence("one\n  two\t" + strings.Repeat("ü", 1000))
	if len(got) > 300 || !strings.HasPrefix(got, "one two ü") || !strings.HasSuffix(got, "ü…") {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		text  string
		bytes int
		want  string
	}{
		{"short", 5, "short"},
		{"longer", 5, "lo…"},
		{"", 0, ""},
		{"ab", 1, ""},
		{"abcd", 3, "…"},
		// Two bytes each: the third is not cut in two.
		{"üüüü", 7, "üü…"},
		{"üüüü", 8, "üüüü"},
		// Four bytes each.
		{"🦀🦀🦀", 10, "🦀…"},
		{"\xff\xfe\xfdabcdef", 8, "ab…"},
	} {
		expect.Equal(t, c.want, prose.Cut(c.text, c.bytes), "%q in %d bytes", c.text, c.bytes)
	}
}

func FuzzCut(f *testing.F) {
	f.Add("🦀 and ü", 5)
	f.Fuzz(func(t *testing.T, text string, bytes int) {
		cut := prose.Cut(text, bytes)
		if len(cut) > max(bytes, 0) || utf8.ValidString(text) && !utf8.ValidString(cut) {
			t.Errorf("%q in %d bytes is %q", text, bytes, cut)
		}
		if len(text) <= bytes && cut != text {
			t.Errorf("%q was cut without need: %q", text, cut)
		}
	})
}

func TestEnumerate(t *testing.T) {
	cases := map[string][]string{
		"":                   nil,
		"a":                  {"a"},
		"a, b, c":            {"a", "b", "c"},
		"a, b, c and 2 more": {"a", "b", "c", "d", "e"},
	}
	for want, names := range cases {
		expect.Equal(t, want, prose.Enumerate(names), "%v", names)
	}
}

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
		expect.Equal(t, want, prose.Printable(text), "%q", text)
	}
}
