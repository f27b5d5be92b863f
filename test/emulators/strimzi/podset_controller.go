// SPDX-License-Identifier: Apache-2.0

package strimzi

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"perflab.dev/perflab/test/emulators/fault"
	"perflab.dev/perflab/test/emulators/strimzi/api"
)

// PodSetReconciler creates the missing Pods of StrimziPodSets. It does not change existing
// Pods: the roll deletes outdated ones one by one. It ignores a StrimziPodSet without its
// Kafka, which Kubernetes deletes with its owner.
type PodSetReconciler struct {
	client.Client
}

// SetupWithManager watches StrimziPodSets, their Pods and the annotations of their
// Kafka. It also watches its own status: a reconcile may have read the Pods later than
// the status.
func (r *PodSetReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("emulated-podset").
		For(&api.StrimziPodSet{}).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(podSetRequest)).
		Watches(&api.Kafka{}, handler.EnqueueRequestsFromMapFunc(r.kafkaPodSetRequests), builder.WithPredicates(predicate.AnnotationChangedPredicate{})).
		Complete(r)
}

// podSetRequest returns the StrimziPodSet of a Pod, from its label.
func podSetRequest(_ context.Context, pod client.Object) []reconcile.Request {
	name := pod.GetLabels()[api.LabelControllerName]
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: pod.GetNamespace(), Name: name}}}
}

func (r *PodSetReconciler) kafkaPodSetRequests(ctx context.Context, kafka client.Object) []reconcile.Request {
	sets := &api.StrimziPodSetList{}
	if err := r.List(ctx, sets, client.InNamespace(kafka.GetNamespace()), client.MatchingLabels{api.LabelCluster: kafka.GetName()}); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "listing StrimziPodSets", "kafka", kafka.GetName())
		return nil
	}
	var requests []reconcile.Request
	for i := range sets.Items {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&sets.Items[i])})
	}
	return requests
}

// Reconcile creates missing Pods. A rejected Pod is only logged, as in Strimzi: the status
// counts 0 Pods.
func (r *PodSetReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	set := &api.StrimziPodSet{}
	if err := r.Get(ctx, req.NamespacedName, set); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	faults, served, err := r.podSetFaults(ctx, set)
	if err != nil || !served || set.DeletionTimestamp != nil {
		return ctrl.Result{}, err
	}
	result, err := r.reconcileSet(ctx, set, faults)
	if apierrors.IsConflict(err) {
		return ctrl.Result{RequeueAfter: retryInterval}, nil
	}
	return result, err
}

func (r *PodSetReconciler) reconcileSet(ctx context.Context, set *api.StrimziPodSet, faults fault.Faults) (ctrl.Result, error) {
	counted, err := r.reconcilePods(ctx, set, faults)
	if err != nil && !apierrors.IsForbidden(err) {
		return ctrl.Result{}, err
	}
	var result ctrl.Result
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "StrimziPodSet reconciliation failed")
		counted, result.RequeueAfter = api.StrimziPodSetStatus{}, failedInterval
	}
	counted.ObservedGeneration = set.Generation
	return result, r.updateStatus(ctx, set, counted)
}

// podSetFaults returns the faults of the set's Kafka. served is false if the Kafka does
// not exist or is ignored.
func (r *PodSetReconciler) podSetFaults(ctx context.Context, set *api.StrimziPodSet) (faults fault.Faults, served bool, err error) {
	kafka := &api.Kafka{}
	key := client.ObjectKey{Namespace: set.Namespace, Name: set.Labels[api.LabelCluster]}
	if err := r.Get(ctx, key, kafka); err != nil {
		return nil, false, client.IgnoreNotFound(err)
	}
	faults, err = fault.Parse(kafka.Annotations)
	if err != nil {
		return nil, false, reconcile.TerminalError(err)
	}
	return faults, !faults.Has(fault.Ignore) && !faults.Has(fault.GoneAfterFirstStatus), nil
}

