// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/expect"
)

// checkStatuses checks after every reconcile the rules of all statuses, on which generic tools rely.
func (l *lab) checkStatuses() {
	l.t.Helper()
	for _, experiment := range l.experiments() {
		l.checkStatus(&experiment, experiment.Status.ObservedGeneration, experiment.Status.Conditions, experiment.Status.WaitingFor)
	}
	for _, run := range l.runs() {
		l.checkStatus(&run, run.Status.ObservedGeneration, run.Status.Conditions, run.Status.Message)
	}
}

func (l *lab) checkStatus(object client.Object, observed int64, conditions []metav1.Condition, sentence string) {
	l.t.Helper()
	if len(conditions) == 0 {
		// No reconcile has written it yet.
		return
	}
	name := object.GetName()
	ready := meta.FindStatusCondition(conditions, v1alpha1.ConditionReady)
	reconciling := meta.IsStatusConditionTrue(conditions, v1alpha1.ConditionReconciling)
	stalled := meta.IsStatusConditionTrue(conditions, v1alpha1.ConditionStalled)
	switch {
	case ready == nil:
		l.t.Errorf("%s has conditions, but no Ready", name)
	case reconciling && stalled:
		l.t.Errorf("%s is both Reconciling and Stalled", name)
	case reconciling && ready.Status != metav1.ConditionUnknown:
		l.t.Errorf("%s is Reconciling while Ready is %s", name, ready.Status)
	case stalled && ready.Status != metav1.ConditionFalse:
		l.t.Errorf("%s is Stalled while Ready is %s", name, ready.Status)
	case !reconciling && !stalled && ready.Status != metav1.ConditionTrue:
		l.t.Errorf("%s is neither Reconciling nor Stalled while Ready is %s", name, ready.Status)
	case observed == 0 || observed > object.GetGeneration():
		l.t.Errorf("%s of generation %d has observed generation %d", name, object.GetGeneration(), observed)
	}
	for _, condition := range conditions {
		if condition.Message == "" || strings.Contains(condition.Message, "\n") {
			l.t.Errorf("%s: the message of %s is not one line: %q", name, condition.Type, condition.Message)
		}
		if condition.ObservedGeneration > object.GetGeneration() {
			l.t.Errorf("%s: condition %s has generation %d, the object has %d", name, condition.Type, condition.ObservedGeneration, object.GetGeneration())
		}
	}
	if strings.Contains(sentence, "\n") {
		l.t.Errorf("%s: not one line: %q", name, sentence)
	}
}

// expect fails the test unless a condition is as wanted, with these texts in its message.
func (l *lab) expect(conditions []metav1.Condition, conditionType string, status metav1.ConditionStatus, reason string, words ...string) {
	l.t.Helper()
	found := meta.FindStatusCondition(conditions, conditionType)
	if found == nil {
		l.t.Fatalf("condition %s is missing in %v", conditionType, conditionTypes(conditions))
	}
	if found.Status != status || found.Reason != reason {
		l.t.Errorf("%s is %s (%s: %s), want %s (%s)", conditionType, found.Status, found.Reason, found.Message, status, reason)
	}
	expect.Contains(l.t, found.Message, words, conditionType)
}

func conditionTypes(conditions []metav1.Condition) []string {
	names := make([]string, 0, len(conditions))
	for _, condition := range conditions {
		names = append(names, condition.Type)
	}
	return names
}
