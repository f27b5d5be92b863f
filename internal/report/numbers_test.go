// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"bytes"
	"encoding/csv"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/audit"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/recorded"
	"perflab.dev/perflab/internal/text/decimal"
)

// observed are the CSV's values by scenario, metric and arm.
type observed map[[3]string][]float64

func readObserved(t *testing.T, seed uint64) (observed, string) {
	t.Helper()
	r := reportOf(t, recorded.Experiment(seed))
	text, err := r.CSV()
	expect.NoError(t, err)
	rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	expect.NoError(t, err)
	found := observed{}
	for _, row := range rows[1:] {
		value, err := strconv.ParseFloat(row[5], 64)
		expect.NoError(t, err)
		at := [3]string{row[2], row[3], row[1]}
		found[at] = append(found[at], value)
	}
	return found, written(t, r, "report.md")
}

func (o observed) mean(scenario, metric, arm string) float64 {
	sum, values := 0.0, o[[3]string{scenario, metric, arm}]
	for _, value := range values {
		sum += value
	}
	return sum / float64(len(values))
}

// center is the center in results and resources: shares in percent, and metrics with zeros, have
// none on the ratio scale.
func (o observed) center(scenario, metric, arm string) float64 {
	for _, of := range []string{recorded.Baseline, recorded.Twin, recorded.Arm} {
		for _, value := range o[[3]string{scenario, metric, of}] {
			if value <= 0 || strings.HasSuffix(metric, "/errors") {
				return o.mean(scenario, metric, arm)
			}
		}
	}
	return o.geometric(scenario, metric, arm)
}

// geometric is the center on the ratio scale.
func (o observed) geometric(scenario, metric, arm string) float64 {
	sum, values := 0.0, o[[3]string{scenario, metric, arm}]
	for _, value := range values {
		sum += math.Log(value)
	}
	return math.Exp(sum / float64(len(values)))
}

func (o observed) max(scenario, metric, arm string) float64 {
	largest := math.Inf(-1)
	for _, value := range o[[3]string{scenario, metric, arm}] {
		largest = math.Max(largest, value)
	}
	return largest
}

// markdownTable is a table below its caption, within a section.
type markdownTable struct {
	section, heading, caption string
	header                    []string
	rows                      [][]string
}

func tables(page string) []markdownTable {
	var found []markdownTable
	var section, heading, caption string
	inside := false
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "## "):
			section, heading = line[3:], ""
		case strings.HasPrefix(line, "### "):
			heading = line[4:]
		case strings.HasPrefix(line, "**") && strings.HasSuffix(line, "**"):
			caption = strings.Trim(line, "*")
		case strings.HasPrefix(line, "<details><summary>"):
			caption = strings.TrimSuffix(strings.TrimPrefix(line, "<details><summary>"), "</summary>")
		case strings.HasPrefix(line, "| ") && !inside:
			found = append(found, markdownTable{section: section, heading: heading, caption: caption, header: cells(line)})
			inside = true
		case strings.HasPrefix(line, "| ---"):
		case strings.HasPrefix(line, "| "):
			last := &found[len(found)-1]
			last.rows = append(last.rows, cells(line))
		case !strings.HasPrefix(line, "|"):
			inside = false
		}
	}
	return found
}

// perUnit is how many of the column's units make one unit of the CSV.
func perUnit(shown string) float64 {
	if strings.Contains(shown, "millicores") {
		return 1000
	}
	return 1
}

// from returns the rows' cells from a column on; none without such a column.
func (m *markdownTable) from(title string) [][]string {
	at := slices.Index(m.header, title)
	if at < 0 {
		return nil
	}
	var rows [][]string
	for _, row := range m.rows {
		rows = append(rows, row[at:])
	}
	return rows
}

func cells(line string) []string {
	parts := strings.Split(strings.Trim(line, "|"), "|")
	for i := range parts {
		parts[i] = strings.Trim(parts[i], " `*")
	}
	return parts
}

// alike fails if a printed number is not the value, rounded to its digits.
func alike(t *testing.T, what, printed string, value float64) {
	t.Helper()
	printed = strings.Replace(printed, "−", "-", 1)
	got, err := strconv.ParseFloat(printed, 64)
	if err != nil {
		t.Errorf("%s: %q is no number", what, printed)
		return
	}
	_, places, _ := strings.Cut(printed, ".")
	if half := 0.5001 * math.Pow(10, -float64(len(places))); math.Abs(got-value) > half {
		t.Errorf("%s is printed as %s, the CSV gives %g", what, printed, value)
	}
}

// changed fails if a printed change does not follow from the printed numbers.
func changed(t *testing.T, what, before, after, printed string) {
	t.Helper()
	from, err := strconv.ParseFloat(before, 64)
	to, err2 := strconv.ParseFloat(after, 64)
	if err != nil || err2 != nil {
		t.Errorf("%s: %q or %q is no number", what, before, after)
		return
	}
	alike(t, "change of "+what, strings.TrimPrefix(printed, "+"), 100*(to-from)/from)
}

