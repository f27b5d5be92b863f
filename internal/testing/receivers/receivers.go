// SPDX-License-Identifier: Apache-2.0

// Package receivers provides fake servers for announcements: a CloudEvents receiver, which
// is the SDK's, and the part of Grafana's HTTP API for annotations. Both can be
// unavailable, or reject requests.
package receivers

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/cloudevents/sdk-go/v2/client"
	"github.com/cloudevents/sdk-go/v2/event"
	cehttp "github.com/cloudevents/sdk-go/v2/protocol/http"

	"perflab.dev/perflab/internal/testing/expect"
)

// Server is the common part of both.
type Server struct {
	// URL of the server.
	URL string

	mutex sync.Mutex
	// status of every answer, without storing anything; 0 while it works.
	status  int
	headers []http.Header
}

// Fail makes the server answer with this status and store nothing; 0 makes it work again.
func (s *Server) Fail(status int) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.status = status
}

// Requests returns the headers of all requests so far.
func (s *Server) Requests() []http.Header {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return slices.Clone(s.headers)
}

// serve calls the handler, unless the server fails.
func (s *Server) serve(t *testing.T, handler http.Handler) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mutex.Lock()
		status := s.status
		s.headers = append(s.headers, r.Header.Clone())
		s.mutex.Unlock()
		if status != 0 {
			http.Error(w, "secret words of a server", status)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s.URL = server.URL
}

// CloudEvents is a receiver of events.
type CloudEvents struct {
	Server
	events []event.Event
}

// NewCloudEvents starts a receiver until the test ends. It rejects events that the SDK
// rejects.
func NewCloudEvents(t *testing.T) *CloudEvents {
	t.Helper()
	made := &CloudEvents{}
	protocol, err := cehttp.New()
	expect.NoError(t, err)
	handler, err := client.NewHTTPReceiveHandler(t.Context(), protocol, func(received event.Event) error {
		made.mutex.Lock()
		defer made.mutex.Unlock()
		made.events = append(made.events, received)
		return received.Validate()
	})
	expect.NoError(t, err)
	made.serve(t, handler)
	return made
}

// Events it has received, repeated ones as well.
func (c *CloudEvents) Events() []event.Event {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return slices.Clone(c.events)
}

// Annotation that Grafana keeps.
type Annotation struct {
	ID   int64    `json:"id"`
	Time int64    `json:"time"`
	Tags []string `json:"tags"`
	Text string   `json:"text"`
}

// Grafana keeps annotations.
type Grafana struct {
	Server
	// LoseNext drops the answer to a successful post.
	LoseNext bool
	kept     []Annotation
}

// NewGrafana starts a server until the test ends, which requires this token.
func NewGrafana(t *testing.T, token string) *Grafana {
	t.Helper()
	made := &Grafana{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /grafana/api/annotations", made.find)
	mux.HandleFunc("POST /grafana/api/annotations", made.add)
	made.serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			http.Error(w, `{"message":"Invalid API key"}`, http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	made.URL += "/grafana"
	return made
}

// Annotations it keeps.
func (g *Grafana) Annotations() []Annotation {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return slices.Clone(g.kept)
}

// find returns annotations with all of the tags, in a time range.
func (g *Grafana) find(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	from, errFrom := strconv.ParseInt(query.Get("from"), 10, 64)
	to, errTo := strconv.ParseInt(query.Get("to"), 10, 64)
	if errFrom != nil || errTo != nil {
		http.Error(w, "from and to are epoch milliseconds", http.StatusBadRequest)
		return
	}
	found := []Annotation{}
	for _, one := range g.Annotations() {
		has := one.Time >= from && one.Time <= to
		for _, tag := range query["tags"] {
			has = has && slices.Contains(one.Tags, tag)
		}
		if has {
			found = append(found, one)
		}
	}
	_ = json.NewEncoder(w).Encode(found)
}

func (g *Grafana) add(w http.ResponseWriter, r *http.Request) {
	var posted Annotation
	if err := json.NewDecoder(r.Body).Decode(&posted); err != nil || posted.Text == "" {
		http.Error(w, `{"message":"text field should not be empty"}`, http.StatusBadRequest)
		return
	}
	g.mutex.Lock()
	defer g.mutex.Unlock()
	posted.ID = int64(len(g.kept) + 1)
	g.kept = append(g.kept, posted)
	if g.LoseNext {
		panic(http.ErrAbortHandler)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"message": "Annotation added", "id": posted.ID})
}
