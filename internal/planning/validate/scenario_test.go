// SPDX-License-Identifier: Apache-2.0

package validate_test

import (
	"strings"
	"testing"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/validate"
)

func TestScenariosAreValidated(t *testing.T) {
	importAfter := func(name, after string) v1alpha1.Load {
		return v1alpha1.Load{Name: name, After: after, DataImport: &v1alpha1.DataImport{Records: 1}}
	}
	script := func(arguments ...string) v1alpha1.Load {
		return v1alpha1.Load{Name: "search", Script: &v1alpha1.Script{Path: "/search.js", Arguments: arguments}}
	}
	cases := map[string]struct {
		loads []v1alpha1.Load
		want  string
	}{
		"one after another": {loads: []v1alpha1.Load{importAfter("a", ""), importAfter("b", "a"), importAfter("c", "b")}},
		"in a circle": {
			loads: []v1alpha1.Load{importAfter("a", ""), importAfter("b", "c"), importAfter("c", "b")},
			want:  `spec.scenarios[0].loads[1].after: Invalid value: "c": load "b" never starts: it waits for "c", which in turn waits for it; remove after from one of them`,
		},
		"files at a time": {loads: []v1alpha1.Load{{Name: "a", DataImport: &v1alpha1.DataImport{Records: 1, Imports: 4, Parallel: 4}}}},
		"too few files at a time": {
			loads: []v1alpha1.Load{{Name: "a", DataImport: &v1alpha1.DataImport{Records: 1, Imports: 2, Parallel: 4}}},
			want:  `spec.scenarios[0].loads[0].dataImport.parallel: Invalid value: 4: load "a" has 2 files: set dataImport.imports to 4 or more`,
		},
		"called like the system": {loads: []v1alpha1.Load{importAfter("system", "")}},
		"called like a part of it": {
			loads: []v1alpha1.Load{importAfter("node", "")},
			want:  `spec.scenarios[0].loads[0].name: Invalid value: "node": the metrics of load "node" cannot be distinguished from those of servers: rename it, for example node-load`,
		},
		"arguments of its own": {loads: []v1alpha1.Load{script("--vus", "8", "--duration=30m")}},
		"an output": {
			loads: []v1alpha1.Load{script("--vus", "8", "--out=json")},
			want:  `spec.scenarios[0].loads[0].script.arguments[2]: Invalid value: "--out=json": --out=json is set by PerfLab: remove it`,
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			made := experiment()
			made.Spec.Scenarios[0].Loads = test.loads
			faults, _ := validate.Experiment(made, validate.Known{})
			var got []string
			for _, fault := range faults {
				got = append(got, fault.Error())
			}
			text := strings.Join(got, "\n")
			if (test.want == "") != (text == "") || !strings.Contains(text, test.want) {
				t.Errorf("faults %q, want %q", text, test.want)
			}
		})
	}
}

func TestSummariesOfSeveralRunnersWarn(t *testing.T) {
	made := experiment()
	two := int32(2)
	made.Spec.Analysis.Primary = []string{"search/keyword/p95"}
	made.Spec.Scenarios[0].Loads = []v1alpha1.Load{{Name: "search", Parallelism: &two, Script: &v1alpha1.Script{Path: "/a.js", Image: "grafana/k6:2.2.0"}}}
	_, warnings := validate.Experiment(made, validate.Known{})
	if len(warnings) != 1 || !strings.Contains(warnings[0].Message, "percentiles of several runners") {
		t.Errorf("warnings %q, want one on percentiles", warnings)
	}
}
