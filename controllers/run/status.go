// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/text/prose"
)

// reportRun sets phase, message and conditions from the scope. Nothing else sets them.
func reportRun(s *scope) {
	status := s.status()
	status.ObservedGeneration = s.run.Generation
	set := component.ConditionSetter(&status.Conditions, s.run.Generation)

	for _, part := range component.All {
		condition := part.Describe().Condition
		if readiness, known := s.readiness[condition]; known {
			set.SetReadiness(condition, readiness)
		}
	}
	if s.priced != nil {
		set.SetReadiness(v1alpha1.ConditionPriced, *s.priced)
	}
	if s.archived != nil {
		set.SetReadiness(v1alpha1.ConditionArchived, *s.archived)
	}
	setLoadsComplete(s, set)
	setValid(s, set)
	status.Phase = runPhase(s)
	status.Message = statusMessage(s)
	setKstatus(s, set)
}

func setLoadsComplete(s *scope, set component.SetCondition) {
	problem, known := s.readiness[v1alpha1.ConditionLoadsComplete]
	switch {
	case s.blocked != "":
		set(v1alpha1.ConditionLoadsComplete, metav1.ConditionFalse, v1alpha1.ReasonRefused, s.blocked)
	case s.status().Timings.LoadFinish != nil:
		set(v1alpha1.ConditionLoadsComplete, metav1.ConditionTrue, v1alpha1.ReasonComplete, "all loads have ended")
	case s.fault != nil && (s.fault.Reason == v1alpha1.ReasonLoadFailed || s.fault.Reason == v1alpha1.ReasonLoadStuck):
		set(v1alpha1.ConditionLoadsComplete, metav1.ConditionFalse, s.fault.Reason, s.fault.Message)
	case known:
		set(v1alpha1.ConditionLoadsComplete, metav1.ConditionFalse, problem.Reason, problem.Message)
	case s.loadMessage != "":
		// status.message has the seconds. A condition must not change each second.
		set(v1alpha1.ConditionLoadsComplete, metav1.ConditionFalse, v1alpha1.ReasonLoading, "loads are running")
	}
}

func setValid(s *scope, set component.SetCondition) {
	switch {
	case s.fault != nil:
		set(v1alpha1.ConditionValid, metav1.ConditionFalse, s.fault.Reason, s.fault.Message)
	case s.finished:
		set(v1alpha1.ConditionValid, metav1.ConditionTrue, v1alpha1.ReasonValid, "the run is valid")
	default:
		set(v1alpha1.ConditionValid, metav1.ConditionUnknown, v1alpha1.ReasonProgressing, "the run is not finished")
	}
}

// setKstatus sets the conditions for generic tools: a run is Ready when it is finished and
// valid, and Stalled when it is finished and invalid.
func setKstatus(s *scope, set component.SetCondition) {
	conditions := &s.status().Conditions
	switch s.status().Phase {
	case v1alpha1.RunSucceeded:
		set(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonComplete, "the run is finished and valid")
		meta.RemoveStatusCondition(conditions, v1alpha1.ConditionReconciling)
	case v1alpha1.RunInvalid:
		set(v1alpha1.ConditionReady, metav1.ConditionFalse, s.fault.Reason, s.fault.Message)
		set(v1alpha1.ConditionStalled, metav1.ConditionTrue, s.fault.Reason, s.fault.Message)
		meta.RemoveStatusCondition(conditions, v1alpha1.ConditionReconciling)
	default:
		set(v1alpha1.ConditionReady, metav1.ConditionUnknown, v1alpha1.ReasonProgressing, "the run is not finished")
		set(v1alpha1.ConditionReconciling, metav1.ConditionTrue, v1alpha1.ReasonProgressing, "the run is "+string(s.status().Phase))
	}
}

func runPhase(s *scope) v1alpha1.RunPhase {
	timings := s.status().Timings
	switch {
	case s.finished && s.fault != nil:
		return v1alpha1.RunInvalid
	case s.finished:
		return v1alpha1.RunSucceeded
	case timings.LoadFinish != nil:
		return v1alpha1.RunCollecting
	case timings.Ready != nil:
		return v1alpha1.RunLoading
	case timings.ProvisionStart != nil:
		return v1alpha1.RunProvisioning
	default:
		return v1alpha1.RunPending
	}
}

