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

// releaseOrphans releases the workloads that a deleted experiment left adopted: its finalizer was
// removed by hand, or a run was changing a workload while the experiment was deleted.
//
// The watch reports a workload that the cache lacks. The ServiceAccount that changed it is no
// longer known, so the namespace's default one releases it.
func (r *Reconciler) releaseOrphans(ctx context.Context, key client.ObjectKey) (reconcile.Result, error) {
	ctx = kube.WithAccount(ctx, key.Namespace, "")
	if isAny, err := r.HasAdoptedWorkloads(ctx, key); err != nil || !isAny {
		return reconcile.Result{}, err
	}
	done, err := r.ReleaseWorkloads(ctx, key, nil)
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("releasing the workloads of experiment %q: %w", key.Name, err)
	}
	if !done {
		return reconcile.Result{RequeueAfter: teardownPause}, nil
	}
	return reconcile.Result{}, nil
}

// orphanHandler maps an adopted workload to its experiment if that is deleted. An imported
// experiment of the same name has not adopted it.
func orphanHandler(reader client.Reader) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, object client.Object) []reconcile.Request {
		adopter := object.GetAnnotations()[v1alpha1.AnnotationBorrowedBy]
		key, valid := workloads.AdopterKey(adopter)
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
