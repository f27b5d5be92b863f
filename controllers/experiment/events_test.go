// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"slices"
	"testing"

	"k8s.io/client-go/tools/events"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
)

// Each change is reported once, when it is added to the status. A regression is a warning.
func TestChangesAreEvents(t *testing.T) {
	recorder := events.NewFakeRecorder(10)
	reconciler := &Reconciler{Tools: component.Tools{Events: recorder}}
	before, after := &v1alpha1.PerfExperiment{}, &v1alpha1.PerfExperiment{}
	after.Status.Changes = []v1alpha1.SeriesChange{
		{Verdict: v1alpha1.VerdictWorse, Sentence: "Check-In rose"}, {Verdict: v1alpha1.VerdictBetter, Sentence: "Check-Out fell"},
	}
	reconciler.sendChanges(before, after)
	reconciler.sendChanges(after, after)
	close(recorder.Events)
	var told []string
	for event := range recorder.Events {
		told = append(told, event)
	}
	if want := []string{"Warning SeriesChanged Check-In rose: Worse", "Normal SeriesChanged Check-Out fell: Better"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}
