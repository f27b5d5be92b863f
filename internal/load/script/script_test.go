// SPDX-License-Identifier: Apache-2.0

package script_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kind"
	"perflab.dev/perflab/internal/load/script"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/yamlcmp"
	"perflab.dev/perflab/payload"
)

// search returns a load with this script.
func search(t *testing.T, settings string) kind.Kind {
	t.Helper()
	load := v1alpha1.Load{Name: "search", Parallelism: new(int32(2)), Script: &v1alpha1.Script{}}
	expect.NoError(t, yaml.Unmarshal([]byte(settings), load.Script))
	found, is := script.FromLoad(load)
	if !is {
		t.Fatal("a script is not of this kind")
	}
	return found
}

// The script is used from its declared location, with the results that its image's k6 supports.
func TestRunner(t *testing.T) {
	for name, test := range map[string]struct{ script, want string }{
		"in a ConfigMap, by groups": {
			`{configMap: {name: search, key: main.js}, arguments: [--vus, "8"]}`,
			`{source: main.js of ConfigMap search, script: {configMap: {name: search, file: main.js}}, results: Histograms, image: "", env: {PERFLAB_TRANSACTIONS: group}}`,
		},
		"on a volume, by a tag, with variables": {
			`{persistentVolumeClaim: {claimName: scripts, file: search/main.js}, transactions: {by: Tag, tag: name}, env: [{name: A, value: b}]}`,
			`{source: search/main.js of volume scripts, script: {volumeClaim: {name: scripts, file: search/main.js, readOnly: true}}, results: Histograms, image: "", env: {PERFLAB_TRANSACTIONS: "tag:name", A: b}}`,
		},
		"in an image without our output": {
			`{path: /scripts/search.js, image: "example.org/upstream:1"}`,
			`
source: /scripts/search.js
script: {localFile: /scripts/search.js}
results: Summary
image: example.org/upstream:1
env: {K6_SUMMARY_EXPORT: /dev/stdout, K6_SUMMARY_TREND_STATS: "avg,min,med,max,p(75),p(95),p(99),count"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			found := search(t, test.script)
			env := map[string]string{}
			for _, variable := range found.Environment(time.Hour) {
				env[variable.Name] = variable.Value
			}
			yamlcmp.Equal(t, map[string]any{
				"source": found.Source().String(), "script": found.Source().Script(),
				"results": found.Results(), "image": found.Image(), "env": env,
			}, test.want)
		})
	}
}

func TestValidate(t *testing.T) {
	const scenarios = "export const options = {scenarios: {a: {executor: 'constant-vus', vus: 2, duration: '5m'}}};\nexport default function () {}"
	files := kind.ConfigMaps{"search": {"main.js": scenarios, "typed.ts": "export const options: object = {vus: 1, duration: '5m'};\nexport default function (): void {}", "typed.js": "let a: string;"}}
	const fromMap = `configMap: {name: search, key: main.js}`
	for name, test := range map[string]struct{ script, fault, warning string }{
		"arguments of its own": {script: `{path: /a.js, arguments: [--vus, "8", --duration=30m]}`},
		"an output": {
			script: `{path: /a.js, arguments: [--vus, "8", --out=json]}`,
			fault:  `loads.script.arguments[2]: Invalid value: "--out=json": --out=json is set by PerfLab: remove it`,
		},
		"an output in short": {
			script: `{path: /a.js, arguments: ["-u8", "-ojson"]}`,
			fault:  `loads.script.arguments[1]: Invalid value: "-ojson": -ojson is set by PerfLab: remove it`,
		},
		"an output for another k6": {
			script: `{path: /a.js, image: "grafana/k6:0.50.0", results: Histograms, arguments: ["--colour=red", "--no-summary"]}`,
			fault:  `loads.script.arguments[1]: Invalid value: "--no-summary": --no-summary is set by PerfLab: remove it`,
		},
		"summaries of two runners": {script: `{path: /a.js, image: "grafana/k6:2.2.0"}`, warning: "percentiles of several runners can't be merged from k6's own summaries, so load \"search\" has none"},
		"an unknown flag": {
			script: `{path: /a.js, arguments: [--users, "8"]}`,
			fault:  `loads.script.arguments: Invalid value: "--users 8": k6 2.2 rejects --users: unknown flag: --users`,
		},
		"a duration without a unit": {
			script: `{path: /a.js, arguments: [-u2, -d, "300"]}`,
			fault:  `loads.script.arguments: Invalid value: "-u2 -d 300": k6 2.2 rejects -d 300: invalid argument "300" for "-d, --duration" flag: time: missing unit in duration "300": write 300s`,
		},
		"a duration in words": {
			script: `{path: /a.js, arguments: [-u2, --duration=5min]}`,
			fault:  `loads.script.arguments: Invalid value: "-u2 --duration=5min": k6 2.2 rejects --duration=5min: invalid argument "5min" for "-d, --duration" flag: time: unknown unit "min" in duration "5min": write 5m`,
		},
		"users in text": {
			script: `{path: /a.js, arguments: ["-u1,000", -d5m]}`,
			fault:  `loads.script.arguments: Invalid value: "-u1,000 -d5m": k6 2.2 rejects -u1,000: invalid argument "1,000" for "-u, --vus" flag: strconv.ParseInt: parsing "1,000": invalid syntax: write 1000`,
		},
		"a stage in words": {
			script: `{path: /a.js, arguments: [--stage, "5min:10"]}`,
			fault:  `loads.script.arguments: Invalid value: "--stage 5min:10": the stage "5min:10" has no duration with a unit: write 5m:10`,
		},
		"a variable in minutes": {
			script: `{path: /a.js, env: [{name: K6_DURATION, value: 5 minutes}]}`,
			fault:  `loads.script.env: Invalid value: "search": K6_DURATION is "5 minutes": "5 minutes" is not a duration of at most a year: write 5m`,
		},
		"an unknown flag of another k6": {script: `{path: /a.js, image: "grafana/k6:0.50.0", results: Histograms, arguments: [--users, "8"]}`},
		"users for scenarios": {
			script:  `{` + fromMap + `, arguments: [-u50]}`,
			warning: `script.arguments of load "search" replace the scenarios in main.js: k6 runs none of them, and ends when its iterations are done; write users and time into the scenarios, and remove these arguments (loads.script.arguments)`,
		},
		"time for scenarios": {
			script:  `{` + fromMap + `, env: [{name: K6_DURATION, value: 5m}, {name: K6_VUS, value: "4"}]}`,
			warning: `script.env of load "search" replace the scenarios in main.js: k6 runs none of them; write`,
		},
		"users for scenarios of another k6": {script: `{` + fromMap + `, image: "grafana/k6:1.8.1", results: Histograms, arguments: [-u50]}`},
		"a runner more than users": {
			script: `{path: /a.js, arguments: [-u1, -d5m]}`,
			fault:  `loads.parallelism: Invalid value: 2: load "search" has 1 user, and every k6 runner needs at least one: set parallelism to 1 or less, or add users`,
		},
		"a runner for each user": {script: `{` + fromMap + `}`},
		"workflows": {
			script: `{path: /scripts/workflows.js}`,
			fault:  "loads.parallelism: Invalid value: 2: /scripts/workflows.js runs in one k6 runner: remove parallelism, or set it to 1",
		},
		"TypeScript": {
			script: `{configMap: {name: search, key: typed.ts}}`,
			fault:  `loads.parallelism: Invalid value: 2: load "search" has 1 user`,
		},
		"TypeScript under another name": {
			script: `{configMap: {name: search, key: typed.js}}`,
			fault:  `loads.script.configMap.key: Invalid value: "typed.js": k6 does not run the script: it can't be parsed as JavaScript: script: Line 1:6 Unexpected token :`,
		},
		"what another k6 may run": {
			script:  `{configMap: {name: search, key: typed.js}, image: "example.org/k6:dev", results: Histograms}`,
			warning: `load "search" has its own image, and k6 2.2 would not run its script: it can't be parsed as JavaScript`,
		},
		"a variable in words": {
			script: `{path: /a.js, env: [{name: K6_VUS, value: many}]}`,
			fault:  `loads.script.env: Invalid value: "search": K6_VUS is "many": write a whole number`,
		},
		"a variable from elsewhere": {script: `{path: /a.js, env: [{name: K6_VUS, valueFrom: {secretKeyRef: {name: a, key: b}}}], arguments: [-d5m]}`},
		"a variable of variables":   {script: `{path: /a.js, env: [{name: K6_VUS, value: $(USERS)}], arguments: [-d5m]}`},
	} {
		t.Run(name, func(t *testing.T) {
			faults, warnings := search(t, test.script).Validate(field.NewPath("loads"), files)
			if (len(faults) > 0) != (test.fault != "") || len(faults) > 0 && !strings.HasPrefix(faults[0].Error(), test.fault) {
				t.Errorf("faults %v, want %q", faults, test.fault)
			}
			if text := fmt.Sprint(warnings); (len(warnings) == 0) != (test.warning == "") || !strings.Contains(text, test.warning) {
				t.Errorf("warnings %q, want %q", warnings, test.warning)
			}
		})
	}
}

