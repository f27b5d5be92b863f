// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/objects"
)

// noted is a queue that records what is added.
type noted struct {
	workqueue.TypedRateLimitingInterface[reconcile.Request]
	names []string
}

func (n *noted) Add(request reconcile.Request) { n.names = append(n.names, request.Name) }

// namespace has a complete experiment, a running one, a waiting one, and an imported record.
func namespace(t *testing.T) client.Reader {
	t.Helper()
	scheme := runtime.NewScheme()
	expect.NoError(t, v1alpha1.AddToScheme(scheme))
	builder := fake.NewClientBuilder().WithScheme(scheme).WithIndex(&v1alpha1.PerfExperiment{}, indexOpen, openOf)
	for name, edit := range map[string]func(*v1alpha1.PerfExperiment){
		"complete": func(e *v1alpha1.PerfExperiment) {
			e.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionComplete, Status: metav1.ConditionTrue}}
		},
		"on":       func(*v1alpha1.PerfExperiment) {},
		"waiting":  func(*v1alpha1.PerfExperiment) {},
		"imported": func(e *v1alpha1.PerfExperiment) { e.Annotations = map[string]string{v1alpha1.AnnotationImported: ""} },
	} {
		builder = builder.WithObjects(objects.Experiment(name, edit))
	}
	return builder.Build()
}

func runOf(experiment string, edits ...func(*v1alpha1.PerfRun)) *v1alpha1.PerfRun {
	loads := func(run *v1alpha1.PerfRun) {
		run.Status.Phase, run.Status.Message = v1alpha1.RunLoading, "cico: running 30s of 5m"
		run.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionLoadsComplete, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonLoading}}
	}
	return objects.Run(objects.Experiment(experiment), experiment+"-1", append([]func(*v1alpha1.PerfRun){loads}, edits...)...)
}

func TestWhomARunWakes(t *testing.T) {
	on := runOf("on")
	for name, c := range map[string]struct {
		tell func(context.Context, *runHandler, *noted)
		want []string
	}{
		"it is there":                     {made(on), []string{"on"}},
		"its load goes on":                {changed(on, runOf("on", says("cico: running 1m0s of 5m"))), nil},
		"it is not well":                  {changed(on, runOf("on", lacks("KafkaReady"))), []string{"on"}},
		"it goes on to its next phase":    {changed(on, runOf("on", is(v1alpha1.RunCollecting))), []string{"on"}},
		"it says something before a load": {changed(runOf("on", is(v1alpha1.RunProvisioning)), runOf("on", is(v1alpha1.RunProvisioning), says("Kafka is slow"))), []string{"on"}},
		"it is over":                      {changed(on, runOf("on", is(v1alpha1.RunSucceeded))), []string{"on", "waiting"}},
		"it goes":                         {changed(on, runOf("on", leaves)), []string{"on", "waiting"}},
		"it is gone":                      {gone(on), []string{"on", "waiting"}},
		"one of a complete experiment":    {changed(runOf("complete", is(v1alpha1.RunSucceeded)), runOf("complete", is(v1alpha1.RunSucceeded), leaves)), []string{"complete"}},
		"one that was imported":           {made(runOf("imported", imported)), nil},
	} {
		t.Run(name, func(t *testing.T) {
			queue := &noted{}
			c.tell(t.Context(), &runHandler{namespace(t)}, queue)
			slices.Sort(queue.names)
			expect.Equal(t, c.want, slices.Compact(queue.names), "woken")
		})
	}
}

func made(run *v1alpha1.PerfRun) func(context.Context, *runHandler, *noted) {
	return func(ctx context.Context, w *runHandler, queue *noted) {
		w.handler().Create(ctx, event.CreateEvent{Object: run}, queue)
	}
}

func changed(before, after *v1alpha1.PerfRun) func(context.Context, *runHandler, *noted) {
	return func(ctx context.Context, w *runHandler, queue *noted) {
		w.handler().Update(ctx, event.UpdateEvent{ObjectOld: before, ObjectNew: after}, queue)
	}
}

