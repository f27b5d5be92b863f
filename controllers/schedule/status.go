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

// maxActive is what the status lists.
const maxActive = 64

// remember what was decided, before it is done.
func (s *scope) remember() {
	status, memory := &s.schedule.Status, &s.decision.Record
	status.LastScheduleTime, status.Making = memory.LastScheduleTime, memory.Due
	status.Images, status.ImageChanges = memory.Images, memory.ImageChanges
}

// conclude writes the status, then tells people.
func (r *Reconciler) conclude(ctx context.Context, before *v1alpha1.PerfSchedule, s *scope, failed error) (ctrl.Result, error) {
	// What act has written down is newer than what this pass began with.
	written := s.schedule.DeepCopy()
	s.report()
	if !equality.Semantic.DeepEqual(written.Status, s.schedule.Status) {
		err := component.PatchStatus(ctx, r.Cluster, "schedule", written, s.schedule)
		if refused, is := component.RefusedStatus(err); is {
			s.schedule, s.refusal = written.DeepCopy(), &refused
			s.setConditions()
			err = component.PatchStatus(ctx, r.Cluster, "schedule", written, s.schedule)
		}
		if err != nil {
			if apierrors.IsConflict(err) {
				return ctrl.Result{RequeueAfter: time.Second}, nil
			}
			r.TellRefused(written, err)
			return ctrl.Result{}, errors.Join(failed, err)
		}
	}
	r.announce(before, s)
	if failed != nil {
		return ctrl.Result{}, failed
	}
	return ctrl.Result{RequeueAfter: s.wait()}, nil
}

// wait until something changes by time alone; 0: for ever.
func (s *scope) wait() time.Duration {
	var wait time.Duration
	if look := s.decision.Requeue; !look.IsZero() {
		wait = min(max(look.Sub(s.now), time.Millisecond), longestWait)
	}
	if s.refusal != nil && (wait == 0 || wait > component.RefusedPause) {
		wait = component.RefusedPause
	}
	return wait
}

// report says in the status how far the schedule is.
func (s *scope) report() {
	status := &s.schedule.Status
	status.ObservedGeneration = s.schedule.Generation
	if s.fault == nil {
		s.remember()
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

// trouble is what only a person can mend; an empty reason: nothing.
func (s *scope) trouble() (reason, message string) {
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
		if !s.holds(transient) {
			meta.RemoveStatusCondition(conditions, transient)
		}
	}
	if s.decision.Blocked != "" {
		set(v1alpha1.ConditionHeld, metav1.ConditionTrue, v1alpha1.ReasonConcurrent, s.decision.Blocked)
	}
	reason, message := s.trouble()
	switch {
	case reason != "":
		set(v1alpha1.ConditionReady, metav1.ConditionFalse, reason, message)
		set(v1alpha1.ConditionStalled, metav1.ConditionTrue, reason, message)
	case s.refusal != nil:
		set(v1alpha1.ConditionReady, metav1.ConditionUnknown, s.refusal.Reason, s.refusal.Message)
		set(v1alpha1.ConditionReconciling, metav1.ConditionTrue, s.refusal.Reason, s.refusal.Message)
	case s.schedule.Spec.Suspend:
		set(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonSuspended, "no experiment is made while spec.suspend is set")
	default:
		set(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonScheduled, s.inForce())
	}
}

// holds reports whether a condition that is there only while it is True is.
func (s *scope) holds(condition string) bool {
	reason, _ := s.trouble()
	switch condition {
	case v1alpha1.ConditionHeld:
		return s.decision.Blocked != ""
	case v1alpha1.ConditionStalled:
		return reason != ""
	default:
		return reason == "" && s.refusal != nil
	}
}

// inForce says when experiments are made.
func (s *scope) inForce() string {
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
	sentence := "makes an experiment " + strings.Join(when, ", and ")
	for _, workload := range s.workloads {
		if workload.Waiting != "" {
			sentence += "; " + workload.Waiting
		}
	}
	return sentence
}

// announce tells people what happened, after it has been written down.
func (r *Reconciler) announce(before *v1alpha1.PerfSchedule, s *scope) {
	told := func(kind, reason, action, sentence string, words ...any) {
		r.Events.Eventf(s.schedule, nil, kind, reason, action, sentence, words...)
	}
	if s.made != nil {
		told(corev1.EventTypeNormal, "ExperimentMade", "Make", "Experiment %s, release %q (%s)", s.made.Name, s.made.Release, s.made.Trigger)
		s.announceSkipped(told)
	}
	if late := s.decision.Missed; late != nil {
		told(corev1.EventTypeWarning, "ExperimentLate", "Skip", "Experiment %s could not be made within startingDeadlineSeconds", late.Name)
	}
	for _, child := range s.decision.Replaced {
		told(corev1.EventTypeNormal, "ExperimentReplaced", "Delete", "Experiment %s was on, and is deleted with concurrencyPolicy Replace", child.Name)
	}
	for _, child := range s.decision.Expired {
		told(corev1.EventTypeNormal, "ExperimentOutlived", "Delete", "Experiment %s is deleted by the limits of history", child.Name)
	}
	was := meta.FindStatusCondition(before.Status.Conditions, v1alpha1.ConditionHeld)
	if held := s.decision.Blocked; held != "" && (was == nil || was.Message != component.Cut(held)) {
		told(corev1.EventTypeNormal, "ExperimentHeld", "Wait", "%s", held)
	}
	stalled := meta.FindStatusCondition(before.Status.Conditions, v1alpha1.ConditionStalled)
	if reason, message := s.trouble(); reason != "" && (stalled == nil || stalled.Message != component.Cut(message)) {
		told(corev1.EventTypeWarning, "Stalled", "Stall", "%s", component.Cut(message))
	}
}

// announceSkipped tells of the times that went by without an experiment.
func (s *scope) announceSkipped(told func(kind, reason, action, sentence string, words ...any)) {
	switch skipped := s.decision.Skipped; {
	case skipped >= recurrence.Many-1:
		told(corev1.EventTypeWarning, "TooManyMissed", "Skip", "More than %d times of the schedule went by: one experiment is made for all of them; look at startingDeadlineSeconds, at how long an experiment takes, and whether a clock was set", recurrence.Many-1)
	case skipped > 0:
		told(corev1.EventTypeNormal, "TimesMissed", "Skip", "%d earlier times of the schedule went by: one experiment is made for all of them", skipped)
	}
}
