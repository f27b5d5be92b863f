// SPDX-License-Identifier: Apache-2.0

package k6operator

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	k6v1alpha1 "perflab.dev/perflab/test/emulators/k6operator/api/v1alpha1"
)

// Conditions of a run. All five are present from the first status on.
const (
	conditionCloudRun   = "CloudTestRun"
	conditionRunning    = "TestRunRunning"
	conditionTeardown   = "TeardownExecuted"
	conditionAborted    = "CloudTestRunAborted"
	conditionCloudPLZ   = "CloudPLZTestRun"
	reasonPreparation   = "TestRunPreparation"
	reasonUnknownTypeOf = "TestRunTypeUnknown"
)

// setInitialConditions sets the conditions of a new run.
func setInitialConditions(status *k6v1alpha1.TestRunStatus) {
	setCondition(status, conditionCloudRun, metav1.ConditionUnknown, reasonUnknownTypeOf)
	setCondition(status, conditionRunning, metav1.ConditionUnknown, reasonPreparation)
	setBoolean(status, conditionTeardown, false)
	setBoolean(status, conditionAborted, false)
	setBoolean(status, conditionCloudPLZ, false)
}

// setBoolean sets a condition whose reason repeats its type and status.
func setBoolean(status *k6v1alpha1.TestRunStatus, kind string, value bool) {
	if value {
		setCondition(status, kind, metav1.ConditionTrue, kind+"True")
		return
	}
	setCondition(status, kind, metav1.ConditionFalse, kind+"False")
}

func setCondition(status *k6v1alpha1.TestRunStatus, kind string, value metav1.ConditionStatus, reason string) {
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{Type: kind, Status: value, Reason: reason})
}
