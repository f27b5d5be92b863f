// SPDX-License-Identifier: Apache-2.0

package announcer

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/expect"
)

// toTell is an experiment with an announcement that is pending or was sent.
func toTell(phase v1alpha1.ExperimentPhase, hour int, status metav1.ConditionStatus, reason string) *v1alpha1.PerfExperiment {
	experiment := &v1alpha1.PerfExperiment{}
	experiment.Status.Announcement = &v1alpha1.AnnouncementStatus{Phase: phase, Time: metav1.Time{Time: time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC)}}
	experiment.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionAnnounced, Status: status, Reason: reason}}
	return experiment
}

// New announcements trigger the announcer, but its own writes do not, nor do delivered ones at
// its start.
func TestWhoWakesTheAnnouncer(t *testing.T) {
	const complete, stalled = v1alpha1.ExperimentComplete, v1alpha1.ExperimentStalled
	imported := toTell(complete, 1, metav1.ConditionFalse, v1alpha1.ReasonSinkUnavailable)
	imported.Annotations = map[string]string{v1alpha1.AnnotationImported: "lab/other u-1 2026-01-01T00:00:00Z"}
	fresh := toTell(complete, 1, metav1.ConditionUnknown, v1alpha1.ReasonAnnouncing)
	away := toTell(complete, 1, metav1.ConditionFalse, v1alpha1.ReasonSinkUnavailable)
	givenUp := toTell(complete, 1, metav1.ConditionFalse, v1alpha1.ReasonSinkGivenUp)
	told := toTell(complete, 1, metav1.ConditionTrue, v1alpha1.ReasonAnnounced)
	for name, tc := range map[string]struct {
		// before is nil if the experiment is seen for the first time.
		before, after *v1alpha1.PerfExperiment
		want          bool
	}{
		"it has just been started, and one is new":            {nil, fresh, true},
		"it has just been started, and a sink was away":       {nil, away, true},
		"it has just been started, and all is told":           {nil, told, false},
		"it has just been started, and one is given up":       {nil, givenUp, false},
		"it has just been started, and there is nothing":      {nil, &v1alpha1.PerfExperiment{}, false},
		"what was told elsewhere":                             {nil, imported, false},
		"one is complete":                                     {&v1alpha1.PerfExperiment{}, fresh, true},
		"its own write, after which it has asked to be woken": {fresh, away, false},
		"its own write, after which nothing is left":          {away, told, false},
		"complete again":                                      {told, toTell(complete, 2, metav1.ConditionUnknown, v1alpha1.ReasonAnnouncing), true},
		"complete after a stall that was not announced":       {toTell(stalled, 1, metav1.ConditionFalse, v1alpha1.ReasonSinkUnavailable), fresh, true},
	} {
		t.Run(name, func(t *testing.T) {
			woken := news()
			got := false
			if tc.before == nil {
				got = woken.Create(event.CreateEvent{Object: tc.after})
			} else {
				got = woken.Update(event.UpdateEvent{ObjectOld: tc.before, ObjectNew: tc.after})
			}
			expect.Equal(t, tc.want, got, "it is woken")
		})
	}
}
