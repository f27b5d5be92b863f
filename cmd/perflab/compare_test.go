// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"perflab.dev/perflab/cmd/perflab/exit"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/recorded"
)

// exportedTo writes an experiment as perflab export does.
func exportedTo(t *testing.T, name string, input report.Input) string {
	t.Helper()
	var out bytes.Buffer
	expect.NoError(t, report.Write(&out, input))
	path := filepath.Join(t.TempDir(), name)
	expect.NoError(t, os.WriteFile(path, out.Bytes(), 0o644))
	return path
}

func TestCompare(t *testing.T) {
	first, second := exportedTo(t, "first.yaml", recorded.Experiment(1)), exportedTo(t, "second.yml", recorded.Experiment(2))
	got := perflab(t, "", "compare", first, second, "--margin", "20")
	got.ends(0).shows("margin 20 %", "Baselines: "+recorded.Baseline, "Arms, relative to their baselines", recorded.Arm, "yes")
	strict := perflab(t, "", "compare", first, second, "--margin", "0.01")
	if strict.code != exit.NotEquivalent || strings.Contains(strict.out, "Arms, each") || !strings.Contains(strict.out, "not shown") {
		t.Errorf("exit code %d, want %d: %s%s", strict.code, exit.NotEquivalent, strict.out, strict.problems)
	}
}

// Notes have a column only if a row has one.
func TestCompareWithoutNotes(t *testing.T) {
	for _, format := range []string{"table", "markdown"} {
		got := perflab(t, "", "compare", "testdata/before.yaml", "testdata/after.yaml", "-o", format)
		if got.code != 0 || strings.Contains(got.out, "notes") || strings.Contains(got.out, "|  |") {
			t.Errorf("exit code %d: %s%s", got.code, got.out, got.problems)
		}
	}
}

func TestCompareAsJSON(t *testing.T) {
	path := exportedTo(t, "same.yaml", recorded.Experiment(1))
	got := perflab(t, "", "compare", path, path, "--margin", "20", "-o", "json")
	var read struct {
		Alike           bool
		Baselines, Arms []struct {
			Delta   *float64
			Verdict string
		}
	}
	if err := json.Unmarshal([]byte(got.out), &read); err != nil || got.code != 0 {
		t.Fatalf("exit code %d, %v: %s", got.code, err, got.problems)
	}
	if !read.Alike || len(read.Baselines) == 0 || len(read.Arms) == 0 {
		t.Fatalf("%+v", read)
	}
	for _, c := range read.Arms {
		if *c.Delta != 0 || c.Verdict == "Worse" || c.Verdict == "Better" {
			t.Errorf("an experiment differs from itself: %+v", c)
		}
	}
}

func TestCompareRefuses(t *testing.T) {
	path := exportedTo(t, "one.yaml", recorded.Experiment(1))
	for want, arguments := range map[string][]string{
		"accepts 2 arg(s)":              {path},
		"must be FIRST=SECOND":          {path, path, "--arms", "small"},
		`has no arm "huge"`:             {path, path, "--arms", recorded.Arm + "=huge"},
		"must be from 0 to 100 percent": {path, path, "--margin", "200"},
		`use "worse"`:                   {path, path, "--fail-on", "better"},
		"write -o":                      {path, path, "-o", "pdf"},
		"no such file":                  {path, "absent.yaml"},
		"no PerfExperiment found":       {path, exportedTextTo(t, "kind: List\napiVersion: v1\nitems: []\n")},
	} {
		got := perflab(t, "", append([]string{"compare"}, arguments...)...)
		if got.code == 0 || !strings.Contains(got.problems, want) {
			t.Errorf("%v: exit code %d, %q, want %q", arguments[1:], got.code, got.problems, want)
		}
	}
}

func exportedTextTo(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "text.yaml")
	expect.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}
