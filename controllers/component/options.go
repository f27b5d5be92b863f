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

// maxRetryDelay is the longest time between two tries of a pass that fails: what
// was in its way may be gone, and deadlines go on.
const maxRetryDelay = 30 * time.Second

// reconcileTimeout bounds a pass, so that an API server which never answers does not
// keep a worker for ever. Reading the logs of many runners takes its time.
const reconcileTimeout = 20 * time.Minute

// maxConcurrentReconciles is how many passes of one kind are done at once: who waits for a target,
// a log or a database that does not answer keeps the others waiting only when all
// of them do.
const maxConcurrentReconciles = 16

// ControllerOptions tries what fails again, more and more seldom.
func ControllerOptions() controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: maxConcurrentReconciles,
		ReconciliationTimeout:   reconcileTimeout,
		NewQueue:                fairqueue.New,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](100*time.Millisecond, maxRetryDelay),
	}
}

// LogConstructor names what a pass is about in each of its log lines by the keys
// namespace and run or experiment, in place of the framework's five.
func LogConstructor(kind string, logger logr.Logger) func(*reconcile.Request) logr.Logger {
	return func(request *reconcile.Request) logr.Logger {
		if request == nil {
			return logger.WithValues("controller", kind)
		}
		return logger.WithValues("controller", kind, "namespace", request.Namespace, kind, request.Name)
	}
}
