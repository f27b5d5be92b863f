// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/rivo/uniseg"

	"perflab.dev/perflab/cmd/perflab/exit"
	"perflab.dev/perflab/internal/testing/expect"
)

// onTerminal runs a command on a terminal of that size, without the environment's
// settings.
func onTerminal(t *testing.T, columns, lines uint16, in string, arguments ...string) answer {
	t.Helper()
	master, terminal, err := pty.Open()
	expect.NoError(t, err)
	expect.NoError(t, pty.Setsize(terminal, &pty.Winsize{Cols: columns, Rows: lines}))
	seen := make(chan string)
	go func() {
		var text bytes.Buffer
		// Reading a closed terminal fails.
		_, _ = io.Copy(&text, master)
		seen <- strings.ReplaceAll(text.String(), "\r\n", "\n")
	}()
	var problems bytes.Buffer
	code := execute(t.Context(), arguments, strings.NewReader(in), terminal, &problems)
	expect.NoError(t, terminal.Close())
	got := answer{t, arguments, result{code, <-seen, problems.String()}}
	expect.NoError(t, master.Close())
	return got
}

// plainSurroundings clears the environment's terminal settings.
func plainSurroundings(t *testing.T) {
	t.Helper()
	t.Setenv("TERM", "xterm")
	for _, variable := range []string{"NO_COLOR", "PERFLAB_PAGER", "PAGER", "LESS"} {
		t.Setenv(variable, "")
	}
}

const (
	escape = "\x1b["
	// tall is a terminal that fits all output.
	tall = 500
)

func TestColorsOnTerminals(t *testing.T) {
	plainSurroundings(t)
	worse := strings.Replace(strings.Join(fasterRuns(6), "\n"), "faster", "arm", 1)
	for name, tc := range map[string]struct {
		variable, value string
		arguments       []string
		terminal, want  bool
	}{
		"terminal":           {terminal: true, want: true},
		"pipe":               {},
		"no colour":          {variable: "NO_COLOR", value: "1", terminal: true},
		"dumb":               {variable: "TERM", value: "dumb", terminal: true},
		"never":              {arguments: []string{"--color", "never"}, terminal: true},
		"always, to a pipe":  {arguments: []string{"--color", "always"}, want: true},
		"always, against it": {variable: "NO_COLOR", value: "1", arguments: []string{"--color", "always"}, terminal: true, want: true},
		"markdown":           {arguments: []string{"-o", "markdown"}, terminal: true},
		"JSON":               {arguments: []string{"-o", "json"}, terminal: true},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.variable != "" {
				t.Setenv(tc.variable, tc.value)
			}
			arguments := append([]string{"analyze", "--baseline", "a"}, tc.arguments...)
			got := perflab(t, worse, arguments...)
			if tc.terminal {
				got = onTerminal(t, 200, tall, worse, arguments...)
			}
			if coloured := strings.Contains(got.out, escape); got.code != 0 || coloured != tc.want {
				t.Errorf("exit code %d, coloured: %t, want %t\n%q%s", got.code, coloured, tc.want, got.out, got.problems)
			}
			if !strings.Contains(got.out, "Better") {
				t.Errorf("the verdict is not told in words:\n%q", got.out)
			}
		})
	}
	perflab(t, worse, "analyze", "--baseline", "a", "--color", "sometimes").ends(exit.Failed).warns(`--color "sometimes" must be auto, always or never`)
}

// fasterRuns has an arm b that is a fifth faster than a.
func fasterRuns(blocks int) []string {
	rows := []string{"block,arm,scenario,metric,unit,value"}
	for block := range blocks {
		rows = append(rows, fmt.Sprintf("%d,a,s,m,ms,%d\n%d,b,s,m,ms,%d", block+1, 1000+block%3, block+1, 800+block%2))
	}
	return rows
}

// Names may contain control sequences; only PerfLab's colors are written.
func TestColorsEscapeNames(t *testing.T) {
	plainSurroundings(t)
	named := strings.ReplaceAll(strings.Join(fasterRuns(6), "\n"), ",s,m,", ",s,\x1b[31mred,")
	got := onTerminal(t, 200, tall, named, "analyze", "--baseline", "a")
	if got.code != 0 || strings.Contains(got.out, "\x1b[31mred") {
		t.Errorf("exit code %d: %q%s", got.code, got.out, got.problems)
	}
}