func statusMessage(s *scope) string {
	if s.blocked != "" {
		return component.TruncateMessage(fmt.Sprintf("%s; the run is not finished: %s", s.fault.Message, s.blocked))
	}
	if s.fault != nil {
		return component.TruncateMessage(s.fault.Message)
	}
	if s.finished {
		return validRunMessage(s)
	}
	if problem, known := s.firstProblem(); known {
		return component.TruncateMessage(problem.Message)
	}
	if s.loadMessage == "" {
		return component.TruncateMessage(s.readiness[v1alpha1.ConditionLoadsComplete].Message)
	}
	return component.TruncateMessage(s.loadMessage)
}

// validRunMessage is the message of a valid run: why its cost is unknown.
func validRunMessage(s *scope) string {
	priced := meta.FindStatusCondition(s.status().Conditions, v1alpha1.ConditionPriced)
	if priced == nil || priced.Status != metav1.ConditionFalse {
		return ""
	}
	return component.TruncateMessage(priced.Message)
}

// writeRunStatus writes the status if it changed. It returns a delay if the change is only
// progress and has to wait.
func (r *Reconciler) writeRunStatus(ctx context.Context, before, after *v1alpha1.PerfRun) (later time.Duration, err error) {
	if equality.Semantic.DeepEqual(before.Status, after.Status) {
		return 0, nil
	}
	if left := r.StatusThrottle.Remaining(after.UID, r.Now()); left > 0 && isProgressOnly(&before.Status, &after.Status) {
		return left, nil
	}
	if err := component.PatchStatus(ctx, r.Cluster, "run", before, after); err != nil {
		return 0, err
	}
	r.StatusThrottle.RecordWrite(after.UID, r.Now())
	return 0, nil
}

// isProgressOnly reports whether two statuses differ only in progress. Every reconcile computes
// progress again, but reads its decisions from the status.
func isProgressOnly(before, after *v1alpha1.PerfRunStatus) bool {
	decided := func(status *v1alpha1.PerfRunStatus) v1alpha1.PerfRunStatus {
		rest := *status
		rest.Message, rest.Conditions = "", nil
		if valid := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionValid); valid != nil {
			rest.Conditions = []metav1.Condition{*valid}
		}
		rest.Loads = slices.Clone(status.Loads)
		for i := range rest.Loads {
			rest.Loads[i].Stage, rest.Loads[i].Progress = "", nil
		}
		return rest
	}
	return equality.Semantic.DeepEqual(decided(before), decided(after))
}

// recordEvents records events, after the status is written.
func (r *Reconciler) recordEvents(before, after *v1alpha1.PerfRun) {
	r.recordFaultEvents(before, after)
	if before.Status.Phase == after.Status.Phase {
		return
	}
	r.Telemetry.RunFinished(after)
	switch after.Status.Phase {
	case v1alpha1.RunLoading:
		r.Events.Eventf(after, nil, corev1.EventTypeNormal, "Loading", "Load", "Environment ready, started the loads")
	case v1alpha1.RunSucceeded:
		r.Events.Eventf(after, nil, corev1.EventTypeNormal, "Succeeded", "Finish", "Recorded %s", prose.Counted(len(after.Status.Observations), "observation"))
	case v1alpha1.RunInvalid:
		r.Events.Eventf(after, nil, corev1.EventTypeWarning, "Invalid", "Finish", "%s", after.Status.Message)
	default:
		// The experiment records the start of a run.
	}
}

// recordFaultEvents records the faults that have begun.
func (r *Reconciler) recordFaultEvents(before, after *v1alpha1.PerfRun) {
	for _, fault := range after.Status.Faults {
		if earlier := before.Status.Fault(fault.Name); fault.Begin == nil || earlier != nil && earlier.Begin != nil {
			continue
		}
		var struck []string
		for _, target := range fault.Targets {
			struck = append(struck, "pod "+target.Pod)
		}
		if fault.Resource != nil {
			struck = append(struck, fault.Resource.Kind+" "+fault.Resource.Name)
		}
		r.Events.Eventf(after, nil, corev1.EventTypeNormal, "FaultBegan", "Inject", "Fault %s began: %s", fault.Name, strings.Join(struck, ", "))
	}
}
