// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/cmd/perflab/doctor"
	"perflab.dev/perflab/cmd/perflab/exit"
	"perflab.dev/perflab/cmd/perflab/follow"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/recorded"
	"perflab.dev/perflab/internal/testing/rules"
)

// read decodes JSON or YAML output.
func (a answer) read(into any) {
	a.t.Helper()
	expect.NoError(a.t, yaml.UnmarshalStrict([]byte(a.out), into), "the output of perflab %q:\n%s", a.arguments, a.out)
}

// sameData verifies that both formats have the same data.
func sameData(t *testing.T, of *place, arguments ...string) {
	t.Helper()
	var fromJSON, fromYAML any
	text := of.perflab(t, "", append(arguments, "-o", "json")...)
	expect.NoError(t, json.Unmarshal([]byte(text.out), &fromJSON), "perflab %q", arguments)
	asYAML := of.perflab(t, "", append(arguments, "-o", "yaml")...)
	expect.NoError(t, yaml.Unmarshal([]byte(asYAML.out), &fromYAML), "perflab %q", arguments)
	expect.Equal(t, fromJSON, fromYAML, "perflab %q", arguments)
	if strings.HasPrefix(asYAML.out, "{") {
		t.Errorf("perflab %q -o yaml writes JSON", arguments)
	}
}

func TestStatusForPrograms(t *testing.T) {
	lab := lab(t)
	compared := []v1alpha1.Comparison{{Arm: "two", Scenario: "cico", Metric: "cico/Check-In/p95", Primary: true, Scale: "ratio", Verdict: v1alpha1.VerdictBetter}}
	lab.stored(t, "done", v1alpha1.PerfExperimentStatus{Phase: v1alpha1.ExperimentComplete, Runs: &v1alpha1.RunCounts{Planned: 12, Done: 12}, Comparisons: compared})
	sameData(t, lab, "status", "done")
	var got follow.ExperimentJSON
	lab.must(t, "", "status", "done", "-o", "json").read(&got)
	want := follow.ExperimentJSON{
		Namespace: lab.namespace, Name: "done", Phase: v1alpha1.ExperimentComplete, Over: true,
		Runs: v1alpha1.RunCounts{Planned: 12, Done: 12}, Blocks: follow.BlocksJSON{Planned: 6},
		Comparisons: compared,
		Changes:     []v1alpha1.SeriesChange{}, InvalidRuns: []v1alpha1.InvalidRun{}, Warnings: []string{}, Conditions: got.Conditions,
	}
	expect.Equal(t, want, got)
	lab.perflab(t, "", "status", "done", "-o", "xml").ends(exit.Failed).warns(`unknown output format "xml": write -o text, -o json or -o yaml`)
}

// Without a name, status lists the experiments of the namespace, with -A all.
func TestStatusLists(t *testing.T) {
	here, there := lab(t), lab(t)
	table := here.must(t, "", "status").out
	for _, name := range []string{"heap", "kraft", "old"} {
		if strings.Count(table, "\n  "+name+" ") != 1 {
			t.Errorf("%s is not listed once:\n%s", name, table)
		}
	}
	expect.Contains(t, table, []string{"NAME ", "  Pending   2/12  -        queued  "}, "the list")
	all := here.must(t, "", "status", "-A").out
	expect.Contains(t, all, []string{"  NAMESPACE ", "  " + here.namespace + "  heap ", "  " + there.namespace + "  heap "}, "the list of all")
	sameData(t, here, "status", "-A")
	var listed struct{ Experiments []follow.ExperimentJSON }
	here.must(t, "", "status", "-o", "yaml").read(&listed)
	if len(listed.Experiments) != 3 || listed.Experiments[0].Name != "heap" || listed.Experiments[1].WaitingFor != "queued" {
		t.Errorf("%+v", listed)
	}
	empty := here.other(t)
	expect.Equal(t, "No experiments found in namespace "+empty.namespace+"; use -A for all namespaces.\n", empty.must(t, "", "status").out)
	expect.Equal(t, "{\n  \"experiments\": []\n}\n", empty.must(t, "", "status", "-o", "json").out)
}

func TestStatusRefusesOptions(t *testing.T) {
	for says, arguments := range map[string][]string{
		"a name belongs to one namespace":   {"status", "heap", "-A"},
		"require the name of an experiment": {"status", "--watch"},
		"--watch and --fail-on require":     {"status", "-A", "--fail-on", "worse"},
		"--timeout -1s must be at least 0":  {"status", "heap", "--watch", "--timeout", "-1s"},
		"--interval 0s above 0":             {"run", "-f", "x.yaml", "--interval", "0"},
		"-o text, -o json or -o yaml":       {"doctor", "-o", "table"},
		"-o table, -o json or -o yaml":      {"queue", "-o", "text"},
	} {
		perflab(t, "", arguments...).ends(exit.Failed).warns(says)
	}
}

