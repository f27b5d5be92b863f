// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"errors"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// PageSize is how many objects are asked for at once, where they are not large.
const PageSize = 500

// ErrStop is what a look at a page ends Pages with where the next ones are not wanted.
var ErrStop = errors.New("no more pages are wanted")

// Pages lists objects from the API server in pages of a size, and lets each look at one
// after the other: neither the server nor we ever hold more than one. Empty is a list of
// the kind, which stays empty. The error is the server's, or each one's but for [ErrStop].
func Pages[L client.ObjectList](ctx context.Context, live client.Reader, empty L, size int64, each func(L) error, which ...client.ListOption) error {
	for more := ""; ; {
		// A list that is read into again would share memory with what was kept of it.
		page, _ := empty.DeepCopyObject().(L)
		if err := live.List(ctx, page, append(slices.Clone(which), client.Limit(size), client.Continue(more))...); err != nil {
			return err
		}
		if err := each(page); errors.Is(err, ErrStop) {
			return nil
		} else if err != nil {
			return err
		}
		if more = page.GetContinue(); more == "" {
			return nil
		}
	}
}
