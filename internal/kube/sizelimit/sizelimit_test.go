// SPDX-License-Identifier: Apache-2.0

package sizelimit_test

import (
	"testing"

	"perflab.dev/perflab/internal/kube/sizelimit"
	"perflab.dev/perflab/internal/testing/expect"
)

func TestWithin(t *testing.T) {
	// Each item has four bytes with its quotes, and one more for its comma.
	items := []string{"aa", "bb", "cc"}
	for bytes, want := range map[int][]string{0: {}, 4: {}, 5: items[:1], 14: items[:2], 15: items, 1000: items} {
		expect.Equal(t, want, sizelimit.Within(items, bytes), "in %d bytes", bytes)
	}
}
