//go:build e2e

// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
)

// TestFaultSample checks that the pod that a run lists is killed, and that losing the only
// replica costs more than losing one of two.
func TestFaultSample(t *testing.T) {
	complete, done := runSample(t, "fault.yaml", shorten, func(e *v1alpha1.PerfExperiment) {
		scenario := &e.Spec.Scenarios[0]
		scenario.Loads[0].Script.Env = []corev1.EnvVar{{Name: "DURATION", Value: "70s"}}
		scenario.Faults[0].After, scenario.Faults[0].Within = metav1.Duration{Duration: 35 * time.Second}, nil
		scenario.Faults[0].Observe = &metav1.Duration{Duration: 25 * time.Second}
		e.Spec.Measurement.WarmUp = &metav1.Duration{Duration: 15 * time.Second}
	})
	assertSingleFactor(t, complete)
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
	// A JVM takes several seconds to restart.
	if lost["one"] < 1 || lost["two"] >= lost["one"] {
		t.Errorf("lost time %v s, want some seconds with one replica and less with two", lost)
	}
}

// TestPrimarySample checks that CloudNativePG promotes the replica that a run lists, and
// another one after the primary is killed.
func TestPrimarySample(t *testing.T) {
	_, done := runSample(t, "lost-primary.yaml", shorten, func(e *v1alpha1.PerfExperiment) {
		e.Spec.Arms = e.Spec.Arms[:1]
		scenario := &e.Spec.Scenarios[0]
		scenario.Loads[0].Script.Env = []corev1.EnvVar{{Name: "DURATION", Value: "175s"}}
		e.Spec.Measurement.WarmUp = &metav1.Duration{Duration: 15 * time.Second}
		moved, killed := scenario.Faults[0], scenario.Faults[0]
		moved.Name, moved.Kill, moved.Switchover = "moved", nil, &v1alpha1.SwitchoverFault{Postgres: &v1alpha1.PostgresSwitchover{}}
		moved.After, moved.Within, moved.Observe = metav1.Duration{Duration: 30 * time.Second}, nil, &metav1.Duration{Duration: 50 * time.Second}
		killed.After, killed.Within, killed.Observe = metav1.Duration{Duration: 85 * time.Second}, nil, &metav1.Duration{Duration: 80 * time.Second}
		scenario.Faults = []v1alpha1.Fault{moved, killed}
	})
	for _, run := range done {
		for _, name := range []string{"moved", "primary-lost"} {
			fault := run.Status.Fault(name)
			if fault == nil || len(fault.Targets) != 1 || fault.Begin == nil || fault.Ready == nil {
				t.Fatalf("run %s: fault %s: %+v", run.Name, name, fault)
			}
			t.Logf("%s: %s, another primary after %s, %d restarts; lost %.1f s, %.0f errors, recovered after %.0f s", name, fault.Targets[0].Pod,
				fault.Ready.Sub(fault.Begin.Time), fault.Restarts, observed(t, run, "desk/lostTime@fault-"+name),
				observed(t, run, "desk/excessErrors@fault-"+name), observed(t, run, "desk/recoveryTime@fault-"+name))
		}
		// The promoted replica is the primary that is killed.
		if moved, killed := run.Status.Fault("moved"), run.Status.Fault("primary-lost"); moved.Targets[0].Pod != killed.Targets[0].Pod {
			t.Errorf("run %s: %s was promoted, and %s killed as the primary", run.Name, moved.Targets[0].Pod, killed.Targets[0].Pod)
		}
	}
}

// TestLessMemorySample checks that a heap by share of the limit starts again with less memory,
// and that one by size does not.
func TestLessMemorySample(t *testing.T) {
	_, done := runSample(t, "less-memory.yaml", shorten, func(e *v1alpha1.PerfExperiment) {
		scenario := &e.Spec.Scenarios[0]
		scenario.Loads[0].Script.Env = []corev1.EnvVar{{Name: "DURATION", Value: "65s"}}
		scenario.Faults[0].After, scenario.Faults[0].Within = metav1.Duration{Duration: 30 * time.Second}, nil
		scenario.Faults[0].Observe = &metav1.Duration{Duration: 25 * time.Second}
		e.Spec.Measurement.WarmUp = &metav1.Duration{Duration: 15 * time.Second}
	})
	lost := map[string]float64{}
	for _, run := range done {
		lost[run.Spec.Arm] = observed(t, run, "search/lostTime@fault-less-memory")
		t.Logf("%s: lost %.1f s, %d restarts", run.Spec.Arm, lost[run.Spec.Arm], run.Status.Faults[0].Restarts)
	}
	if lost["size"] < 20 || lost["share"] > 15 {
		t.Errorf("lost time %v s of 25, want nearly all with a heap by size, and a few by share", lost)
	}
}

// TestNodeAndPartitionsFaults adds partitions to topics, and then kills all pods of the system on
// the gateway's node: on a single node, the whole system.
func TestNodeAndPartitionsFaults(t *testing.T) {
	seconds := func(count int) metav1.Duration { return metav1.Duration{Duration: time.Duration(count) * time.Second} }
	_, done := runSample(t, "lost-controller.yaml", func(e *v1alpha1.PerfExperiment) {
		e.Spec.Matrix, e.Spec.Arms, e.Spec.Design.Blocks = nil, []v1alpha1.Arm{{Name: "kraft", Baseline: true}}, 1
		e.Spec.Measurement.WarmUp, e.Spec.Analysis = ptr.To(seconds(15)), v1alpha1.Analysis{}
		e.Spec.Validity.MaxErrorPercent = ptr.To[int32](90)
		e.Spec.Scenarios[0].Loads = []v1alpha1.Load{{Name: "desk", Duration: ptr.To(seconds(170)), CheckInCheckOut: &v1alpha1.CheckInCheckOut{Users: 3}}}
		e.Spec.Scenarios[0].Faults = []v1alpha1.Fault{
			{Name: "more-partitions", Load: "desk", After: seconds(30), Observe: ptr.To(seconds(15)), Partitions: &v1alpha1.PartitionsFault{Group: "idle", Count: 3}},
			{Name: "node-lost", Load: "desk", After: seconds(50), Observe: ptr.To(seconds(115)), Kill: &v1alpha1.KillFault{Module: "gateway", WholeNode: true}},
		}
	})
	for _, run := range done {
		for _, fault := range run.Status.Faults {
			if fault.Begin == nil || fault.Ready == nil {
				t.Fatalf("run %s: fault %+v", run.Name, fault)
			}
			t.Logf("%s: %d targets of %d pods, ready after %s, %d restarts; lost %.1f s", fault.Name, len(fault.Targets), fault.Candidates, fault.Ready.Sub(fault.Begin.Time),
				fault.Restarts, observed(t, run, "desk/lostTime@fault-"+fault.Name))
		}
		if lost := run.Status.Fault("node-lost"); len(lost.Targets) < 2 || observed(t, run, "desk/lostTime@fault-node-lost") < 2 {
			t.Errorf("run %s: fault %+v, want several pods and some seconds without check-ins", run.Name, lost)
		}
		if !run.Status.Fault("more-partitions").Gone {
			t.Errorf("run %s left topics with more partitions", run.Name)
		}
	}
}
