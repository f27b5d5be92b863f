// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/origin"
)

// SetupWithManager lets the manager run the reconciler, woken by experiments
// and by every run of their namespace.
func (r *Reconciler) SetupWithManager(manager ctrl.Manager) error {
	err := ctrl.NewControllerManagedBy(manager).
		For(&v1alpha1.PerfExperiment{}).
		WithOptions(component.Patient()).
		WithLogConstructor(component.LogsOf("experiment", manager.GetLogger())).
		Watches(&v1alpha1.PerfRun{}, experimentsOf(manager.GetClient())).
		Watches(&appsv1.Deployment{}, orphansOf(manager.GetClient())).
		Watches(&appsv1.StatefulSet{}, orphansOf(manager.GetClient())).
		Complete(r)
	if err != nil {
		return fmt.Errorf("setting up the controller of experiments: %w", err)
	}
	return nil
}

// experimentsOf maps an object to every experiment of its namespace: one that
// waits for its turn has to hear of the end of another's run, and one that is
// being deleted of the end of its environment. What is imported waits for
// nothing, and nothing waits for it.
func experimentsOf(reader client.Reader) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, object client.Object) []reconcile.Request {
		if origin.IsImported(object) {
			return nil
		}
		experiments := &v1alpha1.PerfExperimentList{}
		if err := reader.List(ctx, experiments, client.InNamespace(object.GetNamespace())); err != nil {
			return nil
		}
		requests := make([]reconcile.Request, 0, len(experiments.Items))
		for i := range experiments.Items {
			if !origin.IsImported(&experiments.Items[i]) {
				requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&experiments.Items[i])})
			}
		}
		return requests
	})
}
