// SPDX-License-Identifier: Apache-2.0

// Package await waits for conditions in tests: in an API server, a cluster, a browser.
package await

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"perflab.dev/perflab/internal/testing/expect"
)

// Until polls check until it succeeds, and fails the test with the last state after the
// limit. It polls every 50 ms for a short limit and every second for one of ten minutes.
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
		t.Fatalf("waited %s for %s (%v); last seen: %.2000s", limit, what, err, last)
	}
}

// Page fetches a page until it is as wanted, and returns it; host is the requested host, ""
// for that of the URL. It retries while the server is unavailable.
func Page(t *testing.T, url, host, what string, wanted func(page string) bool) string {
	t.Helper()
	page := ""
	Until(t.Context(), t, 40*time.Second, url+" to show "+what, func() (bool, string) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		expect.NoError(t, err)
		request.Host = host
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			return false, err.Error()
		}
		defer func() { _ = answer.Body.Close() }() // It was read.
		body, err := io.ReadAll(answer.Body)
		page = string(body)
		return err == nil && wanted(page), page
	})
	return page
}
