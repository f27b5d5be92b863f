// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"context"
	"iter"
)

// maxParallel limits the requests in flight of one caller, and leaves slots for others.
const maxParallel = maxRequests - 4

// InParallel calls do for each input in parallel, and returns the results in the order of the
// inputs. Only a few are in memory. An error of an input ends the sequence; an error of do
// takes the place of its result.
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
			if begun = append(begun, done); !give(maxParallel - 1) {
				return
			}
		}
		give(0)
	}
}
