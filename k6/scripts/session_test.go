// SPDX-License-Identifier: AGPL-3.0-only

package scripts_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"perflab.dev/perflab/k6/internal/k6test"
)

// TestTokensAreRenewedBeforeTheyExpire uses several access tokens and several sessions, as a run
// of a day does with tokens of ten minutes.
func TestTokensAreRenewedBeforeTheyExpire(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, 200, 10)
	l.accessLife, l.sessionLife = 2500*time.Millisecond, 6*time.Second
	result := k6test.Run(t, cico, environment(l.URL, "USERS=3", "DURATION_SECONDS=20", "THINK_TIME_SECONDS=0.5", "LOGIN=Expiring"))
	p := result.Payload(t)
	if n := counted(t, p, "Check-In", "error") + counted(t, p, "Check-Out", "error"); n > 0 || result.Code != 0 {
		t.Errorf("%d errors, exit code %d\n%s", n, result.Code, result.Stderr)
	}
	if n := l.answered(http.StatusUnauthorized); n > 0 || p.Total("perflab_repeats") > 0 {
		t.Errorf("%d calls had a token that was over", n)
	}
	// Of a session of 6 s, a user uses at least 4 s. setup has a session, too.
	if l.logins < 1+3*3 || l.logins > 1+3*5 {
		t.Errorf("%d logins, want 3 to 5 for each of 3 users in 20 s, and setup's", l.logins)
	}
	if l.refreshes < 3*5 {
		t.Errorf("%d refreshes, want at least 5 for each of 3 users in 20 s", l.refreshes)
	}
	talk(t, l, pages2023)
	noCollisions(t, l)
}

// TestARevokedTokenIsReplaced revokes tokens before their end.
func TestARevokedTokenIsReplaced(t *testing.T) {
	t.Parallel()
	for _, revoked := range []string{"the access token", "the session"} {
		t.Run(revoked, func(t *testing.T) {
			t.Parallel()
			l := newLibrary(t, 50, 10)
			l.accessLife, l.sessionLife = time.Minute, time.Hour
			l.expireAfter, l.endSessions = 50, revoked == "the session"
			enough := func() bool { return l.answered(http.StatusUnauthorized) >= 4 }
			result := k6test.RunUntil(t, enough, cico, environment(l.URL, "USERS=1", "DURATION_SECONDS=90", "THINK_TIME_SECONDS=0.2", "LOGIN=Expiring"))
			p := result.Payload(t)
			if n := counted(t, p, "Check-In", "error") + counted(t, p, "Check-Out", "error"); n > 0 {
				t.Errorf("%d errors\n%s", n, result.Stderr)
			}
			refused := l.answered(http.StatusUnauthorized)
			// The last rejected call may not be repeated before the end of the test.
			if got := int(p.Total("perflab_repeats")); got > refused || got < refused-1 {
				t.Errorf("%d calls were refused, %d repeated", refused, got)
			}
			renewed := l.refreshes
			if l.endSessions {
				renewed = l.logins - 2
			}
			if renewed < refused-1 || renewed > refused {
				t.Errorf("%d logins and %d refreshes after %d calls were refused", l.logins, l.refreshes, refused)
			}
		})
	}
}

// TestFailedLoginEndsTransaction checks that users continue as soon as they can after a failed
// login.
func TestFailedLoginEndsTransaction(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, 50, 10)
	l.accessLife, l.sessionLife = 2500*time.Millisecond, 2500*time.Millisecond
	l.refuseLogins = func(nth int) bool { return nth%3 == 0 }
	result := k6test.Run(t, cico, environment(l.URL, "USERS=1", "DURATION_SECONDS=12", "THINK_TIME_SECONDS=0.2", "LOGIN=Expiring"))
	p := result.Payload(t)
	failed := counted(t, p, "Check-In", "error") + counted(t, p, "Check-Out", "error")
	if failed < 1 || failed > l.attempts/3 || counted(t, p, "Check-Out", "ok") < 5 {
		t.Errorf("%d transactions failed after %d logins, %d check-outs went well", failed, l.attempts, counted(t, p, "Check-Out", "ok"))
	}
	if !strings.Contains(result.Stderr, "POST /authn/login-with-expiry answered 500 instead of 201") {
		t.Errorf("the log does not say why:\n%s", result.Stderr)
	}
}
