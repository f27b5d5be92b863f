// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/testing/expect"
)

// shared moves the experiment's system to a PerfSystem, to which the experiment then refers.
func shared(e *v1alpha1.PerfExperiment) *v1alpha1.PerfSystem {
	system := &v1alpha1.PerfSystem{ObjectMeta: metav1.ObjectMeta{Name: "library"}, Spec: e.Spec.System}
	e.Spec.System = v1alpha1.System{}
	e.Spec.SystemRef = &v1alpha1.SystemRef{Name: "library"}
	return system
}

func TestExperimentWaitsForPerfSystem(t *testing.T) {
	l := newLab(t, complete)
	experiment := smallExperiment(t, oneArm)
	system := shared(experiment)
	l.create(login(), experiment)
	l.settle()
	waiting := l.experiment("small")
	if waiting.Status.WaitingFor != `waiting for PerfSystem "library": not found in the namespace` {
		t.Errorf("it waits for %q", waiting.Status.WaitingFor)
	}
	l.expect(waiting.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionUnknown, v1alpha1.ReasonSystemMissing, "apply it")
	if runs := len(l.runs()); runs != 0 {
		t.Errorf("%d runs of an unknown system", runs)
	}
	l.create(system)
	l.untilPhase("small", v1alpha1.ExperimentComplete)
}

func TestPerfSystemEditDoesNotAffectRunningExperiment(t *testing.T) {
	l := newLab(t, complete)
	experiment := smallExperiment(t)
	system := shared(experiment)
	l.create(login(), system, experiment)
	l.untilRun(v1alpha1.RunSucceeded)

	edited := &v1alpha1.PerfSystem{}
	expect.NoError(t, l.admin.Get(t.Context(), client.ObjectKeyFromObject(system), edited))
	edited.Spec.Modules[0].Image = "example.org/gateway:2"
	expect.NoError(t, l.admin.Update(t.Context(), edited))
	l.untilPhase("small", v1alpha1.ExperimentComplete)
	for _, run := range l.runs() {
		if image := run.Spec.System.Modules[0].Image; image != "example.org/gateway:1" {
			t.Errorf("run %s was done with image %q, that of the edit", run.Name, image)
		}
	}
}

// A user who may write ConfigMaps, but not use a Secret, could otherwise pass the operator a system that
// was never admitted.
func TestForgedSystemCopyIsRejected(t *testing.T) {
	l := newLab(t, complete)
	experiment := smallExperiment(t, oneArm)
	system := shared(experiment)
	l.create(login(), experiment)
	l.settle()
	forged := system.DeepCopy()
	forged.Spec.Modules[0].Image = "example.org/thief:1"
	l.create(systemCopy(t, l.experiment("small"), &forged.Spec))
	l.settle()
	if waiting := l.experiment("small"); len(l.runs()) != 0 || !strings.Contains(waiting.Status.WaitingFor, "PerfSystem") {
		t.Fatalf("it has %d runs and waits for %q", len(l.runs()), waiting.Status.WaitingFor)
	}
	l.create(system)
	l.untilPhase("small", v1alpha1.ExperimentComplete)
	for _, run := range l.runs() {
		if image := run.Spec.System.Modules[0].Image; image != "example.org/gateway:1" {
			t.Errorf("run %s was done with image %q", run.Name, image)
		}
	}
}

// The same for a replaced copy.
func TestReplacedSystemCopyIsRejected(t *testing.T) {
	l := newLab(t, complete)
	experiment := smallExperiment(t)
	system := shared(experiment)
	l.create(login(), system, experiment)
	l.untilRun(v1alpha1.RunSucceeded)
	forged := system.DeepCopy()
	forged.Spec.Modules[0].Image = "example.org/thief:1"
	copied := systemCopy(t, l.experiment("small"), &forged.Spec)
	expect.NoError(t, l.admin.Delete(t.Context(), copied.DeepCopy()))
	done := len(l.runs())
	l.create(copied)
	l.settle()
	l.expect(l.experiment("small").Status.Conditions, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonSpecChanged, "")
	if runs := len(l.runs()); runs != done {
		t.Errorf("%d runs, want the previous %d", runs, done)
	}
}

// systemCopy is a copy of a system as the operator would store it.
func systemCopy(t *testing.T, experiment *v1alpha1.PerfExperiment, system *v1alpha1.System) *corev1.ConfigMap {
	t.Helper()
	encoded, err := json.Marshal(system)
	expect.NoError(t, err)
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: experiment.Namespace, Name: naming.SystemCopy(experiment.Name),
			OwnerReferences: []metav1.OwnerReference{naming.Owner("PerfExperiment", experiment)},
		},
		Data: map[string]string{"system.json": string(encoded)},
	}
}

func TestMatrixIsCompared(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, func(e *v1alpha1.PerfExperiment) {
		sets := e.Spec.Arms
		e.Spec.Arms = nil
		e.Spec.Matrix = &v1alpha1.Matrix{Factors: []v1alpha1.Factor{
			{Name: "partitions", Levels: []v1alpha1.Level{{Name: "one"}, {Name: "two", Set: sets[1].Set}}},
		}}
	}))
	experiment := l.untilPhase("small", v1alpha1.ExperimentComplete)
	want := []v1alpha1.ArmStatus{
		{Name: "one", Baseline: true},
		{Name: "two", Differences: []v1alpha1.Difference{{Setting: "kafka.topics[data-import].partitions", Baseline: "1", Arm: "2"}}},
	}
	expect.Equal(t, want, experiment.Status.Arms, "arms")
	l.expect(experiment.Status.Conditions, v1alpha1.ConditionSingleFactor, metav1.ConditionTrue, v1alpha1.ReasonSingleFactor, "one factor")
}

func TestConfoundedExperimentIsReported(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, func(e *v1alpha1.PerfExperiment) {
		e.Spec.Arms[1].Set.Modules = []v1alpha1.ModuleSet{{Name: "*", Image: "example.org/gateway:2"}}
	}))
	l.settle()
	l.expect(l.experiment("small").Status.Conditions, v1alpha1.ConditionSingleFactor, metav1.ConditionFalse, v1alpha1.ReasonConfounded,
		"kafka.topics[*].partitions (1 → 2), modules[*].image (example.org/gateway:1 → example.org/gateway:2)")
}
