// SPDX-License-Identifier: Apache-2.0

package published

import (
	"encoding/csv"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/expect"
)

var update = flag.Bool("update", false, "rewrite the table of test/published/README.md")

func readRows(t *testing.T, id string) []row {
	t.Helper()
	stream, err := os.Open(filepath.Join("testdata", id+".csv"))
	expect.NoError(t, err)
	defer func() { _ = stream.Close() }()
	lines, err := csv.NewReader(stream).ReadAll()
	expect.NoError(t, err)
	var rows []row
	for _, line := range lines[1:] {
		rows = append(rows, row{line[0], line[1], line[2], line[3], line[4]})
	}
	return rows
}

// printed is the report of a sample: its values by scenario, metric and arm, and its text.
type printed struct {
	values   map[[3]string]bool
	baseline string
	page     string
}

func printReport(t *testing.T, of page) printed {
	t.Helper()
	input := readSample(t, of.sample, of.system)
	made, err := report.New(input)
	expect.NoError(t, err)
	text, err := made.CSV()
	expect.NoError(t, err)
	page := made.Markdown("")
	lines, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	expect.NoError(t, err)
	found := printed{values: map[[3]string]bool{}, page: string(page)}
	for _, line := range lines[1:] {
		found.values[[3]string{line[2], line[3], line[1]}] = true
	}
	for _, arm := range input.Experiment.Status.Arms {
		if arm.Baseline {
			found.baseline = arm.Name
		}
	}
	return found
}

// pageName returns the name of an arm in the report. If it differs from the arm's own name,
// the overview shows it before that name.
func (p printed) pageName(arm string) string {
	name := "`" + arm + "`"
	overview, _, _ := strings.Cut(p.page, "Scenarios and their loads")
	before, _, found := strings.Cut(overview, " | "+name+" | ")
	if line := before[strings.LastIndex(before, "\n")+1:]; found {
		return strings.TrimPrefix(line, "| ")
	}
	return name
}

// missing returns what a cell lacks, or "" if the report has it.
func (p printed) missing(at cell) string {
	section, _, _ := strings.Cut(at.Section, ",")
	switch {
	case at.Metric == "" || at.Arm == "":
		return "no cell is mapped"
	case !strings.Contains(p.page, "\n## "+section+"\n"):
		return fmt.Sprintf("the report has no section %q", section)
	case at.Section == inRequests && strings.Contains(at.Metric, "/GET ") || strings.Contains(at.Metric, "/POST "):
		_, request, _ := strings.Cut(strings.TrimSuffix(at.Metric, "/average"), "/")
		_, request, _ = strings.Cut(request, "/")
		if !strings.Contains(p.page, "`"+request+"`") {
			return fmt.Sprintf("the report does not list request %q", request)
		}
		return ""
	case at.Versus != "" && at.Arm != p.baseline && at.Versus != p.baseline:
		if !strings.Contains(p.page, fmt.Sprintf("| `%s` | %s | %s |", at.Metric, p.pageName(at.Arm), p.pageName(at.Versus))) {
			return fmt.Sprintf("%s is not compared with %s", at.Arm, at.Versus)
		}
	}
	for _, arm := range []string{at.Arm, at.Versus} {
		if arm != "" && !p.values[[3]string{at.Scenario, at.Metric, arm}] {
			return fmt.Sprintf("no %s of %s under %s", at.Metric, arm, at.Scenario)
		}
	}
	return ""
}

// tally counts a page's rows by the section that has them, or by the reason why there is
// none.
type tally struct {
	found map[[2]string]int
	gaps  map[[2]string]int
}

// TestEveryPublishedRowHasACell checks that every arm, size, number of users, workflow and
// metric of the pages has a cell in the report of a sample, or a reason why it has none.
func TestEveryPublishedRowHasACell(t *testing.T) {
	var all []tally
	rows, cells := 0, 0
	for _, of := range pages {
		t.Run(of.id, func(t *testing.T) {
			one := newTally(t, of)
			all = append(all, one)
			for _, n := range one.found {
				rows, cells = rows+n, cells+n
			}
			for _, n := range one.gaps {
				rows += n
			}
		})
	}
	t.Logf("%d of %d published rows have a cell", cells, rows)
	if !t.Failed() {
		assertDocumented(t, formatTable(all)+fmt.Sprintf("\n%d of %d published rows have a cell.\n", cells, rows))
	}
}

func newTally(t *testing.T, of page) tally {
	t.Helper()
	counted := tally{map[[2]string]int{}, map[[2]string]int{}}
	report := printReport(t, of)
	for _, row := range readRows(t, of.id) {
		at, why := of.cell(row)
		if why != "" {
			counted.gaps[[2]string{row.Table, why}]++
			continue
		}
		if missing := report.missing(at); missing != "" {
			t.Errorf("%+v: %s", row, missing)
			continue
		}
		counted.found[[2]string{row.Table, at.Section}]++
	}
	return counted
}

// formatTable formats the README's table of pages, their tables, samples and sections.
func formatTable(all []tally) string {
	var text strings.Builder
	text.WriteString("| page | its table | rows | in the report of | section, or why there is none |\n|---|---|---:|---|---|\n")
	for i, counted := range all {
		of := pages[i]
		for _, key := range sortedKeys(counted.found) {
			fmt.Fprintf(&text, "| %s | %s | %d | [%s](../../config/samples/%s) | %s |\n", of.id, key[0], counted.found[key], strings.TrimSuffix(of.sample, ".yaml"), of.sample, key[1])
		}
		for _, key := range sortedKeys(counted.gaps) {
			fmt.Fprintf(&text, "| %s | %s | %d | – | %s |\n", of.id, key[0], counted.gaps[key], key[1])
		}
	}
	return text.String()
}

func sortedKeys(counts map[[2]string]int) [][2]string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
}

// assertDocumented compares the table with the table between the markers in the README. The
// flag -update writes it.
func assertDocumented(t *testing.T, table string) {
	t.Helper()
	const begin, end = "<!-- every row: go test ./test/published -update -->\n", "<!-- end -->"
	path := apiserver.Root("test", "published", "README.md")
	text, err := os.ReadFile(path)
	expect.NoError(t, err)
	before, rest, found := strings.Cut(string(text), begin)
	kept, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no place for the table: %s … %s", path, begin, end)
	}
	if kept == table {
		return
	}
	if !*update {
		t.Errorf("the table of %s differs; -update rewrites it:\n%s", path, table)
		return
	}
	expect.NoError(t, os.WriteFile(path, []byte(before+begin+table+end+after), 0o644))
}
