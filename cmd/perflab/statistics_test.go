// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// shownRun is a command in the documentation and what it prints.
var shownRun = regexp.MustCompile("(?s)```console\n\\$ perflab ([^\n]*)\n(.*?)```")

// What the page on statistics shows is what the commands print; -update writes
// it anew, but for what is cut out of a longer output and begins with "…".
func TestStatisticsPageShowsWhatIsPrinted(t *testing.T) {
	t.Chdir("../..")
	const path = "docs/statistics.md"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	runs := 0
	page := shownRun.ReplaceAllStringFunc(string(text), func(shown string) string {
		runs++
		parts := shownRun.FindStringSubmatch(shown)
		line := parts[1]
		got := perflab(t, "", strings.Fields(strings.ReplaceAll(line, "'", ""))...)
		if got.code != 0 {
			t.Errorf("%s: exit code %d: %s", line, got.code, got.problems)
		}
		if excerpt, cut := strings.CutPrefix(parts[2], "…\n"); cut {
			if !strings.Contains(got.out, excerpt) {
				t.Errorf("%s does not print\n%s\nbut\n%s", line, excerpt, got.out)
			}
			return shown
		}
		return "```console\n$ perflab " + line + "\n" + got.out + "```"
	})
	if runs < 3 {
		t.Errorf("the page shows %d commands", runs)
	}
	golden(t, path, page)
}
