// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"perflab.dev/perflab/cmd/perflab/exit"
	"perflab.dev/perflab/internal/testing/expect"
)

var analyzeRuns = []string{"analyze", "--baseline", "xmx", "--primary", "average$|throughput", "--higher-is-better", "throughput"}

// golden compares with a file, or writes it with -update.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		expect.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	expect.NoError(t, err)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got), -update rewrites it:\n%s", path, diff)
	}
}

func TestAnalyzeFormats(t *testing.T) {
	for format, path := range map[string]string{"table": "testdata/analyze.txt", "markdown": "testdata/analyze.md", "json": "testdata/analyze.json"} {
		got := perflab(t, "", append(slices.Clone(analyzeRuns), "-o", format, "testdata/runs.csv")...)
		got.ends(0)
		golden(t, path, got.out)
	}
}

// Scripts rely on the presence, names and types of all fields.
func TestAnalyzeJSONContract(t *testing.T) {
	one := "block,arm,scenario,metric,unit,value\n1,a,s,m,ms,400\n1,b,s,m,ms,410\n"
	got := perflab(t, one, "analyze", "--baseline", "a", "-o", "json", "-")
	var answer struct{ Comparisons []map[string]any }
	if err := json.Unmarshal([]byte(got.out), &answer); err != nil {
		t.Fatalf("%v in %s%s", err, got.out, got.problems)
	}
	delta, isNumber := answer.Comparisons[0]["delta"].(float64)
	if !isNumber || delta < 2.49 || delta > 2.51 {
		t.Errorf("delta is %v", answer.Comparisons[0]["delta"])
	}
	delete(answer.Comparisons[0], "delta")
	delete(answer.Comparisons[0], "armCenter")
	delete(answer.Comparisons[0], "baselineCenter")
	want := map[string]any{
		"scenario": "s", "metric": "m", "of": "m", "unit": "ms", "arm": "b", "baseline": "a", "blocks": 1.0, "scale": "ratio",
		"low": nil, "high": nil, "equivalenceLow": nil, "equivalenceHigh": nil,
		"pValue": nil, "pPermutation": 1.0, "pAdjusted": nil, "verdict": "",
		"withheld": "TooFewBlocks",
		"warnings": []any{"too few runs for an interval", "descriptive only: 1 block has both arms; a verdict needs at least 6"},
	}
	expect.Equal(t, want, answer.Comparisons[0])
}

