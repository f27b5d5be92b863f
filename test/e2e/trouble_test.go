//go:build e2e

// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/await"
	"perflab.dev/perflab/internal/testing/expect"
)

// patience is the time limit for a condition that reports a mistake.
const patience = 30 * time.Second

// TestTrouble makes common mistakes and expects the condition that reports each.
func TestTrouble(t *testing.T) {
	cases := map[string]struct {
		edit      func(*v1alpha1.PerfExperiment)
		condition string
		reason    string
		message   string
	}{
		"a missing image": {
			edit: func(e *v1alpha1.PerfExperiment) {
				e.Spec.System.Modules[1].Image = "localhost/perflab/no-such-module:1"
			},
			condition: v1alpha1.ConditionImagesAvailable, reason: v1alpha1.ReasonImagePull, message: "localhost/perflab/no-such-module:1",
		},
		"an external target that does not answer": {
			edit: func(e *v1alpha1.PerfExperiment) {
				e.Spec.System.Target.Module = ""
				e.Spec.System.Target.URL = "http://okapi.nowhere.svc:9130"
			},
			condition: v1alpha1.ConditionTargetReachable, reason: v1alpha1.ReasonUnreachable, message: "okapi.nowhere.svc:9130",
		},
		"a module without its Secret": {
			edit: func(e *v1alpha1.PerfExperiment) {
				e.Spec.System.Kafka, e.Spec.System.Postgres, e.Spec.Arms[1].Set = nil, nil, nil
				e.Spec.System.Modules[0].Env = append(e.Spec.System.Modules[0].Env, secretVariable("TOKEN", "no-such-secret"))
			},
			condition: v1alpha1.ConditionModulesReady, reason: v1alpha1.ReasonConfiguration, message: "no-such-secret",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			experiment := apply(t, namespace(t), "testdata/experiment.yaml", test.edit)
			await.Until(ctx, t, patience, fmt.Sprintf("%s=False", test.condition), func() (bool, string) {
				current := get(ctx, t, experiment)
				found := meta.FindStatusCondition(current.Status.Conditions, test.condition)
				if found == nil {
					return false, "no such condition; waiting for " + current.Status.WaitingFor
				}
				reported := found.Status == metav1.ConditionFalse && found.Reason == test.reason && strings.Contains(found.Message, test.message)
				return reported && strings.Contains(current.Status.WaitingFor, test.message), fmt.Sprintf("%+v", *found)
			})
		})
	}
}

// TestSilentOperator stops the operator of Kafka. The API server still serves its kinds,
// but no operator reconciles them.
func TestSilentOperator(t *testing.T) {
	ctx := t.Context()
	stop(t, kafkaOperator(ctx, t))
	experiment := apply(t, namespace(t), "testdata/experiment.yaml")
	await.Until(ctx, t, patience, "Kafka's operator to be called silent", func() (bool, string) {
		current := get(ctx, t, experiment)
		found := meta.FindStatusCondition(current.Status.Conditions, v1alpha1.ConditionKafkaReady)
		if found == nil {
			return false, "no such condition; waiting for " + current.Status.WaitingFor
		}
		return found.Status == metav1.ConditionFalse && found.Reason == v1alpha1.ReasonOperatorSilent, fmt.Sprintf("%+v", *found)
	})
}

// kafkaOperators are the Deployments that may reconcile Kafka objects.
var kafkaOperators = []client.ObjectKey{
	{Namespace: "strimzi-system", Name: "strimzi-cluster-operator"},
	{Namespace: "perflab-emulators", Name: "emulators"},
}

// kafkaOperator returns the Deployment that reconciles Kafka objects, Strimzi's or
// the emulator's.
func kafkaOperator(ctx context.Context, t *testing.T) *appsv1.Deployment {
	t.Helper()
	for _, key := range kafkaOperators {
		found := &appsv1.Deployment{}
		err := cluster.Get(ctx, key, found)
		if err == nil {
			return found
		}
		if !apierrors.IsNotFound(err) {
			t.Fatalf("looking for %s: %v", key, err)
		}
	}
	t.Fatal("nothing acts on Kafka objects in this cluster")
	return nil
}

// stop scales a Deployment to zero until the test ends, and waits until its pods are
// deleted.
func stop(t *testing.T, deployment *appsv1.Deployment) {
	t.Helper()
	scale := func(ctx context.Context, replicas int32) {
		before := deployment.DeepCopy()
		deployment.Spec.Replicas = &replicas
		expect.NoError(t, cluster.Patch(ctx, deployment, client.MergeFrom(before)), "scaling %s to %d", deployment.Name, replicas)
		await.Until(ctx, t, time.Minute, fmt.Sprintf("%s to have %d pods", deployment.Name, replicas), func() (bool, string) {
			expect.NoError(t, cluster.Get(ctx, client.ObjectKeyFromObject(deployment), deployment), "reading %s", deployment.Name)
			ready := deployment.Status.ObservedGeneration >= deployment.Generation && deployment.Status.ReadyReplicas == replicas
			return ready, fmt.Sprintf("%d ready", deployment.Status.ReadyReplicas)
		})
	}
	scale(t.Context(), 0)
	// This cleanup is registered before the namespace's and runs after it. The objects that
	// the stopped operator never reconciled are deleted without it.
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		scale(ctx, 1)
	})
}
