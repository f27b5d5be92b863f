// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"perflab.dev/perflab/cmd/perflab/exit"
	"perflab.dev/perflab/internal/testing/expect"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// answer is the result of a command.
type answer struct {
	t         *testing.T
	arguments []string
	result
}

type result struct {
	code          int
	out, problems string
}

// ends fails the test at once unless the command ended with the code.
func (a answer) ends(code int) answer {
	a.t.Helper()
	if a.code != code {
		a.t.Fatalf("perflab %q: exit code %d, want %d: %s%s", a.arguments, a.code, code, a.out, a.problems)
	}
	return a
}

// shows fails the test for each text missing in the output.
func (a answer) shows(texts ...string) answer {
	a.t.Helper()
	expect.Contains(a.t, a.out, texts, "the output of perflab %q", a.arguments)
	return a
}

// warns fails the test for each text missing in the errors.
func (a answer) warns(texts ...string) answer {
	a.t.Helper()
	expect.Contains(a.t, a.problems, texts, "the errors of perflab %q", a.arguments)
	return a
}

func perflab(t *testing.T, in string, arguments ...string) answer {
	t.Helper()
	var out, problems bytes.Buffer
	code := execute(t.Context(), arguments, strings.NewReader(in), &out, &problems)
	return answer{t, arguments, result{code, out.String(), problems.String()}}
}

// seed plans a published report's sample with every shipped system.
func seed(t *testing.T, sample string) answer {
	t.Helper()
	return perflab(t, "", append([]string{"plan", "-f", sample}, shipped(t)...)...)
}

// shipped are the arguments for the shipped systems.
func shipped(t *testing.T) []string {
	t.Helper()
	systems, err := filepath.Glob("../../config/systems/*.yaml")
	if err != nil || len(systems) == 0 {
		t.Fatalf("%d systems, %v", len(systems), err)
	}
	var arguments []string
	for _, system := range systems {
		arguments = append(arguments, "-f", system)
	}
	return arguments
}

func TestPlanAsText(t *testing.T) {
	got := perflab(t, "", "plan", "-f", "testdata/experiment.yaml", "-f", "testdata/system.yaml")
	got.ends(0)
	const golden = "testdata/plan.txt"
	if *update {
		expect.NoError(t, os.WriteFile(golden, []byte(got.out), 0o644))
	}
	want, err := os.ReadFile(golden)
	expect.NoError(t, err)
	if diff := cmp.Diff(string(want), got.out); diff != "" {
		t.Errorf("the plan (-want +got), -update rewrites it:\n%s", diff)
	}
}

func TestPlanAsJSON(t *testing.T) {
	got := perflab(t, "", "plan", "-f", "testdata/experiment.yaml", "-f", "testdata/system.yaml", "-o", "json", "--overhead", "1m", "--records-per-second", "50")
	var plan struct {
		Runs     []struct{ Position, Block int }
		WallTime struct{ Total string }
		Heaps    []struct {
			Module, Arm string
			HeapBytes   int64
		}
	}
	if err := json.Unmarshal([]byte(got.out), &plan); err != nil {
		t.Fatalf("%v in %s%s", err, got.out, got.problems)
	}
	// 12 runs of 10 minutes, 100 seconds and a minute.
	if len(plan.Runs) != 12 || plan.WallTime.Total != "2h32m0s" {
		t.Errorf("%d runs in %s", len(plan.Runs), plan.WallTime.Total)
	}
	if len(plan.Heaps) != 4 || plan.Heaps[2].HeapBytes != 676<<20 {
		t.Errorf("heaps %+v", plan.Heaps)
	}
}

func TestPlanOfPublishedReports(t *testing.T) {
	wants := map[string][]string{
		"seed-000-kraft-vs-zookeeper.yaml": {
			"48 runs (2 arms x 4 scenarios x 6 blocks), about 33h36m",
			`arm "kraft-m7g" differs from the baseline in 4 settings: kafka.brokers.placement`,
			"kafka.config.default.replication.factor (2 → 3), kafka.mode (ZooKeeper → KRaft), kafka.version (3.8.1 → 3.9.2)",
		},
		"seed-001-read-write-split.yaml":  {"180 runs (6 arms x 5 scenarios x 6 blocks)", "no-split-one (baseline)"},
		"seed-002-pubsub-partitions.yaml": {"96 runs (4 arms x 4 scenarios x 6 blocks)", "one-split-off (baseline)"},
		"seed-003-placement.yaml":         {"126 runs", "(okapi-b): m6g.2xlarge -> c7g.large"},
		"seed-004-maxram-vs-xmx.yaml":     {"maxram-66 against the baseline: larger in 10 modules, smaller in 6, the same in 0"},
	}
	samples, err := filepath.Glob("../../config/samples/seed-*.yaml")
	if err != nil || len(samples) != len(wants) {
		t.Fatalf("%d samples, %v", len(samples), err)
	}
	for _, sample := range samples {
		t.Run(filepath.Base(sample), func(t *testing.T) {
			got := seed(t, sample)
			got.ends(0)
			expect.Contains(t, got.out, wants[filepath.Base(sample)], "the plan")
			confounded := strings.Count(got.out, "differs from the baseline in")
			// Each arm of page 003 except the first also requests less CPU.
			want := map[string]int{"seed-000": 1, "seed-003": 6}[filepath.Base(sample)[:len("seed-000")]]
			if confounded != want {
				t.Errorf("the plan says %d times that an arm is confounded, want %d", confounded, want)
			}
		})
	}
}

