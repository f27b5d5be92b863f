// SPDX-License-Identifier: Apache-2.0

// Package await is how tests wait for what comes about in its own time: in an API server,
// a cluster, a browser.
package await

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// Until polls check until it is done, and fails the test with what it saw last when the limit
// has passed. It polls every 50 ms for a short limit and every second for one of ten minutes.
func Until(ctx context.Context, t *testing.T, limit time.Duration, what string, check func() (done bool, seen string)) {
	t.Helper()
	last := ""
	interval := min(max(limit/600, 50*time.Millisecond), time.Second)
	err := wait.PollUntilContextTimeout(ctx, interval, limit, true, func(context.Context) (bool, error) {
		done, seen := check()
		last = seen
		return done, nil
	})
	if err != nil {
		t.Fatalf("waited %s for %s (%v); last seen: %s", limit, what, err, last)
	}
}
