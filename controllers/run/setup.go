// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	kubecache "perflab.dev/perflab/internal/kube/cache"
)

// SetupWithManager adds the reconciler to the manager. Changes of runs, and of the environments
// of active runs, trigger it.
func (r *Reconciler) SetupWithManager(manager ctrl.Manager) error {
	if err := kubecache.IndexRuns(context.Background(), manager.GetFieldIndexer()); err != nil {
		return err
	}
	wake := runHandler{enqueueActiveRuns(manager.GetClient())}
	build := ctrl.NewControllerManagedBy(manager).
		For(&v1alpha1.PerfRun{}, builder.WithPredicates(predicate.Funcs{CreateFunc: isUnfinished})).
		WithOptions(component.ControllerOptions()).
		WithLogConstructor(component.LogConstructor("run", manager.GetLogger())).
		Watches(kubecache.NewObject(appsv1.SchemeGroupVersion.WithKind("Deployment")), wake).
		Watches(kubecache.NewObject(appsv1.SchemeGroupVersion.WithKind("StatefulSet")), wake).
		Watches(kubecache.NewObject(jobKind), wake)
	for _, pods := range r.Watches.Pods.Sources(wake) {
		build = build.WatchesRawSource(pods)
	}
	built, err := build.Build(r)
	if err != nil {
		return fmt.Errorf("setting up the controller of runs: %w", err)
	}
	r.Watches.Controller = built
	r.Watches.Handler = wake
	if err := manager.Add(r.Watches); err != nil {
		return fmt.Errorf("setting up the cache of runs: %w", err)
	}
	return nil
}
