// SPDX-License-Identifier: Apache-2.0

package ports

import (
	"fmt"
	"net"
	"testing"
)

// TestFree requests a port while the next one is in use.
func TestFree(t *testing.T) {
	first := For(t)
	next := lowest + (first-lowest+1)%count
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", next))
	if err == nil {
		t.Cleanup(func() { _ = listener.Close() })
	}
	second := For(t)
	if second == first || second == next {
		t.Errorf("%d after %d, with %d in use", second, first, next)
	}
	for _, port := range []int{first, second} {
		if port < lowest || port >= lowest+count {
			t.Errorf("port %d is one of those the system hands out", port)
		}
	}
}
