// SPDX-License-Identifier: Apache-2.0

// Package kube writes objects to the cluster and deletes them. With the status writer in
// controllers it is the only place that does.
package kube

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/internal/naming"
)

// FieldOwner is the operator's name in server-side apply.
const FieldOwner = client.FieldOwner("perflab")

// annotationIntent holds the digest of the last applied intent, so that a reconcile without
// changes writes nothing.
const annotationIntent = "perflab.dev/intent"

// ForgetIntent makes the next [Cluster.Apply] of an object write it again.
func ForgetIntent(object client.Object) {
	annotations := object.GetAnnotations()
	delete(annotations, annotationIntent)
	object.SetAnnotations(annotations)
}

// Cluster reads through the manager's cache and writes to the API server.
type Cluster struct {
	Client client.Client
	// PodReader reads pods, so that the manager's cache does not hold all pods of the
	// cluster. If nil, Client reads them.
	PodReader client.Reader
}

// Uncached returns the cluster with reads from the API server, because the cache may be
// stale.
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

// neverStored is a resource version that no object has. The API server accepts an intent
// with it only if no object of that name exists.
const neverStored = "1"

// Apply creates or updates the object by server-side apply. It does nothing if the object
// was already applied from the same intent. It does not edit the intent.
//
// An object of that name with another owner stays unchanged: the error is a [Refusal] if it
// is seen before the write, and a conflict if it is created meanwhile.
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

// ApplyOnce is Apply for immutable objects such as Jobs: an existing one stays as it is,
// even if an earlier version of the operator created it differently.
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

// CheckOwner returns a [Refusal] if the current object has another owner than the wanted
// one.
func (c Cluster) CheckOwner(current, wanted client.Object) error {
	owner := ownership(current, wanted)
	if owner == OwnerSame {
		return nil
	}
	refusal := c.refusal("apply", wanted)
	refusal.Owner = owner
	return refusal
}

// Create creates an object. Its kind must be set.
func (c Cluster) Create(ctx context.Context, object client.Object) error {
	return c.explain("create", object, c.Client.Create(ctx, object, FieldOwner))
}

// DryRunCreate validates the creation of an object without creating it. Its kind must be
// set.
func (c Cluster) DryRunCreate(ctx context.Context, object client.Object) error {
	err := c.Client.Create(ctx, object, client.DryRunAll, FieldOwner)
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return c.explain("create", object, err)
}

// Patch changes one of our objects from its state before.
func (c Cluster) Patch(ctx context.Context, object, before client.Object) error {
	return c.explain("change", object, c.Client.Patch(ctx, object, client.MergeFrom(before), FieldOwner))
}

// PatchIfUnchanged is Patch with optimistic locking: the error is a conflict if the object
// has changed since.
func (c Cluster) PatchIfUnchanged(ctx context.Context, object, before client.Object) error {
	return c.explain("change", object, c.Client.Patch(ctx, object, ifUnchanged(before), FieldOwner))
}

// PatchStatus is PatchIfUnchanged for the status of a third-party object.
func (c Cluster) PatchStatus(ctx context.Context, object, before client.Object) error {
	return c.explain("change", object, c.Client.Status().Patch(ctx, object, ifUnchanged(before), FieldOwner))
}

func ifUnchanged(before client.Object) client.Patch {
	return client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
}

// ApplyFields changes fields of a third-party object by server-side apply. The intent
// carries the resource version of the object; another version is a conflict.
func (c Cluster) ApplyFields(ctx context.Context, intent *unstructured.Unstructured) error {
	err := c.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(intent.DeepCopy()), FieldOwner, client.ForceOwnership)
	return c.explain("change", intent, err)
}

// Replace updates a whole object, including managedFields, over exactly the version that
// was read.
func (c Cluster) Replace(ctx context.Context, object *unstructured.Unstructured) error {
	return c.explain("write", object, c.Client.Update(ctx, object.DeepCopy(), FieldOwner))
}

// podKind is read as a Go type: caches hold typed pods, and would hold all of them twice.
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

// Get reads an object; nil if it does not exist or the cluster does not serve its kind.
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

// checkVersion returns a no-match error for a kind without a version, which is what Serves
// returns for a kind that is not served.
func checkVersion(kind schema.GroupVersionKind) error {
	if kind.Version == "" {
		return &meta.NoKindMatchError{GroupKind: kind.GroupKind()}
	}
	return nil
}

