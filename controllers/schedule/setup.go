// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
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
)

// indexWorkload finds the schedules that watch a workload.
const indexWorkload = "workload"

// SetupWithManager adds the reconciler to the manager. Changes of schedules, the start and end
// of their experiments, and the workloads that they watch trigger it. Workloads are cached for
// adoption anyway.
func (r *Reconciler) SetupWithManager(manager ctrl.Manager) error {
	if err := manager.GetFieldIndexer().IndexField(context.Background(), &v1alpha1.PerfSchedule{}, indexWorkload, workloadKeys); err != nil {
		return fmt.Errorf("indexing schedules: %w", err)
	}
	err := ctrl.NewControllerManagedBy(manager).
		For(&v1alpha1.PerfSchedule{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WithOptions(component.ControllerOptions()).
		WithLogConstructor(component.LogConstructor("schedule", manager.GetLogger())).
		Owns(&v1alpha1.PerfExperiment{}, builder.WithPredicates(predicate.Funcs{UpdateFunc: isRelevantUpdate})).
		Watches(kubecache.NewObject(appsv1.SchemeGroupVersion.WithKind("Deployment")), enqueueSchedules(manager.GetClient(), "Deployment")).
		Watches(kubecache.NewObject(appsv1.SchemeGroupVersion.WithKind("StatefulSet")), enqueueSchedules(manager.GetClient(), "StatefulSet")).
		Complete(r)
	if err != nil {
		return fmt.Errorf("setting up the controller of schedules: %w", err)
	}
	return nil
}

// workloadKeys are the workloads that a schedule watches.
func workloadKeys(object client.Object) []string {
	schedule, is := object.(*v1alpha1.PerfSchedule)
	if !is {
		return nil
	}
	var workloads []string
	for _, source := range schedule.Spec.OnImageChange {
		workloads = append(workloads, source.Kind+"/"+source.Name)
	}
	return workloads
}

// isRelevantUpdate reports whether the change of an experiment may change its schedule's
// decision.
func isRelevantUpdate(update event.UpdateEvent) bool {
	before, is := update.ObjectOld.(*v1alpha1.PerfExperiment)
	after, are := update.ObjectNew.(*v1alpha1.PerfExperiment)
	if !is || !are {
		return true
	}
	return newChild(before) != newChild(after) || !equality.Semantic.DeepEqual(before.OwnerReferences, after.OwnerReferences)
}

// enqueueSchedules maps a workload to the schedules that watch it.
func enqueueSchedules(reader client.Reader, kind string) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, object client.Object) []reconcile.Request {
		schedules := &v1alpha1.PerfScheduleList{}
		err := reader.List(ctx, schedules, client.InNamespace(object.GetNamespace()),
			client.MatchingFields{indexWorkload: kind + "/" + object.GetName()}, client.UnsafeDisableDeepCopy)
		if err != nil {
			// The cache only fails while it is being stopped.
			return nil
		}
		var requests []reconcile.Request
		for i := range schedules.Items {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&schedules.Items[i])})
		}
		return requests
	})
}
