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

// PodSetReconciler keeps the Pods of StrimziPodSets there. It changes none that
// is there: that is the roll, which deletes them one by one. Without its Kafka a
// StrimziPodSet is left alone; Kubernetes takes it away with its owner.
type PodSetReconciler struct {
	client.Client
}

// SetupWithManager wakes the reconciler on StrimziPodSets, their Pods and the
// annotations of their Kafka. Its own status wakes it too, for a pass may have
// seen the Pods later than it saw the status.
func (r *PodSetReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("emulated-podset").
		For(&api.StrimziPodSet{}).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(podSetOf)).
		Watches(&api.Kafka{}, handler.EnqueueRequestsFromMapFunc(r.podSetsOfKafka), builder.WithPredicates(predicate.AnnotationChangedPredicate{})).
		Complete(r)
}

// podSetOf names the StrimziPodSet a Pod belongs to by its label.
func podSetOf(_ context.Context, pod client.Object) []reconcile.Request {
	name := pod.GetLabels()[api.LabelControllerName]
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: pod.GetNamespace(), Name: name}}}
}

func (r *PodSetReconciler) podSetsOfKafka(ctx context.Context, kafka client.Object) []reconcile.Request {
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

// Reconcile makes the Pods that are missing. That one is refused is in the log
// and in no object: the status counts 0 Pods, and that is all there is to see.
func (r *PodSetReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	set := &api.StrimziPodSet{}
	if err := r.Get(ctx, req.NamespacedName, set); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	faults, served, err := r.faultsOf(ctx, set)
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
	counted, err := r.keep(ctx, set, faults)
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

// faultsOf are those asked of the Kafka the set belongs to. The set is not
// served when that is gone, or when nobody shall be at work on it.
func (r *PodSetReconciler) faultsOf(ctx context.Context, set *api.StrimziPodSet) (faults fault.Faults, served bool, err error) {
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

// keep stops at the first Pod that cannot be made. A Pod that was just made is
// counted as ready and current when it is seen again.
func (r *PodSetReconciler) keep(ctx context.Context, set *api.StrimziPodSet, faults fault.Faults) (counted api.StrimziPodSetStatus, err error) {
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
		if err := r.tend(ctx, set, pod); err != nil {
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
			errors.New("asked for by the annotation "+fault.Annotation))
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

// tend deletes a Pod that has ended, an evicted one for instance, and adopts one
// of the same name, though it be about to end: that of a Kafka before this one.
func (r *PodSetReconciler) tend(ctx context.Context, set *api.StrimziPodSet, pod *corev1.Pod) error {
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
	// Beside the owner it has, which Kubernetes takes off when it is gone.
	pod.OwnerReferences = append(pod.OwnerReferences, metav1.OwnerReference{
		APIVersion: kind.GroupVersion().String(), Kind: kind.Kind, Name: set.Name, UID: set.UID,
	})
	ctrl.LoggerFrom(ctx).Info("adopting Pod", "pod", pod.Name)
	patch := seenAs(before)
	if err := r.Patch(ctx, pod, patch); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("adopting Pod %q: %w", pod.Name, err)
	}
	return nil
}

// removeSurplus deletes the Pods of nodes that are no more.
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

// updateStatus writes all counts, those of 0 as well.
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

// deletePod deletes the Pod that was seen, not another one of its name.
func deletePod(ctx context.Context, c client.Client, pod *corev1.Pod, more ...client.DeleteOption) error {
	err := c.Delete(ctx, pod, append(more, client.Preconditions{UID: &pod.UID})...)
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("deleting Pod %q: %w", pod.Name, err)
	}
	return nil
}
