//go:build e2e

// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/await"
	"perflab.dev/perflab/internal/testing/expect"
)

// TestExistingKafkaAndPostgresStayUnchanged checks that an experiment does not change an
// existing Kafka and PostgreSQL that have the names it needs. The objects and their volumes
// stay unchanged, even when the experiment is deleted.
func TestExistingKafkaAndPostgresStayUnchanged(t *testing.T) {
	ctx := t.Context()
	home := namespace(t)
	theirs := objects(t, "testdata/foreign.yaml")
	for _, object := range theirs {
		object.SetNamespace(home)
		create(t, object)
	}
	t.Cleanup(func() { deleteObjects(t, theirs) })
	database := theirs[1]
	await.Until(ctx, t, 3*time.Minute, "the existing PostgreSQL to be ready", func() (bool, string) {
		refresh(ctx, t, database)
		ready, _, _ := unstructured.NestedInt64(database.Object, "status", "readyInstances")
		return ready == 1, fmt.Sprintf("%d instances are ready", ready)
	})
	before := state(ctx, t, home, theirs)
	withoutKafka := func(e *v1alpha1.PerfExperiment) {
		e.Spec.System.Kafka, e.Spec.Arms[1].Set.Kafka = nil, nil
	}
	for _, conflicting := range []struct {
		edit            func(*v1alpha1.PerfExperiment)
		condition, name string
	}{
		{func(*v1alpha1.PerfExperiment) {}, v1alpha1.ConditionKafkaReady, `Kafka "small"`},
		{withoutKafka, v1alpha1.ConditionPostgresReady, `Cluster "small-pg"`},
	} {
		experiment := apply(t, home, "testdata/experiment.yaml", conflicting.edit)
		await.Until(ctx, t, patience, conflicting.name+" to be reported as taken", func() (bool, string) {
			current := get(ctx, t, experiment)
			found := meta.FindStatusCondition(current.Status.Conditions, conflicting.condition)
			if found == nil {
				return false, "no such condition; waiting for " + current.Status.WaitingFor
			}
			reported := found.Status == metav1.ConditionFalse && found.Reason == v1alpha1.ReasonNameTaken && strings.Contains(found.Message, conflicting.name)
			return reported && strings.Contains(current.Status.WaitingFor, conflicting.name), fmt.Sprintf("%+v", *found)
		})
		expect.NoError(t, cluster.Delete(ctx, experiment))
		await.Until(ctx, t, time.Minute, "the experiment to be deleted", func() (bool, string) {
			return gone(ctx, t, experiment), "it exists"
		})
	}
	if after := state(ctx, t, home, theirs); after != before {
		t.Errorf("the existing objects are now\n%s\nand were\n%s", after, before)
	}
}

func refresh(ctx context.Context, t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	expect.NoError(t, cluster.Get(ctx, client.ObjectKeyFromObject(object), object), "reading %s %q", object.GetKind(), object.GetName())
}

// state returns a description of the objects, with their owners and specs, and the volumes.
func state(ctx context.Context, t *testing.T, home string, of []*unstructured.Unstructured) string {
	t.Helper()
	var reported strings.Builder
	for _, object := range of {
		refresh(ctx, t, object)
		fmt.Fprintln(&reported, object.GetKind(), object.GetName(), object.GetUID(), object.GetOwnerReferences(), object.GetLabels(), object.Object["spec"])
	}
	claims := &corev1.PersistentVolumeClaimList{}
	expect.NoError(t, cluster.List(ctx, claims, client.InNamespace(home)))
	for _, claim := range claims.Items {
		fmt.Fprintln(&reported, "claim", claim.Name, claim.UID, claim.DeletionTimestamp)
	}
	return reported.String()
}

// deleteObjects deletes the existing objects before their namespace.
func deleteObjects(t *testing.T, objects []*unstructured.Unstructured) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, object := range objects {
		if err := client.IgnoreNotFound(cluster.Delete(ctx, object)); err != nil {
			t.Errorf("deleting %s %q: %v", object.GetKind(), object.GetName(), err)
		}
	}
}
