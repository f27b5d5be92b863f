// SPDX-License-Identifier: Apache-2.0

package component

import (
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"perflab.dev/perflab/internal/kube/fairqueue"
)

// maxRetryDelay bounds the backoff of failed reconciles: the cause may be gone, and deadlines
// pass.
const maxRetryDelay = 30 * time.Second

// reconcileTimeout bounds a reconcile, so that an unresponsive API server does not block a
// worker. Reading the logs of many runners takes minutes.
const reconcileTimeout = 20 * time.Minute

// maxConcurrentReconciles is how many objects of a kind are reconciled at a time. A reconcile
// that waits for an unresponsive target, log or database then delays others only if all of them
// wait.
const maxConcurrentReconciles = 16

// ControllerOptions are the options of all controllers: fair queues and exponential backoff.
func ControllerOptions() controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: maxConcurrentReconciles,
		ReconciliationTimeout:   reconcileTimeout,
		NewQueue:                fairqueue.New,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](100*time.Millisecond, maxRetryDelay),
	}
}

// LogConstructor adds namespace and object name to each log line of a controller, in place of
// the framework's five keys.
func LogConstructor(kind string, logger logr.Logger) func(*reconcile.Request) logr.Logger {
	return func(request *reconcile.Request) logr.Logger {
		if request == nil {
			return logger.WithValues("controller", kind)
		}
		return logger.WithValues("controller", kind, "namespace", request.Namespace, kind, request.Name)
	}
}
