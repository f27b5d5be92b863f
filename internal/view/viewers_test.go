// SPDX-License-Identifier: Apache-2.0

package view_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/view"
)

func TestIdentifyViewer(t *testing.T) {
	for name, one := range map[string]struct {
		header, from string
		sent         []string
		want         string
	}{
		"by address":             {"", "10.0.0.7:4711", nil, "10.0.0.7"},
		"by address of IPv6":     {"", "[fd00::7]:4711", nil, "fd00::7"},
		"an unconfigured header": {"", "10.0.0.7:4711", []string{"ada"}, "10.0.0.7"},
		"by header":              {"X-Viewer", "10.0.0.7:4711", []string{"ada"}, "ada"},
		"what the proxy added":   {"X-Viewer", "10.0.0.7:4711", []string{"forged, ada"}, "ada"},
		"in a header of its own": {"X-Viewer", "10.0.0.7:4711", []string{"forged", "ada"}, "ada"},
		"no header":              {"X-Viewer", "10.0.0.7:4711", nil, "10.0.0.7"},
		"an empty one":           {"X-Viewer", "10.0.0.7:4711", []string{" "}, "10.0.0.7"},
		"a long one":             {"X-Viewer", "10.0.0.7:4711", []string{strings.Repeat("a", 1000)}, strings.Repeat("a", 128)},
	} {
		request := httptest.NewRequest(http.MethodGet, "/", nil)
		request.RemoteAddr, request.Header["X-Viewer"] = one.from, one.sent
		if got := view.IdentifyViewer(one.header)(request); got != one.want {
			t.Errorf("%s: %q, want %q", name, got, one.want)
		}
	}
}

// status of a viewer's request for an experiment's page.
func (b *testServer) status(viewer string, experiment int) int {
	return request(b, http.MethodGet, fmt.Sprintf("/lab/e%d/", experiment), http.Header{"X-Viewer": {viewer}}).Code
}

// A viewer who opens every experiment does not block others, and the pages of one viewer do
// not replace each other.
func TestPagesAreSharedFairly(t *testing.T) {
	var names []string
	for i := range 12 {
		names = append(names, fmt.Sprintf("e%d", i))
	}
	b := newTestServer(names...)
	for i := range 8 {
		b.now = b.now.Add(time.Second)
		expect.Equal(t, http.StatusOK, b.status("greedy", i), "a room that is free")
	}
	expect.Equal(t, http.StatusServiceUnavailable, b.status("greedy", 8), "a ninth")
	// Others get four pages, the least recently used.
	expect.Equal(t, http.StatusOK, b.status("greedy", 0), "the first is used again")
	for i := range 3 {
		expect.Equal(t, http.StatusOK, b.status("ada", 8+i), "another viewer's")
	}
	for i, open := range []bool{true, false, false, false, true, true, true, true, true, true, true} {
		if _, is := b.open[b.listed[i].NamespacedName]; is != open {
			t.Errorf("e%d is open: %t", i, is)
		}
	}
	expect.Equal(t, http.StatusOK, b.status("ada", 11), "as many as the other")
	expect.Equal(t, http.StatusServiceUnavailable, b.status("ada", 1), "more than the other")
	expect.Equal(t, http.StatusServiceUnavailable, b.status("greedy", 1), "its own again")
	// A page with two viewers is not evicted.
	for _, i := range []int{0, 5, 6, 7, 8, 9, 10, 11} {
		expect.Equal(t, http.StatusOK, b.status("eve", i), "a room of others")
	}
	expect.Equal(t, http.StatusServiceUnavailable, b.status("bob", 1), "where all are shared")
	b.now = b.now.Add(6 * time.Minute)
	expect.Equal(t, http.StatusOK, b.status("bob", 1), "after they have left")
}

func TestLimitRequestsOfViewer(t *testing.T) {
	answers, asked := make(chan struct{}), make(chan struct{})
	pages := view.LimitRequests(view.IdentifyViewer("X-Viewer"), http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			asked <- struct{}{}
			<-answers
		}
	}))
	var waiting sync.WaitGroup
	for range 16 {
		waiting.Go(func() { request(pages, http.MethodGet, "/slow", http.Header{"X-Viewer": {"greedy"}}) })
		<-asked
	}
	greedy, ada := http.Header{"X-Viewer": {"greedy"}}, http.Header{"X-Viewer": {"ada"}}
	refused := request(pages, http.MethodGet, "/", greedy)
	expect.Equal(t, http.StatusTooManyRequests, refused.Code, "one too many")
	expect.Equal(t, "2", refused.Header().Get("Retry-After"), "when to try again")
	expect.Equal(t, http.StatusOK, request(pages, http.MethodGet, "/", ada).Code, "another's")
	close(answers)
	waiting.Wait()
	expect.Equal(t, http.StatusOK, request(pages, http.MethodGet, "/", greedy).Code, "when they are answered")
}

// deadlineConn records the write deadlines.
type deadlineConn struct {
	net.Conn
	set chan time.Time
}

func (d deadlineConn) SetWriteDeadline(at time.Time) error {
	if !at.IsZero() {
		d.set <- at
	}
	return d.Conn.SetWriteDeadline(at)
}

type deadlineListener struct {
	net.Listener
	set chan time.Time
}

func (l deadlineListener) Accept() (net.Conn, error) {
	connection, err := l.Listener.Accept()
	return deadlineConn{connection, l.set}, err
}

func TestResponsesHaveWriteDeadline(t *testing.T) {
	set := make(chan time.Time, 10)
	server := httptest.NewUnstartedServer(view.LimitRequests(view.IdentifyViewer(""), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "a page")
	})))
	server.Listener = deadlineListener{server.Listener, set}
	server.Start()
	defer server.Close()
	connection, err := net.Dial("tcp", server.Listener.Addr().String())
	expect.NoError(t, err)
	defer connection.Close() //nolint:errcheck // The test is over.
	begun := time.Now()
	_, err = io.WriteString(connection, "GET / HTTP/1.1\r\nHost: here\r\n\r\n")
	expect.NoError(t, err)
	_, err = bufio.NewReader(connection).ReadString('\n')
	expect.NoError(t, err)
	select {
	case at := <-set:
		if at.Sub(begun) > 61*time.Second || at.Before(begun) {
			t.Errorf("an answer may take until %s", at)
		}
	default:
		t.Error("an answer may take for ever")
	}
}
