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

func TestViewersAreToldApart(t *testing.T) {
	for name, one := range map[string]struct {
		header, from string
		sent         []string
		want         string
	}{
		"by address":                {"", "10.0.0.7:4711", nil, "10.0.0.7"},
		"by address of IPv6":        {"", "[fd00::7]:4711", nil, "fd00::7"},
		"a header nobody asked for": {"", "10.0.0.7:4711", []string{"ada"}, "10.0.0.7"},
		"by header":                 {"X-Viewer", "10.0.0.7:4711", []string{"ada"}, "ada"},
		"what the proxy added":      {"X-Viewer", "10.0.0.7:4711", []string{"forged, ada"}, "ada"},
		"in a header of its own":    {"X-Viewer", "10.0.0.7:4711", []string{"forged", "ada"}, "ada"},
		"no header":                 {"X-Viewer", "10.0.0.7:4711", nil, "10.0.0.7"},
		"an empty one":              {"X-Viewer", "10.0.0.7:4711", []string{" "}, "10.0.0.7"},
		"a long one":                {"X-Viewer", "10.0.0.7:4711", []string{strings.Repeat("a", 1000)}, strings.Repeat("a", 128)},
	} {
		request := httptest.NewRequest(http.MethodGet, "/", nil)
		request.RemoteAddr, request.Header["X-Viewer"] = one.from, one.sent
		if got := view.Viewer(one.header)(request); got != one.want {
			t.Errorf("%s: %q, want %q", name, got, one.want)
		}
	}
}

// look into an experiment as somebody.
func (b *building) look(viewer string, experiment int) int {
	return ask(b, http.MethodGet, fmt.Sprintf("/lab/e%d/", experiment), http.Header{"X-Viewer": {viewer}}).Code
}

// A viewer who opens every experiment does not keep others out, and the pages of one viewer
// do not replace each other.
func TestRoomsAreShared(t *testing.T) {
	var names []string
	for i := range 12 {
		names = append(names, fmt.Sprintf("e%d", i))
	}
	b := newBuilding(names...)
	for i := range 8 {
		b.now = b.now.Add(time.Second)
		expect.Equal(t, http.StatusOK, b.look("greedy", i), "a room that is free")
	}
	expect.Equal(t, http.StatusServiceUnavailable, b.look("greedy", 8), "a ninth")
	// Others get four, those that were looked into least recently.
	expect.Equal(t, http.StatusOK, b.look("greedy", 0), "the first is used again")
	for i := range 3 {
		expect.Equal(t, http.StatusOK, b.look("ada", 8+i), "another viewer's")
	}
	for i, open := range []bool{true, false, false, false, true, true, true, true, true, true, true} {
		if _, is := b.open[b.listed[i].NamespacedName]; is != open {
			t.Errorf("e%d is open: %t", i, is)
		}
	}
	expect.Equal(t, http.StatusOK, b.look("ada", 11), "as many as the other")
	expect.Equal(t, http.StatusServiceUnavailable, b.look("ada", 1), "more than the other")
	expect.Equal(t, http.StatusServiceUnavailable, b.look("greedy", 1), "its own again")
	// A room that two viewers have open is not taken.
	for _, i := range []int{0, 5, 6, 7, 8, 9, 10, 11} {
		expect.Equal(t, http.StatusOK, b.look("eve", i), "a room of others")
	}
	expect.Equal(t, http.StatusServiceUnavailable, b.look("bob", 1), "where all are shared")
	b.now = b.now.Add(6 * time.Minute)
	expect.Equal(t, http.StatusOK, b.look("bob", 1), "after they have left")
}

// A viewer has at most 16 requests in flight, and does not block others.
func TestRequestsOfAViewerAreLimited(t *testing.T) {
	answers, asked := make(chan struct{}), make(chan struct{})
	pages := view.Limit(view.Viewer("X-Viewer"), http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			asked <- struct{}{}
			<-answers
		}
	}))
	var waiting sync.WaitGroup
	for range 16 {
		waiting.Go(func() { ask(pages, http.MethodGet, "/slow", http.Header{"X-Viewer": {"greedy"}}) })
		<-asked
	}
	greedy, ada := http.Header{"X-Viewer": {"greedy"}}, http.Header{"X-Viewer": {"ada"}}
	refused := ask(pages, http.MethodGet, "/", greedy)
	expect.Equal(t, http.StatusTooManyRequests, refused.Code, "one too many")
	expect.Equal(t, "2", refused.Header().Get("Retry-After"), "when to try again")
	expect.Equal(t, http.StatusOK, ask(pages, http.MethodGet, "/", ada).Code, "another's")
	close(answers)
	waiting.Wait()
	expect.Equal(t, http.StatusOK, ask(pages, http.MethodGet, "/", greedy).Code, "when they are answered")
}

// deadlines notes whether somebody bounds the time for an answer.
type deadlines struct {
	net.Conn
	set chan time.Time
}

func (d deadlines) SetWriteDeadline(at time.Time) error {
	if !at.IsZero() {
		d.set <- at
	}
	return d.Conn.SetWriteDeadline(at)
}

type listening struct {
	net.Listener
	set chan time.Time
}

func (l listening) Accept() (net.Conn, error) {
	connection, err := l.Listener.Accept()
	return deadlines{connection, l.set}, err
}

// A response that is not read has a deadline.
func TestAnswersAreNotWaitedForForever(t *testing.T) {
	set := make(chan time.Time, 10)
	server := httptest.NewUnstartedServer(view.Limit(view.Viewer(""), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "a page")
	})))
	server.Listener = listening{server.Listener, set}
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
