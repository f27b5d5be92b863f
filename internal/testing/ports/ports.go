// SPDX-License-Identifier: Apache-2.0

// Package ports finds free ports for programs of a test or a benchmark.
package ports

import (
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"testing"

	"perflab.dev/perflab/internal/testing/expect"
)

// Systems allocate ephemeral ports from 32768 or 49152: such a port may be taken before the
// program uses it.
const (
	lowest = 20000
	count  = 10000
)

// share is the distance between the first ports of processes with consecutive ids, which
// may search at the same time: the packages of one go test.
const share = 67

var taken atomic.Int64

// Free returns a free loopback port, another at each call.
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

// For is Free for a test, which fails if there is none.
func For(tb testing.TB) int {
	tb.Helper()
	port, err := Free()
	expect.NoError(tb, err)
	return port
}
