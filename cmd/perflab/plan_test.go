// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"perflab.dev/perflab/cmd/perflab/exit"
	"perflab.dev/perflab/internal/testing/expect"
)

// planned plans the test's experiment with another design.
func planned(t *testing.T, design string, arguments ...string) answer {
	t.Helper()
	text, err := os.ReadFile("testdata/experiment.yaml")
	expect.NoError(t, err)
	changed := strings.Replace(string(text), "{blocks: 6, seed: 7}", design, 1)
	if changed == string(text) && !strings.Contains(changed, design) {
		t.Fatal("the experiment's design is written in another way")
	}
	return perflab(t, changed, append([]string{"plan", "-f", "-", "-f", "testdata/system.yaml"}, arguments...)...)
}

func TestPlanShowsPower(t *testing.T) {
	cases := map[string]struct {
		design    string
		arguments []string
		want      []string
	}{
		"Assumed": {"{blocks: 6, seed: 7}", nil, []string{
			"Question: does any arm differ by more than 5 %, at 95 % confidence?\n  cico/Check-In/average\n  cico/Check-Out/average\n  create-5k/duration",
			"Statistical power (3 primary comparisons)",
			"6 blocks detect an effect of 14.8 % or more with 80 % power, if runs of one arm spread by 5 %",
			"detecting an effect as large as the margin of 5 % takes 25 blocks",
			"showing equivalence as well takes 26",
			"if an arm does not differ: Equivalent 12 %, Better or Worse 1 %, Inconclusive 87 %",
			"  26 blocks                                             52    4.9 %   about 13h17m20s\n",
		}},
		"LessNoise": {"{blocks: 6, seed: 7}", []string{"--cv", "2"}, []string{"6 blocks detect an effect of 5.7 % or more", "takes 7 blocks"}},
		"ThreeBlocks": {"{blocks: 3, seed: 7}", nil, []string{
			"3 blocks can't detect an effect of any size",
			"3 blocks give results, but no verdict: raise design.blocks to 6, now or later",
		}},
		"Piloted": {"{blocks: 6, seed: 7}", []string{"--pilot", "testdata/runs.csv"}, []string{"in cico/Check-In/average of cico-8, whose 23 piloted runs spread by 1.49 %"}},
		"Adaptive": {"{blocks: 6, seed: 7, calibrate: true, target: {halfWidthPercent: 3, maxBlocks: 20}, budget: 9h}", nil, []string{
			"18 runs (3 arms x 1 scenario x 6 blocks)", "up to 9h if design.target adds blocks",
			"intervals as narrow as design.target take about 24", "xmx-twin: A/A control",
		}},
		"NoBudget": {"{blocks: 6, seed: 7, target: {halfWidthPercent: 3, maxBlocks: 12}}", nil, []string{"about 3h4m", "up to 6h8m"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := planned(t, tc.design, tc.arguments...)
			got.ends(0).shows(tc.want...)
		})
	}
}

func TestPlanRefusesPilotWithoutPrimaryMetrics(t *testing.T) {
	got := planned(t, "{blocks: 6, seed: 7}", "--pilot", "testdata/imports.csv")
	got.ends(exit.Failed).warns(`needs two runs with a primary metric of experiment "heaps"`)
	if got := planned(t, "{blocks: 6, seed: 7}", "--cv", "0"); got.code != exit.Failed || !strings.Contains(got.problems, "--cv 0 must be above 0") {
		t.Errorf("exit code %d: %s", got.code, got.problems)
	}
}

// More noise needs more blocks, and reduces power.
func TestPlanPowerDependsOnSpread(t *testing.T) {
	least, blocks := 0.0, 0
	for _, cv := range []string{"1", "3", "9"} {
		got := planned(t, "{blocks: 8, seed: 7}", "--cv", cv, "-o", "json")
		var shown struct {
			Power []struct {
				DetectablePercent float64
				BlocksForMargin   int
			}
		}
		if err := json.Unmarshal([]byte(got.out), &shown); err != nil || len(shown.Power) != 1 {
			t.Fatalf("%v in %s%s", err, got.out, got.problems)
		}
		if power := shown.Power[0]; power.DetectablePercent <= least || power.BlocksForMargin <= blocks {
			t.Errorf("at a CV of %s %%: %+v, before %.1f %% and %d blocks", cv, power, least, blocks)
		}
		least, blocks = shown.Power[0].DetectablePercent, shown.Power[0].BlocksForMargin
	}
}

