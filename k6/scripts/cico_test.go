// SPDX-License-Identifier: AGPL-3.0-only

package scripts_test

import (
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"perflab.dev/perflab/k6/internal/k6test"
	"perflab.dev/perflab/payload"
)

const cico = "cico.js"

func counted(t *testing.T, p *payload.Payload, transaction, outcome string) int {
	t.Helper()
	s, _ := p.Summary(transaction, outcome)
	return int(s.Count)
}

// talk checks all conversations after setup's and returns their transactions.
func talk(t *testing.T, l *library, p pages) [][]done {
	t.Helper()
	var all [][]done
	for _, conversation := range l.conversations()[1:] {
		found, err := p.transactions(conversation)
		k6test.NoError(t, err)
		all = append(all, found)
	}
	return all
}

func TestUsersCheckInAndOut(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, 2500, 1200)
	result := k6test.Run(t, cico, environment(l.URL, "USERS=6", "RAMP_UP_SECONDS=3", "DURATION_SECONDS=9", "THINK_TIME_SECONDS=0.05"))
	if result.Code != 0 {
		t.Fatalf("exit code %d\n%s", result.Code, result.Stderr)
	}
	p := result.Payload(t)
	in, out, kinds := 0, 0, map[string]string{}
	conversations := talk(t, l, pages2023)
	if len(conversations) != 6 || l.logins != 7 {
		t.Errorf("%d users and %d logins, want 6 and 7", len(conversations), l.logins)
	}
	for _, conversation := range conversations {
		for i, d := range conversation {
			if !d.complete && i < len(conversation)-1 {
				t.Errorf("a transaction broke off after %d calls", d.calls)
			}
			if d.complete && d.kind == "in" {
				in++
			} else if d.complete {
				out++
			}
			checkValues(t, l, d)
			kinds[d.values["loan"]] = d.kind
		}
	}
	// The last calls may get a response while k6 closes the payload.
	gotIn, gotOut := counted(t, p, "Check-In", "ok"), counted(t, p, "Check-Out", "ok")
	if gotIn > in || gotIn < in-6 || gotOut > out || gotOut < out-6 {
		t.Errorf("payload has %d check-ins and %d check-outs, the library saw %d and %d", gotIn, gotOut, in, out)
	}
	if errors := counted(t, p, "Check-In", "error") + counted(t, p, "Check-Out", "error"); errors > 0 {
		t.Errorf("%d errors\n%s", errors, result.Stderr)
	}
	share := float64(in) / float64(in+out)
	if tolerance := 4 * math.Sqrt(0.43*0.57/float64(in+out)); in+out < 40 || math.Abs(share-0.43) > tolerance {
		t.Errorf("%d of %d transactions are check-ins: %.2f, want 0.43 ± %.2f", in, in+out, share, tolerance)
	}
	if _, ok := kinds["NOT_FOUND"]; !ok || len(kinds) < 5 {
		t.Errorf("check-ins should meet items with and without a loan, there were %d loans", len(kinds))
	}
	noCollisions(t, l)
}

// checkValues compares the values in a transaction's calls with those in earlier responses.
func checkValues(t *testing.T, l *library, d done) {
	t.Helper()
	if point, ok := d.values["servicePoint"]; ok && !slices.Contains(l.servicePoints, point) {
		t.Errorf("check-out asks about service point %s", point)
	}
	if d.values["itemId"] != "" && d.kind == "in" && d.values["itemId"] != id(d.values["item"]) {
		t.Errorf("check-in of %s asks about %s", d.values["item"], d.values["itemId"])
	}
	if d.values["userId"] != "" && d.kind == "out" && d.values["userId"] != id(d.values["user"]) {
		t.Errorf("check-out to %s asks about %s", d.values["user"], d.values["userId"])
	}
	if d.complete && d.kind == "in" && d.values["loan"] != "NOT_FOUND" && d.values["loan"] != "loan-of-"+d.values["item"] {
		t.Errorf("check-in of %s asks about loan %s", d.values["item"], d.values["loan"])
	}
}