// toUnstructured converts a pod.
func toUnstructured(pod *corev1.Pod) (*unstructured.Unstructured, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(pod)
	if err != nil {
		return nil, fmt.Errorf("converting pod %q: %w", pod.Name, err)
	}
	object := &unstructured.Unstructured{Object: fields}
	object.SetGroupVersionKind(podKind)
	return object, nil
}

// ListOwned is List without objects of other owners, whatever their labels.
func (c Cluster) ListOwned(ctx context.Context, owner client.Object, kind schema.GroupVersionKind, labels map[string]string) ([]unstructured.Unstructured, error) {
	found, err := c.List(ctx, kind, owner.GetNamespace(), labels)
	return slices.DeleteFunc(found, func(object unstructured.Unstructured) bool { return !metav1.IsControlledBy(&object, owner) }), err
}

// List reads the objects of a kind with these labels, sorted by name. A kind that the
// cluster does not serve has no objects.
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

// Delete is DeleteExactly for objects of this owner. Objects of other owners stay.
func (c Cluster) Delete(ctx context.Context, owner, object client.Object) error {
	if !metav1.IsControlledBy(object, owner) {
		return nil
	}
	return c.DeleteExactly(ctx, object)
}

// DeleteExactly deletes exactly this object, not a later one of the same name. Dependents
// are deleted in the background. An object that is deleted or terminating is no error.
func (c Cluster) DeleteExactly(ctx context.Context, object client.Object) error {
	if object.GetDeletionTimestamp() != nil {
		return nil
	}
	_, err := c.delete(ctx, object, client.PropagationPolicy(metav1.DeletePropagationBackground))
	return err
}

// delete deletes exactly this object, by its UID. It reports false if the object is gone.
func (c Cluster) delete(ctx context.Context, object client.Object, options ...client.DeleteOption) (bool, error) {
	uid := object.GetUID()
	err := c.Client.Delete(ctx, object, append(options, client.Preconditions{UID: &uid})...)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return false, nil
	}
	return err == nil, c.explain("delete", object, err)
}

// Kill deletes exactly this pod, whose containers then have the grace period to end. It reports
// false if the pod is gone.
func (c Cluster) Kill(ctx context.Context, pod client.ObjectKey, uid types.UID, grace time.Duration) (bool, error) {
	object := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: uid}}
	return c.delete(ctx, object, client.GracePeriodSeconds(int64(grace/time.Second)))
}

// Peek fills an object with its current state by a dry run, which needs only the right to patch
// it. It reports false if there is no object of its name and, if set, its UID.
func (c Cluster) Peek(ctx context.Context, object *unstructured.Unstructured) (bool, error) {
	same := []byte("{}")
	if uid := object.GetUID(); uid != "" {
		same = fmt.Appendf(nil, `{"metadata":{"uid":%q}}`, uid)
	}
	err := c.Client.Patch(ctx, object, client.RawPatch(types.MergePatchType, same), client.DryRunAll, FieldOwner)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return false, nil
	}
	return err == nil, c.explain("change", object, err)
}

// IsNamespaced reports whether a kind is served, and its objects belong to namespaces.
func (c Cluster) IsNamespaced(kind schema.GroupVersionKind) (namespaced, served bool, err error) {
	mapping, err := c.mapping(kind.GroupKind(), kind.Version)
	if mapping == nil {
		return false, false, err
	}
	return mapping.Scope.Name() == meta.RESTScopeNameNamespace, true, nil
}

// mapping returns how the cluster serves a kind; nil if it does not.
func (c Cluster) mapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	mapping, err := c.Client.RESTMapper().RESTMapping(kind, versions...)
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("looking up kind %q: %w", kind.Kind, err)
	}
	return mapping, nil
}

// CreateRefusal validates the creation of an object by a dry run. It returns the API
// server's message if it rejects the object; empty if it accepts it, or the object exists.
func (c Cluster) CreateRefusal(ctx context.Context, object *unstructured.Unstructured) (refusal string, err error) {
	err = c.Client.Create(ctx, object.DeepCopy(), client.DryRunAll, FieldOwner)
	switch {
	case err == nil || apierrors.IsAlreadyExists(err):
		return "", nil
	case apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err):
		return err.Error(), nil
	default:
		return "", fmt.Errorf("checking whether the API server accepts %s %q: %w", object.GetKind(), object.GetName(), err)
	}
}

// Serves reports whether the cluster serves a kind, and its preferred version.
func (c Cluster) Serves(kind schema.GroupKind) (version string, served bool, err error) {
	mapping, err := c.mapping(kind)
	if mapping == nil {
		return "", false, err
	}
	return mapping.GroupVersionKind.Version, true, nil
}
