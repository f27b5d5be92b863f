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

// Sixteen schedules that look at one Deployment are woken at once.
func TestFewHoldWholeObjects(t *testing.T) {
	room := kube.NewReadLimiter()
	var holding atomic.Int32
	var passes errgroup.Group
	for range 16 {
		passes.Go(func() error {
			return room.Do(t.Context(), func(ctx context.Context) error {
				if _, bounded := ctx.Deadline(); !bounded {
					return errors.New("it may be held for ever")
				}
				defer holding.Add(-1)
				if holding.Add(1) > kube.MaxConcurrentReads {
					return errors.New("too many hold one")
				}
				runtime.Gosched()
				return nil
			})
		})
	}
	expect.NoError(t, passes.Wait())
}
