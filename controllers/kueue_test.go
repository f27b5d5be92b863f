// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/queue"
)

// inKueueQueue lets Kueue admit the blocks.
func inKueueQueue(e *v1alpha1.PerfExperiment) {
	e.Spec.Lane = &v1alpha1.Lane{Type: v1alpha1.LaneKueue, Name: "team-a"}
}

// workloads are Kueue's Workloads.
func (l *lab) workloads() []unstructured.Unstructured {
	return l.foreign(queue.WorkloadKind.WithVersion("v1beta2"))
}

// playKueue admits every Workload, or none while its quota is used up.
func (l *lab) playKueue() {
	l.t.Helper()
	if len(l.experiments()) == 0 || l.experiments()[0].Spec.Lane == nil || l.outside.withoutKueue {
		return
	}
	for _, workload := range l.workloads() {
		if admitted, message := queue.Admitted(&workload); admitted || message != "" && l.outside.quotaUsed {
			continue
		}
		reserved := kueueCondition("QuotaReserved", "True", "")
		conditions := []any{reserved, kueueCondition("Admitted", "True", "")}
		if l.outside.quotaUsed {
			conditions = []any{kueueCondition("QuotaReserved", "False", "couldn't assign flavors to pod set pods-1: insufficient unused quota for cpu")}
		}
		l.setStatus(&workload, map[string]any{"conditions": conditions})
	}
}

func kueueCondition(condition, status, message string) any {
	return map[string]any{"type": condition, "status": status, "reason": condition, "message": message, "lastTransitionTime": "2026-03-01T12:00:00Z"}
}

// A block starts when Kueue has admitted it, and releases its quota for the next.
func TestKueueAdmitsBlocks(t *testing.T) {
	l := newLab(t, complete)
	l.outside.quotaUsed = true
	l.create(login(), smallExperiment(t, twoBlocks, inKueueQueue))
	l.until("the wait for Kueue", func() bool { return strings.Contains(l.experiment("small").Status.WaitingFor, "insufficient") })
	want := "waiting for Kueue's queue team-a: couldn't assign flavors to pod set pods-1: insufficient unused quota for cpu"
	if status := l.experiment("small").Status; status.WaitingFor != want || status.Phase != v1alpha1.ExperimentPending || len(l.runs()) != 0 {
		t.Errorf("%s with %d runs, waiting for %q, want Pending, none and %q", status.Phase, len(l.runs()), status.WaitingFor, want)
	}
	l.outside.quotaUsed = false
	l.setStatus(&l.workloads()[0], map[string]any{"conditions": []any{}})
	blocks := map[string]bool{}
	l.eachRound = func() {
		for _, workload := range l.workloads() {
			blocks[workload.GetName()] = true
		}
		if on := len(l.workloads()); on > 1 {
			t.Errorf("%d Workloads at once", on)
		}
	}
	l.untilPhase("small", v1alpha1.ExperimentComplete)
	if !blocks["small-block-1"] || !blocks["small-block-2"] || len(blocks) != 2 {
		t.Errorf("Workloads were %v, want one for each of two blocks", blocks)
	}
	l.until("its Workload to be deleted", func() bool { return len(l.workloads()) == 0 })
}

func TestMissingKueueIsReported(t *testing.T) {
	l := newLab(t, bare)
	l.outside.withoutKueue = true
	l.create(login(), smallExperiment(t, oneArm, inKueueQueue))
	l.pass()
	l.pass()
	if waits := l.experiment("small").Status.WaitingFor; !strings.Contains(waits, "waiting for Kueue: the cluster does not serve Workloads") || !strings.Contains(waits, "spec.lane") {
		t.Errorf("waits for %q", waits)
	}
}

// A third-party Workload of the same name stays unchanged, and is reported.
func TestForeignWorkloadStaysUnchanged(t *testing.T) {
	l := newLab(t, complete)
	theirs := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"queueName": "theirs", "podSets": []any{map[string]any{
		"name": "main", "count": int64(1), "template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "c"}}}},
	}}}}}
	theirs.SetGroupVersionKind(queue.WorkloadKind.WithVersion("v1beta2"))
	theirs.SetName(queue.WorkloadName("small", 1))
	l.create(login(), theirs, smallExperiment(t, oneArm, inKueueQueue))
	for range 3 {
		l.pass()
	}
	if waits := l.experiment("small").Status.WaitingFor; !strings.Contains(waits, fmt.Sprintf("Workload %q", theirs.GetName())) {
		t.Errorf("waits for %q", waits)
	}
	if queue, _, _ := unstructured.NestedString(l.workloads()[0].Object, "spec", "queueName"); queue != "theirs" {
		t.Errorf("its queue is now %q", queue)
	}
}
