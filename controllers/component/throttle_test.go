// SPDX-License-Identifier: Apache-2.0

package component_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/testing/expect"
)

func TestStatusThrottleDelaysProgress(t *testing.T) {
	began := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	throttle := component.StatusThrottle{Interval: 3 * time.Second}
	if left := throttle.Remaining("a", began); left != 0 {
		t.Errorf("the first write waits for %s", left)
	}
	throttle.RecordWrite("a", began)
	for _, tc := range []struct {
		reason string
		of     types.UID
		after  time.Duration
		want   time.Duration
	}{
		{"just written", "a", time.Second, 2 * time.Second},
		{"another object", "b", time.Second, 0},
		{"written long ago", "a", 3 * time.Second, 0},
	} {
		at := began.Add(tc.after)
		expect.Equal(t, tc.want, throttle.Remaining(tc.of, at), "%s: waits for", tc.reason)
	}
	// A zero interval does not throttle.
	always := component.StatusThrottle{}
	always.RecordWrite("a", began)
	if left := always.Remaining("a", began); left != 0 {
		t.Errorf("without an interval a write waits for %s", left)
	}
}

func TestMinRequeueAfter(t *testing.T) {
	for _, tc := range []struct{ one, other, want time.Duration }{
		{0, 0, 0}, {0, 2, 2}, {2, 0, 2}, {2, 3, 2}, {3, 2, 2},
	} {
		expect.Equal(t, tc.want, component.MinRequeueAfter(tc.one, tc.other), "of %d and %d the sooner", tc.one, tc.other)
	}
}