// An available script without transactions causes a warning that describes what is missing.
func TestScriptsWithoutTransactions(t *testing.T) {
	files := kind.ConfigMaps{"search": {
		"plain.js": "import http from 'k6/http';\nexport default function () { http.get('a', {tags: {step: 'A'}}); }",
		"group.js": "import { group } from 'k6';\nexport default function () { group('Search', () => {}); }",
	}}
	const plain, grouped = `{configMap: {name: search, key: plain.js}`, `{configMap: {name: search, key: group.js}`
	for script, want := range map[string]string{
		plain + `}`:                                     "the script of load \"search\" (plain.js) has no group: all its requests are measured together and belong to no transaction, so its runs are invalid; put them into k6 groups, or use one of their tags as the transaction: script.transactions {by: Tag, tag: name} (loads.script)",
		plain + `, transactions: {by: Group}}`:          "(plain.js) has no group",
		plain + `, transactions: {by: Tag, tag: page}}`: `(plain.js) does not set the tag "page": all its requests are measured together`,
		plain + `, transactions: {by: Trend}}`:          `(plain.js) does not set the tag "transaction": all its requests`,
		plain + `, transactions: {by: Tag, tag: step}}`: "",
		plain + `, transactions: {by: Tag, tag: name}}`: "",
		plain + `, results: Summary}`:                   "",
		grouped + `}`:                                   "",
		`{configMap: {name: search, key: absent.js}}`:   "",
		`{path: /a.js}`:                                 "",
	} {
		found := search(t, script).(kind.ScriptKind)
		got := ""
		if names, complete := found.DeclaredTransactions(files); complete && len(names) == 0 {
			got = found.NoTransactions(field.NewPath("loads")).String()
		}
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: it warns %q, want %q", script, got, want)
		}
	}
}

