//go:build e2e

// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/await"
	"perflab.dev/perflab/internal/testing/expect"
)

// TestSchedule uses a schedule that creates an experiment every minute. Each experiment
// takes longer, so the next one waits until it has finished.
func TestSchedule(t *testing.T) {
	ctx := t.Context()
	schedule := applySchedule(t, namespace(t))

	first := awaitCreated(ctx, t, schedule, 1)[0]
	await.Until(ctx, t, 3*time.Minute, "the next one to wait", func() (bool, string) {
		current := &v1alpha1.PerfSchedule{}
		expect.NoError(t, cluster.Get(ctx, client.ObjectKeyFromObject(schedule), current))
		held := meta.FindStatusCondition(current.Status.Conditions, v1alpha1.ConditionHeld)
		if held == nil {
			return false, "no such condition"
		}
		return held.Status == metav1.ConditionTrue && strings.Contains(held.Message, first.Name), held.Message
	})
	if made := experiments(ctx, t, schedule.Namespace); len(made) != 1 {
		t.Errorf("%d experiments were made, though one was on all the time", len(made))
	}
	awaitComplete(ctx, t, &first, 10*time.Minute)
	second := awaitCreated(ctx, t, schedule, 2)[1]
	for _, one := range []v1alpha1.PerfExperiment{first, second} {
		if one.Annotations[v1alpha1.AnnotationRelease] == "" || one.Labels["team"] != "library" {
			t.Errorf("%s is marked with %v and %v", one.Name, one.Annotations, one.Labels)
		}
	}
	reported := commandLine(t).must(t, "history", "-n", schedule.Namespace, first.Name)
	if release := first.Annotations[v1alpha1.AnnotationRelease]; !strings.Contains(reported, release) {
		t.Errorf("the history does not name release %q:\n%s", release, reported)
	}
	// The second one is running: its environment is deleted with it.
	expect.NoError(t, cluster.Delete(ctx, schedule))
	await.Until(ctx, t, 3*time.Minute, "the experiments to go with their schedule", func() (bool, string) {
		left := experiments(ctx, t, schedule.Namespace)
		return len(left) == 0, fmt.Sprintf("%d left", len(left))
	})
}

// applySchedule creates a schedule and the objects that its experiments need.
func applySchedule(t *testing.T, namespace string) *v1alpha1.PerfSchedule {
	t.Helper()
	schedule := &v1alpha1.PerfSchedule{}
	for _, object := range objects(t, "testdata/schedule.yaml") {
		object.SetNamespace(namespace)
		create(t, object)
		if object.GetKind() == "PerfSchedule" {
			schedule.Namespace, schedule.Name = namespace, object.GetName()
		}
	}
	return schedule
}

// awaitCreated waits until a schedule has created count experiments, and returns
// them in order of creation.
func awaitCreated(ctx context.Context, t *testing.T, schedule *v1alpha1.PerfSchedule, count int) []v1alpha1.PerfExperiment {
	t.Helper()
	var made []v1alpha1.PerfExperiment
	await.Until(ctx, t, 2*time.Minute, fmt.Sprintf("%d experiments to be made", count), func() (bool, string) {
		made = experiments(ctx, t, schedule.Namespace)
		return len(made) >= count, fmt.Sprintf("%d were", len(made))
	})
	slices.SortFunc(made, func(a, b v1alpha1.PerfExperiment) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
	return made
}
