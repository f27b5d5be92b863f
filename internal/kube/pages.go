// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"errors"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// PageSize is the number of objects per page, except for large kinds.
const PageSize = 500

// ErrStop is returned by a page function to end Pages early.
var ErrStop = errors.New("no more pages are wanted")

// Pages lists objects from the API server in pages and calls each with one page after the
// other: neither the server nor the client ever holds more than one. empty is a list of the
// kind, which stays empty. The error is the server's, or that of each except [ErrStop].
func Pages[L client.ObjectList](ctx context.Context, live client.Reader, empty L, size int64, each func(L) error, which ...client.ListOption) error {
	for more := ""; ; {
		// A reused list would share memory with retained pages.
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