// reconcilePods stops at the first Pod that can't be created. A new Pod counts as ready
// and current only at the next reconcile.
func (r *PodSetReconciler) reconcilePods(ctx context.Context, set *api.StrimziPodSet, faults fault.Faults) (counted api.StrimziPodSetStatus, err error) {
	found := &corev1.PodList{}
	if err := r.List(ctx, found, client.InNamespace(set.Namespace), client.MatchingLabels(set.Spec.Selector.MatchLabels)); err != nil {
		return counted, fmt.Errorf("listing the Pods of StrimziPodSet %q: %w", set.Name, err)
	}
	counted.Pods = int32(len(set.Spec.Pods)) //nolint:gosec // A cluster has few nodes.
	for i := range set.Spec.Pods {
		wanted := &set.Spec.Pods[i]
		pod := podNamed(found.Items, wanted.Name)
		if pod == nil {
			if err := r.create(ctx, set, wanted, faults); err != nil {
				return counted, err
			}
			continue
		}
		if err := r.reconcilePod(ctx, set, pod); err != nil {
			return counted, err
		}
		if isReady(*pod) {
			counted.ReadyPods++
		}
		if pod.Annotations[annotationRevision] == wanted.Annotations[annotationRevision] {
			counted.CurrentPods++
		}
	}
	return counted, r.removeSurplus(ctx, set, found.Items)
}

func (r *PodSetReconciler) create(ctx context.Context, set *api.StrimziPodSet, wanted *corev1.Pod, faults fault.Faults) error {
	if faults.Has(fault.PodsRefused) {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, wanted.Name,
			errors.New("set by the annotation "+fault.Annotation))
	}
	pod := wanted.DeepCopy()
	if err := controllerutil.SetOwnerReference(set, pod, r.Scheme()); err != nil {
		return fmt.Errorf("setting the owner of Pod %q: %w", pod.Name, err)
	}
	ctrl.LoggerFrom(ctx).Info("creating Pod", "pod", pod.Name)
	if err := r.Create(ctx, pod); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating Pod %q: %w", pod.Name, err)
	}
	return nil
}

// reconcilePod deletes a Pod that has ended, for example an evicted one, and adopts one
// of the same name, even a terminating one of an earlier Kafka.
func (r *PodSetReconciler) reconcilePod(ctx context.Context, set *api.StrimziPodSet, pod *corev1.Pod) error {
	if pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded {
		return r.delete(ctx, pod)
	}
	if slices.ContainsFunc(pod.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == set.UID }) {
		return nil
	}
	kind, err := r.GroupVersionKindFor(set)
	if err != nil {
		return fmt.Errorf("naming the owner of Pod %q: %w", pod.Name, err)
	}
	before := pod.DeepCopy()
	// The set is an additional owner. Kubernetes removes the earlier owner when it no longer
	// exists.
	pod.OwnerReferences = append(pod.OwnerReferences, metav1.OwnerReference{
		APIVersion: kind.GroupVersion().String(), Kind: kind.Kind, Name: set.Name, UID: set.UID,
	})
	ctrl.LoggerFrom(ctx).Info("adopting Pod", "pod", pod.Name)
	patch := patchFrom(before)
	if err := r.Patch(ctx, pod, patch); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("adopting Pod %q: %w", pod.Name, err)
	}
	return nil
}

// removeSurplus deletes the Pods of removed nodes.
func (r *PodSetReconciler) removeSurplus(ctx context.Context, set *api.StrimziPodSet, pods []corev1.Pod) error {
	for i := range pods {
		if podNamed(set.Spec.Pods, pods[i].Name) == nil {
			if err := r.delete(ctx, &pods[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *PodSetReconciler) delete(ctx context.Context, pod *corev1.Pod) error {
	if pod.DeletionTimestamp != nil {
		return nil
	}
	ctrl.LoggerFrom(ctx).Info("deleting Pod", "pod", pod.Name)
	return deletePod(ctx, r.Client, pod)
}

// updateStatus writes all counts, including 0.
func (r *PodSetReconciler) updateStatus(ctx context.Context, set *api.StrimziPodSet, status api.StrimziPodSetStatus) error {
	if set.Status.ObservedGeneration != 0 && equality.Semantic.DeepEqual(set.Status, status) {
		return nil
	}
	set.Status = status
	if err := r.Status().Update(ctx, set); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("updating the status of StrimziPodSet %q: %w", set.Name, err)
	}
	return nil
}

// deletePod deletes the observed Pod, but no other Pod of the same name.
func deletePod(ctx context.Context, c client.Client, pod *corev1.Pod, more ...client.DeleteOption) error {
	err := c.Delete(ctx, pod, append(more, client.Preconditions{UID: &pod.UID})...)
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("deleting Pod %q: %w", pod.Name, err)
	}
	return nil
}
