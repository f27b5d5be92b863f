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

// ConditionSetter sets conditions of an object of this generation.
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

// SetReadiness sets the condition of a part.
func (set SetCondition) SetReadiness(condition string, readiness environment.Readiness) {
	status := metav1.ConditionFalse
	if readiness.Ready {
		status = metav1.ConditionTrue
	}
	set(condition, status, readiness.Reason, readiness.Message)
}

// RecordedFault reads back why an earlier pass found that the run does not count.
func RecordedFault(run *v1alpha1.PerfRun) *results.Fault {
	valid := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionValid)
	if valid == nil || valid.Status != metav1.ConditionFalse {
		return nil
	}
	return &results.Fault{Reason: valid.Reason, Message: valid.Message}
}

// maxMessage is far below what a condition may hold: a message is a sentence.
const maxMessage = 1024

// TruncateMessage bounds a sentence.
func TruncateMessage(message string) string { return prose.Cut(message, maxMessage) }

// RunMessage is what a run's experiment shows of what it does. How far a load is
// only the run tells: it would have to be written twice every few seconds.
func RunMessage(run *v1alpha1.PerfRun) string {
	loads := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionLoadsComplete)
	if run.Status.Phase == v1alpha1.RunLoading && loads != nil && loads.Reason == v1alpha1.ReasonLoading {
		return loads.Message
	}
	return run.Status.Message
}
