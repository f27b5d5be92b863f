// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"context"
	"time"
)

// Waits makes a client record its delays between attempts instead of waiting.
func (c *client) Waits(into *[]time.Duration) {
	c.pause = func(_ context.Context, wait time.Duration) error {
		*into = append(*into, wait)
		return nil
	}
}