func gone(run *v1alpha1.PerfRun) func(context.Context, *runHandler, *noted) {
	return func(ctx context.Context, w *runHandler, queue *noted) {
		w.handler().Delete(ctx, event.DeleteEvent{Object: run}, queue)
	}
}

func says(message string) func(*v1alpha1.PerfRun) {
	return func(run *v1alpha1.PerfRun) { run.Status.Message = message }
}

func is(phase v1alpha1.RunPhase) func(*v1alpha1.PerfRun) {
	return func(run *v1alpha1.PerfRun) { run.Status.Phase = phase }
}

func lacks(condition string) func(*v1alpha1.PerfRun) {
	return func(run *v1alpha1.PerfRun) {
		run.Status.Conditions = append(run.Status.Conditions, metav1.Condition{Type: condition, Status: metav1.ConditionFalse})
	}
}

func leaves(run *v1alpha1.PerfRun) { run.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }

func imported(run *v1alpha1.PerfRun) {
	run.Annotations = map[string]string{v1alpha1.AnnotationImported: ""}
}

// The operator's own writes trigger nothing.
func TestWhatAnExperimentWakesFor(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*v1alpha1.PerfExperiment)
		want bool
	}{
		"its status":      {func(e *v1alpha1.PerfExperiment) { e.Status.Progress, e.ResourceVersion = "2/12", "2" }, false},
		"its spec":        {func(e *v1alpha1.PerfExperiment) { e.Generation++ }, true},
		"its deletion":    {func(e *v1alpha1.PerfExperiment) { e.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }, true},
		"its operator":    {func(e *v1alpha1.PerfExperiment) { e.Annotations = map[string]string{v1alpha1.AnnotationOperator: "b"} }, true},
		"its finalizer":   {func(e *v1alpha1.PerfExperiment) { e.Finalizers = nil }, true},
		"another's label": {func(e *v1alpha1.PerfExperiment) { e.Labels = map[string]string{"team": "a"} }, true},
	} {
		t.Run(name, func(t *testing.T) {
			before := &v1alpha1.PerfExperiment{}
			before.Finalizers = []string{v1alpha1.Finalizer}
			after := before.DeepCopy()
			c.edit(after)
			if got := isRequested(event.UpdateEvent{ObjectOld: before, ObjectNew: after}); got != c.want {
				t.Errorf("woken: %t, want %t", got, c.want)
			}
		})
	}
}

// A remembered plan is shared by all reconciles: blocks are added to a copy.
func TestARememberedPlanIsNotGrown(t *testing.T) {
	spec := &v1alpha1.PerfExperimentSpec{Scenarios: []v1alpha1.Scenario{{Name: "search"}}}
	spec.Arms = []v1alpha1.Arm{{Name: "one", Baseline: true}, {Name: "two"}}
	kept := &design{}
	kept.planned.Runs = append(kept.planned.Runs, kept.planned.Runs...)
	for range 2 {
		s := &scope{}
		s.use(kept)
		s.Plan.Grow(spec, 3)
	}
	if len(kept.planned.Runs) != 0 || kept.planned.Blocks != 0 {
		t.Errorf("%d runs in %d blocks were added to it", len(kept.planned.Runs), kept.planned.Blocks)
	}
}

func TestDesignsBelongToOneExperiment(t *testing.T) {
	d, experiment := &designs{}, &v1alpha1.PerfExperiment{}
	experiment.Namespace, experiment.Name, experiment.UID, experiment.Generation = "lab", "heap", "1", 1
	made := &design{uid: "1", generation: 1}
	d.keep(experiment, made)
	if d.of(experiment) != made {
		t.Error("the design is not remembered")
	}
	for name, edit := range map[string]func(*v1alpha1.PerfExperiment){
		"another experiment of the name": func(e *v1alpha1.PerfExperiment) { e.UID = "2" },
		"another generation":             func(e *v1alpha1.PerfExperiment) { e.Generation = 2 },
	} {
		other := experiment.DeepCopy()
		edit(other)
		if d.of(other) != nil {
			t.Errorf("%s has the design", name)
		}
	}
	d.forget(client.ObjectKeyFromObject(experiment))
	if d.of(experiment) != nil {
		t.Error("the design is not forgotten")
	}
}