// noCollisions checks that no item was used by two users.
func noCollisions(t *testing.T, l *library) {
	t.Helper()
	owner := map[string]string{}
	for _, s := range l.lendings {
		if other, ok := owner[s.barcode]; ok && other != s.user {
			t.Errorf("%s was handled by %s and %s", s.barcode, other, s.user)
		}
		owner[s.barcode] = s.user
	}
}

func TestTwoRunnersShareTheUsers(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, 1000, 100)
	env := environment(l.URL, "USERS=5", "RAMP_UP_SECONDS=2", "DURATION_SECONDS=6", "THINK_TIME_SECONDS=0.1")
	var runners []*k6test.Process
	for _, segment := range []string{"0:1/2", "1/2:1"} {
		runners = append(runners, k6test.Start(t, cico, env, "--execution-segment="+segment, "--execution-segment-sequence=0,1/2,1"))
	}
	var halves []*payload.Payload
	for _, runner := range runners {
		result := runner.Wait()
		if result.Code != 0 {
			t.Fatalf("exit code %d\n%s", result.Code, result.Stderr)
		}
		halves = append(halves, result.Payload(t))
	}
	both, err := payload.Merge(halves...)
	k6test.NoError(t, err)
	// Each runner has its own setup.
	if l.logins != 5+2 {
		t.Errorf("%d logins, want 5 of users and 2 of setup", l.logins)
	}
	if counted(t, both, "Check-In", "error")+counted(t, both, "Check-Out", "error") > 0 || counted(t, both, "Check-Out", "ok") == 0 {
		t.Errorf("transactions: %+v", both.Series)
	}
	noCollisions(t, l)
}

func TestOneUserStartsAtOnceWhateverTheRampUp(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, 50, 10)
	began := time.Now()
	result := k6test.Run(t, cico, environment(l.URL, "USERS=1", "RAMP_UP_SECONDS=10", "DURATION_SECONDS=3", "THINK_TIME_SECONDS=0"))
	p := result.Payload(t)
	if result.Code != 0 || counted(t, p, "Check-Out", "ok") == 0 {
		t.Errorf("exit code %d, %+v", result.Code, p.Series)
	}
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("took %v instead of 3 s", took)
	}
}

func TestUsersComeOneByOne(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, 50, 10)
	k6test.Run(t, cico, environment(l.URL, "USERS=4", "RAMP_UP_SECONDS=8", "DURATION_SECONDS=8", "THINK_TIME_SECONDS=0.1"))
	if len(l.came) != 1+4 {
		t.Fatalf("%d logins, want one of setup and 4 of users", len(l.came))
	}
	for i, came := range l.came[1:] {
		late := came.Sub(l.came[1]) - time.Duration(i)*2*time.Second
		if late.Abs() > time.Second {
			t.Errorf("user %d came %v after it was due", i+1, late)
		}
	}
}

func TestTokenExpiresInTheMiddle(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, 200, 10)
	l.expireAfter = 17
	result := k6test.Run(t, cico, environment(l.URL, "USERS=1", "DURATION_SECONDS=3", "THINK_TIME_SECONDS=0"))
	p := result.Payload(t)
	if n := counted(t, p, "Check-In", "error") + counted(t, p, "Check-Out", "error"); n > 0 || result.Code != 0 {
		t.Errorf("%d errors, exit code %d\n%s", n, result.Code, result.Stderr)
	}
	if l.logins < 5 {
		t.Errorf("%d logins", l.logins)
	}
	// Each rejected call is repeated, and then the sequence continues.
	var sequence []call
	for _, c := range l.conversations()[1] {
		if c.status != http.StatusUnauthorized {
			sequence = append(sequence, c)
		}
	}
	if found, err := pages2023.transactions(sequence); err != nil || len(found) < 5 {
		t.Errorf("%d transactions, %v", len(found), err)
	}
}

