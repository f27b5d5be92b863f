// SPDX-License-Identifier: AGPL-3.0-only

package scripts_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"perflab.dev/perflab/k6/internal/k6test"
)

// folder writes files with one value per line.
func folder(t *testing.T, files map[string][]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, lines := range files {
		k6test.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(strings.Join(lines, "\n")), 0o600))
	}
	return dir
}

func TestScriptsUseDataFolder(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, 300, 20)
	l.servicePoints = []string{"desk-1", "desk-2"}
	shelf, returns := l.items[:200], l.items[200:290]
	dir := folder(t, map[string][]string{
		// In the format of other systems, and with a duplicate line.
		"check-out-items.csv": append([]string{"\uFEFF" + shelf[0] + "\r", "", shelf[1] + " \r", shelf[1]}, shelf[2:]...),
		"check-in-items.csv":  returns,
		"users.csv":           l.users[:5],
		"service-points.csv":  l.servicePoints,
	})
	result := k6test.Run(t, cico, environment(l.URL, "USERS=3", "DURATION_SECONDS=4", "THINK_TIME_SECONDS=0.2", "DATA_DIR="+dir+"/"))
	p := result.Payload(t)
	if n := counted(t, p, "Check-In", "error") + counted(t, p, "Check-Out", "error"); n > 0 || result.Code != 0 {
		t.Errorf("%d errors, exit code %d\n%s", n, result.Code, result.Stderr)
	}
	points := map[string]bool{}
	for _, conversation := range talk(t, l, pages2023) {
		for _, d := range conversation {
			checkValues(t, l, d)
			points[d.values["servicePoint"]] = true
			if user, ok := d.values["user"]; ok && !slices.Contains(l.users[:5], user) {
				t.Errorf("check-out to %s, who is not in users.csv", user)
			}
		}
	}
	if !points["desk-1"] || !points["desk-2"] {
		t.Errorf("users work at %v, want both desks", points)
	}
	for _, s := range l.lendings {
		if slices.Contains(returns, s.barcode) != (s.kind == "in") || slices.Contains(shelf, s.barcode) != (s.kind == "out") {
			t.Errorf("%s is checked %s", s.barcode, s.kind)
		}
	}
	noCollisions(t, l)
	if calls := l.conversations()[0]; len(calls) > 0 {
		t.Errorf("setup asks for %v although all is in the folder", calls)
	}
}

// TestExhaustedFolderRestarts has few items. All are lent soon, and then users can continue only
// with items that are taken back.
func TestExhaustedFolderRestarts(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, 30, 5)
	dir := folder(t, map[string][]string{
		"check-out-items.csv": l.items[:16], "check-in-items.csv": l.items[10:30], "users.csv": l.users,
	})
	enough := func() bool {
		out, in := l.counted("out"), l.counted("in")
		missing := slices.ContainsFunc(l.items[:16], func(barcode string) bool { return out[barcode] < 2 || in[barcode] == 0 })
		return !missing && !slices.ContainsFunc(l.items[16:], func(barcode string) bool { return in[barcode] < 2 })
	}
	result := k6test.RunUntil(t, enough, cico, environment(l.URL, "USERS=3", "DURATION_SECONDS=90", "THINK_TIME_SECONDS=0.05", "DATA_DIR="+dir))
	p := result.Payload(t)
	if n := counted(t, p, "Check-In", "error") + counted(t, p, "Check-Out", "error"); n > 0 {
		t.Errorf("%d errors\n%s", n, result.Stderr)
	}
	out, in := l.counted("out"), l.counted("in")
	lent, returned := 0, 0
	for _, barcode := range l.items[:16] {
		lent += out[barcode]
		if out[barcode] == 0 || in[barcode] == 0 {
			t.Errorf("%s was lent %d and taken back %d times", barcode, out[barcode], in[barcode])
		}
	}
	for _, barcode := range l.items[16:] {
		returned += in[barcode]
		if out[barcode] > 0 || in[barcode] == 0 {
			t.Errorf("%s was lent %d and taken back %d times", barcode, out[barcode], in[barcode])
		}
	}
	if lent < 20 || returned < 18 {
		t.Errorf("16 items were lent %d times and 14 others taken back %d times", lent, returned)
	}
	noCollisions(t, l)
}

func TestIncompleteFolderFailsEarly(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, 40, 5)
	tests := []struct {
		name     string
		files    map[string][]string
		sentence string
	}{
		{"no file", map[string][]string{"check-out-items.csv": l.items, "check-in-items.csv": l.items}, "/users.csv cannot be read"},
		{"an empty file", map[string][]string{"check-out-items.csv": l.items, "check-in-items.csv": {"", " "}, "users.csv": l.users}, "/check-in-items.csv is empty; write one barcode per line into it"},
		{
			"an empty file that need not be there",
			map[string][]string{"check-out-items.csv": l.items, "check-in-items.csv": l.items, "users.csv": l.users, "service-points.csv": {}},
			"/service-points.csv is empty; write one id per line into it",
		},
		{
			"too few items",
			map[string][]string{"check-out-items.csv": l.items[:2], "check-in-items.csv": l.items, "users.csv": l.users},
			"/check-out-items.csv: 2 items are too few for 3 users to have some of their own each",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := folder(t, tt.files)
			result := k6test.Run(t, cico, environment(l.URL, "USERS=3", "DURATION_SECONDS=30", "DATA_DIR="+dir))
			if result.Code != 107 || !strings.Contains(result.Stderr, dir) || !strings.Contains(result.Stderr, tt.sentence) {
				t.Errorf("exit code %d, want 107 and %q\n%s", result.Code, tt.sentence, result.Stderr)
			}
		})
	}
}

func TestTooFewItemsFailEarly(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, 3, 5)
	result := k6test.Run(t, cico, environment(l.URL, "USERS=8", "DURATION_SECONDS=30"))
	if result.Code != 108 || !strings.Contains(result.Stderr, "3 items are too few for 8 users") {
		t.Errorf("exit code %d\n%s", result.Code, result.Stderr)
	}
}
