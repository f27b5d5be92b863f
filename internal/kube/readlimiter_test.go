// SPDX-License-Identifier: Apache-2.0

package kube_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/testing/expect"
)

// A change of one Deployment wakes all schedules that watch it.
func TestReadLimiterBoundsWholeReads(t *testing.T) {
	limiter := kube.NewReadLimiter()
	var holding atomic.Int32
	var reconciles errgroup.Group
	for range 16 {
		reconciles.Go(func() error {
			return limiter.Do(t.Context(), func(ctx context.Context) error {
				if _, bounded := ctx.Deadline(); !bounded {
					return errors.New("no deadline")
				}
				defer holding.Add(-1)
				if holding.Add(1) > kube.MaxWholeReads {
					return errors.New("too many reads at a time")
				}
				runtime.Gosched()
				return nil
			})
		})
	}
	expect.NoError(t, reconciles.Wait())
}
