// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"perflab.dev/perflab/api/v1alpha1"
)

// SetupWithManager lets the manager run the reconciler, woken by the run
// itself and by whatever changes in the environment of a run that is on.
func (r *RunReconciler) SetupWithManager(manager ctrl.Manager) error {
	wake := activeRuns(manager.GetClient())
	built, err := ctrl.NewControllerManagedBy(manager).
		For(&v1alpha1.PerfRun{}).
		WithOptions(patient()).
		WithLogConstructor(logsOf("run", manager.GetLogger())).
		Watches(&appsv1.Deployment{}, wake).
		Watches(&appsv1.StatefulSet{}, wake).
		Watches(&batchv1.Job{}, wake).
		Watches(&corev1.Pod{}, wake).
		Build(r)
	if err != nil {
		return fmt.Errorf("setting up the controller of runs: %w", err)
	}
	r.Watches.Controller = built
	r.Watches.Handler = wake
	return nil
}

// SetupWithManager lets the manager run the reconciler, woken by experiments
// and by every run of their namespace.
func (r *ExperimentReconciler) SetupWithManager(manager ctrl.Manager) error {
	err := ctrl.NewControllerManagedBy(manager).
		For(&v1alpha1.PerfExperiment{}).
		WithOptions(patient()).
		WithLogConstructor(logsOf("experiment", manager.GetLogger())).
		Watches(&v1alpha1.PerfRun{}, experimentsOf(manager.GetClient())).
		Watches(&appsv1.Deployment{}, orphansOf(manager.GetClient())).
		Watches(&appsv1.StatefulSet{}, orphansOf(manager.GetClient())).
		Complete(r)
	if err != nil {
		return fmt.Errorf("setting up the controller of experiments: %w", err)
	}
	return nil
}

// longestPause is the longest time between two tries of a pass that fails: what
// was in its way may be gone, and deadlines go on.
const longestPause = 30 * time.Second

// patient tries what fails again, more and more seldom.
func patient() controller.Options {
	return controller.Options{
		RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](100*time.Millisecond, longestPause),
	}
}

// logsOf names what a pass is about in each of its log lines by the keys
// namespace and run or experiment, in place of the framework's five.
func logsOf(kind string, logger logr.Logger) func(*reconcile.Request) logr.Logger {
	return func(request *reconcile.Request) logr.Logger {
		if request == nil {
			return logger.WithValues("controller", kind)
		}
		return logger.WithValues("controller", kind, "namespace", request.Namespace, kind, request.Name)
	}
}
