// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/cmd/perflab/exit"
	"perflab.dev/perflab/internal/testing/expect"
)

// suspended returns the names of suspended objects.
func (p *place) suspended(t *testing.T) []string {
	t.Helper()
	var names []string
	experiments, schedules := &v1alpha1.PerfExperimentList{}, &v1alpha1.PerfScheduleList{}
	expect.NoError(t, p.client.List(t.Context(), experiments, client.InNamespace(p.namespace)))
	expect.NoError(t, p.client.List(t.Context(), schedules, client.InNamespace(p.namespace)))
	for _, one := range experiments.Items {
		if one.Spec.Suspend {
			names = append(names, one.Name)
		}
	}
	for _, one := range schedules.Items {
		if one.Spec.Suspend {
			names = append(names, "schedule/"+one.Name)
		}
	}
	return names
}

func TestSuspendAndResume(t *testing.T) {
	lab := lab(t)
	for _, step := range []struct {
		arguments []string
		says      string
		suspended []string
	}{
		{[]string{"suspend", "heap"}, "perfexperiment.perflab.dev/heap suspended\n", []string{"heap"}},
		{[]string{"suspend", "heap"}, "perfexperiment.perflab.dev/heap suspended (no change)\n", []string{"heap"}},
		{[]string{"suspend", "pexp/heap", "schedule/nightly"}, "perfexperiment.perflab.dev/heap suspended (no change)\nperfschedule.perflab.dev/nightly suspended\n", []string{"heap", "schedule/nightly"}},
		{[]string{"resume", "kraft"}, "perfexperiment.perflab.dev/kraft resumed (no change)\n", []string{"heap", "schedule/nightly"}},
		{[]string{"resume", "schedule/nightly", "heap"}, "perfschedule.perflab.dev/nightly resumed\nperfexperiment.perflab.dev/heap resumed\n", nil},
		{[]string{"suspend", "schedule", "nightly"}, "perfschedule.perflab.dev/nightly suspended\n", []string{"schedule/nightly"}},
		{[]string{"resume", "psched", "nightly"}, "perfschedule.perflab.dev/nightly resumed\n", nil},
		{[]string{"suspend", "--all"}, "perfexperiment.perflab.dev/heap suspended\nperfexperiment.perflab.dev/kraft suspended\n", []string{"heap", "kraft"}},
		{[]string{"resume", "--all"}, "perfexperiment.perflab.dev/heap resumed\nperfexperiment.perflab.dev/kraft resumed\n", nil},
	} {
		got := lab.must(t, "", step.arguments...)
		expect.Equal(t, step.says, got.out, "perflab %q", step.arguments)
		expect.Equal(t, step.suspended, lab.suspended(t), "what is suspended after perflab %q", step.arguments)
	}
}

// -A includes all namespaces.
func TestSuspendInAllNamespaces(t *testing.T) {
	here, there := lab(t), lab(t)
	here.must(t, "", "suspend", "--all", "-A")
	here.must(t, "", "resume", "kraft")
	expect.Equal(t, []string{"heap"}, here.suspended(t), "here")
	expect.Equal(t, []string{"heap", "kraft"}, there.suspended(t), "there")
	there.must(t, "", "resume", "--all", "--all-namespaces")
	expect.Equal(t, nil, append(here.suspended(t), there.suspended(t)...), "in the end")
}

func TestSuspendProblems(t *testing.T) {
	lab := lab(t)
	for says, arguments := range map[string][]string{
		"set either names to suspend or --all":             {"suspend"},
		"set either names to resume or --all":              {"resume", "heap", "--all"},
		"remove -A, or use --all instead of the name":      {"suspend", "heap", "-A"},
		`"run/heap-1" must be NAME, experiment/NAME or`:    {"suspend", "run/heap-1"},
		`"schedule/" must be NAME, experiment/NAME or`:     {"suspend", "schedule/"},
		`PerfExperiment "hep" not found`:                   {"suspend", "hep"},
		`PerfSchedule "weekly" not found`:                  {"resume", "schedule/weekly"},
		"list schedules with kubectl get perfschedules -A": {"resume", "perfschedule/weekly"},
	} {
		lab.perflab(t, "", arguments...).ends(exit.Failed).warns(says)
	}
	expect.Equal(t, nil, lab.suspended(t), "what is suspended")
	lab.perflab(t, "", "suspend", "hep", "heap", "kraf").ends(exit.Failed).shows("perfexperiment.perflab.dev/heap suspended").warns(`"hep"`, `"kraf"`)
}

// Completion omits names that were already given.
func TestSuspendCompletesNames(t *testing.T) {
	lab := lab(t)
	got := lab.must(t, "", "__complete", "resume", "kraft", "")
	expect.Equal(t, "heap\nold\n:4\n", got.out)
}
