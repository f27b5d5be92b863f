// SPDX-License-Identifier: Apache-2.0

// Package kube writes objects to the cluster and takes them away. With the
// status writer in controllers it is the only place that does.
package kube

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/internal/naming"
)

// FieldOwner is the operator's name in server-side apply.
const FieldOwner = client.FieldOwner("perflab")

// annotationIntent holds the digest of the intent an object was last applied
// from, so that a pass in which nothing changed writes nothing.
const annotationIntent = "perflab.dev/intent"

// Cluster reads through the manager's cache and writes to the API server.
type Cluster struct {
	Client client.Client
	// PodReader reads pods, which the manager's cache would hold of everybody. Nil: Client does.
	PodReader client.Reader
}

// Uncached is the cluster as the API server has it: it reads past the cache, which
// may be behind.
func (c Cluster) Uncached(live client.Reader) Cluster {
	return Cluster{Client: uncached{c.Client, live}, PodReader: live}
}

type uncached struct {
	client.Client
	live client.Reader
}

func (a uncached) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	return a.live.Get(ctx, key, object, options...)
}

func (a uncached) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return a.live.List(ctx, list, options...)
}

// ApplyTyped is Apply for an object of a Go type. Its kind must be set.
func (c Cluster) ApplyTyped(ctx context.Context, object client.Object) error {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return fmt.Errorf("converting %q: %w", object.GetName(), err)
	}
	return c.Apply(ctx, &unstructured.Unstructured{Object: fields})
}

// neverStored is a version that no object of a cluster has. An intent that
// carries it is taken only where there is no object of its name.
const neverStored = "1"

// Apply makes the object as the intent says, by server-side apply. It does
// nothing when the object was already applied from the same intent. The
// intent is not edited.
//
// An object of that name with another owner is left as it is, whether it is
// seen or turns up while we write: the first is a [Refusal], the second a
// conflict.
func (c Cluster) Apply(ctx context.Context, intent *unstructured.Unstructured) error {
	wanted := intent.DeepCopy()
	annotations := wanted.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[annotationIntent] = naming.Hash(intent.Object)[:16]
	wanted.SetAnnotations(annotations)

	current, err := c.Get(ctx, intent.GroupVersionKind(), client.ObjectKeyFromObject(intent))
	if err != nil {
		return err
	}
	if current == nil {
		wanted.SetResourceVersion(neverStored)
	} else {
		if err := c.CheckOwner(current, wanted); err != nil {
			return err
		}
		if current.GetAnnotations()[annotationIntent] == annotations[annotationIntent] {
			return nil
		}
		wanted.SetUID(current.GetUID())
	}
	err = c.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(wanted), FieldOwner, client.ForceOwnership)
	return c.explain("apply", intent, err)
}

// ApplyOnce is Apply for what can't be changed any more, such as a Job: one that is
// there stays as it was made, also by an operator that made it otherwise.
func (c Cluster) ApplyOnce(ctx context.Context, intent *unstructured.Unstructured) error {
	current, err := c.Get(ctx, intent.GroupVersionKind(), client.ObjectKeyFromObject(intent))
	if err != nil {
		return err
	}
	if current == nil {
		return c.Apply(ctx, intent)
	}
	return c.CheckOwner(current, intent)
}

// CheckOwner is a [Refusal] if the object that stands in the place of a wanted
// one has another owner.
func (c Cluster) CheckOwner(current, wanted client.Object) error {
	owner := ownership(current, wanted)
	if owner == OwnerSame {
		return nil
	}
	refusal := c.refusal("apply", wanted)
	refusal.Owner = owner
	return refusal
}

// Create makes an object that is not there yet. Its kind must be set.
func (c Cluster) Create(ctx context.Context, object client.Object) error {
	return c.explain("make", object, c.Client.Create(ctx, object, FieldOwner))
}

// DryRunCreate asks whether an object would be made, and makes nothing. Its kind must be set.
func (c Cluster) DryRunCreate(ctx context.Context, object client.Object) error {
	err := c.Client.Create(ctx, object, client.DryRunAll, FieldOwner)
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return c.explain("make", object, err)
}

// Patch changes an object that is ours from what it was before.
func (c Cluster) Patch(ctx context.Context, object, before client.Object) error {
	return c.explain("change", object, c.Client.Patch(ctx, object, client.MergeFrom(before), FieldOwner))
}

// PatchIfUnchanged changes an object that is ours from what it was before, if
// nobody has changed it since; else the error is a conflict.
func (c Cluster) PatchIfUnchanged(ctx context.Context, object, before client.Object) error {
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	return c.explain("change", object, c.Client.Patch(ctx, object, patch, FieldOwner))
}

// ApplyFields changes fields of an object somebody else has made, by server-side
// apply. The intent carries the version of the object it was made for: over any
// other one it fails with a conflict.
func (c Cluster) ApplyFields(ctx context.Context, intent *unstructured.Unstructured) error {
	err := c.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(intent.DeepCopy()), FieldOwner, client.ForceOwnership)
	return c.explain("change", intent, err)
}

// Replace writes an object as a whole, owners of its fields included, over
// exactly the version it was read in.
func (c Cluster) Replace(ctx context.Context, object *unstructured.Unstructured) error {
	return c.explain("write", object, c.Client.Update(ctx, object.DeepCopy(), FieldOwner))
}

// podKind is read as a Go type: caches hold pods as such, and would hold all of
// them twice.
var podKind = corev1.SchemeGroupVersion.WithKind("Pod")

func (c Cluster) podReader() client.Reader {
	if c.PodReader == nil {
		return c.Client
	}
	return c.PodReader
}

