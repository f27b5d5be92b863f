// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"perflab.dev/perflab/api/v1alpha1"
	kubecache "perflab.dev/perflab/internal/kube/cache"
	"perflab.dev/perflab/internal/kube/sizelimit"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/expect"
)

// What the runs of one experiment gave can be a hundred megabytes.
func TestOnePassAtATimeHoldsWhatRunsGave(t *testing.T) {
	scheme := runtime.NewScheme()
	expect.NoError(t, v1alpha1.AddToScheme(scheme))
	body := runOf("heap", is(v1alpha1.RunSucceeded))
	body.UID = "1"
	body.Status.Observations = []v1alpha1.Observation{{Metric: "search/Search/p95", Value: "12", Unit: "ms"}}
	byExperiment := func(object client.Object) []string { return []string{object.(*v1alpha1.PerfRun).Spec.Experiment} } //nolint:forcetypeassert // Nothing else is indexed.
	reader := fake.NewClientBuilder().WithScheme(scheme).WithObjects(body).WithIndex(&v1alpha1.PerfRun{}, kubecache.FieldExperiment, byExperiment).Build()
	r := &Reconciler{}
	r.Live = reader
	summed := func() *scope {
		experiment := &v1alpha1.PerfExperiment{}
		experiment.Namespace, experiment.Name = "lab", "heap"
		return &scope{experiment: experiment, runs: []v1alpha1.PerfRun{*kubecache.StripRun(body)}}
	}
	first, second := summed(), summed()
	if full, err := r.fullRuns(t.Context(), first); err != nil || len(full) != 1 || len(full[0].Status.Observations) != 1 {
		t.Fatalf("the first has %+v (%v)", full, err)
	}
	if _, err := r.fullRuns(t.Context(), second); !errors.Is(err, errBusy) {
		t.Errorf("the second has it beside the first: %v", err)
	}
	r.letGo(second)
	r.letGo(first)
	if _, err := r.fullRuns(t.Context(), second); err != nil {
		t.Errorf("once the first is done: %v", err)
	}
}

// What is remembered of raw results does not grow with the number of experiments.
func TestTracesAreRememberedWhileThereIsRoom(t *testing.T) {
	scripted := func(bytes int) traced {
		run := runOf("heap", is(v1alpha1.RunSucceeded))
		scripts := corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: naming.RawScripts(run.Name)}, Data: map[string]string{"cico.js": strings.Repeat("x", bytes)}}
		trace, err := report.TraceOf(run, scripts)
		expect.NoError(t, err)
		return traced{trace: trace, bytes: trace.Bytes()}
	}
	m := &memory{}
	named := func(name string) *v1alpha1.PerfExperiment {
		experiment := &v1alpha1.PerfExperiment{}
		experiment.Namespace, experiment.Name, experiment.UID = "lab", name, types.UID(name)
		return experiment
	}
	heap, pool := m.of(named("heap")), m.of(named("pool"))
	for _, run := range []types.UID{"1", "2", "2"} {
		m.keep(heap, run, scripted(mostTraced/3))
	}
	m.keep(pool, "3", scripted(mostTraced/2))
	if len(heap.traces) != 2 || len(pool.traces) != 0 {
		t.Errorf("%d and %d traces are remembered, want 2 and, for want of room, 0", len(heap.traces), len(pool.traces))
	}
	m.forget(client.ObjectKeyFromObject(named("heap")))
	m.keep(pool, "3", scripted(mostTraced/2))
	if len(pool.traces) != 1 || m.traced < mostTraced/2 || m.traced > mostTraced/2+mostTraced/8 {
		t.Errorf("once the other is forgotten, %d traces are remembered, in %d bytes", len(pool.traces), m.traced)
	}
	again := named("pool")
	again.UID = "another"
	if later := m.of(again); len(later.traces) != 0 || m.traced != 0 {
		t.Errorf("of an earlier experiment with this name %d traces are remembered, and %d bytes", len(later.traces), m.traced)
	}
}

// A matrix makes many arms, and each may differ in everything.
func TestDifferencesOfManyArmsHaveRoom(t *testing.T) {
	var all []arms.Arm
	for n := range 65 {
		system := v1alpha1.System{}
		for m := range 90 {
			value := strings.Repeat(fmt.Sprint(n%10), 300)
			system.Modules = append(system.Modules, v1alpha1.Module{Name: fmt.Sprintf("mod-%d", m), Image: "example.org/" + value})
		}
		all = append(all, arms.Arm{Name: fmt.Sprintf("arm-%d", n), Baseline: n == 0, System: system})
	}
	listed := armsStatus(all)
	text, err := json.Marshal(listed)
	if err != nil || len(text) > sizelimit.Differences+65*100 {
		t.Errorf("they take %d bytes (%v), want about %d", len(text), err, sizelimit.Differences)
	}
	if last := listed[64]; len(last.Differences) == 0 || int(last.MoreDifferences)+len(last.Differences) != 90 {
		t.Errorf("of an arm %d differences are listed and %d more counted, want 90 in all", len(last.Differences), last.MoreDifferences)
	}
}
