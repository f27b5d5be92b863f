// SPDX-License-Identifier: Apache-2.0

package component_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/testing/expect"
)

func TestWordsKeepTheirPace(t *testing.T) {
	began := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	pace := component.StatusThrottle{Interval: 3 * time.Second}
	if left := pace.Remaining("a", began); left != 0 {
		t.Errorf("the first word waits for %s", left)
	}
	pace.RecordWrite("a", began)
	for _, tc := range []struct {
		reason string
		of     types.UID
		after  time.Duration
		want   time.Duration
	}{
		{"it has just been told", "a", time.Second, 2 * time.Second},
		{"others have nothing to do with it", "b", time.Second, 0},
		{"it was told long ago", "a", 3 * time.Second, 0},
	} {
		at := began.Add(tc.after)
		expect.Equal(t, tc.want, pace.Remaining(tc.of, at), "%s: waits for", tc.reason)
	}
	// A lab's operator tells each word.
	always := component.StatusThrottle{}
	always.RecordWrite("a", began)
	if left := always.Remaining("a", began); left != 0 {
		t.Errorf("without a pace a word waits for %s", left)
	}
}

func TestSooner(t *testing.T) {
	for _, tc := range []struct{ one, other, want time.Duration }{
		{0, 0, 0}, {0, 2, 2}, {2, 0, 2}, {2, 3, 2}, {3, 2, 2},
	} {
		expect.Equal(t, tc.want, component.MinRequeueAfter(tc.one, tc.other), "of %d and %d the sooner", tc.one, tc.other)
	}
}

func named(namespace string, n int) reconcile.Request {
	request := reconcile.Request{}
	request.Namespace, request.Name = namespace, fmt.Sprint(n)
	return request
}

// A namespace with a single experiment waits for one of each other, however many
// those have.
func TestNamespacesTakeTurns(t *testing.T) {
	options := component.ControllerOptions()
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
