// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment/workloads"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/prose"
)

// borrowable are the kinds of workloads that can be borrowed.
var borrowable = []schema.GroupVersionKind{
	appsv1.SchemeGroupVersion.WithKind(string(v1alpha1.WorkloadDeployment)),
	appsv1.SchemeGroupVersion.WithKind(string(v1alpha1.WorkloadStatefulSet)),
}

// GiveBack gives back what an experiment has borrowed, one write for each
// workload, and says true when nothing is left to give back. The experiment is
// nil when it is gone already.
func (t *Tools) GiveBack(ctx context.Context, key client.ObjectKey, experiment *v1alpha1.PerfExperiment) (bool, error) {
	done := true
	for _, kind := range borrowable {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		// The cache may not have heard of the last workload that was borrowed,
		// and does not know who owned which field.
		if err := t.Live.List(ctx, list, client.InNamespace(key.Namespace)); err != nil {
			return false, fmt.Errorf("listing what is borrowed: %w", err)
		}
		for i := range list.Items {
			object := &list.Items[i]
			if workloads.Borrower(object) != workloads.BorrowerName(key.Namespace, key.Name) {
				continue
			}
			done = false
			if err := t.giveBackOne(ctx, object, experiment); err != nil {
				return false, err
			}
		}
	}
	return done, nil
}

func (t *Tools) giveBackOne(ctx context.Context, object *unstructured.Unstructured, experiment *v1alpha1.PerfExperiment) error {
	next, borrowed, err := workloads.GiveBack(object, string(kube.FieldOwner))
	if err != nil || !borrowed {
		return err
	}
	err = t.Cluster.Replace(ctx, next.Object)
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		// Somebody was faster; the next pass sees what they did.
		return nil
	}
	if err != nil {
		return err
	}
	if next.Last {
		t.announceReturn(object, experiment, next.Kept)
	}
	return nil
}

// announceReturn tells people, once a workload is given back, what is not as it
// was.
func (t *Tools) announceReturn(object *unstructured.Unstructured, experiment *v1alpha1.PerfExperiment, kept []string) {
	var about runtime.Object = object
	if experiment != nil {
		about = experiment
	}
	if len(kept) == 0 {
		t.Events.Eventf(about, object, corev1.EventTypeNormal, "GivenBack", "GiveBack", "%s %s is as it was", object.GetKind(), object.GetName())
		return
	}
	t.Events.Eventf(about, object, corev1.EventTypeWarning, "GivenBackChanged", "GiveBack",
		"%s %s was changed by others while it was borrowed; their changes stay: %s", object.GetKind(), object.GetName(), prose.Enumerate(kept))
}
