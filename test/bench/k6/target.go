// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// target is a server that answers at once, and counts.
type target struct {
	url      string
	server   *http.Server
	requests atomic.Int64
}

func startTarget() (*target, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening: %w", err)
	}
	t := &target{url: "http://" + listener.Addr().String()}
	t.server = &http.Server{Handler: http.HandlerFunc(t.answer), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		if err := t.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			panic(err) // nothing that is measured from here on would mean anything
		}
	}()
	return t, nil
}

var answer = []byte(`{"totalRecords":0,"users":[]}`)

func (t *target) answer(w http.ResponseWriter, _ *http.Request) {
	t.requests.Add(1)
	w.Header().Set("Content-Type", "application/json")
	// A client that has gone away is not measured.
	_, _ = w.Write(answer)
}

func (t *target) stop() { _ = t.server.Close() }
