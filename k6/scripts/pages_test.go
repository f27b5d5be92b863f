// SPDX-License-Identifier: AGPL-3.0-only

package scripts_test

import (
	"bufio"
	"encoding/json"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"perflab.dev/perflab/k6/internal/k6test"
)

func TestUsersMakeTheCallsOfTheirRelease(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		env     []string
		release int
		pages   pages
	}{
		{"2023 without preflights", []string{"PREFLIGHTS=false"}, 2023, pages2023.withoutPreflights()},
		{"2026", []string{"RELEASE=2026"}, 2026, pages2023.of2026()},
		{"2026 without preflights", []string{"RELEASE=2026", "PREFLIGHTS=false"}, 2026, pages2023.of2026().withoutPreflights()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := newLibrary(t, 200, 10)
			l.release = tt.release
			// A transaction is complete when the next has started.
			enough := func() bool { return len(l.counted("in")) > 6 && len(l.counted("out")) > 6 }
			k6test.RunUntil(t, enough, cico, environment(l.URL, append(tt.env, "USERS=2", "DURATION_SECONDS=90", "THINK_TIME_SECONDS=0.1")...))
			kinds := map[string]int{}
			for _, conversation := range talk(t, l, tt.pages) {
				for _, d := range conversation {
					if d.complete {
						kinds[d.kind]++
					}
				}
			}
			if kinds["in"] < 5 || kinds["out"] < 5 {
				t.Errorf("transactions %v", kinds)
			}
		})
	}
}

// point is a sample in the format of k6's own JSON output.
type point struct {
	Metric string
	Type   string
	Data   struct {
		Value float64
		Tags  map[string]string
	}
}

// points returns the samples of check-in and check-out by one user.
func points(t *testing.T, l *library, env ...string) []point {
	t.Helper()
	env = append([]string{"USERS=1", "DURATION_SECONDS=3", "THINK_TIME_SECONDS=0.1"}, env...)
	return pointsOf(t, cico, environment(l.URL, env...))
}

// pointsOf runs a script and returns k6's samples in order.
func pointsOf(t *testing.T, script string, env []string) []point {
	t.Helper()
	path := filepath.Join(t.TempDir(), "points.json")
	result := k6test.Run(t, script, env, "--out=json="+path)
	if result.Code != 0 {
		t.Fatalf("exit code %d\n%s", result.Code, result.Stderr)
	}
	file, err := os.Open(path)
	k6test.NoError(t, err)
	defer func() { _ = file.Close() }()
	var found []point
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var p point
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			t.Fatalf("%v: %s", err, lines.Text())
		}
		if p.Type == "Point" {
			found = append(found, p)
		}
	}
	return found
}

var (
	query      = regexp.MustCompile(`\?.*$`)
	idsInPaths = strings.NewReplacer("<", "{", ">", "}")
)

// names returns the names of a transaction's requests in metrics.
func names(calls []string) map[string]bool {
	found := map[string]bool{}
	for _, line := range calls {
		found[idsInPaths.Replace(query.ReplaceAllString(line, ""))] = true
	}
	return found
}

func TestRequestsSayWhatTheyBelongTo(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, 50, 10)
	known := map[string]map[string]bool{"Check-In": names(pages2023.in), "Check-Out": names(pages2023.out)}
	seen := map[string]map[string]bool{"Check-In": {}, "Check-Out": {}}
	for _, p := range points(t, l) {
		transaction, name := p.Data.Tags["transaction"], p.Data.Tags["name"]
		if p.Metric != "http_req_duration" || strings.HasPrefix(p.Data.Tags["group"], "::setup") {
			continue
		}
		if transaction == "" && name != "POST /authn/login" {
			t.Errorf("%s belongs to no transaction", name)
		} else if transaction != "" && !known[transaction][name] {
			t.Errorf("%s has a request %q, want one of %v", transaction, name, known[transaction])
		} else if transaction != "" {
			seen[transaction][name] = true
		}
	}
	for transaction := range known {
		if len(seen[transaction]) != len(known[transaction]) {
			t.Errorf("%s has requests %v, want %v", transaction, seen[transaction], known[transaction])
		}
	}
}

// TestATransactionTakesTheSumOfItsRequests lets tokens expire and the gateway be busy. The sum
// must not include logins and waits.
func TestATransactionTakesTheSumOfItsRequests(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, 50, 10)
	l.expireAfter, l.retryAfter = 29, "1"
	l.refuse = func(line string, nth int) int {
		if line == "GET /groups" && nth == 3 {
			return http.StatusServiceUnavailable
		}
		return 0
	}
	sum, transactions, outcomes := 0.0, 0, map[string]int{}
	for _, p := range points(t, l) {
		if p.Metric == "http_req_duration" && p.Data.Tags["transaction"] != "" {
			sum += p.Data.Value
		}
		if p.Metric != "transaction_duration" {
			continue
		}
		if math.Abs(p.Data.Value-sum) > 1e-6 {
			t.Errorf("%s took %v ms, its requests %v ms", p.Data.Tags["transaction"], p.Data.Value, sum)
		}
		sum = 0
		transactions++
		outcomes[p.Data.Tags["outcome"]]++
	}
	// The number depends on how busy this machine is. setup logs in once.
	if transactions < 3 || outcomes["error"] > 0 || l.logins < 3 {
		t.Errorf("%d transactions, %v, %d logins", transactions, outcomes, l.logins)
	}
}

// TestTheFirstErrorEndsATransaction makes random calls fail, including preflights.
func TestTheFirstErrorEndsATransaction(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, 50, 10)
	random := rand.New(rand.NewPCG(1, 2))
	l.refuse = func(string, int) int {
		if random.IntN(25) == 0 {
			return http.StatusInternalServerError
		}
		return 0
	}
	enough := func() bool { return l.answered(http.StatusInternalServerError) >= 60 }
	p := k6test.RunUntil(t, enough, cico, environment(l.URL, "USERS=1", "DURATION_SECONDS=90", "THINK_TIME_SECONDS=0")).Payload(t)
	failed, broken := 0, map[int]bool{}
	for _, conversation := range talk(t, l, pages2023) {
		for _, d := range conversation {
			if !d.complete {
				failed++
				broken[d.calls] = true
			}
		}
	}
	// The last transaction may be incomplete at the end of the test.
	got := counted(t, p, "Check-In", "error") + counted(t, p, "Check-Out", "error")
	if got < failed-1 || got > failed || len(broken) < 15 {
		t.Errorf("%d transactions failed, the library saw %d broken off after %v calls", got, failed, broken)
	}
}

func TestRetryAfterIsHonored(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, 50, 10)
	l.retryAfter = "1"
	l.refuse = func(line string, nth int) int {
		if nth <= 2 && (strings.HasPrefix(line, "POST /circulation/check-out") || strings.HasPrefix(line, "GET /groups?")) {
			return http.StatusServiceUnavailable
		}
		return 0
	}
	result := k6test.Run(t, cico, environment(l.URL, "USERS=1", "DURATION_SECONDS=8", "THINK_TIME_SECONDS=0.2", "CHECK_IN_PERCENT=0"))
	p := result.Payload(t)
	if n := counted(t, p, "Check-Out", "error") + counted(t, p, "Check-In", "error"); n > 0 || counted(t, p, "Check-Out", "ok") < 5 {
		t.Errorf("%d errors, %d check-outs\n%s", n, counted(t, p, "Check-Out", "ok"), result.Stderr)
	}
	if got := p.Total("perflab_repeats"); got < 4 {
		t.Errorf("%v requests were repeated, want at least 4", got)
	}
}
