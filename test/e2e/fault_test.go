//go:build e2e

// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
)

// TestFaultSample: the pod that a run lists is killed, and the only replica's loss costs more than
// that of one of two.
func TestFaultSample(t *testing.T) {
	_, done := runSample(t, "fault.yaml", shorten, func(e *v1alpha1.PerfExperiment) {
		scenario := &e.Spec.Scenarios[0]
		scenario.Loads[0].Script.Env = []corev1.EnvVar{{Name: "DURATION", Value: "70s"}}
		scenario.Faults[0].After, scenario.Faults[0].Within = metav1.Duration{Duration: 35 * time.Second}, nil
		scenario.Faults[0].Observe = &metav1.Duration{Duration: 25 * time.Second}
		e.Spec.Measurement.WarmUp = &metav1.Duration{Duration: 15 * time.Second}
	})
	lost := map[string]float64{}
	for _, run := range done {
		if len(run.Status.Faults) != 1 || len(run.Status.Faults[0].Targets) != 1 || run.Status.Faults[0].Begin == nil {
			t.Fatalf("run %s: faults %+v", run.Name, run.Status.Faults)
		}
		fault := run.Status.Faults[0]
		late := fault.Begin.Sub(fault.Due.Time)
		lost[run.Spec.Arm] = observed(t, run, "search/lostTime@fault-storage-lost")
		t.Logf("%s: %s killed %s late, ready %v, %d restarts; lost %.1f s, %.0f errors, recovered after %.0f s", run.Spec.Arm, fault.Targets[0].Pod, late, fault.Ready, fault.Restarts,
			lost[run.Spec.Arm], observed(t, run, "search/excessErrors@fault-storage-lost"), observed(t, run, "search/recoveryTime@fault-storage-lost"))
		if late < 0 || late > 5*time.Second {
			t.Errorf("run %s: the fault began %s after it was due", run.Name, late)
		}
	}
	// A JVM takes seconds to start again.
	if lost["one"] < 1 || lost["two"] >= lost["one"] {
		t.Errorf("lost time %v s, want some seconds with one replica and less with two", lost)
	}
}
