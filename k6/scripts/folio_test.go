// SPDX-License-Identifier: AGPL-3.0-only

package scripts_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// call is one request of a user who is logged in, its query decoded.
type call struct {
	line   string // "GET /users?query=…&limit=…"
	body   string
	status int
}

// folio plays the calls of a FOLIO gateway strictly: what FOLIO would not
// understand fails the test.
type folio struct {
	*httptest.Server
	t   *testing.T
	mux *http.ServeMux

	mu     sync.Mutex
	logins int
	came   []time.Time       // of each login
	valid  map[string]bool   // tokens
	user   map[string]string // token to the connection's first token
	calls  map[string][]call // by the connection's first token
	order  []string          // first tokens as they came

	// expireAfter makes a token worthless after so many calls; 0 is never.
	expireAfter int
	// refuse answers a call with a status of its own; 0 lets it through.
	refuse func(line string, nth int) int
}

func newFolio(t *testing.T) *folio {
	t.Helper()
	f := &folio{
		t: t, mux: http.NewServeMux(),
		valid: map[string]bool{}, user: map[string]string{}, calls: map[string][]call{},
	}
	f.mux.HandleFunc("POST /authn/login", f.login)
	f.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		f.wrong("unknown call %s %s", r.Method, r.URL)
		http.NotFound(w, r)
	})
	f.Server = httptest.NewServer(f.mux)
	t.Cleanup(f.Close)
	return f
}

// wrong fails the test without ending the server's goroutine.
func (f *folio) wrong(format string, args ...any) {
	f.t.Errorf("the script: "+format, args...)
}

func (f *folio) login(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var credentials struct{ Username, Password string }
	f.decode(r, &credentials)
	if r.Header.Get("X-Okapi-Tenant") != "diku" {
		f.wrong("logs in to tenant %q", r.Header.Get("X-Okapi-Tenant"))
	}
	if credentials.Username != "diku_admin" || credentials.Password != "secret" {
		http.Error(w, "Password does not match", http.StatusUnprocessableEntity)
		return
	}
	f.logins++
	f.came = append(f.came, time.Now())
	token := fmt.Sprintf("token-%d", f.logins)
	f.valid[token] = true
	w.Header().Set("x-okapi-token", token)
	w.WriteHeader(http.StatusCreated)
}

// handle registers a call that needs a token; answer returns a status and what
// to encode as JSON.
func (f *folio) handle(pattern string, answer func(r *http.Request, body []byte) (int, any)) {
	f.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the user left in the middle
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		status, value := f.admit(r)
		if status == 0 {
			status, value = answer(r, body)
		}
		f.note(r, string(body), status)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		if value != nil {
			_ = json.NewEncoder(w).Encode(value)
		}
	})
}

// list registers a GET that answers with records under a key.
func (f *folio) list(path, key string, records func(query url.Values) []any) {
	f.handle("GET "+path, func(r *http.Request, _ []byte) (int, any) {
		found := records(r.URL.Query())
		return http.StatusOK, map[string]any{key: found, "totalRecords": len(found)}
	})
}

// empty registers GETs that find nothing.
func (f *folio) empty(keys map[string]string) {
	for path, key := range keys {
		f.list(path, key, func(url.Values) []any { return []any{} })
	}
}

// admit checks tenant, token and type; a status other than 0 is the answer.
func (f *folio) admit(r *http.Request) (int, any) {
	token := r.Header.Get("X-Okapi-Token")
	if r.Header.Get("X-Okapi-Tenant") != "diku" {
		f.wrong("%s without tenant", line(r))
	}
	if !f.valid[token] {
		return http.StatusUnauthorized, "no such token"
	}
	if r.Method == http.MethodPost && r.Header.Get("Content-Type") == "" {
		f.wrong("%s without content type", line(r))
	}
	if f.expireAfter > 0 && len(f.calls[f.connection(token)])%f.expireAfter == f.expireAfter-1 {
		delete(f.valid, token)
		f.calls[f.connection(token)] = append(f.calls[f.connection(token)], call{line: line(r), status: http.StatusUnauthorized})
		return http.StatusUnauthorized, "token expired"
	}
	if f.refuse == nil {
		return 0, nil
	}
	return f.refuse(line(r), f.count(line(r))+1), map[string]any{"errors": []any{map[string]any{"message": "as the test wishes"}}}
}

// connection is the token a connection began with. Of several connections that
// lose their tokens at once one can't tell which logged in again: tests that
// expire tokens use one user.
func (f *folio) connection(token string) string {
	if first, ok := f.user[token]; ok {
		return first
	}
	first := token
	if f.expireAfter > 0 && len(f.order) > 1 {
		first = f.order[1] // after that of setup
	}
	f.user[token] = first
	if first == token {
		f.order = append(f.order, token)
	}
	return first
}

func (f *folio) note(r *http.Request, body string, status int) {
	if status == http.StatusUnauthorized {
		return
	}
	first := f.connection(r.Header.Get("X-Okapi-Token"))
	f.calls[first] = append(f.calls[first], call{line(r), body, status})
}

func (f *folio) count(wanted string) int {
	n := 0
	for _, calls := range f.calls {
		for _, c := range calls {
			if c.line == wanted {
				n++
			}
		}
	}
	return n
}

// conversations are the calls of each connection; the first is setup's.
func (f *folio) conversations() [][]call {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all [][]call
	for _, first := range f.order {
		all = append(all, f.calls[first])
	}
	return all
}

func (f *folio) decode(r *http.Request, into any) {
	f.decodeBytes(mustRead(r), into)
}

// decodeBytes takes no field that the API does not have.
func (f *folio) decodeBytes(body []byte, into any) {
	decoder := json.NewDecoder(strings.NewReader(string(body)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		f.wrong("sends %s: %v", body, err)
	}
}

func mustRead(r *http.Request) []byte {
	body, _ := io.ReadAll(r.Body)
	return body
}

// line is a request as documentation writes it: the query decoded, in order.
func line(r *http.Request) string {
	text := r.Method + " " + r.URL.Path
	if r.URL.RawQuery == "" {
		return text
	}
	pairs := strings.Split(r.URL.RawQuery, "&")
	for i, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		if decoded, err := url.QueryUnescape(value); err == nil {
			value = decoded
		}
		pairs[i] = name + "=" + value
	}
	return text + "?" + strings.Join(pairs, "&")
}
