// SPDX-License-Identifier: Apache-2.0

package results_test

import (
	"strings"
	"testing"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/results"
	"perflab.dev/perflab/payload"
)

// searches is a script with a request and a check each second, of which the last ones fail. Groups
// are "ok" whatever happened inside them.
func searches(t *testing.T, refused, unsound int) *payload.Payload {
	t.Helper()
	p := payload.New("search", "run", "1", start)
	for second := range 100 {
		p.Record("Search", "ok", at(second), time.Millisecond)
		p.Count("http_reqs", at(second), 1)
		p.Count("iterations", at(second), 1)
		if second >= 100-refused {
			p.Count("http_req_failed", at(second), 1)
		}
		name := "checks_passed"
		if second >= 100-unsound {
			name = "checks_failed"
		}
		p.Count(name, at(second), 1)
	}
	p.End, p.Final = at(100), true
	return p
}

func script() v1alpha1.Load { return v1alpha1.Load{Name: "search", Script: &v1alpha1.Script{}} }

func TestScriptValidityUsesRequestsAndChecks(t *testing.T) {
	ungrouped := payload.New("search", "run", "1", start)
	ungrouped.Count("http_reqs", at(1), 7)
	ungrouped.End, ungrouped.Final = at(10), true
	cases := map[string]struct {
		p        *payload.Payload
		validity v1alpha1.Validity
		reason   string
		says     []string
	}{
		"all is well":                        {p: searches(t, 0, 0)},
		"as many as are allowed, by default": {p: searches(t, 1, 1)},
		"every request is refused": {
			p: searches(t, 100, 0), reason: v1alpha1.ReasonTooManyErrors,
			says: []string{`load "search"`, "100 of 100 requests failed (100 %)", "the 1 % that validity.maxFailedRequestsPercent allows", "setResponseCallback"},
		},
		"checks fail where requests don't": {
			p: searches(t, 0, 30), reason: v1alpha1.ReasonTooManyErrors,
			says: []string{"30 of 100 checks failed (30 %)", "validity.maxFailedChecksPercent", "raise the limit"},
		},
		"without limits of their own, that of transactions holds": {p: searches(t, 5, 5), validity: v1alpha1.Validity{MaxErrorPercent: new(int32(5))}},
		"a limit of their own comes first": {
			p: searches(t, 3, 0), validity: v1alpha1.Validity{MaxErrorPercent: new(int32(5)), MaxFailedRequestsPercent: new(int32(2))},
			reason: v1alpha1.ReasonTooManyErrors, says: []string{"the 2 %"},
		},
		"switched off": {
			p:        searches(t, 100, 100),
			validity: v1alpha1.Validity{MaxFailedRequestsPercent: new(int32(100)), MaxFailedChecksPercent: new(int32(100))},
		},
		"no request belongs to a transaction": {
			p: ungrouped, reason: v1alpha1.ReasonResultsMissing, says: []string{"7 requests", "by: Tag, tag: name"},
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			fault := results.Check(script(), measurements(test.p), v1alpha1.Measurement{}, test.validity)
			if test.reason == "" {
				if fault != nil {
					t.Fatalf("got fault %+v, want none", *fault)
				}
				return
			}
			if fault == nil || fault.Reason != test.reason {
				t.Fatalf("got %+v, want reason %s", fault, test.reason)
			}
			for _, words := range test.says {
				if !strings.Contains(fault.Message, words) {
					t.Errorf("the message %q lacks %q", fault.Message, words)
				}
			}
		})
	}
}

func TestUserValidityIgnoresRequests(t *testing.T) {
	p := cico(t)
	p.Count("http_reqs", at(5), 10)
	p.Count("http_req_failed", at(5), 10)
	if fault := results.Check(users(""), measurements(p), v1alpha1.Measurement{}, v1alpha1.Validity{}); fault != nil {
		t.Errorf("got %+v: of our own loads, transactions tell what failed", *fault)
	}
	tally := results.TallyOf(users(""), measurements(p), v1alpha1.Measurement{})
	if tally.Requests != (results.Share{Count: 10, Failed: 10}) {
		t.Errorf("%+v are counted, want all 10 failed", tally.Requests)
	}
}

func TestATallyIsOfWhatCounts(t *testing.T) {
	tally := results.TallyOf(script(), measurements(searches(t, 10, 20)), warmUp(50*time.Second))
	if want := (results.Tally{Requests: results.Share{Count: 50, Failed: 10}, Checks: results.Share{Count: 50, Failed: 20}}); tally != want {
		t.Errorf("after 50 s of warm-up %+v, want %+v", tally, want)
	}
	if status := tally.Requests.Status(); status == nil || status.Count != 50 || status.FailedPercent != "20" {
		t.Errorf("in the status %+v, want 50 with 20 %%", status)
	}
	if status := (results.Share{}).Status(); status != nil {
		t.Errorf("nothing at all is %+v in the status, want nothing", *status)
	}
}

func TestThroughputIsOfWhatCounts(t *testing.T) {
	p := searches(t, 0, 0)
	p.Count("http_reqs", at(5), 1000)
	observations := results.Observe(loads(script()), measurements(p), warmUp(50*time.Second))
	for metric, want := range map[string]string{"search/requestsPerSecond": "1", "search/iterationsPerSecond": "1"} {
		if got := value(t, observations, metric); got.Value != want || got.Unit != "1/s" || got.Samples != 50 {
			t.Errorf("%s: %+v, want %s in a second, of 50 after the warm-up", metric, got, want)
		}
	}
}

func TestThroughputHasWindowsWithAll(t *testing.T) {
	p := cico(t)
	p.Count("http_reqs", at(3), 30)
	p.Count("http_reqs", at(12), 20)
	create := imported(t, 1, 0, 400, 0)
	create.Count("http_reqs", at(12), 99)
	create.Start, create.End = at(10), at(20)
	observations := results.Observe(loads(users(""), imports(1, 400)), measurements(p, create), v1alpha1.Measurement{})
	for metric, want := range map[string]string{
		"cico/requestsPerSecond@alone": "3", "cico/requestsPerSecond@during-create": "2", "cico/requestsPerSecond@after": "0",
	} {
		if got := value(t, observations, metric); got.Value != want {
			t.Errorf("%s: %s, want %s", metric, got.Value, want)
		}
	}
	for _, observation := range observations {
		if strings.HasPrefix(observation.Metric, "create/requests") || strings.HasPrefix(observation.Metric, "cico/iterations") {
			t.Errorf("%s is told: an import polls, and what was never counted is not nothing", observation.Metric)
		}
	}
}