var underScenario = regexp.MustCompile(`under (create-[a-z0-9-]+),`)

// Every number of the results, the resources and the comparison follows from the rows of the CSV.
func TestNumbersAreThoseOfTheCSV(t *testing.T) {
	for _, seed := range []uint64{seed, 2, 3} {
		values, page := readObserved(t, seed)
		checked := map[string]int{}
		for _, table := range tables(page) {
			scenario := strings.TrimPrefix(table.heading, "Scenario ")
			switch {
			case strings.HasPrefix(table.caption, "Response times of "):
				load := strings.TrimPrefix(table.caption, "Response times of ")
				for _, row := range table.rows {
					for column, statistic := range map[int]string{4: "average", 5: "p75", 6: "p95", 7: "errors"} {
						metric := load + "/" + row[0] + "/" + statistic
						alike(t, metric+" of "+row[1], row[column], values.center(scenario, metric, row[1]))
						checked["results"]++
					}
				}
			case table.section == "Comparison" && slices.Contains(table.header, "Delta"):
				deltas, units := table.from("Delta"), table.from("Unit")
				for i, row := range table.from("Metric") {
					in := 1.0
					if units != nil {
						in = perUnit(units[i][0])
					}
					center := values.geometric
					if !strings.HasSuffix(deltas[i][0], "\u00a0%") {
						center = values.mean
					}
					alike(t, row[0]+" of the baseline", row[1], in*center(scenario, row[0], recorded.Baseline))
					alike(t, row[0]+" of the arm", row[2], in*center(scenario, row[0], recorded.Arm))
					checked["comparison"]++
				}
			case table.header[0] == "Module" && table.section == "Resource utilization":
				of := underScenario.FindStringSubmatch(table.caption)[1]
				resource, in := strings.ToLower(strings.Fields(table.caption)[0]), perUnit(table.caption)
				for _, row := range table.rows {
					for _, arm := range []string{recorded.Baseline, recorded.Arm} {
						metric := "module/" + row[0] + "/" + resource + "/"
						cell := func(title string) string { return row[slices.Index(table.header, arm+" "+title)] }
						alike(t, metric+"average of "+arm, cell("average"), in*values.center(of, metric+"average", arm))
						alike(t, metric+"max of "+arm, cell("max"), in*values.max(of, metric+"max", arm))
						checked["resources"]++
						if arm != recorded.Baseline {
							changed(t, metric, row[slices.Index(table.header, recorded.Baseline+" average")], cell("average"), cell("change, %"))
							checked["changes"]++
						}
					}
				}
			}
		}
		if checked["results"] != 24 || checked["resources"] != 56 || checked["changes"] != 28 || checked["comparison"] < 40 {
			t.Errorf("checked %v: are the tables still there?", checked)
		}
	}
}

func TestMaximaAreNotBelowAverages(t *testing.T) {
	_, page := readObserved(t, seed)
	checked := 0
	for _, table := range tables(page) {
		for i, title := range table.header {
			if !strings.Contains(title, " max") || !strings.Contains(table.header[i-1], " average") {
				continue
			}
			for _, row := range table.rows {
				average, err := strconv.ParseFloat(row[i-1], 64)
				largest, err2 := strconv.ParseFloat(row[i], 64)
				if err != nil || err2 != nil || largest < average {
					t.Errorf("%s: max %s, average %s", row[0], row[i], row[i-1])
				}
				checked++
			}
		}
	}
	if checked < 70 {
		t.Errorf("only %d maxima were looked at", checked)
	}
}

// A maximum below the average is impossible; the page reports it rather than hiding it.
func TestAMaximumBelowTheAverageIsPointedOut(t *testing.T) {
	input := recorded.Experiment(seed)
	for i := range input.Runs {
		for j := range input.Runs[i].Status.Observations {
			if observation := &input.Runs[i].Status.Observations[j]; observation.Metric == "module/mod-users/memory/max" {
				observation.Value = "1"
			}
		}
	}
	if page := written(t, reportOf(t, input), "report.md"); !regexp.MustCompile(`\| 1(\.0+)? \(below the average\) \|`).MatchString(page) {
		t.Error("it is not pointed out")
	}
}

// A page passes its own audit, whatever the measurements: each delta follows from the values
// beside it, and each value from the runs; also if a run is missing or a block incomplete.
func TestPagesPassTheirAudit(t *testing.T) {
	whole := func(*report.Input) {}
	drop := func(wanted func(*v1alpha1.PerfRun) bool) func(*report.Input) {
		return func(input *report.Input) {
			input.Runs = slices.DeleteFunc(input.Runs, func(run v1alpha1.PerfRun) bool { return wanted(&run) })
		}
	}
	cases := map[string]struct {
		change   func(*report.Input)
		adjusted bool
	}{
		"whole": {whole, false},
		"an incomplete block": {drop(func(run *v1alpha1.PerfRun) bool {
			return run.Spec.Block == 6 && run.Spec.Arm == recorded.Baseline
		}), false},
		"a metric that a run lacks": {func(input *report.Input) {
			for i := range input.Runs {
				if run := &input.Runs[i]; run.Spec.Block == 2 && run.Spec.Arm == recorded.Arm {
					run.Status.Observations = slices.DeleteFunc(run.Status.Observations, func(one v1alpha1.Observation) bool {
						return one.Metric == "cico/Check-In/average"
					})
				}
			}
		}, true},
	}
	for name, tc := range cases {
		for seed := uint64(1); seed <= 5; seed++ {
			input := recorded.Experiment(seed)
			tc.change(&input)
			slips, adjusted, checked := audited(t, reportOf(t, input))
			if len(slips) > 0 || checked < 150 || (adjusted > 0) != tc.adjusted {
				t.Errorf("%s, seed %d: %d checked, %d adjusted, slipped: %+v", name, seed, checked, adjusted, slips)
			}
		}
	}
}

