// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"sync"
	"time"
)

// wholeTimeout bounds how long somebody holds an object of others' as a whole.
const wholeTimeout = 10 * time.Second

// whole is held by who does.
var whole sync.Mutex

// Whole lets one pass at a time hold an object of others' as a whole: a Deployment of a
// megabyte takes fifty when it is decoded, and a change of it wakes whoever looks at it.
func Whole(ctx context.Context, use func(context.Context) error) error {
	whole.Lock()
	defer whole.Unlock()
	ctx, cancel := context.WithTimeout(ctx, wholeTimeout)
	defer cancel()
	return use(ctx)
}
