// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"context"
	"time"
)

// Waits records how long a client would wait between tries, and waits for nothing.
func (c *client) Waits(into *[]time.Duration) {
	c.pause = func(_ context.Context, wait time.Duration) error {
		*into = append(*into, wait)
		return nil
	}
}
