// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/planning/recurrence"
)

// maxActive bounds the active experiments in the status.
const maxActive = 64

// setDecision copies the decision to the status, before it is executed.
func (s *scope) setDecision() {
	status, memory := &s.schedule.Status, &s.decision.Record
	status.LastScheduleTime, status.Making = memory.LastScheduleTime, memory.Due
	status.Images, status.ImageChanges = memory.Images, memory.ImageChanges
}

// finish writes the status, then records events.
func (r *Reconciler) finish(ctx context.Context, before *v1alpha1.PerfSchedule, s *scope, failed error) (ctrl.Result, error) {
	// recordDecision may have written a newer status than the one that the reconcile started
	// with.
	written := s.schedule.DeepCopy()
	s.report()
	if !equality.Semantic.DeepEqual(written.Status, s.schedule.Status) {
		err := component.PatchStatus(ctx, r.Cluster, "schedule", written, s.schedule)
		if refused, is := component.StatusRefusalReadiness(err); is {
			s.schedule, s.refusal = written.DeepCopy(), &refused
			s.setConditions()
			err = component.PatchStatus(ctx, r.Cluster, "schedule", written, s.schedule)
		}
		if err != nil {
			if apierrors.IsConflict(err) {
				return ctrl.Result{RequeueAfter: time.Second}, nil
			}
			r.RecordStatusRefusal(written, err)
			return ctrl.Result{}, errors.Join(failed, err)
		}
	}
	r.recordEvents(before, s)
	if failed != nil {
		return ctrl.Result{}, failed
	}
	return ctrl.Result{RequeueAfter: s.requeueAfter()}, nil
}

// requeueAfter is the delay until time alone changes something. 0: never.
func (s *scope) requeueAfter() time.Duration {
	var wait time.Duration
	if look := s.decision.Requeue; !look.IsZero() {
		wait = min(max(look.Sub(s.now), time.Millisecond), maxRequeueAfter)
	}
	if s.refusal != nil && (wait == 0 || wait > component.RefusalRetryInterval) {
		wait = component.RefusalRetryInterval
	}
	return wait
}

// report updates the status.
func (s *scope) report() {
	status := &s.schedule.Status
	status.ObservedGeneration = s.schedule.Generation
	if s.fault == nil {
		s.setDecision()
		status.NextScheduleTime = nil
		if next := s.decision.Next; !next.IsZero() {
			status.NextScheduleTime = &metav1.Time{Time: next}
		}
	}
	if s.made != nil {
		status.LastTime = &metav1.Time{Time: s.now.Truncate(time.Second)}
		if known := s.experiments[s.made.Name]; known != nil && !known.CreationTimestamp.IsZero() {
			status.LastTime = known.CreationTimestamp.DeepCopy()
		}
	}
	s.reportActive()
	s.setConditions()
}

func (s *scope) reportActive() {
	status := &s.schedule.Status
	status.Active, status.ActiveCount = nil, 0
	for _, child := range s.children() {
		if child.IsActive() {
			status.ActiveCount++
			if len(status.Active) < maxActive {
				status.Active = append(status.Active, child.Name)
			}
		}
		ended := s.experiments[child.Name].Status.CompletionTime
		if child.State == recurrence.Succeeded && ended != nil && (status.LastSuccessfulTime == nil || status.LastSuccessfulTime.Before(ended)) {
			status.LastSuccessfulTime = ended.DeepCopy()
		}
	}
}

// stalledReason is the problem that only people can fix. An empty reason: none.
func (s *scope) stalledReason() (reason, message string) {
	var missing []string
	for _, workload := range s.workloads {
		if workload.Missing != "" {
			missing = append(missing, workload.Missing)
		}
	}
	switch {
	case s.fault != nil:
		return v1alpha1.ReasonInvalidSpec, s.fault.Error()
	case s.refusal != nil && s.refusal.Reason != v1alpha1.ReasonRetrying:
		return s.refusal.Reason, s.refusal.Message
	case len(missing) > 0:
		return v1alpha1.ReasonWorkloadMissing, strings.Join(missing, "; ")
	default:
		return "", ""
	}
}

