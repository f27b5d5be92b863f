// SPDX-License-Identifier: Apache-2.0

package component

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/measure/results"
	"perflab.dev/perflab/internal/text/prose"
)

// SetCondition sets one condition of an object.
type SetCondition func(conditionType string, status metav1.ConditionStatus, reason, message string)

// ConditionSetter returns a function that sets conditions observed at a generation.
func ConditionSetter(conditions *[]metav1.Condition, generation int64) SetCondition {
	return func(conditionType string, status metav1.ConditionStatus, reason, message string) {
		meta.SetStatusCondition(conditions, metav1.Condition{
			Type:               conditionType,
			Status:             status,
			Reason:             reason,
			Message:            TruncateMessage(message),
			ObservedGeneration: generation,
		})
	}
}

// SetReadiness sets a condition to True or False.
func (set SetCondition) SetReadiness(condition string, readiness environment.Readiness) {
	status := metav1.ConditionFalse
	if readiness.Ready {
		status = metav1.ConditionTrue
	}
	set(condition, status, readiness.Reason, readiness.Message)
}

// RecordedFault returns why an earlier reconcile found the run invalid, from its Valid
// condition.
func RecordedFault(run *v1alpha1.PerfRun) *results.Fault {
	valid := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionValid)
	if valid == nil || valid.Status != metav1.ConditionFalse {
		return nil
	}
	return &results.Fault{Reason: valid.Reason, Message: valid.Message}
}

// maxMessage is the length of a condition message, far below the API's limit.
const maxMessage = 1024

// TruncateMessage bounds a message.
func TruncateMessage(message string) string { return prose.Cut(message, maxMessage) }

// RunMessage is the message that an experiment shows of its current run. The progress of loads
// is only on the run: copying it would double the writes every few seconds.
func RunMessage(run *v1alpha1.PerfRun) string {
	loads := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionLoadsComplete)
	if run.Status.Phase == v1alpha1.RunLoading && loads != nil && loads.Reason == v1alpha1.ReasonLoading {
		return loads.Message
	}
	return run.Status.Message
}
