// SPDX-License-Identifier: Apache-2.0

package component_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

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