// The numbers of nodes are those of the published tests: with the former CPU requests,
// 14; filled by memory alone, 10 or, twice as large, 5, with three for the gateway.
func TestPlanShowsCost(t *testing.T) {
	got := seed(t, "../../config/samples/seed-003-placement.yaml")
	got.ends(0).shows(
		"m6g-2xlarge: at least 14 m6g.2xlarge, 4.312 USD per hour,",
		"okapi-apart: at least 3 c7g.large and 10 r7g.xlarge, 2.3595 USD per hour,",
		"okapi-apart-m6g: at least 3 c7g.large and 10 m6g.2xlarge, 3.2975 USD per hour,",
		"r7g-2xlarge: at least 3 c7g.large and 5 r7g.2xlarge, 2.3595 USD per hour,",
		"4 pods without an instance type are not counted",
	)
}

// plannedWith plans the test's experiment and system with replacements.
func plannedWith(t *testing.T, words *strings.Replacer) answer {
	t.Helper()
	text := ""
	for _, path := range []string{"testdata/experiment.yaml", "testdata/system.yaml"} {
		read, err := os.ReadFile(path)
		expect.NoError(t, err)
		text += string(read) + "---\n"
	}
	changed := words.Replace(text)
	if changed == text {
		t.Fatal("no word was exchanged")
	}
	return perflab(t, changed, "plan", "-f", "-")
}

func TestPlanShowsHeaps(t *testing.T) {
	const limit, percent = "resources: {limits: {memory: 1Gi}}\n    jvm: {heap: {max: 768Mi}}", `{maxRAMPercentage: "66"}`
	cases := map[string]struct {
		reason string
		words  []string
		want   []string
		never  string
	}{
		"in MiB": {
			reason: "sizes are shown in MiB",
			words:  []string{percent, "{max: 384Mi}"},
			want: []string{
				"  gateway  1024 MiB      512 MiB  384 MiB", "  storage  1024 MiB      768 MiB  384 MiB",
				"maxram-66 against the baseline: larger in 0 modules, smaller in 2, the same in 0 (-50.0 % to -25.0 %)",
			},
			never: "not declared",
		},
		"no limit": {
			reason: "a percentage of an unknown limit is shown as a percentage",
			words:  []string{limit, "jvm: {heap: {max: 768Mi}}"},
			want: []string{
				"  gateway  1024 MiB      512 MiB  676 MiB", "  storage  not declared  768 MiB  66 % of the limit",
				"larger in 1 module, smaller in 0, the same in 0, unknown in 1 (+32.0 %)\n",
				"unknown in MiB: the memory limit of storage is not declared; declare resources.limits.memory",
			},
		},
		"no limit at all": {
			reason: "the baseline's sizes are not those of every arm",
			words:  []string{"resources: {limits: {memory: 1Gi}}", "replicas: 1"},
			want: []string{
				"module   memory limit  xmx      maxram-66", "  storage  not declared  768 MiB  66 % of the limit",
				"the memory limits of gateway, storage are not declared; declare resources.limits.memory",
			},
			never: "every arm",
		},
		"the same in every arm": {
			reason: "all arms have the same value, so one column is enough",
			words:  []string{percent, `{max: 400Mi}`, "max: 512Mi", "max: 400Mi", "max: 768Mi", "max: 400Mi"},
			want:   []string{"module   memory limit  every arm", "  gateway  1024 MiB      400 MiB\n"},
			never:  "against the baseline",
		},
		"some unchanged": {
			reason: "an unchanged heap is not in the range of the changed ones",
			words:  []string{percent, "{max: 512Mi}", "max: 768Mi", "max: 480Mi"},
			want:   []string{"larger in 1 module, smaller in 0, the same in 1 (+6.7 %)\n"},
		},
		"another limit": {
			reason: "the limit may be what the arms differ in",
			words:  []string{`jvm: {heap: ` + percent + `}`, `resources: {limits: {memory: 2Gi}}, jvm: {heap: ` + percent + `}`},
			want:   []string{"  gateway  1024 MiB, 2048 MiB  512 MiB  1352 MiB"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := plannedWith(t, strings.NewReplacer(tc.words...))
			got.ends(0).shows(tc.want...)
			if tc.never != "" && strings.Contains(got.out, tc.never) {
				t.Errorf("%s: the plan says %q:\n%s", tc.reason, tc.never, got.out)
			}
		})
	}
}

// scripted is an experiment with a script as load.
func scripted(script, files string) string {
	return `apiVersion: perflab.dev/v1alpha1
kind: PerfExperiment
metadata: {name: search}
spec:
  systemRef: {name: library}
  arms: [{name: as-is, baseline: true}, {name: more, set: {modules: [{name: storage, replicas: 2}]}}]
  scenarios:
  - name: searches
    loads:
    - {name: search, script: ` + script + `}
    - {name: create-1k, startAfter: 1m, dataImport: {records: 1500}}
  design: {blocks: 6, seed: 7}
` + files
}

// inConfigMap stores a script for plan.
func inConfigMap(options string) string {
	return `---
apiVersion: v1
kind: ConfigMap
metadata: {name: search}
data:
  main.js: |
    import http from 'k6/http';
    export const options = ` + options + `;
    export default function () { http.get(__ENV.BASE_URL); }
`
}