// Pods lists pods of a namespace.
func (c Cluster) Pods(ctx context.Context, namespace string, which ...client.ListOption) ([]corev1.Pod, error) {
	pods := &corev1.PodList{}
	if err := c.podReader().List(ctx, pods, append(which, client.InNamespace(namespace))...); err != nil {
		return nil, fmt.Errorf("listing pods: %w", err)
	}
	return pods.Items, nil
}

// Get reads an object; nil when it is not there. Of a kind the cluster does not
// serve there is none.
func (c Cluster) Get(ctx context.Context, kind schema.GroupVersionKind, key client.ObjectKey) (*unstructured.Unstructured, error) {
	object, err := c.get(ctx, kind, key)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s %q: %w", kind.Kind, key.Name, err)
	}
	return object, nil
}

func (c Cluster) get(ctx context.Context, kind schema.GroupVersionKind, key client.ObjectKey) (*unstructured.Unstructured, error) {
	if kind == podKind {
		pod := &corev1.Pod{}
		if err := c.podReader().Get(ctx, key, pod); err != nil {
			return nil, err
		}
		return toUnstructured(pod)
	}
	if err := checkVersion(kind); err != nil {
		return nil, err
	}
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	return object, c.Client.Get(ctx, key, object)
}

// checkVersion says that a kind is not served where it is looked for in no version: that is
// what Serves has for one that is not.
func checkVersion(kind schema.GroupVersionKind) error {
	if kind.Version == "" {
		return &meta.NoKindMatchError{GroupKind: kind.GroupKind()}
	}
	return nil
}

// toUnstructured is a pod as objects of any kind are.
func toUnstructured(pod *corev1.Pod) (*unstructured.Unstructured, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(pod)
	if err != nil {
		return nil, fmt.Errorf("converting pod %q: %w", pod.Name, err)
	}
	object := &unstructured.Unstructured{Object: fields}
	object.SetGroupVersionKind(podKind)
	return object, nil
}

// ListOwned is List without what has another owner, whatever its labels.
func (c Cluster) ListOwned(ctx context.Context, owner client.Object, kind schema.GroupVersionKind, labels map[string]string) ([]unstructured.Unstructured, error) {
	found, err := c.List(ctx, kind, owner.GetNamespace(), labels)
	return slices.DeleteFunc(found, func(object unstructured.Unstructured) bool { return !metav1.IsControlledBy(&object, owner) }), err
}

// List reads the objects of a kind with these labels, sorted by name. A kind
// the cluster does not serve has no objects.
func (c Cluster) List(ctx context.Context, kind schema.GroupVersionKind, namespace string, labels map[string]string) ([]unstructured.Unstructured, error) {
	items, err := c.list(ctx, kind, client.InNamespace(namespace), client.MatchingLabels(labels))
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", kind.Kind, err)
	}
	slices.SortFunc(items, func(a, b unstructured.Unstructured) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return items, nil
}

func (c Cluster) list(ctx context.Context, kind schema.GroupVersionKind, which ...client.ListOption) ([]unstructured.Unstructured, error) {
	if kind != podKind {
		if err := checkVersion(kind); err != nil {
			return nil, err
		}
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		err := c.Client.List(ctx, list, which...)
		return list.Items, err
	}
	pods := &corev1.PodList{}
	if err := c.podReader().List(ctx, pods, which...); err != nil {
		return nil, err
	}
	items := make([]unstructured.Unstructured, 0, len(pods.Items))
	for i := range pods.Items {
		object, err := toUnstructured(&pods.Items[i])
		if err != nil {
			return nil, err
		}
		items = append(items, *object)
	}
	return items, nil
}

// Delete is DeleteExactly for what the owner owns. What another does is left as
// it is.
func (c Cluster) Delete(ctx context.Context, owner, object client.Object) error {
	if !metav1.IsControlledBy(object, owner) {
		return nil
	}
	return c.DeleteExactly(ctx, object)
}

// DeleteExactly takes away exactly this object, not one of the same name made
// since. Dependents go with it in the background. An object that is gone or
// going is no error.
func (c Cluster) DeleteExactly(ctx context.Context, object client.Object) error {
	if object.GetDeletionTimestamp() != nil {
		return nil
	}
	uid := object.GetUID()
	err := c.Client.Delete(ctx, object,
		client.Preconditions{UID: &uid},
		client.PropagationPolicy(metav1.DeletePropagationBackground))
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return c.explain("delete", object, err)
}

// CreateRefusal asks the API server whether it would take an object, and makes
// nothing. It returns what the server has against it, in its own words; empty:
// nothing, or the object is there already.
func (c Cluster) CreateRefusal(ctx context.Context, object *unstructured.Unstructured) (refusal string, err error) {
	err = c.Client.Create(ctx, object.DeepCopy(), client.DryRunAll, FieldOwner)
	switch {
	case err == nil || apierrors.IsAlreadyExists(err):
		return "", nil
	case apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err):
		return err.Error(), nil
	default:
		return "", fmt.Errorf("asking whether %s %q would be taken: %w", object.GetKind(), object.GetName(), err)
	}
}

// Serves reports whether the cluster serves a kind, and in which version it
// prefers to.
func (c Cluster) Serves(kind schema.GroupKind) (version string, served bool, err error) {
	mapping, err := c.Client.RESTMapper().RESTMapping(kind)
	if meta.IsNoMatchError(err) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("looking up kind %q: %w", kind.Kind, err)
	}
	return mapping.GroupVersionKind.Version, true, nil
}