func TestQueueForPrograms(t *testing.T) {
	lab := lab(t)
	lab.stored(t, "first", v1alpha1.PerfExperimentStatus{Lane: &v1alpha1.LaneStatus{Name: "the cluster", Position: 1, Behind: "team/kraft"}, Progress: "0/12"})
	sameData(t, lab, "queue")
	want := []follow.QueuedJSON{{
		Lane: "the cluster", Position: 1, Namespace: lab.namespace, Name: "first", State: follow.StateWaiting, Behind: "team/kraft", Progress: "0/12",
	}}
	for _, arguments := range [][]string{{"queue", "-o", "json"}, {"queue", "-A", "-o", "json"}} {
		var got struct{ Queue []follow.QueuedJSON }
		lab.must(t, "", arguments...).read(&got)
		expect.Equal(t, want, got.Queue, "perflab %q", arguments)
	}
	var empty struct{ Queue []follow.QueuedJSON }
	lab.other(t).must(t, "", "queue", "-o", "yaml").read(&empty)
	expect.Equal(t, []follow.QueuedJSON{}, empty.Queue)
}

// A cluster that does not answer is read again, until the timeout.
func TestStatusTimesOut(t *testing.T) {
	got := perflab(t, "", "status", "slow", "--watch", "--timeout", "1s", "--server", "https://127.0.0.1:1").ends(exit.Timeout)
	got.warns("timed out after 1s (--timeout): reading failed: ", "127.0.0.1:1")
}

func TestDoctorForPrograms(t *testing.T) {
	lab := measured(t)
	sameData(t, lab, "doctor")
	var got struct {
		Findings []struct{ Subject, State, Message string }
	}
	lab.perflab(t, "", "doctor", "-o", "json").ends(exit.Failed).warns("prerequisites are missing").read(&got)
	states := map[string]string{}
	for _, found := range got.Findings {
		states[found.Subject] = found.State
	}
	for subject, want := range map[string]string{"PerfLab's kinds": "OK", "Strimzi": "Warning", "PerfLab's operator": "Missing"} {
		expect.Equal(t, want, states[subject], subject)
	}
}

// Exactly the documented fields are written.
func TestOutputFieldsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/command-line.md")
	expect.NoError(t, err)
	for heading, value := range map[string]any{
		"perflab status": follow.ExperimentJSON{}, "perflab queue": follow.QueuedJSON{}, "perflab doctor": doctor.Finding{},
	} {
		_, section, found := strings.Cut(string(text), "\n### `"+heading+"`\n")
		if !found {
			t.Errorf("there is no section of %s", heading)
		}
		section, _, _ = strings.Cut(section, "\n#")
		var documented, want []string
		for _, row := range fieldCell.FindAllStringSubmatch(section, -1) {
			documented = append(documented, row[1])
		}
		for _, field := range reflect.VisibleFields(reflect.TypeOf(value)) {
			want = append(want, field.Tag.Get("json"))
		}
		expect.Equal(t, want, documented, "fields of %s", heading)
	}
}

var fieldCell = regexp.MustCompile("(?m)^\\| `(\\w+)` \\|")

// stored creates an experiment with a status in the namespace.
func (p *place) stored(t *testing.T, name string, status v1alpha1.PerfExperimentStatus) {
	t.Helper()
	input := recorded.Experiment(1)
	made := input.Experiment.DeepCopy()
	made.Namespace, made.Name, made.UID = p.namespace, name, ""
	expect.NoError(t, p.client.Create(t.Context(), made))
	made.Status = status
	expect.NoError(t, p.client.Status().Update(t.Context(), made))
}

// lab has two running experiments, a complete one, and a schedule.
func lab(t *testing.T) *place {
	t.Helper()
	made := measured(t).other(t)
	for name, phase := range map[string]v1alpha1.ExperimentPhase{"heap": v1alpha1.ExperimentRunning, "kraft": v1alpha1.ExperimentPending, "old": v1alpha1.ExperimentComplete} {
		made.stored(t, name, v1alpha1.PerfExperimentStatus{Phase: phase, Progress: "2/12", WaitingFor: "queued"})
	}
	schedule := rules.Schedule(t)
	schedule.SetNamespace(made.namespace)
	expect.NoError(t, made.client.Create(t.Context(), schedule))
	return made
}
