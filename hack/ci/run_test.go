// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"perflab.dev/perflab/internal/testing/expect"
)

// runChecks runs commands, by name, as checks.
func runChecks(t *testing.T, checks ...check) (*runner, string, error) {
	t.Helper()
	return runChecksWithin(t, time.Minute, checks...)
}

func runChecksWithin(t *testing.T, limit time.Duration, checks ...check) (*runner, string, error) {
	t.Helper()
	var out strings.Builder
	folder := t.TempDir()
	r := &runner{ctx: t.Context(), out: &out, logs: folder, started: time.Now(), limit: limit, records: &records{file: filepath.Join(folder, "passed.json"), Passed: map[string]pass{}}}
	var decisions []decision
	for i := range checks {
		decisions = append(decisions, decision{&checks[i], true, "selected by name"})
	}
	r.run(decisions)
	err := r.summary(decisions)
	return r, out.String(), err
}

func TestSummaryRepeatsFailures(t *testing.T) {
	r, out, err := runChecks(t,
		check{Name: "sound", Run: "echo fine", Alone: true},
		check{Name: "broken", Run: "echo the reason; false"},
		check{Name: "quick", Run: "echo as well"},
		check{Name: "later", Run: "echo never", Alone: true})
	if err == nil {
		t.Error("a failed check is no error")
	}
	_, end, _ := strings.Cut(out, "=== broken failed")
	expect.Contains(t, end, []string{"the reason", "FAILED       broken", "checks: 2 passed, 1 failed, 1 skipped"}, "the end")
	if _, after, _ := strings.Cut(end, "=== checks"); !strings.Contains(after, "the reason") {
		t.Errorf("the reason is not below the table:\n%s", after)
	}
	if strings.Contains(out, "never") {
		t.Error("a check that must run alone started after a failure")
	}
	if len(r.records.Passed) != 2 {
		t.Errorf("recorded are %v", r.records.Passed)
	}
}

// A check whose external dependency is unavailable has neither passed nor failed.
func TestSummaryListsUnavailableChecks(t *testing.T) {
	r, out, err := runChecks(t, check{Name: "history", Run: "exit 69"})
	if err != nil || !strings.Contains(out, "NOT CHECKED  history") || !strings.Contains(out, "0 passed, 0 failed, 1 skipped") {
		t.Errorf("%v:\n%s", err, out)
	}
	if len(r.records.Passed) != 0 {
		t.Errorf("recorded are %v", r.records.Passed)
	}
}

// Each line of a command counts, and the left side of a pipe.
func TestCommandsStopAtTheirFirstError(t *testing.T) {
	for _, command := range []string{"false; true", "false | true", "echo $NO_SUCH_VARIABLE"} {
		if _, _, err := runChecks(t, check{Name: "one", Run: command}); err == nil {
			t.Errorf("%q passed", command)
		}
	}
}

// A check that hangs is ended with its child processes, and the next one runs.
func TestChecksHaveTimeLimit(t *testing.T) {
	began := time.Now()
	_, out, err := runChecksWithin(t, 300*time.Millisecond, check{Name: "hangs", Run: "sleep 60 | cat", Alone: true}, check{Name: "next", Run: "echo fine"})
	if err == nil {
		t.Error("a check that hangs is no error")
	}
	expect.Contains(t, out, []string{"the check did not end within 300ms", "FAILED       hangs", "checks: 1 passed, 1 failed"}, "the output")
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
}

// A check that must run alone starts when those before it have ended, and ends before the
// next.
func TestAloneChecksRunAlone(t *testing.T) {
	folder := t.TempDir()
	within := "cd " + folder + "; "
	busy := within + "touch $CHECK; sleep 0.2; rm $CHECK"
	_, out, err := runChecks(t,
		check{Name: "one", Run: busy}, check{Name: "two", Run: busy},
		check{Name: "alone", Run: within + "[ -z \"$(ls)\" ]; touch alone; sleep 0.1; rm alone", Alone: true},
		check{Name: "three", Run: within + "[ ! -e alone ]"})
	if err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}