func TestAnalyzeReadsStandardInput(t *testing.T) {
	text, err := os.ReadFile("testdata/runs.csv")
	expect.NoError(t, err)
	file := perflab(t, "", append(slices.Clone(analyzeRuns), "testdata/runs.csv")...)
	for name, arguments := range map[string][]string{"no argument": analyzeRuns, "dash": append(slices.Clone(analyzeRuns), "-")} {
		if got := perflab(t, string(text), arguments...); got.result != file.result {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestAnalyzeListsNoWarnings(t *testing.T) {
	var text strings.Builder
	text.WriteString("block,arm,scenario,metric,unit,value\n")
	for _, row := range []string{"1,400,441", "2,410,450", "3,405,446", "4,395,433", "5,402,443", "6,399,438"} {
		fields := strings.Split(row, ",")
		text.WriteString(fields[0] + ",a,s,m,ms," + fields[1] + "\n" + fields[0] + ",b,s,m,ms," + fields[2] + "\n")
	}
	got := perflab(t, text.String(), "analyze", "--baseline", "a", "-o", "json")
	if !strings.Contains(got.out, `"warnings": []`) || !strings.Contains(got.out, `"verdict": "Worse"`) {
		t.Errorf("got %s%s", got.out, got.problems)
	}
}

// Without a known or given direction, there is no verdict.
func TestAnalyzeDirections(t *testing.T) {
	var text strings.Builder
	text.WriteString("block,arm,scenario,metric,unit,value\n")
	for _, metric := range []string{"l/requestsPerSecond,1/s", "custom/copy,MB/s", "custom/boot,\u03bcs", "custom/skew,hits", "score,points"} {
		for block, value := range []int{400, 410, 405, 395, 402, 399} {
			fmt.Fprintf(&text, "%d,a,s,%s,%d\n%d,b,s,%s,%d\n", block+1, metric, value, block+1, metric, value*11/10)
		}
	}
	verdicts := func(flags ...string) string {
		got := perflab(t, text.String(), append([]string{"analyze", "--baseline", "a", "-o", "json"}, flags...)...)
		var answer struct {
			Comparisons []struct {
				Metric, Verdict string
				Warnings        []string
			}
		}
		if err := json.Unmarshal([]byte(got.out), &answer); err != nil {
			t.Fatalf("%v in %s%s", err, got.out, got.problems)
		}
		var told []string
		for _, one := range answer.Comparisons {
			if (one.Verdict == "") != strings.Contains(strings.Join(one.Warnings, ""), "set --higher-is-better or --lower-is-better") {
				t.Errorf("%s is %q, with %q", one.Metric, one.Verdict, one.Warnings)
			}
			told = append(told, one.Metric+" "+one.Verdict)
		}
		return strings.Join(told, ", ")
	}
	if got, want := verdicts(), "custom/boot Worse, custom/copy Better, custom/skew , l/requestsPerSecond Better, score "; got != want {
		t.Errorf("it says %s, want %s", got, want)
	}
	if got, want := verdicts("--higher-is-better", "skew|boot", "--lower-is-better", "score"), "custom/boot Better, custom/copy Better, custom/skew Better, l/requestsPerSecond Better, score Worse"; got != want {
		t.Errorf("it says %s, want %s", got, want)
	}
}

func TestAnalyzeWithoutPrimaryMetrics(t *testing.T) {
	got := perflab(t, "", "analyze", "--baseline", "xmx", "--primary", "p99", "testdata/runs.csv")
	got.ends(0).warns(`--primary "p99" does not match any metric`)
}

func TestAnalyzeControlArm(t *testing.T) {
	got := perflab(t, "", append(slices.Clone(analyzeRuns), "--twin", "maxram-default", "testdata/runs.csv")...)
	if got.code != 0 || !strings.Contains(got.out, `not calibrated: "maxram-default" is configured as the baseline, yet differs in cico/Check-Out/average`) || strings.Contains(got.out, "Worse") {
		t.Errorf("exit code %d: %s%s", got.code, got.out, got.problems)
	}
}

// The first of several interim analyses has wider intervals than a single analysis, and
// before it there is no verdict.
func TestAnalyzeInterimAnalyses(t *testing.T) {
	verdicts := func(interim ...string) map[string]int {
		got := perflab(t, "", slices.Concat(analyzeRuns, interim, []string{"-o", "json", "testdata/runs.csv"})...)
		var answer struct{ Comparisons []struct{ Verdict string } }
		if err := json.Unmarshal([]byte(got.out), &answer); err != nil {
			t.Fatalf("%v in %s%s", err, got.out, got.problems)
		}
		counts := map[string]int{}
		for _, one := range answer.Comparisons {
			counts[one.Verdict]++
		}
		return counts
	}
	once, early, tooEarly := verdicts(), verdicts("--interim-analyses", "6-40"), verdicts("--interim-analyses", "9-40")
	expect.Equal(t, early, verdicts("--looks", "6-40"), "with the earlier name of the flag")
	if early["Inconclusive"] <= once["Inconclusive"] {
		t.Errorf("once: %v, at the third of many analyses: %v", once, early)
	}
	if len(tooEarly) != 1 || tooEarly[""] == 0 {
		t.Errorf("before the first analysis: %v", tooEarly)
	}
}

func TestAnalyzeProblems(t *testing.T) {
	rows := "block,arm,scenario,metric,unit,value\n1,a,s,m,ms,400\n1,b,s,m,ms,410\n"
	cases := map[string]struct {
		in        string
		arguments []string
		code      int
		want      string
	}{
		"NoBaseline":    {rows, []string{"analyze"}, exit.Failed, `required flag(s) "baseline" not set`},
		"OtherBaseline": {rows, []string{"analyze", "--baseline", "c"}, exit.Failed, `the arms are "a", "b"`},
		"OneArm":        {strings.Replace(rows, "1,b,s,m,ms,410\n", "", 1), []string{"analyze", "--baseline", "a"}, exit.Failed, "no arm to compare with the baseline"},
		"Format":        {rows, []string{"analyze", "--baseline", "a", "-o", "text"}, exit.Failed, "write -o table, -o markdown or -o json"},
		"Margin":        {rows, []string{"analyze", "--baseline", "a", "--margin", "-1"}, exit.Failed, "--margin -1 must be from 0 to 100"},
		"Confidence":    {rows, []string{"analyze", "--baseline", "a", "--confidence", "100"}, exit.Failed, "--confidence 100 must be above 50 and below 100"},
		"Interim":       {rows, []string{"analyze", "--baseline", "a", "--interim-analyses", "20"}, exit.Failed, `--interim-analyses "20" must be FIRST-LAST, two numbers of blocks from 6 to 100, for example 6-20`},
		"NoLast":        {rows, []string{"analyze", "--baseline", "a", "--interim-analyses", "20-6"}, exit.Failed, "must be FIRST-LAST"},
		"TooEarly":      {rows, []string{"analyze", "--baseline", "a", "--interim-analyses", "3-9"}, exit.Failed, "from 6 to 100"},
		"Primary":       {rows, []string{"analyze", "--baseline", "a", "--primary", "("}, exit.Failed, "--primary: error parsing regexp"},
		"Higher":        {rows, []string{"analyze", "--baseline", "a", "--higher-is-better", "["}, exit.Failed, "--higher-is-better: error parsing regexp"},
		"Lower":         {rows, []string{"analyze", "--baseline", "a", "--lower-is-better", "["}, exit.Failed, "--lower-is-better: error parsing regexp"},
		"MissingFile":   {"", []string{"analyze", "--baseline", "a", "no-such.csv"}, exit.Failed, "no-such.csv"},
		"TwoFiles":      {"", []string{"analyze", "--baseline", "a", "x", "y"}, exit.Failed, "at most 1 arg"},
		"BadRow":        {rows + "2,a,s,m,ms,slow\n", []string{"analyze", "--baseline", "a"}, exit.Invalid, `standard input: the observations are invalid:` + "\n" + `line 4: the value "slow" is not a finite number`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := perflab(t, tc.in, tc.arguments...)
			if got.code != tc.code || !strings.Contains(got.problems, tc.want) || got.out != "" {
				t.Errorf("exit code %d, want %d; it says\n%s\nwant\n%s", got.code, tc.code, got.problems, tc.want)
			}
		})
	}
}
