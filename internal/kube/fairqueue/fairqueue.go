// SPDX-License-Identifier: Apache-2.0

// Package fairqueue is a work queue in which namespaces take turns.
package fairqueue

import (
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// fair lets namespaces take turns: one with a thousand experiments keeps nobody
// waiting for longer than one with a single experiment would. Within a namespace
// who came first goes first. The work queue that uses it locks it.
type fair struct {
	// turns are the namespaces in which somebody waits, in the order of their turns.
	turns   []string
	waiting map[string][]reconcile.Request
	length  int
}

var _ workqueue.Queue[reconcile.Request] = &fair{}

// Touch is told of one that waits already, which keeps its place.
func (*fair) Touch(reconcile.Request) {}

// Push lets one wait.
func (f *fair) Push(request reconcile.Request) {
	if f.waiting == nil {
		f.waiting = map[string][]reconcile.Request{}
	}
	if len(f.waiting[request.Namespace]) == 0 {
		f.turns = append(f.turns, request.Namespace)
	}
	f.waiting[request.Namespace] = append(f.waiting[request.Namespace], request)
	f.length++
}

// Len is how many wait.
func (f *fair) Len() int { return f.length }

// Pop takes the next; somebody has to wait.
func (f *fair) Pop() reconcile.Request {
	namespace := f.turns[0]
	f.turns = f.turns[1:]
	next, others := f.waiting[namespace][0], f.waiting[namespace][1:]
	f.length--
	if len(others) == 0 {
		delete(f.waiting, namespace)
		return next
	}
	f.waiting[namespace] = others
	f.turns = append(f.turns, namespace)
	return next
}

// New is the framework's own work queue, in this order.
func New(controller string, limiter workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
	queue := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[reconcile.Request]{Name: controller, Queue: &fair{}})
	delaying := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[reconcile.Request]{Name: controller, Queue: queue})
	return workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[reconcile.Request]{Name: controller, DelayingQueue: delaying})
}
