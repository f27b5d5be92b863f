// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/api/v1alpha1"
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
	lab.stored(t, "done", complete(v1alpha1.VerdictBetter).experiment.Status)
	sameData(t, lab, "status", "done")
	var got experimentJSON
	lab.must(t, "", "status", "done", "-o", "json").read(&got)
	want := experimentJSON{
		Namespace: lab.namespace, Name: "done", Phase: v1alpha1.ExperimentComplete, Over: true,
		Runs: v1alpha1.RunCounts{Planned: 12, Done: 12}, Blocks: blocksJSON{Planned: 6},
		Comparisons: complete(v1alpha1.VerdictBetter).experiment.Status.Comparisons[:1],
		Changes:     []v1alpha1.SeriesChange{}, InvalidRuns: []v1alpha1.InvalidRun{}, Warnings: []string{}, Conditions: got.Conditions,
	}
	expect.Equal(t, want, got)
	lab.perflab(t, "", "status", "done", "-o", "xml").ends(exitFailed).warns(`unknown output format "xml": write -o text, -o json or -o yaml`)
}

// A running experiment has the same fields, plus those known only from its
// runs.
func TestStateOfRunningExperiment(t *testing.T) {
	seen := underway()
	got := seen.state(after(30).Time)
	if got.SecondsLeft == nil || *got.SecondsLeft != 35*60 || got.Over || got.Current.Run != "partitions-2-two" || got.InvalidRuns[0].Reason != v1alpha1.ReasonTooManyErrors {
		t.Errorf("%+v", got)
	}
	seen.experiment.Spec.Design.Blocks, seen.experiment.Spec.Scenarios = 6, make([]v1alpha1.Scenario, 1)
	seen.experiment.Status.Arms = make([]v1alpha1.ArmStatus, 2)
	seen.experiment.Status.Analysis = &v1alpha1.AnalysisStatus{Blocks: 1}
	expect.Equal(t, blocksJSON{Planned: 3, Complete: 1}, seen.state(noon).Blocks, "blocks, of 6 runs under 1 scenario of 2 arms")
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
	var listed struct{ Experiments []experimentJSON }
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
		perflab(t, "", arguments...).ends(exitFailed).warns(says)
	}
}

// After a timeout, the error describes the last state.
func TestFollowTimesOut(t *testing.T) {
	seen := underway()
	seen.experiment.Namespace = "lab"
	// Only the run has the progress of its loads.
	seen.experiment.Status.Current.Message = "loads are running"
	reader := fake.NewClientBuilder().WithScheme(newScheme()).WithObjects(&seen.experiment).Build()
	how := followOptions{timeout: time.Second, interval: time.Hour}
	err := follow(t.Context(), reader, client.ObjectKeyFromObject(&seen.experiment), newScreen(io.Discard), how)
	const want = `watching experiment "partitions": timed out after 1s (--timeout): Running; 2 of 6 runs are done; run partitions-2-two: Loading: loads are running`
	if exitCode(err) != exitTimeout || err.Error() != want {
		t.Errorf("exit code %d: %v\nwant\n%s", exitCode(err), err, want)
	}
	got := perflab(t, "", "status", "slow", "--watch", "--timeout", "1s", "--server", "https://127.0.0.1:1").ends(exitTimeout)
	got.warns("timed out after 1s (--timeout): reading failed: ", "127.0.0.1:1")
}

// Watching in a data format writes a document for each change, and nothing
// else.
func TestWatchForPrograms(t *testing.T) {
	for _, format := range []string{formatJSON, formatYAML} {
		var out, notes bytes.Buffer
		screen := newScreen(&out)
		screen.output, screen.notes = &output{format: format}, &notes
		seen := underway()
		screen.show(seen, after(30).Time)
		screen.show(seen, after(31).Time)
		screen.note("reading failed: timeout")
		screen.show(complete(v1alpha1.VerdictBetter), after(40).Time)
		expect.Equal(t, 2, strings.Count(out.String(), "secondsLeft"), "documents of %s", format)
		expect.Equal(t, format == formatYAML, strings.HasPrefix(out.String(), "---\n"), "%s begins with a line", format)
		expect.Equal(t, "reading failed: timeout\n", notes.String())
	}
}

func TestQueueForPrograms(t *testing.T) {
	lab := lab(t)
	lab.stored(t, "first", v1alpha1.PerfExperimentStatus{Lane: &v1alpha1.LaneStatus{Name: "the cluster", Position: 1, Behind: "team/kraft"}, Progress: "0/12"})
	sameData(t, lab, "queue")
	want := []queuedJSON{{
		Lane: "the cluster", Position: 1, Namespace: lab.namespace, Name: "first", State: stateWaiting, Behind: "team/kraft", Progress: "0/12",
	}}
	for _, arguments := range [][]string{{"queue", "-o", "json"}, {"queue", "-A", "-o", "json"}} {
		var got struct{ Queue []queuedJSON }
		lab.must(t, "", arguments...).read(&got)
		expect.Equal(t, want, got.Queue, "perflab %q", arguments)
	}
	var empty struct{ Queue []queuedJSON }
	lab.other(t).must(t, "", "queue", "-o", "yaml").read(&empty)
	expect.Equal(t, []queuedJSON{}, empty.Queue)
}

func TestDoctorForPrograms(t *testing.T) {
	lab := measured(t)
	sameData(t, lab, "doctor")
	var got struct {
		Findings []struct{ Subject, State, Message string }
	}
	lab.perflab(t, "", "doctor", "-o", "json").ends(exitFailed).warns("prerequisites are missing").read(&got)
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
		"perflab status": experimentJSON{}, "perflab queue": queuedJSON{}, "perflab doctor": finding{},
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
