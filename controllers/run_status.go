// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/results"
)

// reportRun turns what a pass has learnt into phase, message and conditions.
// Nothing else sets them.
func reportRun(s *runScope) {
	status := s.status()
	status.ObservedGeneration = s.run.Generation
	set := conditionSetter(&status.Conditions, s.run.Generation)

	for _, part := range parts {
		if readiness, known := s.told[part.condition]; known {
			set(part.condition, boolStatus(readiness.Ready), readiness.Reason, readiness.Message)
		}
	}
	if s.priced != nil {
		set(v1alpha1.ConditionPriced, boolStatus(s.priced.Ready), s.priced.Reason, s.priced.Message)
	}
	setLoadsComplete(s, set)
	setValid(s, set)
	status.Phase = phaseOf(s)
	status.Message = messageOf(s)
	setKstatus(s, set)
}

type setCondition func(conditionType string, status metav1.ConditionStatus, reason, message string)

func conditionSetter(conditions *[]metav1.Condition, generation int64) setCondition {
	return func(conditionType string, status metav1.ConditionStatus, reason, message string) {
		meta.SetStatusCondition(conditions, metav1.Condition{
			Type:               conditionType,
			Status:             status,
			Reason:             reason,
			Message:            cut(message),
			ObservedGeneration: generation,
		})
	}
}

func setLoadsComplete(s *runScope, set setCondition) {
	trouble, known := s.told[v1alpha1.ConditionLoadsComplete]
	switch {
	case s.held != "":
		set(v1alpha1.ConditionLoadsComplete, metav1.ConditionFalse, v1alpha1.ReasonRefused, s.held)
	case s.status().Timings.LoadFinish != nil:
		set(v1alpha1.ConditionLoadsComplete, metav1.ConditionTrue, v1alpha1.ReasonComplete, "every load has ended")
	case s.fault != nil && (s.fault.Reason == v1alpha1.ReasonLoadFailed || s.fault.Reason == v1alpha1.ReasonLoadStuck):
		set(v1alpha1.ConditionLoadsComplete, metav1.ConditionFalse, s.fault.Reason, s.fault.Message)
	case known:
		set(v1alpha1.ConditionLoadsComplete, metav1.ConditionFalse, trouble.Reason, trouble.Message)
	case s.loading != "":
		// The sentence with the seconds is in status.message; a condition
		// that changes each second would not be one.
		set(v1alpha1.ConditionLoadsComplete, metav1.ConditionFalse, v1alpha1.ReasonLoading, "loads are on")
	}
}

func setValid(s *runScope, set setCondition) {
	switch {
	case s.fault != nil:
		set(v1alpha1.ConditionValid, metav1.ConditionFalse, s.fault.Reason, s.fault.Message)
	case s.over:
		set(v1alpha1.ConditionValid, metav1.ConditionTrue, v1alpha1.ReasonValid, "the run counts")
	default:
		set(v1alpha1.ConditionValid, metav1.ConditionUnknown, v1alpha1.ReasonProgressing, "the run is not over")
	}
}

// setKstatus sets the conditions generic tools read: a run is Ready when it is
// over and counts, and Stalled when it is over and does not.
func setKstatus(s *runScope, set setCondition) {
	conditions := &s.status().Conditions
	switch s.status().Phase {
	case v1alpha1.RunSucceeded:
		set(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonComplete, "the run is over and counts")
		meta.RemoveStatusCondition(conditions, v1alpha1.ConditionReconciling)
	case v1alpha1.RunInvalid:
		set(v1alpha1.ConditionReady, metav1.ConditionFalse, s.fault.Reason, s.fault.Message)
		set(v1alpha1.ConditionStalled, metav1.ConditionTrue, s.fault.Reason, s.fault.Message)
		meta.RemoveStatusCondition(conditions, v1alpha1.ConditionReconciling)
	default:
		set(v1alpha1.ConditionReady, metav1.ConditionUnknown, v1alpha1.ReasonProgressing, "the run is not over")
		set(v1alpha1.ConditionReconciling, metav1.ConditionTrue, v1alpha1.ReasonProgressing, "the run is "+string(s.status().Phase))
	}
}