// audited returns the audit's findings in a page and its CSV.
func audited(t *testing.T, r *report.Report) (slips []audit.Finding, adjusted, checked int) {
	t.Helper()
	rows, err := audit.ReadMarkdown(strings.NewReader(written(t, r, "report.md")))
	expect.NoError(t, err)
	text, err := r.CSV()
	expect.NoError(t, err)
	runs, err := audit.ReadRuns(bytes.NewReader(text))
	expect.NoError(t, err)
	for _, finding := range slices.Concat(audit.Check(rows), audit.CheckRuns(rows, runs)) {
		checked++
		switch finding.Outcome {
		case audit.Follows:
		case audit.Adjusted:
			adjusted++
		default:
			slips = append(slips, finding)
		}
	}
	return slips, adjusted, checked
}

// The value of an arm is the same number everywhere, digit for digit; also with an incomplete
// block, whose runs the comparison omits.
func TestOneValueEverywhere(t *testing.T) {
	for name, blocks := range map[string]int32{"whole": 7, "an incomplete block": 6} {
		input := recorded.Experiment(seed)
		input.Runs = slices.DeleteFunc(input.Runs, func(run v1alpha1.PerfRun) bool {
			return run.Spec.Block == blocks && run.Spec.Arm == recorded.Twin
		})
		compared, checked := map[string]string{}, 0
		page := tables(written(t, reportOf(t, input), "report.md"))
		for _, table := range page {
			if table.section == "Comparison" && slices.Contains(table.header, "Delta") {
				for _, row := range table.from("Metric") {
					compared[table.heading+row[0]+recorded.Baseline], compared[table.heading+row[0]+recorded.Arm] = row[1], row[2]
				}
			}
		}
		for _, table := range page {
			load, isResult := strings.CutPrefix(table.caption, "Response times of ")
			for _, row := range table.rows {
				for column, statistic := range map[int]string{4: "average", 5: "p75", 6: "p95"} {
					if want, known := compared[table.heading+load+"/"+row[0]+"/"+statistic+row[1]]; isResult && known {
						checked++
						if row[column] != want {
							t.Errorf("%s: %s of %s %s is %s in the results and %s in the comparison", name, statistic, row[0], row[1], row[column], want)
						}
					}
				}
			}
		}
		if checked < 12 {
			t.Errorf("%s: only %d values were looked at", name, checked)
		}
	}
}

// A delta halfway between two printable ones is printed with few digits.
func TestADeltaHalfWayTakesNoEndlessDigits(t *testing.T) {
	input := recorded.Experiment(seed)
	for i := range input.Runs {
		run := &input.Runs[i]
		if run.Status.Phase != v1alpha1.RunSucceeded {
			continue
		}
		value := 20 * float64(run.Spec.Block%2)
		if run.Spec.Arm == recorded.Arm {
			value = 22.5 - value
		}
		run.Status.Observations = append(run.Status.Observations, v1alpha1.Observation{
			Metric: "postgres/primary/connections/idleInTransaction/average", Value: strconv.FormatFloat(value, 'f', -1, 64), Unit: "1",
		})
	}
	if endless := regexp.MustCompile(`.*\d\.\d{9}.*`).FindString(written(t, reportOf(t, input), "report.md")); endless != "" {
		t.Errorf("the page says %s", endless)
	}
}

// Benchmarks take nanoseconds; their numbers have no leading zeros.
func TestShortTimesAreInUnitsThatFit(t *testing.T) {
	for unit, factor := range map[string]float64{"µs": 2e-5, "ns": 2e-7} {
		input := recorded.Experiment(3)
		for _, run := range input.Runs {
			for i, one := range run.Status.Observations {
				if value, err := decimal.Parse(one.Value); err == nil && one.Unit == metric.UnitMilliseconds {
					run.Status.Observations[i].Value = decimal.Format(value * factor)
				}
			}
		}
		page := markdownOf(t, input)
		expect.Contains(t, page, []string{"Average, " + unit}, "the heading of response times")
		if found := regexp.MustCompile(`\b0\.000\d* ms`).FindString(page); found != "" {
			t.Errorf("times of some %s are written as %s", unit, found)
		}
	}
}
