// SPDX-License-Identifier: AGPL-3.0-only

package scripts_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// call is one request of a logged-in user, or a preflight, with its query decoded.
type call struct {
	line   string // "GET /users?query=…&limit=…"
	body   string
	status int
}

// folio simulates the calls of a FOLIO gateway strictly: calls that FOLIO would not understand
// fail the test.
type folio struct {
	*httptest.Server
	t   *testing.T
	mux *http.ServeMux
	authentication

	mu    sync.Mutex
	calls map[string][]call // by user
	order []string          // users in the order of their first calls

	// expireAfter is the number of calls after which a token becomes invalid. 0 means never.
	expireAfter int
	// refuse returns the status with which a call is rejected. 0 accepts the call.
	refuse func(line string, nth int) int
	// retryAfter is the value of the header Retry-After in rejections with 503.
	retryAfter string
	// forgiving only counts invalid calls, for tests of rejections.
	forgiving bool
	wrongs    int
}

func newFolio(t *testing.T) *folio {
	t.Helper()
	f := &folio{t: t, mux: http.NewServeMux(), authentication: newAuthentication(), calls: map[string][]call{}}
	f.mux.HandleFunc("POST /authn/login", f.login)
	f.mux.HandleFunc("POST /authn/login-with-expiry", f.loginWithExpiry)
	f.mux.HandleFunc("POST /authn/refresh", f.refresh)
	f.mux.HandleFunc("OPTIONS /", f.preflight)
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
	if f.forgiving {
		f.wrongs++
		return
	}
	f.t.Errorf("the script: "+format, args...)
}

// handle registers a call that needs a token. answer returns a status and the value to encode as
// JSON.
func (f *folio) handle(pattern string, answer func(r *http.Request, body []byte) (int, any)) {
	f.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the user disconnected
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		status, value := f.admit(r)
		if status == 0 {
			status, value = answer(r, body)
		}
		f.note(r, string(body), status)
		w.Header().Set("Content-Type", "application/json")
		if status == http.StatusServiceUnavailable && f.retryAfter != "" {
			w.Header().Set("Retry-After", f.retryAfter)
		}
		w.WriteHeader(status)
		if value != nil {
			_ = json.NewEncoder(w).Encode(value)
		}
	})
}

// list registers a GET that returns records under a key.
func (f *folio) list(path, key string, records func(query url.Values) []any) {
	f.handle("GET "+path, func(r *http.Request, _ []byte) (int, any) {
		found := records(r.URL.Query())
		return http.StatusOK, map[string]any{key: found, "totalRecords": len(found)}
	})
}

// empty registers GETs that return no records.
func (f *folio) empty(keys map[string]string) {
	for path, key := range keys {
		f.list(path, key, func(url.Values) []any { return []any{} })
	}
}

// admit checks tenant, token and types. A status other than 0 is the response.
func (f *folio) admit(r *http.Request) (int, any) {
	if r.Header.Get("X-Okapi-Tenant") != "diku" {
		f.wrong("%s without tenant", line(r))
		return http.StatusBadRequest, problems("Missing Tenant")
	}
	if r.Header.Get("Content-Type") == "" || !strings.Contains(r.Header.Get("Accept"), "application/json") {
		f.wrong("%s with content type %q, accepting %q", line(r), r.Header.Get("Content-Type"), r.Header.Get("Accept"))
	}
	token := f.token(r)
	if !f.valid(token) {
		return http.StatusUnauthorized, "no such token"
	}
	if f.expireAfter > 0 && len(f.calls[f.user(r)])%f.expireAfter == f.expireAfter-1 {
		f.forget(token)
		return http.StatusUnauthorized, "token expired"
	}
	if kind := r.Header.Get("Content-Type"); takesJSON(r) && kind != "application/json" {
		return http.StatusBadRequest, problems(fmt.Sprintf(`Content-type header must be ["application/json"] but it is %q`, kind))
	}
	return f.refusal(r), map[string]any{"errors": []any{map[string]any{"message": "as the test wishes"}}}
}