func phaseOf(s *runScope) v1alpha1.RunPhase {
	timings := s.status().Timings
	switch {
	case s.over && s.fault != nil:
		return v1alpha1.RunInvalid
	case s.over:
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

func messageOf(s *runScope) string {
	if s.held != "" {
		return cut(fmt.Sprintf("%s; the run is not over, for %s", s.fault.Message, s.held))
	}
	if s.fault != nil {
		return cut(s.fault.Message)
	}
	if s.over {
		return remarkOf(s)
	}
	if trouble, known := s.trouble(); known {
		return cut(trouble.Message)
	}
	if s.loading == "" {
		return cut(s.told[v1alpha1.ConditionLoadsComplete].Message)
	}
	return cut(s.loading)
}

// remarkOf is what there is to say about a run that counts.
func remarkOf(s *runScope) string {
	priced := meta.FindStatusCondition(s.status().Conditions, v1alpha1.ConditionPriced)
	if priced == nil || priced.Status != metav1.ConditionFalse {
		return ""
	}
	return cut(priced.Message)
}

// faultOf reads back why an earlier pass found that the run does not count.
func faultOf(run *v1alpha1.PerfRun) *results.Fault {
	valid := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionValid)
	if valid == nil || valid.Status != metav1.ConditionFalse {
		return nil
	}
	return &results.Fault{Reason: valid.Reason, Message: valid.Message}
}

// patchStatus writes a status over the version this pass has read, and no other.
func patchStatus(ctx context.Context, cluster kube.Cluster, kind string, before, after client.Object) error {
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := cluster.Client.Status().Patch(ctx, after, patch, kube.FieldOwner); err != nil {
		return fmt.Errorf("writing the status of %s %q: %w", kind, after.GetName(), err)
	}
	return nil
}

// writeRunStatus writes the status if it changed.
func (r *RunReconciler) writeRunStatus(ctx context.Context, before, after *v1alpha1.PerfRun) error {
	if equality.Semantic.DeepEqual(before.Status, after.Status) {
		return nil
	}
	return patchStatus(ctx, r.Cluster, "run", before, after)
}

// announceRun tells people what happened, after it has been written down.
func (r *RunReconciler) announceRun(before, after *v1alpha1.PerfRun) {
	if before.Status.Phase == after.Status.Phase {
		return
	}
	r.Telemetry.RunOver(after)
	switch after.Status.Phase {
	case v1alpha1.RunProvisioning:
		r.Events.Eventf(after, nil, corev1.EventTypeNormal, "Provisioning", "Provision", "Building arm %s for scenario %s", after.Spec.Arm, after.Spec.Scenario.Name)
	case v1alpha1.RunLoading:
		r.Events.Eventf(after, nil, corev1.EventTypeNormal, "Loading", "Load", "The environment is ready, the loads begin")
	case v1alpha1.RunSucceeded:
		r.Events.Eventf(after, nil, corev1.EventTypeNormal, "Succeeded", "Finish", "The run gave %s", environment.Counted(len(after.Status.Observations), "observation"))
	case v1alpha1.RunInvalid:
		r.Events.Eventf(after, nil, corev1.EventTypeWarning, "Invalid", "Finish", "%s", after.Status.Message)
	default:
		// The other phases go without saying.
	}
}

func boolStatus(is bool) metav1.ConditionStatus {
	if is {
		return metav1.ConditionTrue
	}
	return metav1.ConditionFalse
}

// maxMessage is far below what a condition may hold: a message is a sentence.
const maxMessage = 1024

func cut(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	end := maxMessage - len("…")
	for !utf8.RuneStart(message[end]) {
		end--
	}
	return message[:end] + "…"
}
