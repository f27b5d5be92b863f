// SPDX-License-Identifier: Apache-2.0

package follow

import (
	"strings"
	"testing"
	"time"

	"perflab.dev/perflab/cmd/perflab/cluster"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/expect"
)

// A manually created experiment belongs to the schedule, without a right to it.
func TestRunFromSchedule(t *testing.T) {
	schedule := &v1alpha1.PerfSchedule{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "nightly", UID: "u"}}
	schedule.Spec.Schedule, schedule.Spec.TimeZone, schedule.Spec.Suspend = "0 2 * * *", "Europe/Berlin", true
	schedule.Spec.Template.Spec.Question = "Does it get slower?"
	writer := fake.NewClientBuilder().WithScheme(cluster.NewScheme()).WithObjects(schedule).Build()
	now := time.Date(2026, 3, 2, 23, 30, 0, 0, time.UTC)
	made, err := createFromSchedule(t.Context(), writer, client.ObjectKeyFromObject(schedule), now)
	expect.NoError(t, err)
	stored := &v1alpha1.PerfExperiment{}
	expect.NoError(t, writer.Get(t.Context(), client.ObjectKeyFromObject(made), stored))
	if !metav1.IsControlledBy(stored, schedule) || stored.OwnerReferences[0].BlockOwnerDeletion != nil || stored.Spec.Question != "Does it get slower?" {
		t.Errorf("%+v", stored)
	}
	if release := stored.Annotations[v1alpha1.AnnotationRelease]; release != "2026-03-03T00:30" {
		t.Errorf("it is called %q, want its time in Berlin", release)
	}
	if _, err := createFromSchedule(t.Context(), writer, client.ObjectKey{Namespace: "lab", Name: "weekly"}, now); err == nil || !strings.Contains(err.Error(), `PerfSchedule "weekly" in namespace "lab"`) {
		t.Errorf("of a schedule that is not there: %v", err)
	}
}