// takesJSON distinguishes calls with JSON from uploads.
func takesJSON(r *http.Request) bool {
	return r.Method != http.MethodGet && !strings.HasSuffix(r.URL.Path, "/upload") && !strings.Contains(r.URL.Path, "/files/")
}

// problems returns errors in FOLIO's format.
func problems(messages ...string) map[string]any {
	errors := []any{}
	for _, message := range messages {
		errors = append(errors, map[string]any{"message": message})
	}
	return map[string]any{"errors": errors, "total_records": len(errors)}
}

// refused returns one error with FOLIO's code.
func refused(code, message string) map[string]any {
	return map[string]any{"errors": []any{map[string]any{"code": code, "message": message}}, "total_records": 1}
}

// token returns the user's token, which must be in only one of two places.
func (f *folio) token(r *http.Request) string {
	header, cookies := r.Header.Get("X-Okapi-Token"), r.CookiesNamed("folioAccessToken")
	if len(cookies) > 1 || len(cookies) == 1 && header != "" || len(r.CookiesNamed("folioRefreshToken")) > 0 {
		f.wrong("%s sends token %q and cookies %q", line(r), header, r.Header["Cookie"])
	}
	if len(cookies) == 1 {
		return cookies[0].Value
	}
	return header
}

func (f *folio) refusal(r *http.Request) int {
	if f.refuse == nil {
		return 0
	}
	return f.refuse(line(r), f.count(line(r))+1)
}

// preflight checks the preflight request that a browser sends before a call, and that the call
// exists.
func (f *folio) preflight(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	asked := r.Clone(r.Context())
	asked.Method = r.Header.Get("Access-Control-Request-Method")
	if _, pattern := f.mux.Handler(asked); pattern == "/" || asked.Method == "" {
		f.wrong("asks whether it may %q %s", asked.Method, r.URL.Path)
	}
	headers := strings.Split(r.Header.Get("Access-Control-Request-Headers"), ",")
	for _, header := range []string{"content-type", "x-okapi-tenant"} {
		if !slices.Contains(headers, header) {
			f.wrong("%s asks for the headers %q", line(r), headers)
		}
	}
	if slices.Contains(headers, "x-okapi-token") == f.expiring() {
		f.wrong("%s asks for the headers %q", line(r), headers)
	}
	if r.Header.Get("Origin") == "" || r.Header.Get("X-Okapi-Token")+r.Header.Get("X-Okapi-Tenant")+r.Header.Get("Cookie") != "" {
		f.wrong("%s has the headers %v", line(r), r.Header)
	}
	status := f.refusal(r)
	if status == 0 {
		status = http.StatusNoContent
	}
	f.note(r, "", status)
	w.WriteHeader(status)
}

var agent = regexp.MustCompile(`^perflab/run-1 (user/\d+)$`)

// user returns the user of a request. Preflights name the user, too.
func (f *folio) user(r *http.Request) string {
	found := agent.FindStringSubmatch(r.UserAgent())
	if found == nil {
		f.wrong("%s comes from %q", line(r), r.UserAgent())
		return ""
	}
	return found[1]
}

// meet starts a conversation unless there is one.
func (f *folio) meet(r *http.Request) {
	if user := f.user(r); !slices.Contains(f.order, user) {
		f.order = append(f.order, user)
	}
}

func (f *folio) note(r *http.Request, body string, status int) {
	f.meet(r)
	f.calls[f.user(r)] = append(f.calls[f.user(r)], call{line(r), body, status})
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

// conversations returns the calls of each user. The first is setup.
func (f *folio) conversations() [][]call {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all [][]call
	for _, user := range f.order {
		all = append(all, f.calls[user])
	}
	return all
}

// answered returns the number of calls with this response status so far.
func (f *folio) answered(status int) int {
	n := 0
	for _, conversation := range f.conversations() {
		for _, c := range conversation {
			if c.status == status {
				n++
			}
		}
	}
	return n
}

func (f *folio) decode(r *http.Request, into any) {
	f.decodeBytes(mustRead(r), into)
}

// decodeBytes rejects fields that the API does not have.
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

// line returns a request as in documentation: with the query decoded, in order.
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
