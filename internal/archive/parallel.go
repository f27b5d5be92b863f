// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"context"
	"iter"
)

// beside is how many requests of one caller are on at once: it leaves places for others.
const beside = maxRequests - 4

// InParallel does something with each of what comes, several at once, and gives the
// outcomes in the order in which they were asked for. No more than a few of them are in
// memory. An error of what comes is the last thing that it gives; one of what is done
// comes in its place, and the next outcome after it.
func InParallel[T, U any](ctx context.Context, all iter.Seq2[T, error], do func(context.Context, T) (U, error)) iter.Seq2[U, error] {
	type outcome struct {
		value U
		err   error
	}
	return func(yield func(U, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		var begun []chan outcome
		give := func(most int) bool {
			for len(begun) > most {
				got := <-begun[0]
				begun = begun[1:]
				if !yield(got.value, got.err) {
					return false
				}
			}
			return true
		}
		for one, err := range all {
			if err != nil {
				if give(0) {
					var none U
					yield(none, err)
				}
				return
			}
			done := make(chan outcome, 1)
			go func() {
				value, err := do(ctx, one)
				done <- outcome{value, err}
			}()
			if begun = append(begun, done); !give(beside - 1) {
				return
			}
		}
		give(0)
	}
}
