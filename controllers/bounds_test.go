// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/payload"
)

// A run of a workload with more pods than a status can list is valid, and reports the rest as a
// count. The API server would refuse a status with more pods.
func TestPodsBeyondStatusLimit(t *testing.T) {
	l := newLab(t, complete)
	l.install(strings.Replace(inventory, "replicas: 1", "replicas: 101", 1), byArgoCD)
	l.create(login(), smallExperiment(t, borrowing("Deployment", v1alpha1.Module{}), oneArm, oneBlock))
	l.untilPhase("small", v1alpha1.ExperimentComplete)
	run := l.run()
	effective := run.Status.Effective
	if pods := len(effective.Modules[0].Pods); pods != 100 || effective.MorePods != 1 || effective.Modules[0].Replicas != 101 {
		t.Errorf("the run lists %d pods and %d more, of %d", pods, effective.MorePods, effective.Modules[0].Replicas)
	}
	expect.Contains(t, strings.Join(run.Status.Warnings, "\n"), []string{"the system is too large for the status of a run"}, "warnings")
}

// tooMuch are the API server's errors for a status that is too large.
var tooMuch = map[string]error{
	"too many":  injected{apierrors.NewInvalid(schema.GroupKind{Kind: "Thing"}, "thing", field.ErrorList{field.TooMany(field.NewPath("status", "effective", "nodes"), 201, 200)})},
	"too large": injected{apierrors.NewRequestEntityTooLargeError("limit is 3145728")},
}

// refuseStatus makes the API server refuse the next statuses of a kind.
func (l *lab) refuseStatus(kind string, times int, why error) {
	l.line.refuse = func(what string) error {
		if times == 0 || !strings.HasPrefix(what, patchStatus) || !strings.Contains(what, kind) {
			return nil
		}
		times--
		return why
	}
}

// A run whose status is permanently refused ends with the reason and leaves the queue.
func TestRefusedRunStatusEndsRun(t *testing.T) {
	for name, why := range tooMuch {
		for times, want := range map[int]string{1: "its fault is written", 2: "little is written"} {
			t.Run(name+", "+want, func(t *testing.T) {
				l := newLab(t, complete)
				l.lanes = l.namespace
				l.create(login(), smallExperiment(t, oneArm, oneBlock, func(e *v1alpha1.PerfExperiment) { e.Spec.Validity.MaxAttempts = 1 }))
				l.loading()
				l.refuseStatus("PerfRun", times, why)
				run := l.untilRun(v1alpha1.RunInvalid)
				l.expect(run.Status.Conditions, v1alpha1.ConditionValid, metav1.ConditionFalse, v1alpha1.ReasonStatusRefused, "the API server refuses the status")
				experiment := l.untilPhase("small", v1alpha1.ExperimentStalled)
				l.expect(experiment.Status.Conditions, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonAttemptsExhausted, "the API server refuses the status")
				l.hasNoTicket()
			})
		}
	}
}

// An experiment whose status is permanently refused stalls with the reason and leaves the
// queue. A change of its spec triggers a retry.
func TestRefusedExperimentStatusStalls(t *testing.T) {
	for name, why := range tooMuch {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, complete)
			l.lanes = l.namespace
			l.create(login(), smallExperiment(t, oneArm, oneBlock))
			l.loading()
			l.refuseStatus("PerfExperiment", 1, why)
			experiment := l.untilPhase("small", v1alpha1.ExperimentStalled)
			l.expect(experiment.Status.Conditions, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonStatusRefused, "the API server refuses the status")
			l.hasNoTicket()
			l.settle()
			if still := l.experiment("small"); still.ResourceVersion != experiment.ResourceVersion {
				t.Error("what is refused is written again and again")
			}
			l.mustChange("small", func(e *v1alpha1.PerfExperiment) { e.Spec.Suspend = true })
			l.untilPhase("small", v1alpha1.ExperimentComplete)
		})
	}
}

// A runner whose clock is far ahead makes its run invalid, and no wait of the run lasts until that
// time.
func TestFutureTimestampsDoNotExtendWaits(t *testing.T) {
	l := newLab(t, complete)
	l.outside.forge = func(own *payload.Payload) { own.End = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC) }
	l.create(login(), smallExperiment(t, oneArm, oneBlock, func(e *v1alpha1.PerfExperiment) { e.Spec.Validity.MaxAttempts = 1 }))
	l.untilPhase("small", v1alpha1.ExperimentStalled)
	run := l.run()
	l.expect(run.Status.Conditions, v1alpha1.ConditionValid, metav1.ConditionFalse, v1alpha1.ReasonClockSkew, "ended at 9999-12-31T23:59:59Z", "the clocks of its node and of the operator's node differ")
	if finish := run.Status.Timings.LoadFinish; finish == nil || finish.After(l.now) {
		t.Errorf("the loads ended at %s", finish)
	}
}

// An event reports a status that cannot be written.
func TestRefusedStatusIsReported(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, oneArm, oneBlock))
	l.loading()
	l.refuseStatus("PerfRun", -1, tooMuch["too many"])
	l.play()
	l.pass()
	expect.Contains(t, strings.Join(l.events.reported, "\n"), []string{"Warning " + v1alpha1.ReasonStatusRefused}, "events")
	l.line.refuse = nil
	l.untilPhase("small", v1alpha1.ExperimentComplete)
}

func oneBlock(e *v1alpha1.PerfExperiment) { e.Spec.Design.Blocks = 1 }

// hasNoTicket: the lab's experiments are not in the queue.
func (l *lab) hasNoTicket() {
	l.t.Helper()
	l.settle()
	tickets := &coordinationv1.LeaseList{}
	l.list(tickets, client.HasLabels{v1alpha1.LabelTurn})
	if len(tickets.Items) > 0 {
		l.t.Errorf("the experiment still has its ticket: %v", tickets.Items)
	}
}
