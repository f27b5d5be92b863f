// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/semaphore"
)

const (
	// wholeReadTimeout bounds how long a reconcile waits for its turn and uses the object.
	wholeReadTimeout = 10 * time.Second
	// MaxWholeReads is how many whole objects of others the memory limit allows at a time.
	MaxWholeReads = 2
)

// ReadLimiter bounds how many whole objects of others the operator holds at a time. A nil
// limiter only sets the timeout.
type ReadLimiter struct{ free *semaphore.Weighted }

// NewReadLimiter returns a limiter for MaxWholeReads.
func NewReadLimiter() *ReadLimiter { return &ReadLimiter{semaphore.NewWeighted(MaxWholeReads)} }

// Do calls use when it may hold a whole object: a Deployment of one megabyte takes fifty when
// decoded, and its change wakes every reconcile that reads it. Do fails if its turn does not
// come in time.
func (r *ReadLimiter) Do(ctx context.Context, use func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, wholeReadTimeout)
	defer cancel()
	if r == nil {
		return use(ctx)
	}
	if err := r.free.Acquire(ctx, 1); err != nil {
		return fmt.Errorf("waiting to read a large object: %w", err)
	}
	defer r.free.Release(1)
	return use(ctx)
}
