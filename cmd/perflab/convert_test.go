// SPDX-License-Identifier: Apache-2.0

package main

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/cmd/perflab/exit"
	"perflab.dev/perflab/cmd/perflab/record"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/expect"
)

// sampleOf is a measured run of JMeter.
func sampleOf(arm string, block int) string {
	return filepath.Join("testdata", "elsewhere", fmt.Sprintf("%s-%d.jtl", arm, block))
}

// converted is the output of perflab convert for these blocks of both arms.
func converted(t *testing.T, name, release string, blocks ...int) string {
	t.Helper()
	arguments := []string{"convert", "--from", "jmeter", "--name", name, "--release", release, "--scenario", "cico", "--only", "^Check-In$"}
	for _, block := range blocks {
		arguments = append(arguments, "--arm", "xmx="+sampleOf("xmx", block), "--arm", "maxram="+sampleOf("maxram", block))
	}
	got := perflab(t, "", arguments...)
	got.ends(0)
	return got.out
}

func inputIn(t *testing.T, text string) report.Input {
	t.Helper()
	inputs, err := report.Read(strings.NewReader(text))
	if err != nil || len(inputs) != 1 {
		t.Fatalf("%d experiments: %v", len(inputs), err)
	}
	return inputs[0]
}

// A converted experiment is complete, and states what is unknown.
func TestConvert(t *testing.T) {
	text := converted(t, "checkout-2025", "2025.1", 1, 2, 3, 4, 5, 6)
	input := inputIn(t, text)
	if input.Experiment.Status.Phase != v1alpha1.ExperimentComplete || input.Experiment.Status.Verdict != "1 better" {
		t.Errorf("its phase is %q, its verdict %q", input.Experiment.Status.Phase, input.Experiment.Status.Verdict)
	}
	if got := input.Experiment.Annotations; got[v1alpha1.AnnotationElsewhere] != "xmx-1.jtl, maxram-1.jtl, xmx-2.jtl and 9 further files" || got[v1alpha1.AnnotationRelease] != "2025.1" {
		t.Errorf("it is annotated with %v", got)
	}
	sample, err := os.ReadFile(sampleOf("xmx", 1))
	expect.NoError(t, err)
	sum := sha256.Sum256(sample)
	if got, want := input.Runs[0].Annotations[v1alpha1.AnnotationElsewhere], "xmx-1.jtl sha256:"+hex.EncodeToString(sum[:]); got != want {
		t.Errorf("the first run is annotated with %q, want %q", got, want)
	}
	page := perflab(t, text, "report", "-f", "-")
	expect.Contains(t, page.out, []string{
		"checkout-2025: 2 arms, 1 scenario, 6 blocks; measured elsewhere by JMeter, read from xmx-1.jtl, maxram-1.jtl, xmx-2.jtl and 9 further files\n",
		"PerfLab neither generated the load nor observed the system.",
		"- PerfLab did not observe the system: it can't verify that the arms were configured as their names indicate, or that they differ in nothing else.\n",
		"- The order of the runs was not randomized, so drift can look like an effect.\n",
		"The primary metrics were chosen when the files were imported, after the runs: cico/Check-In/average",
	}, "the report")
	for _, claim := range []string{"k6", "random order", "declared order", "fixed before the first run", "read back", "were restarted", "Seed | 0", "seed reproduces", "metrics API"} {
		if strings.Contains(page.out, claim) {
			t.Errorf("the report claims %q without evidence:\n%s", claim, page.out)
		}
	}
	perflab(t, text, "report", "-f", "-", "-o", "html").ends(0).shows("measured elsewhere by JMeter")
	proved := perflab(t, text, "verify", "-")
	proved.ends(exit.NoChain).warns("it was measured elsewhere by JMeter", "PerfLab can't verify it")
}

