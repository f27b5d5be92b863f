// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
)

// scripted is an experiment whose load is a script of its own.
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

// inConfigMap puts a script where plan finds it.
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

func TestPlanCountsAScriptsLength(t *testing.T) {
	const fromMap = "{configMap: {name: search, key: main.js}}"
	const more = "12 runs (2 arms x 1 scenario x 6 blocks), more than 48m\n"
	cases := map[string]struct {
		reason, script, files string
		want                  []string
	}{
		"by its options": {
			reason: "the script says it, and the import ends before", script: fromMap, files: inConfigMap("{duration: '8m'}"),
			want: []string{"about 2h\n", "load search lasts 8m by the options in main.js and imports process"},
		},
		"by stages of scenarios": {
			reason: "so do its scenarios", script: fromMap,
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
			reason: "each adds to those before", script: `{path: /a.js, arguments: [--stage, "3m:5", "--stage=5m:5"]}`, want: []string{"about 2h\n"},
		},
		"without the script": {
			reason: "the plan says which file is missing", script: fromMap,
			want: []string{more, `not counted: load search of scenario searches, whose length is not known: only the script knows; add the file with ConfigMap "search" with -f; where time is to end it, write script.arguments: [--duration, 30m]`},
		},
		"without the key":        {reason: "or which key", script: "{configMap: {name: search, key: other.js}}", files: inConfigMap("{}"), want: []string{more, `ConfigMap "search" has no key "other.js"`}},
		"from the image":         {reason: "nobody looks into images", script: "{path: /scripts/search.js}", want: []string{more, "only the script knows, which is in no ConfigMap"}},
		"by iterations":          {reason: "no time is made up", script: fromMap, files: inConfigMap("{iterations: 100}"), want: []string{more, "the script in main.js: it ends when its iterations are done"}},
		"computed":               {reason: "nothing is run", script: fromMap, files: inConfigMap("{duration: length()}"), want: []string{more, "the script in main.js: options.duration is computed when it runs"}},
		"iterations as argument": {reason: "arguments take the options' place", script: `{configMap: {name: search, key: main.js}, arguments: [-i, "5"]}`, files: inConfigMap("{duration: '8m'}"), want: []string{more, "script.arguments: it ends when its iterations are done"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := perflab(t, scripted(tc.script, tc.files), "plan", "-f", "-", "-f", "testdata/system.yaml", "--overhead", "2m")
			for _, want := range tc.want {
				if got.code != 0 || !strings.Contains(got.out, want) {
					t.Errorf("%s: the plan does not say %q:\n%.900s%s", tc.reason, want, got.out, got.problems)
				}
			}
		})
	}
}

// A load that lasts until another ends takes no time of its own.
func TestPlanAsksNoLengthOfALoadThatAnotherEnds(t *testing.T) {
	text := strings.Replace(scripted("{path: /a.js}", ""), "{path: /a.js}", "{path: /a.js}, until: create-1k", 1)
	got := perflab(t, text, "plan", "-f", "-", "-f", "testdata/system.yaml")
	if got.code != 0 || !strings.Contains(got.out, "about 48m") || strings.Contains(got.out, "not counted") {
		t.Errorf("%.900s%s", got.out, got.problems)
	}
}
