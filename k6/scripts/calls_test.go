// SPDX-License-Identifier: AGPL-3.0-only

package scripts_test

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"perflab.dev/perflab/k6/internal/k6test"
)

// recordedNames maps the variables of the performance team's script to the names in this package.
// The script has two names for the same patron.
var recordedNames = map[string]string{
	"item_id": "itemId", "loan_Id": "loan", "lostItemPolicy_Id": "policy", "servicePoints_Id": "servicePoint",
	"user_Id": "userId", "user_id": "userId", "userID": "userId", "user_barcode": "user", "patronGroup": "group",
}

var recordedVariable = regexp.MustCompile(`\$\{(\w+)\}`)

// TestCallsMatchPerformanceTeam compares the lists of calls in this package with a recording of
// the performance team's script. Other tests compare every call of the script with these lists.
func TestCallsMatchPerformanceTeam(t *testing.T) {
	t.Parallel()
	recorded := recordedPages(t)
	if len(recorded.in) != 24 || len(recorded.out) != 39 {
		t.Fatalf("the record has %d and %d calls, want 24 and 39", len(recorded.in), len(recorded.out))
	}
	compare(t, "with preflights", recorded, pages2023)
	compare(t, "without preflights", recorded.withoutPreflights(), pages2023.withoutPreflights())
	if n := len(pages2023.withoutPreflights().in); n != 12 {
		t.Errorf("a check-in has %d calls besides preflights, want 12", n)
	}
}

func compare(t *testing.T, name string, want, got pages) {
	t.Helper()
	for _, page := range []struct {
		name      string
		want, got []string
	}{{"check-in", want.in, got.in}, {"check-out", want.out, got.out}} {
		if slices.Equal(page.want, page.got) {
			continue
		}
		for i := range max(len(page.want), len(page.got)) {
			if at(page.want, i) != at(page.got, i) {
				t.Errorf("%s %s, call %d:\n  recorded %s\n  ours     %s", page.name, name, i+1, at(page.want, i), at(page.got, i))
			}
		}
	}
}

func at(calls []string, i int) string {
	if i < len(calls) {
		return calls[i]
	}
	return "none"
}

// recordedPages reads cico-calls.csv from the folder PERFLAB_DATA, or skips.
func recordedPages(t *testing.T) pages {
	t.Helper()
	for _, dir := range []string{os.Getenv("PERFLAB_DATA"), filepath.Join("..", "..", "..", "shared", "data")} {
		file, err := os.Open(filepath.Join(dir, "cico-calls.csv"))
		if dir == "" || err != nil {
			continue
		}
		defer func() { _ = file.Close() }()
		rows, err := csv.NewReader(file).ReadAll()
		k6test.NoError(t, err)
		return recordedCalls(t, rows[1:])
	}
	t.Skip("the record of calls is not here: PERFLAB_DATA does not name a directory with cico-calls.csv")
	return pages{}
}

func recordedCalls(t *testing.T, rows [][]string) pages {
	t.Helper()
	var found pages
	for _, row := range rows {
		line := row[3] + " " + row[4]
		if row[5] != "" {
			line += "?" + row[5]
		}
		line = recordedVariable.ReplaceAllStringFunc(line, func(text string) string {
			variable := strings.Trim(text, "${}")
			name := recordedNames[variable]
			if strings.HasPrefix(variable, "item_barcode") {
				name = "item" // each page has its own variable
			}
			if name == "" {
				t.Fatalf("the record has an unknown variable %s in %s", text, line)
			}
			return "<" + name + ">"
		})
		if row[1] == "Check-In Controller" {
			found.in = append(found.in, line)
		} else {
			found.out = append(found.out, line)
		}
	}
	return found
}
