// SPDX-License-Identifier: Apache-2.0

package retention

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/objects"
)

// noted is a work queue that records what is added.
type noted struct {
	workqueue.TypedRateLimitingInterface[reconcile.Request]
	names []string
}

func (n *noted) Add(request reconcile.Request) { n.names = append(n.names, request.Name) }

// completed experiments have ten runs, one of them invalid.
func completed(name string, hour int, edits ...func(*v1alpha1.PerfExperiment)) v1alpha1.PerfExperiment {
	settled := func(e *v1alpha1.PerfExperiment) {
		e.Status.Settled, e.Status.Runs = "abc", &v1alpha1.RunCounts{Planned: 9, Done: 9, Invalid: 1}
		e.Status.CompletionTime = &metav1.Time{Time: time.Date(2026, 3, 2, hour, 0, 0, 0, time.UTC)}
	}
	return *objects.Experiment(name, append([]func(*v1alpha1.PerfExperiment){settled}, edits...)...)
}

func goesOn(e *v1alpha1.PerfExperiment) { e.Status.Settled = "" }
func isGone(e *v1alpha1.PerfExperiment) {
	e.Status.History = &v1alpha1.HistoryStatus{Runs: &metav1.Time{}}
}

func says1h(e *v1alpha1.PerfExperiment) {
	e.Spec.Retention = &v1alpha1.Retention{Runs: &metav1.Duration{}}
}

func saysRaw(e *v1alpha1.PerfExperiment) {
	e.Spec.Retention = &v1alpha1.Retention{RawResults: &metav1.Duration{}}
}

func TestThoseCompletedLastStay(t *testing.T) {
	all := []v1alpha1.PerfExperiment{
		completed("noon", 12), completed("night", 23), completed("dawn", 6, saysRaw), completed("morning", 6),
		completed("keeper", 1, says1h), completed("runner", 0, goesOn), completed("gone", 2, isGone),
	}
	for stay, want := range map[int32][]string{
		0:   {"night", "noon", "dawn", "morning"},
		1:   {"noon", "dawn", "morning"},
		10:  {"noon", "dawn", "morning"},
		19:  {"noon", "dawn", "morning"},
		20:  {"dawn", "morning"},
		30:  {"morning"},
		40:  nil,
		999: nil,
	} {
		var out []string
		for _, experiment := range excess(all, stay) {
			out = append(out, experiment.Name)
		}
		expect.Equal(t, want, out, "%d stay: out are", stay)
	}
}

// A settled experiment triggers those that exceed the limit because of it, and each decision is
// current.
func TestWhomAnExperimentCrowdsOut(t *testing.T) {
	scheme := runtime.NewScheme()
	expect.NoError(t, v1alpha1.AddToScheme(scheme))
	noon, dawn := completed("noon", 12, goesOn), completed("dawn", 6)
	cluster := fake.NewClientBuilder().WithScheme(scheme).WithObjects(&noon, &dawn).Build()
	p := &Pruner{Tools: &component.Tools{Cluster: kube.Cluster{Client: cluster}}, Policy: Policy{RunsOf: ptr.To[int32](10)}}
	isOut := func() bool {
		out, err := p.isExcess(t.Context(), &dawn)
		expect.NoError(t, err)
		return out
	}
	if isOut() {
		t.Error("an experiment is crowded out by one that is on")
	}
	woken := func(change func(*v1alpha1.PerfExperiment)) []string {
		before := noon.DeepCopy()
		change(&noon)
		expect.NoError(t, cluster.Update(t.Context(), &noon))
		queue := &noted{}
		p.Handler().Update(t.Context(), event.UpdateEvent{ObjectOld: before, ObjectNew: &noon}, queue)
		return queue.names
	}
	for _, step := range []struct {
		what   string
		change func(*v1alpha1.PerfExperiment)
		woken  []string
		out    bool
	}{
		{"it says a word", func(e *v1alpha1.PerfExperiment) { e.Status.Progress = "9/9" }, nil, false},
		{"it settles", func(e *v1alpha1.PerfExperiment) { e.Status.Settled = "abc" }, []string{"dawn"}, true},
		{"it says how long its runs stay", says1h, nil, false},
		{"it says so no longer", func(e *v1alpha1.PerfExperiment) { e.Spec.Retention = nil }, []string{"dawn"}, true},
	} {
		expect.Equal(t, step.woken, woken(step.change), "%s: woken", step.what)
		expect.Equal(t, step.out, isOut(), "%s: the other is crowded out", step.what)
	}
	p.Handler().Delete(t.Context(), event.DeleteEvent{Object: &noon}, &noted{})
	expect.NoError(t, client.IgnoreNotFound(cluster.Delete(t.Context(), &noon)))
	if isOut() {
		t.Error("an experiment is crowded out by one that is gone")
	}
}
