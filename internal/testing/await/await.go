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

// Until asks until check says that it is done, at least 600 times within the limit, and at
// most twenty times a second. It fails the test with what was seen last.
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
