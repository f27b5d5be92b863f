// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"perflab.dev/perflab/internal/testing/expect"
)

// withCharts are the examples that are stored with their charts.
var withCharts = []string{"injected-effect"}

// armsOf are the numbers of arms of examples that don't have two. With more than two, comparisons
// share their baseline's value.
var armsOf = map[string]int{"day": 1, "fault": 3, "lost-controller": 4, "lost-primary": 3, "maxram-vs-xmx": 3, "placement": 3, "read-write-split": 4}

// The stored example reports match the recorded runs beside them; -update rewrites them.
func TestExamplesMatchRecords(t *testing.T) {
	t.Chdir("../../docs/examples")
	recorded, err := filepath.Glob("*.yaml.gz")
	if err != nil || len(recorded) < 6 {
		t.Fatalf("%d recorded experiments, %v", len(recorded), err)
	}
	for _, path := range recorded {
		name := strings.TrimSuffix(path, ".yaml.gz")
		t.Run(name, func(t *testing.T) {
			arguments := []string{"report", "-f", path, "-o", "md"}
			charts := filepath.Join("charts", name)
			made := filepath.Join(t.TempDir(), charts)
			if slices.Contains(withCharts, name) {
				arguments = append(arguments, "--charts", made)
			}
			got := perflab(t, "", arguments...)
			got.ends(0)
			perflab(t, "", "verify", path).ends(0)
			golden(t, name+".md", strings.ReplaceAll(got.out, filepath.ToSlash(made), filepath.ToSlash(charts)))
			if slices.Contains(withCharts, name) {
				sameFiles(t, made, charts)
			}
		})
	}
}

// A report passes its own audit: deltas follow from the values beside them, and
// values from the runs.
func TestExamplesPassAudit(t *testing.T) {
	recorded, err := filepath.Glob("../../docs/examples/*.yaml.gz")
	if err != nil || len(recorded) < 6 {
		t.Fatalf("%d recorded experiments, %v", len(recorded), err)
	}
	for _, path := range recorded {
		t.Run(filepath.Base(path), func(t *testing.T) {
			rows := filepath.Join(t.TempDir(), "report.csv")
			csv := perflab(t, "", "report", "-f", path, "-o", "csv")
			expect.NoError(t, os.WriteFile(rows, []byte(csv.out), 0o644))
			got := perflab(t, "", "audit", "--fail", "-o", "json", strings.TrimSuffix(path, ".yaml.gz")+".md", rows)
			var found struct {
				Deltas, Follows, Adjusted, Values int
				Rounding, Unchecked               []json.RawMessage
			}
			if err := json.Unmarshal([]byte(got.out), &found); err != nil || got.code != 0 {
				t.Fatalf("exit code %d, %v: %s\n%s", got.code, err, got.problems, got.out)
			}
			if len(found.Rounding)+len(found.Unchecked) > 0 || found.Follows+found.Adjusted != found.Deltas {
				t.Errorf("some rows don't follow:\n%s", got.out)
			}
			arms := cmp.Or(armsOf[strings.TrimSuffix(filepath.Base(path), ".yaml.gz")], 2)
			if arms == 1 || strings.HasPrefix(filepath.Base(path), "capacity") {
				// It has only comparisons of capacities, or none.
				return
			}
			least := arms * found.Follows / (arms - 1)
			if found.Follows < 15 || found.Values < least-10 {
				t.Errorf("only %d deltas and %d values were looked at", found.Follows, found.Values)
			}
		})
	}
}

// The compressed day has a module with a leak, one that exits every twenty minutes, and two
// without faults: the report finds exactly these.
func TestDayReportFindsInjectedFaults(t *testing.T) {
	body, err := os.ReadFile("../../docs/examples/day.md")
	expect.NoError(t, err)
	page := string(body)
	_, growth, found := strings.Cut(page, "Change per hour of load under day")
	if !found {
		t.Fatal("the report has no section on changes over time")
	}
	table, growth, _ := strings.Cut(growth, "Growth by 24")
	sentence, _, _ := strings.Cut(growth, "\n")
	for module, leaks := range map[string]bool{"circulation": true, "data-import": false, "gateway": false, "inventory-storage": false} {
		// The change per hour with its interval.
		if !regexp.MustCompile(`\| Memory of ` + module + ` \| .as-is. \| 1 \| [+−]?[0-9.]+.MiB/h \| [+−]?[0-9.]+ to [+−]?[0-9.]+ \|`).MatchString(table) {
			t.Errorf("no slope and interval of the memory of %s:\n%s", module, table)
		}
		if strings.Contains(sentence, "memory of "+module) != leaks {
			t.Errorf("%s leaks: %t, but the page says: %s", module, leaks, sentence)
		}
	}
	ends := regexp.MustCompile(`(?m)^\| (\S+) \| \S+ \| [^|]+ \| (\d+) \| exit code 1 \|`).FindAllStringSubmatch(page, -1)
	// The third exit coincides with the load's end, or follows it.
	if len(ends) != 2 && len(ends) != 3 {
		t.Errorf("%d containers ended with exit code 1, want data-import's two or three times", len(ends))
	}
	for _, end := range ends {
		if end[1] != "`data-import`" || end[2] != "1" {
			t.Errorf("%s ended %s times", end[1], end[2])
		}
	}
}

// sameFiles compares a folder's files with the stored ones.
func sameFiles(t *testing.T, made, kept string) {
	t.Helper()
	files, err := os.ReadDir(made)
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	if *update {
		expect.NoError(t, os.MkdirAll(kept, 0o755))
	}
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(made, file.Name()))
		expect.NoError(t, err)
		golden(t, filepath.Join(kept, file.Name()), string(text))
	}
}
