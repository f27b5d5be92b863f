// SPDX-License-Identifier: Apache-2.0

package validate_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/validate"
)

// Notes may change at any time until the runs, and so the report, are deleted.
func TestUpdateAllowsNotesUntilRunsAreDeleted(t *testing.T) {
	before := experiment()
	before.Status.StartTime = &metav1.Time{}
	after := before.DeepCopy()
	after.Spec.Notes = []v1alpha1.Note{{Name: "cause", Text: "The heap."}}
	if faults := validate.Update(before, after); len(faults) > 0 {
		t.Fatalf("while the runs are there: %v", faults)
	}
	taken := metav1.NewTime(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	before.Status.History = &v1alpha1.HistoryStatus{Runs: &taken}
	faults := validate.Update(before, after)
	if len(faults) != 1 || faults[0].Field != "spec.notes" || !strings.Contains(faults[0].Detail, "were deleted on 2026-03-01 (retention.runs)") {
		t.Errorf("faults are %v", faults)
	}
	if faults := validate.Update(after, after); len(faults) > 0 {
		t.Errorf("notes that stay: %v", faults)
	}
}

// No block can be added to deleted runs.
func TestUpdateRejectsBlocksAfterRunsAreDeleted(t *testing.T) {
	before := experiment()
	before.Status.StartTime = &metav1.Time{}
	after := before.DeepCopy()
	after.Spec.Design.Blocks++
	if faults := validate.Update(before, after); len(faults) > 0 {
		t.Fatalf("while they are there: %v", faults)
	}
	taken := metav1.NewTime(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	before.Status.History = &v1alpha1.HistoryStatus{Runs: &taken}
	faults := validate.Update(before, after)
	if len(faults) != 1 || faults[0].Field != "spec.design.blocks" || !strings.Contains(faults[0].Detail, "2026-03-01") {
		t.Errorf("faults are %v", faults)
	}
}
