// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment/workloads"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/text/prose"
)

// adoptableKinds are the kinds of workloads that can be adopted.
var adoptableKinds = []schema.GroupVersionKind{
	appsv1.SchemeGroupVersion.WithKind(string(v1alpha1.WorkloadDeployment)),
	appsv1.SchemeGroupVersion.WithKind(string(v1alpha1.WorkloadStatefulSet)),
}

// HasAdoptedWorkloads reports whether the cache has a workload that an experiment of this name
// has adopted.
func (t *Tools) HasAdoptedWorkloads(ctx context.Context, key client.ObjectKey) (bool, error) {
	for _, kind := range adoptableKinds {
		list := newList(kind)
		if err := t.Cluster.Client.List(ctx, list, client.InNamespace(key.Namespace), client.UnsafeDisableDeepCopy); err != nil {
			return false, listError(err)
		}
		if slices.ContainsFunc(list.Items, func(object unstructured.Unstructured) bool { return isAdoptedBy(&object, key) }) {
			return true, nil
		}
	}
	return false, nil
}

func isAdoptedBy(object metav1.Object, key client.ObjectKey) bool {
	return workloads.Adopter(object) == workloads.AdopterName(key.Namespace, key.Name)
}

func newList(kind schema.GroupVersionKind) *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	return list
}

func listError(err error) error { return fmt.Errorf("listing adopted workloads: %w", err) }

// ReleaseWorkloads restores the workloads that an experiment has adopted, with one write each,
// and reports whether none is left. The experiment is nil if it is gone.
func (t *Tools) ReleaseWorkloads(ctx context.Context, key client.ObjectKey, experiment *v1alpha1.PerfExperiment) (bool, error) {
	done := true
	for _, kind := range adoptableKinds {
		adopted, err := t.listAdopted(ctx, kind, key)
		if err != nil {
			return false, listError(err)
		}
		for i := range adopted {
			done = false
			err := t.ReadLimiter.Do(ctx, func(ctx context.Context) error {
				object, err := getLive(ctx, t.Live, &adopted[i])
				if err != nil || object == nil || !isAdoptedBy(object, key) {
					return err
				}
				return t.releaseWorkload(ctx, object, experiment)
			})
			if err != nil {
				return false, err
			}
		}
	}
	return done, nil
}

// listAdopted lists the names of an experiment's adopted workloads of a kind from the API
// server. The cache may lack the newest and has no field managers. Adopted workloads have no
// label of ours to select by, because their labels belong to others.
func (t *Tools) listAdopted(ctx context.Context, kind schema.GroupVersionKind, by client.ObjectKey) ([]unstructured.Unstructured, error) {
	metadata := &metav1.PartialObjectMetadataList{}
	metadata.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	var found []unstructured.Unstructured
	err := kube.Pages(ctx, t.Live, metadata, largePageSize, func(page *metav1.PartialObjectMetadataList) error {
		for i := range page.Items {
			if isAdoptedBy(&page.Items[i], by) {
				name := unstructured.Unstructured{}
				name.SetGroupVersionKind(kind)
				name.SetNamespace(by.Namespace)
				name.SetName(page.Items[i].Name)
				found = append(found, name)
			}
		}
		return nil
	}, client.InNamespace(by.Namespace))
	return found, err
}

func (t *Tools) releaseWorkload(ctx context.Context, object *unstructured.Unstructured, experiment *v1alpha1.PerfExperiment) error {
	next, adopted, err := workloads.Release(object, string(kube.FieldOwner))
	if err != nil || !adopted {
		return err
	}
	err = t.Cluster.Replace(ctx, next.Object)
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		// The next reconcile reads the newer object.
		return nil
	}
	if refusal := kube.AsRefusal(err); refusal != nil && experiment == nil {
		t.Events.Eventf(object, nil, corev1.EventTypeWarning, "NotGivenBack", "GiveBack", "%s", refusal.Sentence())
	}
	if err != nil {
		return err
	}
	if next.Last {
		t.recordRelease(object, experiment, next.Differences)
	}
	return nil
}

// recordRelease records an event for a released workload, with the changes of others that stay.
func (t *Tools) recordRelease(object *unstructured.Unstructured, experiment *v1alpha1.PerfExperiment, kept []string) {
	var about runtime.Object = object
	if experiment != nil {
		about = experiment
	}
	if len(kept) == 0 {
		t.Events.Eventf(about, object, corev1.EventTypeNormal, "GivenBack", "GiveBack", "Released %s %s", object.GetKind(), object.GetName())
		return
	}
	t.Events.Eventf(about, object, corev1.EventTypeWarning, "GivenBackChanged", "GiveBack",
		"Released %s %s, and kept the changes that others made while it was adopted: %s", object.GetKind(), object.GetName(), prose.Enumerate(kept))
}
