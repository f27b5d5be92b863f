// SPDX-License-Identifier: Apache-2.0

// Package github fakes the part of GitHub's REST API for issue comments. It is stricter
// than GitHub: it rejects undocumented requests, other versions, and too long bodies.
package github

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// The accepted token, and the limit of a body in characters.
const (
	Token   = "ghs_secret0123456789"
	maxBody = 65536
)

// Comment of the API.
type Comment struct {
	ID   int64  `json:"id"`
	Body string `json:"body"`
	URL  string `json:"html_url"`
	User struct {
		Login string `json:"login"`
	} `json:"user"`
}

// Site has one repository, team/shop, with one issue, number 7.
type Site struct {
	URL string

	mutex    sync.Mutex
	comments []Comment
	writes   []string
	// refuse is the status of writes; zero if they succeed.
	refuse int
}

// Start starts a site until the test ends.
func Start(t *testing.T) *Site {
	t.Helper()
	site := &Site{}
	routes := http.NewServeMux()
	routes.HandleFunc("GET /repos/team/shop/issues/7/comments", site.list)
	routes.HandleFunc("POST /repos/team/shop/issues/7/comments", site.create)
	routes.HandleFunc("PATCH /repos/team/shop/issues/comments/{id}", site.update)
	server := httptest.NewServer(site.known(routes))
	t.Cleanup(server.Close)
	site.URL = server.URL
	return site
}

// AddComment adds comments of another user.
func (s *Site) AddComment(bodies ...string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, body := range bodies {
		s.add(body)
	}
}

// Refuse makes writes fail with a status.
func (s *Site) Refuse(status int) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.refuse = status
}

// Comments returns all comments, in order.
func (s *Site) Comments() []Comment {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return append([]Comment(nil), s.comments...)
}

// Writes returns the methods of all successful writes.
func (s *Site) Writes() string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return strings.Join(s.writes, " ")
}

func (s *Site) add(body string) *Comment {
	id := int64(1000 + len(s.comments))
	made := Comment{ID: id, Body: strings.ReplaceAll(body, "\n", "\r\n"), URL: fmt.Sprintf("https://github.com/team/shop/issues/7#issuecomment-%d", id)}
	made.User.Login = "somebody"
	s.comments = append(s.comments, made)
	return &s.comments[len(s.comments)-1]
}

// known checks the token and the documented headers.
func (s *Site) known(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer "+Token:
			refuse(w, http.StatusUnauthorized, "Bad credentials")
		case r.Header.Get("X-GitHub-Api-Version") != "2022-11-28" || r.Header.Get("Accept") != "application/vnd.github+json" || r.Header.Get("User-Agent") == "":
			refuse(w, http.StatusBadRequest, "headers are missing")
		default:
			s.mutex.Lock()
			defer s.mutex.Unlock()
			if r.Method != http.MethodGet && s.refuse != 0 {
				refuse(w, s.refuse, "Resource not accessible by integration, "+Token)
				return
			}
			next.ServeHTTP(w, r)
		}
	})
}

func refuse(w http.ResponseWriter, status int, message string) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"message": message})
}

func (s *Site) list(w http.ResponseWriter, r *http.Request) {
	for name := range r.URL.Query() {
		if name != "page" && name != "per_page" {
			refuse(w, http.StatusUnprocessableEntity, "unknown parameter "+name)
			return
		}
	}
	size, err := strconv.Atoi(r.URL.Query().Get("per_page"))
	page, err2 := strconv.Atoi(r.URL.Query().Get("page"))
	if err != nil || err2 != nil || size < 1 || size > 100 || page < 1 {
		refuse(w, http.StatusUnprocessableEntity, "per_page must be from 1 to 100, page at least 1")
		return
	}
	from, to := min((page-1)*size, len(s.comments)), min(page*size, len(s.comments))
	answer(w, http.StatusOK, append([]Comment{}, s.comments[from:to]...))
}

func (s *Site) create(w http.ResponseWriter, r *http.Request) {
	if body, ok := s.body(w, r); ok {
		answer(w, http.StatusCreated, s.add(body))
	}
}

func (s *Site) update(w http.ResponseWriter, r *http.Request) {
	for i := range s.comments {
		if strconv.FormatInt(s.comments[i].ID, 10) != r.PathValue("id") {
			continue
		}
		if body, ok := s.body(w, r); ok {
			s.comments[i].Body = body
			answer(w, http.StatusOK, s.comments[i])
		}
		return
	}
	refuse(w, http.StatusNotFound, "Not Found")
}

func (s *Site) body(w http.ResponseWriter, r *http.Request) (string, bool) {
	var sent struct {
		Body string `json:"body"`
	}
	var text bytes.Buffer
	_, err := text.ReadFrom(r.Body)
	decoder := json.NewDecoder(&text)
	decoder.DisallowUnknownFields()
	if err != nil || decoder.Decode(&sent) != nil || sent.Body == "" || len([]rune(sent.Body)) > maxBody {
		refuse(w, http.StatusUnprocessableEntity, "Validation Failed")
		return "", false
	}
	s.writes = append(s.writes, r.Method)
	return sent.Body, true
}

func answer(w http.ResponseWriter, status int, value any) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value)
}
