// SPDX-License-Identifier: Apache-2.0

package component_test

import (
	"fmt"
	"slices"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/testing/expect"
)

func named(namespace string, n int) reconcile.Request {
	request := reconcile.Request{}
	request.Namespace, request.Name = namespace, fmt.Sprint(n)
	return request
}

// A namespace with a single experiment waits for one of each other, however many
// those have.
func TestNamespacesTakeTurns(t *testing.T) {
	options := component.Patient()
	queue := options.NewQueue("test", options.RateLimiter)
	defer queue.ShutDown()
	for n := range 100 {
		queue.Add(named("crowded", n))
	}
	queue.Add(named("crowded", 0))
	queue.Add(named("lonely", 1))
	for n := range 3 {
		queue.Add(named("small", n))
	}
	var order []string
	for queue.Len() > 0 {
		next, _ := queue.Get()
		order = append(order, next.Namespace+"/"+next.Name)
		queue.Done(next)
	}
	want := []string{"crowded/0", "lonely/1", "small/0", "crowded/1", "small/1", "crowded/2", "small/2", "crowded/3", "crowded/4"}
	expect.Equal(t, want, order[:len(want)], "the first")
	slices.Sort(order)
	if len(order) != 104 || len(slices.Compact(order)) != 104 {
		t.Errorf("%d were served, want each of 104 once", len(order))
	}
}
