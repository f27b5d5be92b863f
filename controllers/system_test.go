// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
)

// shared is the experiment's system as a PerfSystem, to which the experiment
// then refers.
func shared(e *v1alpha1.PerfExperiment) *v1alpha1.PerfSystem {
	system := &v1alpha1.PerfSystem{ObjectMeta: metav1.ObjectMeta{Name: "library"}, Spec: e.Spec.System}
	e.Spec.System = v1alpha1.System{}
	e.Spec.SystemRef = &v1alpha1.SystemRef{Name: "library"}
	return system
}

func TestAnExperimentWaitsForItsPerfSystem(t *testing.T) {
	l := newLab(t, complete)
	experiment := smallExperiment(t, oneArm)
	system := shared(experiment)
	l.create(login(), experiment)
	l.settle()
	waiting := l.experiment("small")
	if waiting.Status.WaitingFor != `PerfSystem "library", which is not in the namespace` {
		t.Errorf("it waits for %q", waiting.Status.WaitingFor)
	}
	l.expect(waiting.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionUnknown, v1alpha1.ReasonSystemMissing, "apply it")
	if runs := len(l.runs()); runs != 0 {
		t.Errorf("%d runs of a system nobody knows", runs)
	}
	l.create(system)
	l.untilPhase("small", v1alpha1.ExperimentComplete)
}

func TestAnEditOfThePerfSystemDoesNotReachARunningExperiment(t *testing.T) {
	l := newLab(t, complete)
	experiment := smallExperiment(t)
	system := shared(experiment)
	l.create(login(), system, experiment)
	l.untilRun(v1alpha1.RunSucceeded)

	edited := &v1alpha1.PerfSystem{}
	if err := l.admin.Get(t.Context(), client.ObjectKeyFromObject(system), edited); err != nil {
		t.Fatal(err)
	}
	edited.Spec.Modules[0].Image = "example.org/gateway:2"
	if err := l.admin.Update(t.Context(), edited); err != nil {
		t.Fatal(err)
	}
	l.untilPhase("small", v1alpha1.ExperimentComplete)
	for _, run := range l.runs() {
		if image := run.Spec.System.Modules[0].Image; image != "example.org/gateway:1" {
			t.Errorf("run %s was done with image %q, that of the edit", run.Name, image)
		}
	}
}

func TestAMatrixIsCompared(t *testing.T) {
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
	if diff := cmp.Diff(want, experiment.Status.Arms); diff != "" {
		t.Errorf("arms (-want +got):\n%s", diff)
	}
	l.expect(experiment.Status.Conditions, v1alpha1.ConditionSingleFactor, metav1.ConditionTrue, v1alpha1.ReasonSingleFactor, "one thing")
}

func TestAConfoundedExperimentSaysSo(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, func(e *v1alpha1.PerfExperiment) {
		e.Spec.Arms[1].Set.Modules = []v1alpha1.ModuleSet{{Name: "*", Image: "example.org/gateway:2"}}
	}))
	l.settle()
	l.expect(l.experiment("small").Status.Conditions, v1alpha1.ConditionSingleFactor, metav1.ConditionFalse, v1alpha1.ReasonConfounded,
		"kafka.topics[*].partitions (1 → 2), modules[*].image (example.org/gateway:1 → example.org/gateway:2)")
}
