// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	kubecache "perflab.dev/perflab/internal/kube/cache"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/objects"
)

// The results of one experiment's runs can take a hundred megabytes.
func TestOnePassAtATimeHoldsWhatRunsGave(t *testing.T) {
	scheme := runtime.NewScheme()
	expect.NoError(t, v1alpha1.AddToScheme(scheme))
	body := objects.Run(objects.Experiment("heap"), "heap-1", func(run *v1alpha1.PerfRun) { run.Status.Phase = v1alpha1.RunSucceeded })
	body.UID = "1"
	body.Status.Observations = []v1alpha1.Observation{{Metric: "search/Search/p95", Value: "12", Unit: "ms"}}
	byExperiment := func(object client.Object) []string { return []string{object.(*v1alpha1.PerfRun).Spec.Experiment} } //nolint:forcetypeassert // Nothing else is indexed.
	reader := fake.NewClientBuilder().WithScheme(scheme).WithObjects(body).WithIndex(&v1alpha1.PerfRun{}, kubecache.FieldExperiment, byExperiment).Build()
	m := &Maker{Tools: &component.Tools{Live: reader}}
	summed := func() *Subject {
		experiment := &v1alpha1.PerfExperiment{}
		experiment.Namespace, experiment.Name = "lab", "heap"
		return &Subject{Experiment: experiment, Runs: []v1alpha1.PerfRun{*kubecache.StripRun(body)}}
	}
	first, second := summed(), summed()
	if full, err := m.FullRuns(t.Context(), first); err != nil || len(full) != 1 || len(full[0].Status.Observations) != 1 {
		t.Fatalf("the first has %+v (%v)", full, err)
	}
	if _, err := m.FullRuns(t.Context(), second); !errors.Is(err, ErrBusy) {
		t.Errorf("the second has it beside the first: %v", err)
	}
	m.Release(second)
	m.Release(first)
	if _, err := m.FullRuns(t.Context(), second); err != nil {
		t.Errorf("once the first is done: %v", err)
	}
}

// The memory for raw results does not grow with the number of experiments.
func TestTracesAreRememberedWhileThereIsRoom(t *testing.T) {
	scripted := func(bytes int) traced {
		run := objects.Run(objects.Experiment("heap"), "heap-1", func(run *v1alpha1.PerfRun) { run.Status.Phase = v1alpha1.RunSucceeded })
		scripts := corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: naming.RawScripts(run.Name)}, Data: map[string]string{"cico.js": strings.Repeat("x", bytes)}}
		trace, err := report.TraceOf(run, scripts)
		expect.NoError(t, err)
		return traced{trace: trace, bytes: trace.Bytes()}
	}
	m := &memories{}
	named := func(name string) *v1alpha1.PerfExperiment {
		experiment := &v1alpha1.PerfExperiment{}
		experiment.Namespace, experiment.Name, experiment.UID = "lab", name, types.UID(name)
		return experiment
	}
	heap, pool := m.of(named("heap")), m.of(named("pool"))
	for _, run := range []types.UID{"1", "2", "2"} {
		m.keep(heap, run, scripted(maxTraced/3))
	}
	m.keep(pool, "3", scripted(maxTraced/2))
	if len(heap.traces) != 2 || len(pool.traces) != 0 {
		t.Errorf("%d and %d traces are remembered, want 2 and, for want of room, 0", len(heap.traces), len(pool.traces))
	}
	m.forget(client.ObjectKeyFromObject(named("heap")))
	m.keep(pool, "3", scripted(maxTraced/2))
	if len(pool.traces) != 1 || m.traced < maxTraced/2 || m.traced > maxTraced/2+maxTraced/8 {
		t.Errorf("once the other is forgotten, %d traces are remembered, in %d bytes", len(pool.traces), m.traced)
	}
	again := named("pool")
	again.UID = "another"
	if later := m.of(again); len(later.traces) != 0 || m.traced != 0 {
		t.Errorf("of an earlier experiment with this name %d traces are remembered, and %d bytes", len(later.traces), m.traced)
	}
}