func TestPlanCountsScriptDuration(t *testing.T) {
	const fromMap = "{configMap: {name: search, key: main.js}}"
	const more = "12 runs (2 arms x 1 scenario x 6 blocks), more than 48m\n"
	cases := map[string]struct {
		reason, script, files string
		want                  []string
	}{
		"by its options": {
			reason: "the script declares its duration, and the import ends earlier", script: fromMap, files: inConfigMap("{duration: '8m'}"),
			want: []string{"about 2h\n", "load search lasts 8m according to the options in main.js and imports process"},
		},
		"by stages of scenarios": {
			reason: "the scenarios of the script declare it", script: fromMap,
			files: inConfigMap("{scenarios: {a: {executor: 'ramping-vus', startTime: '1m', stages: [{duration: '7m', target: 1}]}}}"),
			want:  []string{"about 2h\n"},
		},
		"by its variables": {
			reason: "what the experiment gives the script is known", script: "{configMap: {name: search, key: main.js}, env: [{name: LENGTH, value: 8m}]}",
			files: inConfigMap("{duration: __ENV.LENGTH || '1m'}"), want: []string{"about 2h\n"},
		},
		"by arguments": {
			reason: "for k6, arguments come first", script: `{configMap: {name: search, key: main.js}, arguments: [--duration, 8m]}`,
			files: inConfigMap("{duration: '9h'}"), want: []string{"about 2h\n"},
		},
		"by stages in arguments": {
			reason: "stages add up", script: `{path: /a.js, arguments: [--stage, "3m:5", "--stage=5m:5"]}`, want: []string{"about 2h\n"},
		},
		"without the script": {
			reason: "the plan says which file is missing", script: fromMap,
			want: []string{more, `not counted: load search of scenario searches, whose length is unknown: the script is unavailable: add the file with ConfigMap "search" with -f; to end it after a fixed time, write script.arguments: [--duration, 30m]`},
		},
		"without the key":        {reason: "the plan says which key is missing", script: "{configMap: {name: search, key: other.js}}", files: inConfigMap("{}"), want: []string{more, `ConfigMap "search" has no key "other.js"`}},
		"from the image":         {reason: "the contents of images are not read", script: "{path: /scripts/search.js}", want: []string{more, "the script is unavailable: it is not in a ConfigMap"}},
		"by iterations":          {reason: "no duration is invented", script: fromMap, files: inConfigMap("{iterations: 100}"), want: []string{more, "the script in main.js: it ends when its iterations are done"}},
		"computed":               {reason: "the script is not executed", script: fromMap, files: inConfigMap("{duration: length()}"), want: []string{more, "the script in main.js: options.duration is computed at run time"}},
		"iterations as argument": {reason: "arguments replace the script's options", script: `{configMap: {name: search, key: main.js}, arguments: [-i, "5"]}`, files: inConfigMap("{duration: '8m'}"), want: []string{more, "script.arguments: it ends when its iterations are done"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := perflab(t, scripted(tc.script, tc.files), "plan", "-f", "-", "-f", "testdata/system.yaml", "--overhead", "2m")
			got.ends(0).shows(tc.want...)
		})
	}
}

// A load that lasts until another ends adds no time.
func TestPlanCountsLoadUntilOther(t *testing.T) {
	text := strings.Replace(scripted("{path: /a.js}", ""), "{path: /a.js}", "{path: /a.js}, until: create-1k", 1)
	got := perflab(t, text, "plan", "-f", "-", "-f", "testdata/system.yaml")
	if got.code != 0 || !strings.Contains(got.out, "about 48m") || strings.Contains(got.out, "not counted") {
		t.Errorf("%.900s%s", got.out, got.problems)
	}
}

// plan warns of transactions that the script lacks, and of scripts without any.
func TestPlanWarnsOfTransactions(t *testing.T) {
	text, err := os.ReadFile("../../config/samples/local/keycloak.yaml")
	expect.NoError(t, err)
	plan := func(old, changed string) answer {
		if !strings.Contains(string(text), old) {
			t.Fatalf("the sample has no %q", old)
		}
		return perflab(t, strings.ReplaceAll(string(text), old, changed), "plan", "-f", "-").ends(0)
	}
	if got := plan("group", "group"); strings.Contains(got.out, "transaction ") {
		t.Errorf("of the sample as it is, it warns\n%s", got.out)
	}
	plan("group('Log in'", "group('Login'").shows("login/Log in/average: the script has no transaction Log in: did you mean Login? Write one of its transactions (Login, User info) (spec.analysis.primary[0])")
	plan("group(", "((name, does) => does())(").shows("has no group: all its requests are measured together")
}