func TestProblems(t *testing.T) {
	experiment, err := os.ReadFile("testdata/experiment.yaml")
	expect.NoError(t, err)
	edited := func(old, changed string) string { return strings.Replace(string(experiment), old, changed, 1) }
	cases := map[string]struct {
		in        string
		arguments []string
		code      int
		want      string
	}{
		"NoFile":        {arguments: []string{"plan"}, code: exit.Failed, want: `required flag(s) "file" not set`},
		"MissingFile":   {arguments: []string{"plan", "-f", "no-such.yaml"}, code: exit.Failed, want: "opening the file: stat no-such.yaml"},
		"MissingSystem": {arguments: []string{"plan", "-f", "testdata/experiment.yaml"}, code: exit.Failed, want: `PerfSystem "library", which is not in the files: add its file with -f`},
		"NoExperiment":  {arguments: []string{"plan", "-f", "testdata/system.yaml"}, code: exit.Invalid, want: "the files have no PerfExperiment"},
		"Format":        {arguments: []string{"plan", "-f", "testdata/system.yaml", "-o", "xml"}, code: exit.Failed, want: `unknown output format "xml"`},
		"Assumption":    {arguments: []string{"plan", "-f", "testdata/system.yaml", "--records-per-second", "0"}, code: exit.Failed, want: "must be above zero"},
		"NoYAML":        {in: "a: [", arguments: []string{"plan", "-f", "-"}, code: exit.Invalid, want: "standard input: the file is unusable: reading document 1"},
		"UnknownField":  {in: edited("seed: 7", "sed: 7"), arguments: []string{"plan", "-f", "-", "-f", "testdata/system.yaml"}, code: exit.Invalid, want: "spec.design.sed"},
		"Schema":        {in: edited("users: 8", "users: many"), arguments: []string{"plan", "-f", "-", "-f", "testdata/system.yaml"}, code: exit.Invalid, want: "checkInCheckOut.users"},
		"Rule":          {in: edited("baseline: true", "baseline: false"), arguments: []string{"plan", "-f", "-", "-f", "testdata/system.yaml"}, code: exit.Invalid, want: "exactly one arm must have baseline: true"},
		"Reference":     {in: edited(`name: "*"`, `name: gatway`), arguments: []string{"plan", "-f", "-", "-f", "testdata/system.yaml"}, code: exit.Invalid, want: "gatway"},
		"OtherVersion":  {in: edited("v1alpha1", "v2"), arguments: []string{"plan", "-f", "-"}, code: exit.Invalid, want: "perflab.dev/v1alpha1 PerfExperiment"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := perflab(t, tc.in, tc.arguments...)
			got.ends(tc.code).warns(tc.want)
		})
	}
}

func TestPlanReadsStandardInput(t *testing.T) {
	files := ""
	for _, path := range []string{"testdata/experiment.yaml", "testdata/system.yaml"} {
		text, err := os.ReadFile(path)
		expect.NoError(t, err)
		files += string(text) + "---\n"
	}
	perflab(t, files, "plan", "-f", "-").ends(0).shows("Experiment heaps: 12 runs")
}

// The cluster accepts the documented manifests.
func TestDocumentedManifestsAreValid(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	expect.NoError(t, err)
	shown := 0
	for _, page := range append(pages, "../../README.md") {
		text, err := os.ReadFile(page)
		expect.NoError(t, err)
		manifests, found := manifestsIn(string(text))
		shown += found
		if !strings.Contains(manifests, "kind: PerfExperiment") {
			continue
		}
		if got := perflab(t, manifests, append([]string{"plan", "-f", "-"}, shipped(t)...)...); got.code != 0 {
			t.Errorf("%s: %s", page, got.problems)
		}
	}
	if shown < 4 {
		t.Errorf("only %d manifests were found in the documentation", shown)
	}
}

// manifestsIn returns the YAML examples of a page that are whole objects.
func manifestsIn(page string) (string, int) {
	var found []string
	for _, block := range strings.Split(page, "```yaml\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		if strings.HasPrefix(block, "apiVersion: perflab.dev/") {
			found = append(found, block)
		}
	}
	return strings.Join(found, "---\n"), len(found)
}

// The help hides most of kubectl's flags, which still work.
func TestHelpHidesKubectlFlags(t *testing.T) {
	help := perflab(t, "", "report", "--help").out
	expect.Contains(t, help, []string{"--charts", "--namespace", "--kubeconfig", "kubectl options"}, "the help")
	if strings.Contains(help, "--client-key") {
		t.Errorf("the help lists what is kubectl's:\n%s", help)
	}
	got := perflab(t, "", "report", "any", "--server", "https://127.0.0.1:1", "--request-timeout", "5s")
	got.ends(exit.Failed).warns("127.0.0.1:1")
	if help := perflab(t, "", "plan", "--help").out; strings.Contains(help, "kubectl options") {
		t.Errorf("a command without a cluster talks of one:\n%s", help)
	}
}
