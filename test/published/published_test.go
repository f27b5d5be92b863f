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

var update = flag.Bool("update", false, "write the table of test/published/README.md anew")

func rowsOf(t *testing.T, id string) []row {
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

// printed is what a sample's report has: values by scenario, metric and arm, and the
// page's text.
type printed struct {
	values   map[[3]string]bool
	baseline string
	page     string
}

func printedOf(t *testing.T, of page) printed {
	t.Helper()
	input := sampleOf(t, of.sample, of.system)
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

// called is what the page calls an arm: what stands before its name in the overview, if it
// has another there.
func (p printed) called(arm string) string {
	name := "`" + arm + "`"
	overview, _, _ := strings.Cut(p.page, "Scenarios and their loads")
	before, _, found := strings.Cut(overview, " | "+name+" | ")
	if line := before[strings.LastIndex(before, "\n")+1:]; found {
		return strings.TrimPrefix(line, "| ")
	}
	return name
}

// has says what a cell lacks; empty where the report has it.
func (p printed) has(at cell) string {
	section, _, _ := strings.Cut(at.Section, ",")
	switch {
	case at.Metric == "" || at.Arm == "":
		return "nothing says which cell it is"
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
		if !strings.Contains(p.page, fmt.Sprintf("| `%s` | %s | %s |", at.Metric, p.called(at.Arm), p.called(at.Versus))) {
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

// tally counts a page's rows by where they are found, or why they are not.
type tally struct {
	found map[[2]string]int
	gaps  map[[2]string]int
}

// Every arm, size, number of users, workflow and metric that the pages tell of has a
// cell in the report of a sample, or a reason why it has none.
func TestEveryPublishedRowHasACell(t *testing.T) {
	var all []tally
	rows, cells := 0, 0
	for _, of := range pages {
		t.Run(of.id, func(t *testing.T) {
			made := tallyOf(t, of)
			all = append(all, made)
			for _, n := range made.found {
				rows, cells = rows+n, cells+n
			}
			for _, n := range made.gaps {
				rows += n
			}
		})
	}
	t.Logf("%d of %d published rows have a cell", cells, rows)
	if !t.Failed() {
		documented(t, tableOf(all)+fmt.Sprintf("\n%d of %d published rows have a cell.\n", cells, rows))
	}
}

func tallyOf(t *testing.T, of page) tally {
	t.Helper()
	made := tally{map[[2]string]int{}, map[[2]string]int{}}
	report := printedOf(t, of)
	for _, row := range rowsOf(t, of.id) {
		at, why := of.cell(row)
		if why != "" {
			made.gaps[[2]string{row.Table, why}]++
			continue
		}
		if missing := report.has(at); missing != "" {
			t.Errorf("%+v: %s", row, missing)
			continue
		}
		made.found[[2]string{row.Table, at.Section}]++
	}
	return made
}

// tableOf the documentation: page's table, sample, section.
func tableOf(all []tally) string {
	var text strings.Builder
	text.WriteString("| page | its table | rows | in the report of | section, or why there is none |\n|---|---|---:|---|---|\n")
	for i, made := range all {
		of := pages[i]
		for _, key := range sorted(made.found) {
			fmt.Fprintf(&text, "| %s | %s | %d | [%s](../../config/samples/%s) | %s |\n", of.id, key[0], made.found[key], strings.TrimSuffix(of.sample, ".yaml"), of.sample, key[1])
		}
		for _, key := range sorted(made.gaps) {
			fmt.Fprintf(&text, "| %s | %s | %d | – | %s |\n", of.id, key[0], made.gaps[key], key[1])
		}
	}
	return text.String()
}

func sorted(counts map[[2]string]int) [][2]string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
}

// documented compares the table with the one between the marks in the
// README; -update writes it.
func documented(t *testing.T, table string) {
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
		t.Errorf("the table of %s is another; -update writes it anew:\n%s", path, table)
		return
	}
	expect.NoError(t, os.WriteFile(path, []byte(before+begin+table+end+after), 0o644))
}
