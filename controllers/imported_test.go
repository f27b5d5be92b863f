// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/telemetry"
	"perflab.dev/perflab/internal/testing/expect"
)

// elsewhere marks an object as imported.
func elsewhere(object client.Object) {
	object.SetAnnotations(map[string]string{v1alpha1.AnnotationImported: "other/elsewhere 1 2026-03-02T08:00:00Z"})
}

// record creates an imported experiment with a report and two runs, the second of which had not
// ended.
func (l *lab) record() []client.Object {
	l.t.Helper()
	experiment := smallExperiment(l.t)
	experiment.Name = "elsewhere"
	elsewhere(experiment)
	l.create(experiment)
	kept := []client.Object{experiment}
	for n, phase := range []v1alpha1.RunPhase{v1alpha1.RunSucceeded, v1alpha1.RunLoading} {
		arm := experiment.Spec.Arms[n].Name
		run := &v1alpha1.PerfRun{Spec: v1alpha1.PerfRunSpec{
			Experiment: experiment.Name, PlanHash: "5d1c0e7b3a9f4c21", Block: 1, Position: int32(n + 1), Attempt: 1,
			Arm: arm, System: experiment.Spec.System, Scenario: experiment.Spec.Scenarios[0],
		}}
		run.Name = naming.Long.Run(experiment.Name, 1, arm, "cico", 1)
		run.Labels = naming.RunLabels(run)
		run.OwnerReferences = []metav1.OwnerReference{naming.Owner("PerfExperiment", experiment)}
		elsewhere(run)
		l.create(run)
		run.Status.Phase = phase
		l.updateStatus(run)
		kept = append(kept, run)
	}
	page := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "elsewhere-report", Labels: naming.Labels(experiment.Name)}}
	l.create(page)
	experiment.Status = v1alpha1.PerfExperimentStatus{Phase: v1alpha1.ExperimentRunning, Report: page.Name, Runs: &v1alpha1.RunCounts{Planned: 2, Done: 1}}
	l.updateStatus(experiment)
	return append(kept, page)
}

func (l *lab) updateStatus(object client.Object) {
	l.t.Helper()
	expect.NoError(l.t, l.admin.Status().Update(l.t.Context(), object), "writing the status of %s", object.GetName())
}

// versions are the current resource versions of the objects.
func (l *lab) versions(objects []client.Object) map[string]string {
	l.t.Helper()
	found := map[string]string{}
	for _, object := range objects {
		expect.NoError(l.t, l.admin.Get(l.t.Context(), client.ObjectKeyFromObject(object), object), "reading %s", object.GetName())
		found[object.GetName()] = object.GetResourceVersion()
	}
	return found
}

func TestImportedExperimentStaysUnchanged(t *testing.T) {
	l := newLab(t, complete)
	kept := l.record()
	before := l.versions(kept)
	l.pass()
	l.pass()
	if len(l.line.journal) != 0 || len(l.events.reported) != 0 {
		t.Errorf("the operator wrote %q and recorded %q", l.line.journal, l.events.reported)
	}
	if difference := cmp.Diff(before, l.versions(kept)); difference != "" || len(l.runs()) != 2 {
		t.Errorf("%d runs, and the imported experiment changed (-before +after):\n%s", len(l.runs()), difference)
	}
	l.remove(kept[0])
	err := l.admin.Get(t.Context(), client.ObjectKeyFromObject(kept[0]), &v1alpha1.PerfExperiment{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("the imported experiment is not deleted: %v", err)
	}
}

// A run without its own annotation is recognized by its experiment's.
func TestImportedRunStaysUnchanged(t *testing.T) {
	l := newLab(t, complete)
	kept := l.record()
	run := kept[2]
	run.SetAnnotations(nil)
	l.update(run)
	_, reconciler := l.operator()
	if _, err := reconciler.Reconcile(t.Context(), request(run)); err != nil {
		t.Fatal(err)
	}
	if len(l.line.journal) != 0 {
		t.Errorf("the operator wrote %q", l.line.journal)
	}
}

func TestImportedExperimentBlocksNoQueue(t *testing.T) {
	l := newLab(t, complete)
	l.scraped.MustRegister(telemetry.Experiments{Reader: client.NewNamespacedClient(l.admin, l.namespace)})
	kept := l.record()
	before := l.versions(kept)
	l.create(login(), smallExperiment(t))
	l.untilRun(v1alpha1.RunLoading)
	l.expectMetric(1, "perflab_experiments", "phase", "Running")
	l.expectMetric(2, "perflab_queue_runs", "phase", "Running")
	if done := l.untilPhase("small", v1alpha1.ExperimentComplete); done.Status.Progress != "2/2" {
		t.Errorf("progress %s, want 2/2", done.Status.Progress)
	}
	l.expectMetric(2, "perflab_runs_total", "outcome", "succeeded")
	l.mustDelete("small")
	if difference := cmp.Diff(before, l.versions(kept)); difference != "" {
		t.Errorf("the record was changed (-before +after):\n%s", difference)
	}
	for _, write := range l.line.journal {
		if strings.Contains(write, "elsewhere") {
			t.Errorf("the operator wrote: %s", write)
		}
	}
}

// A record triggers no reconcile with an effect.
func TestManagerIgnoresImportedExperiments(t *testing.T) {
	l := newLab(t, complete)
	l.manage(complete, logr.Logger{})
	kept := l.record()
	before := l.versions(kept)
	l.create(login(), smallExperiment(t, oneArm))
	l.playUntil("a complete experiment", func() bool { return l.experiment("small").Status.Phase == v1alpha1.ExperimentComplete })
	if difference := cmp.Diff(before, l.versions(kept)); difference != "" {
		t.Errorf("the record was changed (-before +after):\n%s", difference)
	}
}

// A live experiment that was marked as imported without the webhook starts nothing further, and its
// environment is deleted.
func TestExperimentMarkedImportedIsCleanedUp(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t))
	l.untilRun(v1alpha1.RunLoading)
	l.mustChange("small", func(e *v1alpha1.PerfExperiment) { elsewhere(e) })
	runs := len(l.runs())
	l.settle()
	if len(l.runs()) != runs || len(l.environment()) == 0 {
		t.Errorf("%d runs, want %d, and the environment is %q", len(l.runs()), runs, l.environment())
	}
	l.mustDelete("small")
	if left := l.environment(); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
}

func (l *lab) mustDelete(name string) {
	l.t.Helper()
	l.remove(l.experiment(name))
	l.until("the end of "+name, func() bool {
		for _, experiment := range l.experiments() {
			if experiment.Name == name {
				return false
			}
		}
		return true
	})
}

// Workloads of a deleted experiment are released, even if an imported experiment has its name.
func TestWorkloadIsReleasedDespiteImportedNamesake(t *testing.T) {
	l := newLab(t, complete)
	l.install(inventory, byHelm)
	l.play()
	before := storedBytes(t, l.workload("Deployment"))
	l.create(login(), smallExperiment(t, borrowing("Deployment", placed()), oneArm))
	l.loading()
	vanished := l.vanish("small")
	l.create(smallExperiment(t, func(e *v1alpha1.PerfExperiment) { elsewhere(e) }))
	l.lookAt(vanished)
	if after := storedBytes(t, l.workload("Deployment")); after != before {
		t.Errorf("the workload is\n%s\nwant\n%s", after, before)
	}
}
