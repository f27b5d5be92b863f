// SPDX-License-Identifier: Apache-2.0

// Package fairqueue is a work queue in which namespaces take turns: a namespace with a
// thousand experiments delays the others no longer than one with a single experiment.
package fairqueue

import (
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// New returns the work queue of a controller, for controller.Options.
func New(controller string, limiter workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
	queue := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[reconcile.Request]{Name: controller, Queue: &roundRobin{}})
	delaying := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[reconcile.Request]{Name: controller, Queue: queue})
	return workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[reconcile.Request]{Name: controller, DelayingQueue: delaying})
}

// roundRobin serves namespaces in turn, and first in, first out within a namespace. The work
// queue that uses it holds the lock.
type roundRobin struct {
	// namespaces with pending requests, in the order of their turns.
	namespaces []string
	pending    map[string][]reconcile.Request
	length     int
}

var _ workqueue.Queue[reconcile.Request] = &roundRobin{}

// Touch keeps the place of a request that is already pending.
func (*roundRobin) Touch(reconcile.Request) {}

// Push adds a request.
func (q *roundRobin) Push(request reconcile.Request) {
	if q.pending == nil {
		q.pending = map[string][]reconcile.Request{}
	}
	if len(q.pending[request.Namespace]) == 0 {
		q.namespaces = append(q.namespaces, request.Namespace)
	}
	q.pending[request.Namespace] = append(q.pending[request.Namespace], request)
	q.length++
}

// Len is the number of pending requests.
func (q *roundRobin) Len() int { return q.length }

// Pop removes the next request. The queue must not be empty.
func (q *roundRobin) Pop() reconcile.Request {
	namespace := q.namespaces[0]
	q.namespaces = q.namespaces[1:]
	next, rest := q.pending[namespace][0], q.pending[namespace][1:]
	q.length--
	if len(rest) == 0 {
		delete(q.pending, namespace)
		return next
	}
	q.pending[namespace] = rest
	q.namespaces = append(q.namespaces, namespace)
	return next
}