func TestRefusedCheckOutEndsTheTransaction(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, 500, 10)
	l.refuse = func(line string, nth int) int {
		if strings.HasPrefix(line, "POST /circulation/check-out") && nth%2 == 0 {
			return http.StatusUnprocessableEntity
		}
		return 0
	}
	result := k6test.Run(t, cico, environment(l.URL, "USERS=2", "DURATION_SECONDS=4", "THINK_TIME_SECONDS=0.02"))
	p := result.Payload(t)
	refused := 0
	for _, conversation := range talk(t, l, pages2023) {
		for i, d := range conversation {
			if d.kind == "out" && d.calls == 34 && i < len(conversation)-1 {
				refused++
			}
		}
	}
	if got := counted(t, p, "Check-Out", "error"); got < 5 || got < refused || got > refused+2 {
		t.Errorf("%d check-outs failed, the library refused %d\n%s", got, refused, result.Stderr)
	}
	if counted(t, p, "Check-Out", "ok") == 0 || counted(t, p, "Check-In", "error") > 0 || result.Code != 0 {
		t.Errorf("exit code %d, %+v", result.Code, p.Transactions())
	}
	if !strings.Contains(result.Stderr, "Check-Out: POST /circulation/check-out-by-barcode answered 422 instead of 201") {
		t.Errorf("the log does not say why:\n%s", result.Stderr)
	}
	if failed := p.Total("http_req_failed"); failed < float64(refused) {
		t.Errorf("%v failed requests counted, want %d", failed, refused)
	}
}

func TestUsersHonorThinkTime(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, 500, 10)
	result := k6test.Run(t, cico, environment(l.URL, "USERS=8", "DURATION_SECONDS=16", "THINK_TIME_SECONDS=1"))
	p := result.Payload(t)
	iterations := counted(t, p, "Check-In", "ok") + counted(t, p, "Check-Out", "ok")
	// 8 users for 16 s with a mean of 1 s (deviation about 0.3 s), and responses that are fast
	// unless the machine is busy.
	if iterations < 60 || iterations > 150 {
		t.Errorf("%d iterations, want about 120", iterations)
	}
}

func TestItemsAreRecycled(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, 6, 3)
	result := k6test.Run(t, cico, environment(l.URL, "USERS=2", "DURATION_SECONDS=4", "THINK_TIME_SECONDS=0", "CHECK_IN_PERCENT=10"))
	p := result.Payload(t)
	if n := counted(t, p, "Check-Out", "error") + counted(t, p, "Check-In", "error"); n > 0 {
		t.Errorf("%d errors\n%s", n, result.Stderr)
	}
	if counted(t, p, "Check-Out", "ok") < 20 {
		t.Errorf("the users ran out of items after %d check-outs", counted(t, p, "Check-Out", "ok"))
	}
}

func TestInvalidSettingsFailEarly(t *testing.T) {
	t.Parallel()
	noItems := newLibrary(t, 0, 10)
	noUsers := newLibrary(t, 10, 0)
	fine := newLibrary(t, 10, 10)
	tests := []struct {
		name, url string
		env       []string
		code      int
		sentence  string
	}{
		{"connection refused", "http://127.0.0.1:1", nil, 108, "cannot log in at http://127.0.0.1:1: POST /authn/login failed: dial: connection refused"},
		{"wrong password", fine.URL, []string{"OKAPI_PASSWORD=wrong"}, 108, "POST /authn/login answered 422 instead of 201: Password *** of *** does not match"},
		{"no items", noItems.URL, nil, 108, "cannot find something to lend"},
		{"no users", noUsers.URL, nil, 108, "GET /users?query=cql.allRecords=1 sortBy barcode lists none with a barcode"},
		{"not a number", fine.URL, []string{"USERS=many"}, 107, `environment variable USERS is "many", not a number of at least 1`},
		{"no target", "", nil, 107, "environment variable BASE_URL is not set"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			env := append([]string{"USERS=1", "DURATION_SECONDS=60"}, tt.env...)
			result := k6test.Run(t, cico, environment(tt.url, env...))
			if result.Code != tt.code || !strings.Contains(result.Stderr, strings.ReplaceAll(tt.sentence, `"`, `\"`)) {
				t.Errorf("exit code %d, want %d and %q\n%s", result.Code, tt.code, tt.sentence, result.Stderr)
			}
			if took := time.Since(began); took > 18*time.Second {
				t.Errorf("it took %v to tell", took)
			}
		})
	}
}
