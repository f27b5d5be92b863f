// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"time"
)

const (
	requestsPerIteration = 63
	// warmUp is how long each k6 works before anything is measured.
	warmUp = 5 * time.Second
	// settle is how long a k6 works again before it is measured.
	settle = 500 * time.Millisecond
)

// measured is what one candidate did.
type measured struct {
	turns []turn
	// early and late are the resident memory after a third of the turns and after
	// the last one, peak is the most it ever was: bytes.
	early, late, peak float64
}

// turn is one stretch of time for which one k6 had the machine.
type turn struct {
	rate float64 // iterations per second
	cpu  float64 // CPU seconds of k6 per iteration
}

// take lets a k6 run while all others are held.
func (b bench) take(ctx context.Context, g *generator, t *target) (turn, error) {
	if err := g.resume(); err != nil {
		return turn{}, err
	}
	if err := sleep(ctx, settle); err != nil {
		return turn{}, err
	}
	cpu, err := g.cpu()
	if err != nil {
		return turn{}, err
	}
	from, requests := time.Now(), t.requests.Load()
	if err := sleep(ctx, b.turn); err != nil {
		return turn{}, err
	}
	iterations := float64(t.requests.Load()-requests) / requestsPerIteration
	took := time.Since(from).Seconds()
	used, err := g.cpu()
	if err != nil {
		return turn{}, err
	}
	return turn{rate: iterations / took, cpu: (used - cpu) / iterations}, g.hold()
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