func TestLength(t *testing.T) {
	files := map[string]map[string]string{"search": {"main.js": "export const options = {duration: __ENV.LENGTH || '9h'}; export default function () {}"}}
	const fromMap = `configMap: {name: search, key: main.js}`
	for name, test := range map[string]struct {
		script string
		lasts  time.Duration
		by     string
		fault  string
	}{
		"by its options":             {script: `{` + fromMap + `}`, lasts: 9 * time.Hour, by: "the options in main.js"},
		"by its variables":           {script: `{` + fromMap + `, env: [{name: LENGTH, value: 8m}]}`, lasts: 8 * time.Minute, by: "the options in main.js"},
		"by k6's variables":          {script: `{` + fromMap + `, env: [{name: K6_DURATION, value: 7m}]}`, lasts: 7 * time.Minute},
		"by arguments":               {script: `{` + fromMap + `, env: [{name: K6_DURATION, value: 7m}], arguments: [-d, 8m]}`, lasts: 8 * time.Minute},
		"by stages in arguments":     {script: `{path: /a.js, arguments: [--stage, "3m:5", "--stage=5m:5"]}`, lasts: 8 * time.Minute},
		"by iterations":              {script: `{` + fromMap + `, arguments: [-i, "5"]}`, fault: "script.arguments: it ends when its iterations are done"},
		"in a ConfigMap not given":   {script: `{configMap: {name: other, key: main.js}}`, fault: `the script is unavailable: add the file with ConfigMap "other" with -f`},
		"in a key that is not there": {script: `{configMap: {name: search, key: other.js}}`, fault: `the script is unavailable: ConfigMap "search" has no key "other.js"`},
		"of PerfLab's workflows":     {script: `{path: /scripts/workflows.js, env: [{name: DURATION_SECONDS, value: "1800"}]}`, lasts: 30 * time.Minute},
		"of workflows for no time":   {script: `{path: /scripts/workflows.js, env: [{name: DURATION_SECONDS, value: long}]}`, fault: `script.env: "longs" is not a duration of at most a year: write for example 30m`},
		"in an image":                {script: `{path: /a.js}`, fault: "the script is unavailable: it is not in a ConfigMap"},
	} {
		t.Run(name, func(t *testing.T) {
			length, err := search(t, test.script).Length(kind.Assumptions{ConfigMaps: files})
			if want := (kind.Length{Lasts: test.lasts, By: test.by}); length != want {
				t.Errorf("length %+v, want %+v", length, want)
			}
			if (err == nil) != (test.fault == "") || err != nil && err.Error() != test.fault {
				t.Errorf("error %v, want %q", err, test.fault)
			}
		})
	}
}

