// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/internal/kube"
)

// Lineage is a set of objects, by UID, that an object of ours controls or owns. Anyone who may
// create pods can set our labels, so the operator reads the log of a pod, or connects to it,
// only if an object of its lineage controls it.
type Lineage map[types.UID]bool

// NewLineage starts with an object that is known to be ours.
func NewLineage(object metav1.Object) Lineage { return Lineage{object.GetUID(): true} }

// Controls reports whether an object of the lineage controls this one.
func (l Lineage) Controls(object metav1.Object) bool {
	owner := metav1.GetControllerOfNoCopy(object)
	return owner != nil && l[owner.UID]
}

// Owns reports whether an object of the lineage is among the owners of this one. Strimzi sets
// owners that are not controllers.
func (l Lineage) Owns(object metav1.Object) bool {
	return slices.ContainsFunc(object.GetOwnerReferences(), func(owner metav1.OwnerReference) bool { return l[owner.UID] })
}

// Pods filters the pods that the lineage controls.
func (l Lineage) Pods(pods []corev1.Pod) []corev1.Pod { return filter(pods, l.Controls) }

// filter returns the objects that match.
func filter[T any, O interface {
	*T
	metav1.Object
}](objects []T, matches func(metav1.Object) bool) []T {
	var found []T
	for i := range objects {
		if matches(O(&objects[i])) {
			found = append(found, objects[i])
		}
	}
	return found
}

// addAll adds objects that are known to be ours.
func (l Lineage) addAll(objects []unstructured.Unstructured) {
	addMatching(l, objects, func(metav1.Object) bool { return true })
}

// addMatching adds the objects that match.
func addMatching[T any, O interface {
	*T
	metav1.Object
}](l Lineage, objects []T, matches func(metav1.Object) bool) {
	for i := range objects {
		if object := O(&objects[i]); matches(object) {
			l[object.GetUID()] = true
		}
	}
}

// GetOwned reads an object that the experiment controls. It returns nil if there is none.
func (p *Scope) GetOwned(ctx context.Context, kind schema.GroupVersionKind, name string) (*unstructured.Unstructured, error) {
	object, err := p.Cluster.Get(ctx, kind, client.ObjectKey{Namespace: p.Run.Namespace, Name: name})
	if err != nil || object == nil || !metav1.IsControlledBy(object, p.Experiment) {
		return nil, err
	}
	return object, nil
}

// +kubebuilder:rbac:groups=apps,resources=replicasets,verbs=list

// addReplicaSets adds the ReplicaSets of Deployments. It reads them once per reconcile from the
// API server: the cache would hold all of the cluster.
func (p *Scope) addReplicaSets(ctx context.Context, to Lineage) error {
	if p.replicaSets == nil {
		var err error
		if p.replicaSets, err = p.listOwned(ctx, appsv1.SchemeGroupVersion.WithKind("ReplicaSetList")); err != nil {
			return fmt.Errorf("listing the namespace's ReplicaSets: %w", err)
		}
	}
	addMatching(to, p.replicaSets, to.Controls)
	return nil
}

// listOwned lists UIDs and controllers of the objects of a kind in the run's namespace.
func (p *Scope) listOwned(ctx context.Context, list schema.GroupVersionKind) ([]metav1.PartialObjectMetadata, error) {
	metadata, owned := &metav1.PartialObjectMetadataList{}, []metav1.PartialObjectMetadata{}
	metadata.SetGroupVersionKind(list)
	err := kube.Pages(ctx, p.Live, metadata, largePageSize, func(page *metav1.PartialObjectMetadataList) error {
		for i := range page.Items {
			if owner := metav1.GetControllerOf(&page.Items[i]); owner != nil {
				kept := metav1.ObjectMeta{UID: page.Items[i].UID, OwnerReferences: []metav1.OwnerReference{*owner}}
				owned = append(owned, metav1.PartialObjectMetadata{ObjectMeta: kept})
			}
		}
		return nil
	}, client.InNamespace(p.Run.Namespace))
	return owned, err
}
