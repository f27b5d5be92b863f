// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/expect"
)

// withOversizedHeap sets a heap larger than the gateway's memory limit.
func withOversizedHeap(system *v1alpha1.System) {
	gateway := &system.Modules[0]
	gateway.JVM = &v1alpha1.JVM{Heap: &v1alpha1.Heap{Max: ptr.To(resource.MustParse("1Gi"))}}
	gateway.Resources.Limits = corev1.ResourceList{"memory": resource.MustParse("512Mi")}
}

const oversizedHeap = `the heap of module "gateway" is 1Gi, larger than its memory limit of 512Mi`

// The tests' API server has no webhook.
func TestInvalidExperimentCreatesNoRun(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, oneArm, func(e *v1alpha1.PerfExperiment) { withOversizedHeap(&e.Spec.System) }))
	l.settle()
	stalled := l.experiment("small")
	l.expect(stalled.Status.Conditions, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonInvalidSpec, "spec.system.modules[0].jvm.heap.max: "+oversizedHeap)
	l.expect(stalled.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonInvalidSpec, oversizedHeap)
	if stalled.Status.Phase != v1alpha1.ExperimentStalled || !strings.Contains(stalled.Status.WaitingFor, oversizedHeap) || len(l.runs()) != 0 {
		t.Errorf("phase %s, waiting for %q, %d runs", stalled.Status.Phase, stalled.Status.WaitingFor, len(l.runs()))
	}
	if stalled.Status.StartTime != nil {
		t.Error("the spec is frozen and can't be fixed")
	}

	stalled.Spec.System.Modules[0].JVM = nil
	expect.NoError(t, l.admin.Update(t.Context(), stalled))
	l.untilPhase("small", v1alpha1.ExperimentComplete)
}

func TestInvalidPerfSystemCanBeFixed(t *testing.T) {
	l := newLab(t, complete)
	experiment := smallExperiment(t, oneArm)
	system := shared(experiment)
	withOversizedHeap(&system.Spec)
	l.create(login(), system, experiment)
	l.settle()
	l.expect(l.experiment("small").Status.Conditions, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonInvalidSpec,
		`spec.systemRef.name: PerfSystem "library": `+oversizedHeap)

	mended := &v1alpha1.PerfSystem{}
	expect.NoError(t, l.admin.Get(t.Context(), client.ObjectKeyFromObject(system), mended))
	mended.Spec.Modules[0].JVM = nil
	expect.NoError(t, l.admin.Update(t.Context(), mended))
	l.untilPhase("small", v1alpha1.ExperimentComplete)
}

// A matrix can have more combinations than fit into memory.
func TestOversizedMatrixHasNoPlan(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, func(e *v1alpha1.PerfExperiment) {
		e.Spec.Arms, e.Spec.Matrix = nil, &v1alpha1.Matrix{}
		for f := range 6 {
			factor := v1alpha1.Factor{Name: fmt.Sprintf("f%d", f)}
			for n := range 8 {
				factor.Levels = append(factor.Levels, v1alpha1.Level{Name: fmt.Sprintf("l%d", n)})
			}
			e.Spec.Matrix.Factors = append(e.Spec.Matrix.Factors, factor)
		}
	}))
	l.settle()
	l.expect(l.experiment("small").Status.Conditions, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonInvalidSpec,
		"the factors make 262144 combinations, and an experiment can have 64 arms")
}

func TestWarningsStayInTheStatus(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t))
	const warning = "1 block gives results, but no verdict: raise design.blocks to 6, now or later"
	for _, phase := range []v1alpha1.ExperimentPhase{v1alpha1.ExperimentRunning, v1alpha1.ExperimentComplete} {
		if warnings := l.untilPhase("small", phase).Status.Warnings; len(warnings) != 1 || !strings.HasPrefix(warnings[0], warning) {
			t.Errorf("the warnings of an experiment that is %s are %q", phase, warnings)
		}
		if status := l.experiment("small").Status; !slices.Equal(status.DesignWarnings, status.SpecWarnings) {
			t.Errorf("about the design are %q of %q", status.DesignWarnings, status.SpecWarnings)
		}
	}
}
