// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/recorded"
)

// The report names the source of a script.
func TestScriptsAreNamed(t *testing.T) {
	configMap := &v1alpha1.ConfigMapKey{Name: "title-search", Key: "main.js"}
	cases := map[string]struct {
		load v1alpha1.Load
		want string
	}{
		"Arguments": {
			v1alpha1.Load{Script: &v1alpha1.Script{ConfigMap: configMap, Arguments: []string{"--vus", "1", "--duration=30s"}}},
			"he k6 script main.js of ConfigMap title-search, 1 user, 30s",
		},
		"ShortNames": {
			v1alpha1.Load{Script: &v1alpha1.Script{ConfigMap: configMap, Arguments: []string{"-u", "8", "-i", "200"}}},
			"he k6 script main.js of ConfigMap title-search, 8 users, 200 iterations",
		},
		"NothingToldToK6": {
			v1alpha1.Load{Script: &v1alpha1.Script{ConfigMap: configMap, Arguments: []string{"--vus"}}, Duration: &metav1.Duration{Duration: time.Minute}},
			"he k6 script main.js of ConfigMap title-search, 1m",
		},
		"Volume": {
			v1alpha1.Load{Script: &v1alpha1.Script{
				PersistentVolumeClaim: &v1alpha1.ScriptVolume{ClaimName: "scripts", File: "search/main.js"}, Image: "grafana/k6:2.2.0",
			}},
			"he k6 script search/main.js of volume scripts in image grafana/k6:2.2.0",
		},
		"Path": {v1alpha1.Load{Script: &v1alpha1.Script{Path: "/scripts/search.js"}}, "he k6 script /scripts/search.js"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			input := recorded.Experiment(seed)
			input.Runs = nil
			tc.load.Name = "search"
			input.Experiment.Spec.Scenarios = []v1alpha1.Scenario{{Name: "searches", Loads: []v1alpha1.Load{tc.load}}}
			page := written(t, reportOf(t, input), "report.md")
			expect.Contains(t, page, []string{"| T" + tc.want + " |", "search (t" + tc.want + ")."}, "the report")
		})
	}
}

// throughput gives every run observations of a load's requests.
func throughput(input *report.Input, load string) {
	for i := range input.Runs {
		run := &input.Runs[i]
		per := 40 + float64(i%3)
		run.Status.Observations = append(run.Status.Observations,
			v1alpha1.Observation{Metric: load + "/requestsPerSecond", Value: strconv.FormatFloat(per, 'f', -1, 64), Unit: "1/s"})
	}
}

func TestThroughputIsShownWithItsDirection(t *testing.T) {
	input := recorded.Experiment(seed)
	load := input.Experiment.Spec.Scenarios[0].Loads[0].Name
	throughput(&input, load)
	page := written(t, reportOf(t, input), "report.md")
	expect.Contains(t, page, []string{"Throughput (higher is better)", "`" + load + "/requestsPerSecond`"}, "the report")
}

// Reports have the rule for scripts only if their runs were checked by it.
func TestRulesOfScripts(t *testing.T) {
	const rule = "of a script's requests and"
	input := recorded.Experiment(seed)
	for i := range input.Runs {
		input.Runs[i].Spec.Scenario.Loads = []v1alpha1.Load{{Name: "search", Script: &v1alpha1.Script{Path: "/search.js"}}}
	}
	if page := written(t, reportOf(t, input), "report.md"); strings.Contains(page, rule) {
		t.Errorf("runs that are older than the rule are told to keep it")
	}
	input.Runs[0].Status.Loads = []v1alpha1.LoadStatus{{Name: "search", Requests: &v1alpha1.FailedShare{Count: 3, FailedPercent: "0"}}}
	if page := written(t, reportOf(t, input), "report.md"); !strings.Contains(page, rule) {
		t.Errorf("the report does not say %q", rule)
	}
}

func TestScriptsStandInTheAppendix(t *testing.T) {
	const digest = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	input := recorded.Experiment(seed)
	for i := range input.Runs {
		run := &input.Runs[i]
		run.Spec.Scenario.Loads = []v1alpha1.Load{{Name: "search", Script: &v1alpha1.Script{ConfigMap: &v1alpha1.ConfigMapKey{Name: "search-script", Key: "main.js"}}}}
		run.Status.Loads = []v1alpha1.LoadStatus{{Name: "search", Script: &v1alpha1.ScriptStatus{SHA256: digest, Record: naming.RawScripts(run.Name)}}}
		kept := corev1.ConfigMap{Data: map[string]string{"search.main.js": "const password = 'hunter2';\nsearchForWater();\n"}}
		kept.Name, kept.Namespace, kept.Labels = naming.RawScripts(run.Name), run.Namespace, naming.RunLabels(run)
		input.Raw = append(input.Raw, kept)
	}
	page := written(t, reportOf(t, input), "report.md")
	for words, want := range map[string]int{"searchForWater();": 1, "hunter2": 0} {
		if got := strings.Count(page, words); got != want {
			t.Errorf("the report says %q %d times, want %d", words, got, want)
		}
	}
	if !strings.Contains(page, digest) || !strings.Contains(page, "main.js of ConfigMap search-script") {
		t.Error("the report does not name the script with its digest")
	}
	input.Raw = nil
	if page := written(t, reportOf(t, input), "report.md"); !strings.Contains(page, digest) {
		t.Error("without the text the digest is lost, too")
	}
}