func TestCheckFindsRequestsOutsideTransactions(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	measured := payload.New("search", "run", "1", at)
	if fault := search(t, `{path: /a.js}`).Check(measured, v1alpha1.Validity{}); fault != nil {
		t.Errorf("without requests: %+v", fault)
	}
	measured.Count("http_reqs", at, 7)
	fault := search(t, `{path: /a.js}`).Check(measured, v1alpha1.Validity{})
	if fault == nil || fault.Reason != v1alpha1.ReasonResultsMissing || !strings.Contains(fault.Message, `load "search" sent 7 requests in its window`) {
		t.Errorf("without transactions: %+v", fault)
	}
	measured.Record("keyword", "ok", at, time.Second)
	if fault := search(t, `{path: /a.js}`).Check(measured, v1alpha1.Validity{}); fault != nil {
		t.Errorf("with both: %+v", fault)
	}
}

// Only a trend shows which transactions succeeded; without one, requests and checks decide.
func TestJudgesRequestsUnlessByTrend(t *testing.T) {
	for settings, want := range map[string]bool{
		`{path: /a.js}`: true,
		`{path: /a.js, transactions: {by: Group}}`:                                          true,
		`{path: /a.js, transactions: {by: Tag, tag: name}}`:                                 true,
		`{path: /a.js, transactions: {by: Trend}}`:                                          false,
		`{path: /a.js, image: "grafana/k6:2", transactions: {by: Trend}, results: Summary}`: true,
	} {
		if got := search(t, settings).JudgesRequests(); got != want {
			t.Errorf("%s: judged by requests is %v", settings, got)
		}
	}
}

func TestDescribe(t *testing.T) {
	for settings, want := range map[string]string{
		`{path: /a.js}`: "the k6 script /a.js",
		`{path: /a.js, image: "grafana/k6:2.2.0", arguments: [-u, "8", -i, "1", -d, 30m]}`: "the k6 script /a.js in image grafana/k6:2.2.0, 8 users, 1 iteration, 30m",
	} {
		expect.Equal(t, want, search(t, settings).Describe(), "%s", settings)
	}
}
