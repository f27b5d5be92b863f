// SPDX-License-Identifier: Apache-2.0

// Package ports finds ports for programs that a test or a bench starts and that
// have to be told theirs.
package ports

import (
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"testing"

	"perflab.dev/perflab/internal/testing/expect"
)

// Systems hand out ports from 32768 on, or 49152, to whoever asks for any and to
// each outgoing connection: one of those may be gone before the program takes it.
const (
	lowest = 20000
	count  = 10000
)

// share is how many ports lie between those of two processes in a row, which
// look at the same time: the packages of one go test.
const share = 67

var taken atomic.Int64

// Free returns a port of the loopback address that nobody listens to, another
// one at each call.
func Free() (int, error) {
	for range count {
		port := lowest + (int64(os.Getpid())*share+taken.Add(1))%count
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			return int(port), listener.Close()
		}
	}
	return 0, fmt.Errorf("no port from %d to %d is free on 127.0.0.1", lowest, lowest+count-1)
}

// For is Free for a test, which ends where there is none.
func For(tb testing.TB) int {
	tb.Helper()
	port, err := Free()
	expect.NoError(tb, err)
	return port
}
