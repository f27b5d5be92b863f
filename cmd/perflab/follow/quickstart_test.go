// SPDX-License-Identifier: Apache-2.0

package follow

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"perflab.dev/perflab/cmd/perflab/source"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/planning/plan"
	"perflab.dev/perflab/internal/testing/expect"
)

// shownStatus is a status of a sample's experiment that a page shows.
type shownStatus struct {
	files []string
	// done is the number of finished runs of equal duration, and the age of the
	// current one.
	done          int
	each, elapsed time.Duration
	// running is how long each of its loads has run, progress their reports.
	running  []time.Duration
	progress []*v1alpha1.LoadProgress
}

// snapshot is the state of the cluster at that time.
func (s shownStatus) snapshot(t *testing.T) snapshot {
	t.Helper()
	read, err := source.ReadManifest(t.Context(), source.NewInput(nil, resource.MustParse(source.DefaultMaxMemory)), s.files)
	expect.NoError(t, err)
	experiment := read.Experiments[0]
	system, err := read.System(experiment)
	expect.NoError(t, err)
	planned := plan.From(&experiment.Spec, *system, plan.Seed(experiment))
	current := planned.Runs[s.done]
	experiment.Status = v1alpha1.PerfExperimentStatus{
		Phase: v1alpha1.ExperimentRunning,
		Runs:  &v1alpha1.RunCounts{Planned: int32(len(planned.Runs)), Done: int32(s.done)},
		Current: &v1alpha1.CurrentRun{
			Run:   naming.Long.Run(experiment.Name, current.Block, current.Arm, current.Scenario, 1),
			Phase: v1alpha1.RunLoading, Message: s.message(experiment.Spec.Scenarios, current.Scenario),
		},
	}
	seen := snapshot{experiment: *experiment}
	for range s.done {
		seen.runs = append(seen.runs, begun(v1alpha1.RunSucceeded, s.each))
		seen.runs[len(seen.runs)-1].Status.Timings.Finish = &metav1.Time{Time: noon}
	}
	seen.runs = append(seen.runs, begun(v1alpha1.RunLoading, s.elapsed))
	return seen
}

func begun(phase v1alpha1.RunPhase, ago time.Duration) v1alpha1.PerfRun {
	return v1alpha1.PerfRun{Status: v1alpha1.PerfRunStatus{
		Phase: phase, Timings: v1alpha1.RunTimings{ProvisionStart: &metav1.Time{Time: noon.Add(-ago)}},
	}}
}

// message is the run's message on its loads.
func (s shownStatus) message(scenarios []v1alpha1.Scenario, name string) string {
	at := slices.IndexFunc(scenarios, func(scenario v1alpha1.Scenario) bool { return scenario.Name == name })
	run := &v1alpha1.PerfRun{Spec: v1alpha1.PerfRunSpec{Scenario: scenarios[at]}}
	states := map[string]load.State{}
	for i, one := range scenarios[at].Loads {
		states[one.Name] = load.State{Started: true}
		status := v1alpha1.LoadStatus{Name: one.Name, StartTime: &metav1.Time{Time: noon.Add(-s.running[i])}}
		if s.progress != nil {
			status.Progress = s.progress[i]
		}
		run.Status.Loads = append(run.Status.Loads, status)
	}
	return load.Progress(run, states, noon)
}

func p95(transaction, milliseconds string) v1alpha1.TransactionProgress {
	return v1alpha1.TransactionProgress{Transaction: transaction, Milliseconds: milliseconds}
}

// The first pages show the current output for a running experiment.
func TestPagesShowStatus(t *testing.T) {
	const samples = "../../../config/samples/"
	demo := shownStatus{
		files: []string{samples + "demo.yaml"}, done: 3, each: 25 * time.Second, elapsed: 18 * time.Second,
		running: []time.Duration{11 * time.Second},
	}
	early := demo.snapshot(t).experiment.Status.Current
	demo.progress = []*v1alpha1.LoadProgress{
		{Users: 1, RequestsPerSecond: "10.2", ErrorPercent: "0", P95: []v1alpha1.TransactionProgress{p95("Search", "52.4")}},
	}
	effect := shownStatus{
		files: []string{samples + "local/library.yaml", samples + "local/injected-effect.yaml"},
		done:  2, each: 50 * time.Second, elapsed: 35 * time.Second, running: []time.Duration{15 * time.Second},
		progress: []*v1alpha1.LoadProgress{{Users: 1, RequestsPerSecond: "4.9", ErrorPercent: "0", P95: []v1alpha1.TransactionProgress{p95("Search", "43.2")}}},
	}
	for page, wants := range map[string][]string{
		"../../../docs/quick-start.md": {indented(textOf(effect.snapshot(t), noon)), indented(textOf(demo.snapshot(t), noon))},
		// The experiment's status has no progress of loads.
		"../../../README.md": {early.Run + "   " + string(early.Phase) + ": loads are running"},
	} {
		text, err := os.ReadFile(page)
		expect.NoError(t, err)
		expect.Contains(t, string(text), wants, page)
	}
}

// indented is the indentation in a list of the page.
func indented(text string) string {
	return "   " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n   ") + "\n"
}
