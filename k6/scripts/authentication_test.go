// SPDX-License-Identifier: AGPL-3.0-only

package scripts_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// authentication is the state of logins in a folio: with tokens that do not expire, or with
// tokens that expire if accessLife is set.
type authentication struct {
	logins, refreshes int
	came              []time.Time          // of each login
	access            map[string]time.Time // tokens and their ends; the zero time means never
	session           map[string]time.Time // refresh tokens and the ends of their sessions

	// accessLife is the lifetime of an access token. sessionLife is the time after a login during
	// which tokens can be refreshed any number of times, as on a server that limits sessions.
	accessLife, sessionLife time.Duration
	// endSessions also deletes refresh tokens when an access token is deleted.
	endSessions bool
	// refuseLogins makes a login fail with status 500.
	refuseLogins func(nth int) bool
	attempts     int // of logins
}

func newAuthentication() authentication {
	return authentication{access: map[string]time.Time{}, session: map[string]time.Time{}}
}

func (a *authentication) expiring() bool { return a.accessLife > 0 }

func (a *authentication) valid(token string) bool {
	end, ok := a.access[token]
	return ok && (end.IsZero() || time.Now().Before(end))
}

func (a *authentication) forget(token string) {
	delete(a.access, token)
	if a.endSessions {
		clear(a.session)
	}
}

func (f *folio) login(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.expiring() {
		f.wrong("logs in for a token that does not expire")
	}
	if !f.authenticated(w, r) {
		return
	}
	token := fmt.Sprintf("token-%d", f.logins)
	f.access[token] = time.Time{}
	w.Header().Set("x-okapi-token", token)
	w.WriteHeader(http.StatusCreated)
}

func (f *folio) loginWithExpiry(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.authenticated(w, r) {
		f.grant(w, time.Now().Add(f.sessionLife))
	}
}

// authenticated checks tenant and credentials and counts the login.
func (f *folio) authenticated(w http.ResponseWriter, r *http.Request) bool {
	var credentials struct{ Username, Password string }
	f.decode(r, &credentials)
	if r.Header.Get("X-Okapi-Tenant") != "diku" {
		f.wrong("logs in to tenant %q", r.Header.Get("X-Okapi-Tenant"))
	}
	if r.Header.Get("Cookie")+r.Header.Get("X-Okapi-Token") != "" {
		f.wrong("logs in with the headers %v", r.Header)
	}
	if credentials.Username != "diku_admin" || credentials.Password != "secret" {
		http.Error(w, fmt.Sprintf("Password %s of %s does not match", credentials.Password, credentials.Username), http.StatusUnprocessableEntity)
		return false
	}
	f.meet(r)
	f.attempts++
	if f.refuseLogins != nil && f.refuseLogins(f.attempts) {
		http.Error(w, "as the test wishes", http.StatusInternalServerError)
		return false
	}
	f.logins++
	f.came = append(f.came, time.Now())
	return true
}

// refresh accepts each refresh token once, as FOLIO does.
func (f *folio) refresh(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.Header.Get("X-Okapi-Tenant") != "diku" || len(mustRead(r)) > 0 {
		f.wrong("refreshes with the headers %v", r.Header)
	}
	cookie, err := r.Cookie("folioRefreshToken")
	if err != nil {
		f.wrong("refreshes without the cookie folioRefreshToken")
		http.Error(w, "no refresh token", http.StatusBadRequest)
		return
	}
	end, ok := f.session[cookie.Value]
	delete(f.session, cookie.Value)
	if !ok || time.Now().After(end) {
		http.Error(w, "refresh token expired", http.StatusUnauthorized)
		return
	}
	f.refreshes++
	f.grant(w, end)
}

// grant responds with a pair of tokens of a session that ends at this time.
func (f *folio) grant(w http.ResponseWriter, end time.Time) {
	n := fmt.Sprintf("%d-%d", f.logins, f.refreshes)
	expires := time.Now().Add(f.accessLife)
	if expires.After(end) {
		expires = end
	}
	f.access["access-"+n], f.session["refresh-"+n] = expires, end
	for _, cookie := range []http.Cookie{
		{Name: "folioAccessToken", Value: "access-" + n, Path: "/"},
		{Name: "folioRefreshToken", Value: "refresh-" + n, Path: "/authn"},
	} {
		cookie.Secure, cookie.HttpOnly, cookie.SameSite, cookie.MaxAge = true, true, http.SameSiteNoneMode, 600
		http.SetCookie(w, &cookie)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(map[string]string{
		"accessTokenExpiration":  expires.UTC().Format("2006-01-02T15:04:05.000Z"),
		"refreshTokenExpiration": end.UTC().Format("2006-01-02T15:04:05.000Z"),
	})
}