// Three converted releases can be compared.
func TestConvertReleases(t *testing.T) {
	folder := t.TempDir()
	var files []string
	for i, release := range []string{"2025.1", "2025.2", "2025.3"} {
		file := filepath.Join(folder, release+".yaml")
		expect.NoError(t, os.WriteFile(file, []byte(converted(t, fmt.Sprintf("checkout-%d", i+1), release, 2*i+1, 2*i+2)), 0o600))
		files = append(files, file)
	}
	history := perflab(t, "", "history", folder, "--arm", "xmx")
	history.ends(0).shows("\n  2025.1   ", "\n  2025.2   ", "\n  2025.3   ", `"checkout-1", "checkout-2", "checkout-3" were measured elsewhere by JMeter: PerfLab did not observe the environment`)
	compared := perflab(t, "", "compare", files[0], files[1])
	if !strings.Contains(compared.out, "cico/Check-In/average") || !strings.Contains(compared.out, "measured elsewhere by JMeter") {
		t.Errorf("exit code %d: %s\n%s", compared.code, compared.out, compared.problems)
	}
}

// The API server accepts a converted experiment unchanged.
func TestImportConvertedExperiment(t *testing.T) {
	archive := measured(t).other(t)
	text := converted(t, "checkout-2025", "2025.1", 1, 2, 3, 4, 5, 6)
	told := archive.must(t, text, "import", "-f", "-")
	want := `PerfExperiment "checkout-2025" of elsewhere/checkout-2025 imported into namespace "` + archive.namespace + `": 12 runs, 0 ConfigMaps with raw results` + "\n" +
		"  it was measured elsewhere by JMeter, read from xmx-1.jtl, maxram-1.jtl, xmx-2.jtl and 9 further files\n"
	if told.out != want {
		t.Errorf("it says\n%swant\n%s", told.out, want)
	}
	for _, format := range []string{"md", "html", "csv"} {
		before, after := perflab(t, text, "report", "-f", "-", "-o", format), archive.must(t, "", "report", "checkout-2025", "-o", format)
		if difference := cmp.Diff(before.out, after.out); difference != "" {
			t.Errorf("%s: the report is another there:\n%s", format, difference)
		}
	}
	status := archive.must(t, "", "status", "checkout-2025")
	if !strings.HasPrefix(status.out, "checkout-2025: Complete, measured elsewhere by JMeter, read from xmx-1.jtl, maxram-1.jtl, xmx-2.jtl and 9 further files\n") {
		t.Errorf("the status is\n%s", status.out)
	}
	again := inputIn(t, archive.must(t, "", "export", "checkout-2025").out)
	if again.Experiment.Annotations[v1alpha1.AnnotationElsewhere] == "" || again.Runs[0].Annotations[v1alpha1.AnnotationElsewhere] == "" {
		t.Error("its export does not say where it was measured")
	}
	archive.perflab(t, "", "verify", "checkout-2025").ends(exit.NoChain).warns("measured elsewhere by JMeter")
}

