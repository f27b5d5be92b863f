// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment/workloads"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/runs/provenance"
)

// returnOrphans gives back what an experiment that is gone has left borrowed:
// its finalizer was taken off by hand, or a run was changing a workload while
// the experiment went.
//
// Of a workload of which the cache has not heard yet, its watch will tell. Which
// ServiceAccount changed it nothing tells any more, so the namespace's default one
// does.
func (r *Reconciler) returnOrphans(ctx context.Context, key client.ObjectKey) (reconcile.Result, error) {
	ctx = kube.WithAccount(ctx, key.Namespace, "")
	if any, err := r.Borrows(ctx, key); err != nil || !any {
		return reconcile.Result{}, err
	}
	done, err := r.GiveBack(ctx, key, nil)
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("giving back what experiment %q had borrowed: %w", key.Name, err)
	}
	if !done {
		return reconcile.Result{RequeueAfter: teardownPause}, nil
	}
	return reconcile.Result{}, nil
}

// orphansOf maps a borrowed workload to its experiment when that is gone. An
// imported one of the same name has not borrowed it.
func orphansOf(reader client.Reader) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, object client.Object) []reconcile.Request {
		borrower := object.GetAnnotations()[v1alpha1.AnnotationBorrowedBy]
		key, valid := workloads.AdopterKey(borrower)
		if !valid || key.Namespace != object.GetNamespace() {
			return nil
		}
		experiment := &v1alpha1.PerfExperiment{}
		err := reader.Get(ctx, key, experiment)
		if err == nil && !provenance.IsImported(experiment) || client.IgnoreNotFound(err) != nil {
			return nil
		}
		return []reconcile.Request{{NamespacedName: key}}
	})
}
