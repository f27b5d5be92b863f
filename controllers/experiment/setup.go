// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	kubecache "perflab.dev/perflab/internal/kube/cache"
	"perflab.dev/perflab/internal/planning/queue"
	"perflab.dev/perflab/internal/runs/provenance"
)

// indexOpen finds the experiments that may be queued.
const indexOpen = "open"

// SetupWithManager adds the reconciler to the manager. Experiments, their runs and, for queued
// ones, the end of other runs trigger it.
func (r *Reconciler) SetupWithManager(manager ctrl.Manager) error {
	if err := manager.GetFieldIndexer().IndexField(context.Background(), &v1alpha1.PerfExperiment{}, indexOpen, openOf); err != nil {
		return fmt.Errorf("indexing experiments: %w", err)
	}
	build := ctrl.NewControllerManagedBy(manager).
		For(&v1alpha1.PerfExperiment{}, builder.WithPredicates(predicate.Funcs{UpdateFunc: isRequested})).
		WithOptions(component.ControllerOptions()).
		WithLogConstructor(component.LogConstructor("experiment", manager.GetLogger())).
		Watches(&v1alpha1.PerfRun{}, runHandler{manager.GetClient()}.handler()).
		Watches(kubecache.NewObject(appsv1.SchemeGroupVersion.WithKind("Deployment")), orphanHandler(manager.GetClient())).
		Watches(kubecache.NewObject(appsv1.SchemeGroupVersion.WithKind("StatefulSet")), orphanHandler(manager.GetClient()))
	if excess := r.pruner.Handler(); excess != nil {
		build = build.Watches(&v1alpha1.PerfExperiment{}, excess)
	}
	if r.LeaseNamespace != "" {
		build = build.Watches(&coordinationv1.Lease{}, r.nextInLine())
	}
	if err := build.Complete(r); err != nil {
		return fmt.Errorf("setting up the controller of experiments: %w", err)
	}
	return nil
}

// isRequested distinguishes changes by users from the operator's writes of the status.
func isRequested(update event.UpdateEvent) bool {
	before, after := update.ObjectOld, update.ObjectNew
	return before.GetGeneration() != after.GetGeneration() ||
		before.GetDeletionTimestamp().IsZero() != after.GetDeletionTimestamp().IsZero() ||
		!slices.Equal(before.GetFinalizers(), after.GetFinalizers()) ||
		!maps.Equal(before.GetAnnotations(), after.GetAnnotations()) ||
		!maps.Equal(before.GetLabels(), after.GetLabels())
}

// openOf indexes the experiments that are not complete. An imported experiment is never queued.
func openOf(object client.Object) []string {
	experiment, is := object.(*v1alpha1.PerfExperiment)
	if !is || provenance.IsImported(object) || meta.IsStatusConditionTrue(experiment.Status.Conditions, v1alpha1.ConditionComplete) {
		return nil
	}
	return []string{"true"}
}

// runHandler enqueues the experiments that a run concerns.
type runHandler struct{ reader client.Reader }

type requests = workqueue.TypedRateLimitingInterface[reconcile.Request]

func (w runHandler) handler() handler.EventHandler {
	return handler.Funcs{
		CreateFunc: func(_ context.Context, made event.CreateEvent, work requests) { w.own(made.Object, work) },
		UpdateFunc: func(ctx context.Context, update event.UpdateEvent, work requests) {
			if concerns(update) {
				w.own(update.ObjectNew, work)
			}
			if blocks(update.ObjectOld) && !blocks(update.ObjectNew) {
				w.others(ctx, update.ObjectNew, work)
			}
		},
		DeleteFunc: func(ctx context.Context, deleted event.DeleteEvent, work requests) {
			w.own(deleted.Object, work)
			w.others(ctx, deleted.Object, work)
		},
	}
}

// own enqueues the experiment that the run names.
func (w runHandler) own(object client.Object, work requests) {
	run, is := object.(*v1alpha1.PerfRun)
	if is && !provenance.IsImported(run) {
		work.Add(reconcile.Request{NamespacedName: client.ObjectKey{Namespace: run.Namespace, Name: run.Spec.Experiment}})
	}
}

// others enqueues the experiments of the namespace that may wait for the end of the run.
func (w runHandler) others(ctx context.Context, run client.Object, work requests) {
	waiting := &v1alpha1.PerfExperimentList{}
	err := w.reader.List(ctx, waiting, client.InNamespace(run.GetNamespace()), client.MatchingFields{indexOpen: "true"}, client.UnsafeDisableDeepCopy)
	if err != nil {
		// The cache only fails while it is being stopped.
		return
	}
	for i := range waiting.Items {
		work.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&waiting.Items[i])})
	}
}

// concerns reports whether the run's experiment shows, or depends on, the change. The progress of a
// load is only in the status of the run.
func concerns(update event.UpdateEvent) bool {
	before, is := update.ObjectOld.(*v1alpha1.PerfRun)
	after, are := update.ObjectNew.(*v1alpha1.PerfRun)
	if !is || !are {
		return true
	}
	return before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero() ||
		before.Status.Phase != after.Status.Phase || component.RunMessage(before) != component.RunMessage(after) ||
		!equality.Semantic.DeepEqual(before.Status.Conditions, after.Status.Conditions) ||
		before.Annotations[v1alpha1.AnnotationDeletionReason] != after.Annotations[v1alpha1.AnnotationDeletionReason] ||
		!maps.Equal(before.Labels, after.Labels) || !equality.Semantic.DeepEqual(before.OwnerReferences, after.OwnerReferences)
}

// blocks reports whether the run keeps runs of other experiments from starting.
func blocks(object client.Object) bool {
	run, is := object.(*v1alpha1.PerfRun)
	return is && kubecache.IsActive(run) && run.DeletionTimestamp.IsZero()
}

// nextInLine enqueues the experiments that are next when a turn ends, or the wait for one.
func (r *Reconciler) nextInLine() handler.EventHandler {
	wake := func(ctx context.Context, work requests) {
		waiting, err := r.queue.Waiting(ctx, r.Now())
		if err != nil {
			// The cache only fails while it is being stopped.
			return
		}
		for _, experiment := range waiting {
			work.Add(reconcile.Request{NamespacedName: experiment})
		}
	}
	return handler.Funcs{
		UpdateFunc: func(ctx context.Context, update event.UpdateEvent, work requests) {
			if movesLine(update) {
				wake(ctx, work)
			}
		},
		DeleteFunc: func(ctx context.Context, _ event.DeleteEvent, work requests) { wake(ctx, work) },
	}
}

// movesLine reports whether a turn has ended, or the wait for one. A renewed ticket has no effect.
func movesLine(update event.UpdateEvent) bool {
	before, is := update.ObjectOld.(*coordinationv1.Lease)
	after, are := update.ObjectNew.(*coordinationv1.Lease)
	if !is || !are {
		return true
	}
	one, other := queue.Read(before), queue.Read(after)
	return !one.Equal(&other)
}
