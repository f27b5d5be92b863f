// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/semaphore"
)

const (
	// wholeTimeout bounds how long a reconcile waits for room, and uses it.
	wholeTimeout = 10 * time.Second
	// MaxConcurrentReads objects of others' are held at once, which the memory limit has room for.
	MaxConcurrentReads = 2
)

// ReadLimiter bounds how many objects of others' an operator holds as a whole. Nil: it does not.
type ReadLimiter struct{ free *semaphore.Weighted }

// NewReadLimiter is empty.
func NewReadLimiter() *ReadLimiter { return &ReadLimiter{semaphore.NewWeighted(MaxConcurrentReads)} }

// Do lets a reconcile use an object of others' as a whole: a Deployment of a megabyte
// takes fifty when it is decoded, and a change of it wakes all that look at it. It fails
// where no room becomes free in time.
func (r *ReadLimiter) Do(ctx context.Context, use func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, wholeTimeout)
	defer cancel()
	if r == nil {
		return use(ctx)
	}
	if err := r.free.Acquire(ctx, 1); err != nil {
		return fmt.Errorf("waiting to read an object of others': %w", err)
	}
	defer r.free.Release(1)
	return use(ctx)
}
