// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"perflab.dev/perflab/internal/testing/expect"
)

// shownRun is a documented command with its output.
var shownRun = regexp.MustCompile("(?s)```console\n\\$ perflab ([^\n]*)\n(.*?)```")

// The pages on statistics show the commands' current output; -update rewrites
// it, except excerpts that begin with "…".
func TestStatisticsPages(t *testing.T) {
	t.Chdir("../..")
	for path, least := range map[string]int{"docs/statistics.md": 2, "docs/sample-size.md": 1, "docs/history.md": 3} {
		t.Run(path, func(t *testing.T) { showsWhatIsPrinted(t, path, least) })
	}
}

func showsWhatIsPrinted(t *testing.T, path string, least int) {
	t.Helper()
	text, err := os.ReadFile(path)
	expect.NoError(t, err)
	runs := 0
	page := shownRun.ReplaceAllStringFunc(string(text), func(shown string) string {
		if runElsewhere.MatchString(shown) {
			return shown
		}
		runs++
		parts := shownRun.FindStringSubmatch(shown)
		line := parts[1]
		got := perflab(t, "", strings.Fields(strings.ReplaceAll(line, "'", ""))...)
		got.ends(0)
		if excerpt, cut := strings.CutPrefix(parts[2], "…\n"); cut {
			if !strings.Contains(got.out, excerpt) {
				t.Errorf("%s does not print\n%s\nbut\n%s", line, excerpt, got.out)
			}
			return shown
		}
		return "```console\n$ perflab " + line + "\n" + got.out + "```"
	})
	if runs < least {
		t.Errorf("the page shows %d commands", runs)
	}
	golden(t, path, page)
}