func (s *scope) setConditions() {
	conditions := &s.schedule.Status.Conditions
	set := component.ConditionSetter(conditions, s.schedule.Generation)
	for _, transient := range []string{v1alpha1.ConditionReconciling, v1alpha1.ConditionStalled, v1alpha1.ConditionHeld} {
		if !s.isTrue(transient) {
			meta.RemoveStatusCondition(conditions, transient)
		}
	}
	if s.decision.Blocked != "" {
		set(v1alpha1.ConditionHeld, metav1.ConditionTrue, v1alpha1.ReasonConcurrent, s.decision.Blocked)
	}
	reason, message := s.stalledReason()
	switch {
	case reason != "":
		set(v1alpha1.ConditionReady, metav1.ConditionFalse, reason, message)
		set(v1alpha1.ConditionStalled, metav1.ConditionTrue, reason, message)
	case s.refusal != nil:
		set(v1alpha1.ConditionReady, metav1.ConditionUnknown, s.refusal.Reason, s.refusal.Message)
		set(v1alpha1.ConditionReconciling, metav1.ConditionTrue, s.refusal.Reason, s.refusal.Message)
	case s.schedule.Spec.Suspend:
		set(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonSuspended, "creates no experiments while spec.suspend is set")
	default:
		set(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonScheduled, s.readyMessage())
	}
}

// isTrue reports whether a condition holds that the status lists only while it is True.
func (s *scope) isTrue(condition string) bool {
	reason, _ := s.stalledReason()
	switch condition {
	case v1alpha1.ConditionHeld:
		return s.decision.Blocked != ""
	case v1alpha1.ConditionStalled:
		return reason != ""
	default:
		return reason == "" && s.refusal != nil
	}
}

// readyMessage describes when experiments are created.
func (s *scope) readyMessage() string {
	spec, when := &s.schedule.Spec, []string{}
	if spec.Schedule != "" {
		zone := spec.TimeZone
		if zone == "" {
			zone = "UTC"
		}
		when = append(when, fmt.Sprintf("at %s (%s)", spec.Schedule, zone))
	}
	if len(spec.OnImageChange) > 0 {
		when = append(when, "when images change")
	}
	sentence := "creates an experiment " + strings.Join(when, ", and ")
	for _, workload := range s.workloads {
		if workload.Waiting != "" {
			sentence += "; " + workload.Waiting
		}
	}
	return sentence
}

// recordEvents records events, after the status is written.
func (r *Reconciler) recordEvents(before *v1alpha1.PerfSchedule, s *scope) {
	record := func(kind, reason, action, sentence string, words ...any) {
		r.Events.Eventf(s.schedule, nil, kind, reason, action, sentence, words...)
	}
	if s.made != nil {
		record(corev1.EventTypeNormal, "ExperimentMade", "Make", "Created experiment %s, release %q (%s)", s.made.Name, s.made.Release, s.made.Trigger)
		s.recordSkipped(record)
	}
	if late := s.decision.Missed; late != nil {
		record(corev1.EventTypeWarning, "ExperimentLate", "Skip", "Missed experiment %s: startingDeadlineSeconds has passed", late.Name)
	}
	for _, child := range s.decision.Replaced {
		record(corev1.EventTypeNormal, "ExperimentReplaced", "Delete", "Deleted active experiment %s: concurrencyPolicy is Replace", child.Name)
	}
	for _, child := range s.decision.Expired {
		record(corev1.EventTypeNormal, "ExperimentOutlived", "Delete", "Deleted experiment %s: over the history limit", child.Name)
	}
	was := meta.FindStatusCondition(before.Status.Conditions, v1alpha1.ConditionHeld)
	if held := s.decision.Blocked; held != "" && (was == nil || was.Message != component.TruncateMessage(held)) {
		record(corev1.EventTypeNormal, "ExperimentHeld", "Wait", "%s", held)
	}
	stalled := meta.FindStatusCondition(before.Status.Conditions, v1alpha1.ConditionStalled)
	if reason, message := s.stalledReason(); reason != "" && (stalled == nil || stalled.Message != component.TruncateMessage(message)) {
		record(corev1.EventTypeWarning, "Stalled", "Stall", "%s", component.TruncateMessage(message))
	}
}

// recordSkipped records the scheduled times that passed without an experiment.
func (s *scope) recordSkipped(record func(kind, reason, action, sentence string, words ...any)) {
	switch skipped := s.decision.Skipped; {
	case skipped >= recurrence.Many-1:
		record(corev1.EventTypeWarning, "TooManyMissed", "Skip", "Missed more than %d scheduled times, created one experiment for all: check startingDeadlineSeconds, the duration of an experiment, and the clock", recurrence.Many-1)
	case skipped > 0:
		record(corev1.EventTypeNormal, "TimesMissed", "Skip", "Missed %d earlier scheduled times, created one experiment for all", skipped)
	}
}
