// SPDX-License-Identifier: Apache-2.0

package fairqueue_test

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"perflab.dev/perflab/internal/kube/fairqueue"
	"perflab.dev/perflab/internal/testing/expect"
)

func newRequest(namespace string, n int) reconcile.Request {
	request := reconcile.Request{}
	request.Namespace, request.Name = namespace, fmt.Sprint(n)
	return request
}

func TestNamespacesTakeTurns(t *testing.T) {
	queue := fairqueue.New("test", workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer queue.ShutDown()
	for n := range 100 {
		queue.Add(newRequest("crowded", n))
	}
	queue.Add(newRequest("crowded", 0))
	queue.Add(newRequest("lonely", 1))
	for n := range 3 {
		queue.Add(newRequest("small", n))
	}
	var order []string
	for queue.Len() > 0 {
		next, _ := queue.Get()
		order = append(order, next.Namespace+"/"+next.Name)
		queue.Done(next)
	}
	want := []string{"crowded/0", "lonely/1", "small/0", "crowded/1", "small/1", "crowded/2", "small/2", "crowded/3", "crowded/4"}
	expect.Equal(t, want, order[:len(want)], "the first requests")
	slices.Sort(order)
	if len(order) != 104 || len(slices.Compact(order)) != 104 {
		t.Errorf("%d were served, want each of 104 once", len(order))
	}
}
