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

// borrowable are the kinds of workloads that can be borrowed.
var borrowable = []schema.GroupVersionKind{
	appsv1.SchemeGroupVersion.WithKind(string(v1alpha1.WorkloadDeployment)),
	appsv1.SchemeGroupVersion.WithKind(string(v1alpha1.WorkloadStatefulSet)),
}

// Borrows reports whether the cache knows of a workload that an experiment of this
// name has borrowed.
func (t *Tools) Borrows(ctx context.Context, key client.ObjectKey) (bool, error) {
	for _, kind := range borrowable {
		list := listOf(kind)
		if err := t.Cluster.Client.List(ctx, list, client.InNamespace(key.Namespace), client.UnsafeDisableDeepCopy); err != nil {
			return false, notListed(err)
		}
		if slices.ContainsFunc(list.Items, func(object unstructured.Unstructured) bool { return isBorrowedBy(&object, key) }) {
			return true, nil
		}
	}
	return false, nil
}

func isBorrowedBy(object metav1.Object, key client.ObjectKey) bool {
	return workloads.Adopter(object) == workloads.AdopterName(key.Namespace, key.Name)
}

func listOf(kind schema.GroupVersionKind) *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	return list
}

func notListed(err error) error { return fmt.Errorf("listing what is borrowed: %w", err) }

// GiveBack gives back what an experiment has borrowed, one write for each
// workload, and says true when nothing is left to give back. The experiment is
// nil when it is gone already.
func (t *Tools) GiveBack(ctx context.Context, key client.ObjectKey, experiment *v1alpha1.PerfExperiment) (bool, error) {
	done := true
	for _, kind := range borrowable {
		borrowed, err := t.borrowed(ctx, kind, key)
		if err != nil {
			return false, notListed(err)
		}
		for i := range borrowed {
			done = false
			err := t.Room.Hold(ctx, func(ctx context.Context) error {
				object, err := getLive(ctx, t.Live, &borrowed[i])
				if err != nil || object == nil || !isBorrowedBy(object, key) {
					return err
				}
				return t.giveBackOne(ctx, object, experiment)
			})
			if err != nil {
				return false, err
			}
		}
	}
	return done, nil
}

// borrowed are the names of an experiment's workloads of a kind. The cache may not have heard of
// the last one, and does not know who owned which field. What is borrowed has no label by
// which it could be chosen, for labels are others' to set.
func (t *Tools) borrowed(ctx context.Context, kind schema.GroupVersionKind, by client.ObjectKey) ([]unstructured.Unstructured, error) {
	metadata := &metav1.PartialObjectMetadataList{}
	metadata.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	var found []unstructured.Unstructured
	err := kube.Pages(ctx, t.Live, metadata, othersPage, func(page *metav1.PartialObjectMetadataList) error {
		for i := range page.Items {
			if isBorrowedBy(&page.Items[i], by) {
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

func (t *Tools) giveBackOne(ctx context.Context, object *unstructured.Unstructured, experiment *v1alpha1.PerfExperiment) error {
	next, borrowed, err := workloads.Release(object, string(kube.FieldOwner))
	if err != nil || !borrowed {
		return err
	}
	err = t.Cluster.Replace(ctx, next.Object)
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		// Somebody was faster; the next pass sees what they did.
		return nil
	}
	if refusal := kube.AsRefusal(err); refusal != nil && experiment == nil {
		t.Events.Eventf(object, nil, corev1.EventTypeWarning, "NotGivenBack", "GiveBack", "%s", refusal.Sentence())
	}
	if err != nil {
		return err
	}
	if next.Last {
		t.announceReturn(object, experiment, next.Differences)
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