// A table fits the terminal, and omitted columns are named; a pipe gets the whole
// table.
func TestTablesFitTerminal(t *testing.T) {
	plainSurroundings(t)
	for name, arguments := range map[string][]string{
		"analyze": {"analyze", "--baseline", "xmx", "testdata/imports.csv"},
		"audit":   {"audit", "testdata/published.csv"},
		"compare": {"compare", "testdata/before.yaml", "testdata/after.yaml"},
		"history": {"history", releasesFile},
		"runs":    {"analyze", "--baseline", "xmx", "testdata/runs.csv"},
		"plan":    {"plan", "-f", "testdata/experiment.yaml", "-f", "testdata/system.yaml"},
		"many":    append([]string{"plan", "-f", "../../config/samples/seed-001-read-write-split.yaml"}, shipped(t)...),
	} {
		for _, width := range []uint16{40, 60, 80, 100, 400} {
			t.Run(fmt.Sprint(name, " ", width), func(t *testing.T) {
				got := onTerminal(t, width, tall*10, "", append(arguments, "--color", "never")...)
				got.ends(0)
				for line := range strings.Lines(got.out) {
					// A long word, such as a path, is not broken.
					if uniseg.StringWidth(strings.TrimSuffix(line, "\n")) > int(width) && len(strings.Fields(line)) > 1 {
						t.Errorf("%q is wider than the terminal", line)
					}
				}
				left := strings.Contains(got.out, "columns omitted to fit the terminal")
				if width == 400 && left {
					t.Errorf("columns are omitted on a wide terminal:\n%s", got.out)
				}
				if name == "runs" && width == 80 && !left {
					t.Errorf("columns are omitted without a note:\n%s", got.out)
				}
			})
		}
	}
}

// Only output longer than the terminal uses the pager.
func TestPager(t *testing.T) {
	plainSurroundings(t)
	long := []string{"plan", "-f", "testdata/experiment.yaml", "-f", "testdata/system.yaml"}
	for name, tc := range map[string]struct {
		variable  string
		lines     uint16
		arguments []string
		pipe      bool
		want      bool
	}{
		"long":            {variable: "PERFLAB_PAGER", lines: 10, arguments: long, want: true},
		"of the reader":   {variable: "PAGER", lines: 10, arguments: long, want: true},
		"short":           {variable: "PERFLAB_PAGER", lines: tall, arguments: long},
		"not wanted":      {variable: "PERFLAB_PAGER", lines: 10, arguments: append(long, "--no-pager")},
		"in a pipe":       {variable: "PERFLAB_PAGER", lines: 10, arguments: long, pipe: true},
		"what is no text": {variable: "PERFLAB_PAGER", lines: 1, arguments: []string{"version"}},
	} {
		t.Run(name, func(t *testing.T) {
			os.Unsetenv("PERFLAB_PAGER") //nolint:errcheck // It comes back with the test's end.
			copied := filepath.Join(t.TempDir(), "paged")
			t.Setenv(tc.variable, "tee "+copied)
			want := perflab(t, "", append(tc.arguments, "--color", "never")...)
			if !tc.pipe {
				got := onTerminal(t, 400, tc.lines, "", append(tc.arguments, "--color", "never")...)
				if got.result != want.result {
					t.Errorf("the terminal shows\n%+v\nwant\n%+v", got, want)
				}
			}
			text, err := os.ReadFile(copied)
			if paged := err == nil; paged != tc.want || paged && string(text) != want.out {
				t.Errorf("paged: %t, want %t (%v):\n%s", paged, tc.want, err, text)
			}
		})
	}
}

// A missing, closed or failing pager does not change the exit code.
func TestPagerFailures(t *testing.T) {
	plainSurroundings(t)
	slips := "report,table,configuration,scenario,metric,value,unit,kind\n"
	for row := range 150 {
		slips += fmt.Sprintf("r,t%d,a,s,m,1,ms,measured\nr,t%d,b,s,m,2,ms,measured\nr,t%d,b minus a,s,m,7,ms,published_delta\n", row, row, row)
	}
	notProgram := filepath.Join(t.TempDir(), "pager")
	expect.NoError(t, os.WriteFile(notProgram, []byte{0, 1, 2}, 0o700))
	for name, tc := range map[string]struct {
		pager, says string
		whole       bool
	}{
		"missing":      {pager: "no-such-pager -x", whole: true},
		"no program":   {pager: notProgram, whole: true},
		"none":         {pager: "", whole: true},
		"cat":          {pager: "cat", whole: true},
		"no command":   {pager: "'", whole: true},
		"closed early": {pager: "head -n 2"},
		"fails":        {pager: "false"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PERFLAB_PAGER", tc.pager)
			got := onTerminal(t, 200, 10, slips, "audit", "--fail")
			got.ends(exit.Slips).warns("150 of 150")
			expect.Equal(t, tc.whole, strings.Contains(got.out, "t149"), "it is shown to its end")
			got = onTerminal(t, 200, 10, slips, "audit")
			if failed := strings.Contains(got.problems, "set another in PERFLAB_PAGER"); failed != (name == "fails") {
				t.Errorf("exit code %d: %s", got.code, got.problems)
			}
		})
	}
}