func TestConvertProblems(t *testing.T) {
	good := sampleOf("xmx", 1)
	folder := t.TempDir()
	packed := filepath.Join(folder, "run.jtl.gz")
	pack(t, packed, good)
	torn := filepath.Join(folder, "torn.jtl.gz")
	whole, err := os.ReadFile(packed)
	if err == nil {
		err = os.WriteFile(torn, whole[:len(whole)/2], 0o600)
	}
	expect.NoError(t, err)
	bench := filepath.Join("..", "..", "internal", "importers", "testdata", "gobench.txt")
	for name, tc := range map[string]struct {
		arguments []string
		code      int
		want      string
	}{
		"Format":         {[]string{"--from", "abacus", "--arm", "a=" + good}, exit.Failed, `--from "abacus": write one of jmeter, k6,`},
		"TableWithArm":   {[]string{"--from", "table", "--arm", "a=" + good}, exit.Failed, "--from table needs the file of the table and no --arm, because the table names its arms"},
		"NoArm":          {[]string{"--from", "jmeter"}, exit.Failed, "--arm is missing: assign each file to an arm, for example --arm xmx=run1.jtl"},
		"FileWithoutArm": {[]string{"--from", "jmeter", good}, exit.Failed, "--arm is missing: assign each file to an arm"},
		"NoTable":        {[]string{"--from", "table", good}, exit.Invalid, `line 1: unknown column "timestamp": the columns are release,measured,block,arm,scenario,metric,unit,value`},
		"Arm":            {[]string{"--from", "jmeter", "--arm", good}, exit.Failed, `must be ARM=FILE, for example --arm xmx=run1.jtl`},
		"ArmsName":       {[]string{"--from", "jmeter", "--arm", "A=" + good}, exit.Invalid, "an arm's name may have lower-case letters, digits and '-'"},
		"Baseline":       {[]string{"--from", "jmeter", "--arm", "a=" + good, "--baseline", "b"}, exit.Failed, `--baseline "b" is not one of the arms: a`},
		"Margin":         {[]string{"--from", "jmeter", "--arm", "a=" + good, "--margin", "0"}, exit.Failed, "--margin 0 must be from 1 to 100 percent"},
		"NoFile":         {[]string{"--from", "jmeter", "--arm", "a=none.jtl"}, exit.Failed, "none.jtl: no such file"},
		"Twice":          {[]string{"--from", "jmeter", "--arm", "a=" + good, "--arm", "b=" + good}, exit.Failed, "are the same file: remove one"},
		"OtherFormat":    {[]string{"--from", "k6", "--arm", "a=" + good}, exit.Invalid, good + ": the results are invalid: line 1: not k6's JSON output"},
		"NoTime":         {[]string{"--from", "gobench", "--arm", "a=" + bench}, exit.Invalid, "gobench.txt does not contain the time of the measurement: set it with --measured, for example --measured 2025-01-03"},
		"Measured":       {[]string{"--from", "gobench", "--measured", "yesterday", "--arm", "a=" + bench}, exit.Failed, `--measured "yesterday" must be a date or a time with its zone`},
		"Dated":          {[]string{"--from", "gobench", "--measured", "2025-01-03", "--arm", "a=" + bench}, 0, "repetitions of a benchmark in one file (-count) are one run"},
		"Packed":         {[]string{"--from", "jmeter", "--arm", "a=" + packed}, 0, ""},
		"Torn":           {[]string{"--from", "jmeter", "--arm", "a=" + torn}, exit.Invalid, "is truncated: copy or export it again"},
		"Only":           {[]string{"--from", "jmeter", "--only", "(", "--arm", "a=" + good}, exit.Failed, "--only: error parsing regexp"},
		"Nothing":        {[]string{"--from", "jmeter", "--only", "Search", "--arm", "a=" + good}, exit.Invalid, `none of 48 samples is of a transaction that matches --only "Search"`},
		"Memory":         {[]string{"--from", "jmeter", "--max-memory", "1Ki", "--arm", "a=" + good}, exit.Failed, "reading it takes more than 1Ki of memory"},
		"Primary":        {[]string{"--from", "jmeter", "--primary", "average", "--arm", "a=" + good}, exit.Invalid, "a metric is load/transaction/statistic"},
	} {
		t.Run(name, func(t *testing.T) {
			got := perflab(t, "", append([]string{"convert", "--name", "shop"}, tc.arguments...)...)
			if got.code != tc.code || !strings.Contains(got.problems, tc.want) || got.code != 0 && got.out != "" {
				t.Errorf("exit code %d, want %d; it says\n%s\nwant\n%s", got.code, tc.code, got.problems, tc.want)
			}
		})
	}
}

func pack(t *testing.T, to, from string) {
	t.Helper()
	text, err := os.ReadFile(from)
	expect.NoError(t, err)
	var out strings.Builder
	writer := gzip.NewWriter(&out)
	if _, err := writer.Write(text); err != nil {
		t.Fatal(err)
	}
	expect.NoError(t, writer.Close())
	expect.NoError(t, os.WriteFile(to, []byte(out.String()), 0o600))
}

