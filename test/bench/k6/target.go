// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
)

// target is a server that answers immediately, and measures its client.
type target struct {
	url    string
	server *http.Server

	mutex    sync.Mutex
	requests int
	marks    map[int]func()
}

func startTarget() (*target, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening: %w", err)
	}
	t := &target{url: "http://" + listener.Addr().String()}
	t.server = &http.Server{Handler: http.HandlerFunc(t.answer)}
	go func() {
		if err := t.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			panic(err) // no later measurement would be valid
		}
	}()
	return t, nil
}

// expect resets the count of requests. The function at a number runs before the request with
// this number is answered.
func (t *target) expect(marks map[int]func()) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.requests, t.marks = 0, marks
}

// seen returns the number of requests since expect.
func (t *target) seen() int {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.requests
}

func (t *target) count() {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.requests++
	if mark := t.marks[t.requests]; mark != nil {
		mark()
	}
}

var answer = []byte(`{"totalRecords":0,"users":[]}`)

func (t *target) answer(w http.ResponseWriter, _ *http.Request) {
	t.count()
	w.Header().Set("Content-Type", "application/json")
	// A client that has disconnected is not measured, so errors are ignored.
	_, _ = w.Write(answer)
}

func (t *target) stop() { _ = t.server.Close() }