// The page shows the output of its commands.
func TestDocumentedConversion(t *testing.T) {
	page := documentation(t)["../../docs/importing-results.md"]
	arguments := []string{"convert", "--from", "jmeter", "--name", "checkout-2025", "--release", "2025.1", "--scenario", "cico", "--only", "^Check-In$"}
	for _, arm := range []string{"xmx", "maxram"} {
		for block := 1; block <= 6; block++ {
			arguments = append(arguments, "--arm", arm+"="+sampleOf(arm, block))
		}
	}
	written := perflab(t, perflab(t, "", arguments...).out, "report", "-f", "-")
	const shown = 11
	// Ignore non-breaking spaces.
	plain := strings.NewReplacer("\u00a0", " ", "\u202f", " ")
	begins := strings.Join(strings.SplitAfterN(written.out, "\n", shown+1)[:shown], "")
	begins = plain.Replace(begins)
	if !strings.Contains(page, "| head -n 11\n"+begins+"```\n") {
		t.Errorf("docs/importing-results.md does not show\n%s", begins)
	}
	for _, format := range record.Formats() {
		if !strings.Contains(page, "\n| `"+format+"` | ") {
			t.Errorf("docs/importing-results.md does not list %s", format)
		}
	}
}

// Metrics without a known direction need a flag; a note on several files is printed
// once.
func TestConvertDirections(t *testing.T) {
	folder := t.TempDir()
	arguments := []string{"convert", "--from", "prometheus", "--name", "shop"}
	for i, value := range []string{"10", "11", "12", "20", "21", "22"} {
		file := filepath.Join(folder, fmt.Sprint(i))
		text := `{"status": "success", "data": {"resultType": "matrix", "result": [{"metric": {"__name__": "hits"}, "values": [[` + fmt.Sprint(1735900000+60*i) + `, "` + value + `"], [1735900030, "NaN"]]}]}}`
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		arguments = append(arguments, "--arm", "a="+file)
	}
	const unknown = "it is unknown whether higher or lower is better for custom/hits, so it is not a primary metric: set --higher-is-better or --lower-is-better"
	got := perflab(t, "", arguments...)
	if input := inputIn(t, got.out); len(input.Experiment.Spec.Analysis.Primary) > 0 || !strings.Contains(got.problems, unknown) {
		t.Errorf("%q decide: %s", input.Experiment.Spec.Analysis.Primary, got.problems)
	}
	if want := "perflab: 0, 1, 2 and 3 more: 1 point omitted: infinite or not a number\n"; !strings.Contains(got.problems, want) || strings.Count(got.problems, "omitted") != 1 {
		t.Errorf("it says %s, want once %s", got.problems, want)
	}
	got = perflab(t, "", append(arguments, "--higher-is-better", "^custom/hits")...)
	analysis := inputIn(t, got.out).Experiment.Spec.Analysis
	if fmt.Sprint(analysis.HigherIsBetter, analysis.LowerIsBetter, analysis.Primary) != "[custom/hits] [] [custom/hits/average]" || strings.Contains(got.problems, "unknown") {
		t.Errorf("it asks %+v: %s", analysis, got.problems)
	}
	if got := perflab(t, "", append(arguments, "--lower-is-better", "(")...); got.code != exit.Failed || !strings.Contains(got.problems, "--lower-is-better: error parsing regexp") {
		t.Errorf("exit code %d: %s", got.code, got.problems)
	}
}

// A table names its own releases, arms and blocks.
func TestConvertTable(t *testing.T) {
	got := perflab(t, "", "convert", "--from", "table", "--name", "cico", "testdata/elsewhere/past.csv")
	got.ends(0)
	inputs, err := report.Read(strings.NewReader(got.out))
	expect.NoError(t, err)
	var names []string
	for _, input := range inputs {
		names = append(names, fmt.Sprintf("%s %s %d", input.Experiment.Name, input.Experiment.Annotations[v1alpha1.AnnotationRelease], len(input.Runs)))
	}
	if difference := cmp.Diff([]string{"cico-2024-2 2024.2 2", "cico-2025-1 2025.1 2", "cico-2025-2 2025.2 1"}, names); difference != "" {
		t.Errorf("the experiments are others:\n%s", difference)
	}
	file := filepath.Join(t.TempDir(), "past.yaml")
	expect.NoError(t, os.WriteFile(file, []byte(got.out), 0o600))
	history := perflab(t, "", "history", file, "--metric", "cico/Check-In/average")
	expect.Contains(t, history.out, []string{"2024.2   2024-07-03  2     433.5 ms", "2025.1   2025-01-03  2     445 ms", "2025.2   2025-07-03  1     462 ms", `"cico-2024-2", "cico-2025-1", "cico-2025-2" were measured elsewhere by another tool`})
}
