// SPDX-License-Identifier: AGPL-3.0-only

package output

import (
	"fmt"
	"runtime/debug"
	"testing"
	"time"

	"go.k6.io/k6/v2/metrics"

	"perflab.dev/perflab/payload"
)

func TestValidityCountersAreReserved(t *testing.T) {
	s, r := newSource(), newRecorder("search", "run-1", "a", scripted("group"))
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for n := range 2 * payload.MaxSeries {
		own := s.registry.MustNewMetric(fmt.Sprintf("own_%d", n), metrics.Counter)
		r.add(s.sample(own, at, 1))
	}
	tags := s.requestTags("", "GET /", 401)
	r.add(s.trail(tags, at, time.Millisecond, true))
	r.add(s.sample(s.builtin.Checks, at, 0))
	r.add(s.sample(s.builtin.Iterations, at, 1))
	for _, name := range []string{"http_reqs", "http_req_failed", "checks_failed", "iterations"} {
		if got := r.total.Total(name); got != 1 {
			t.Errorf("%s = %v beside hundreds of the script's own counters, want 1", name, got)
		}
	}
}

func TestResultsContainK6Version(t *testing.T) {
	info := &debug.BuildInfo{Deps: []*debug.Module{{Path: "github.com/grafana/sobek", Version: "v0.0.1"}, {Path: "go.k6.io/k6/v2", Version: "v2.2.0"}}}
	if told := k6VersionIn(info); told != "k6 v2.2.0" {
		t.Errorf("they tell %q", told)
	}
	if told := k6VersionIn(&debug.BuildInfo{}); told != "" {
		t.Errorf("without k6 they tell %q", told)
	}
}

func TestRequestName(t *testing.T) {
	for _, tc := range []struct{ name, method, want string }{
		{"GET /inventory/items", "GET", "GET /inventory/items"},
		{"http://user:secret@gateway.lab.svc:8081/inventory/items?limit=10&token=secret", "GET", "GET /inventory/items"},
		{"https://gateway/a%20b#c", "POST", "POST /a%20b"},
		{"items by title", "GET", "GET items by title"},
		{"/login", "", "/login"},
		{"", "GET", payload.Other},
		{"", "", payload.Other},
	} {
		if got := requestName(tc.name, tc.method); got != tc.want {
			t.Errorf("%q by %s is %q, want %q", tc.name, tc.method, got, tc.want)
		}
	}
}

// A script's transactions keep their names, with all characters.
func TestTransactionsKeepTheirNames(t *testing.T) {
	byTag, byGroup := transactions{metric: metrics.HTTPReqDurationName, tag: "flow"}, transactions{metric: metrics.GroupDurationName}
	for want, got := range map[string]string{
		"GET /orders/items":      byTag.name(tagged("flow", "GET /orders/items"), ""),
		"https://host/orders":    byTag.name(tagged("flow", "https://host/orders"), ""),
		`orders\/items`:          byTag.name(tagged("flow", "orders/items"), "::other"),
		"":                       byTag.name(tagged("other", "a"), "::other"),
		"Search/first page":      byGroup.name(tagged(), "::Search::first page"),
		`Search/\GET \/orders`:   byGroup.name(tagged(), "::Search::GET /orders"),
		"GET /orders":            byGroup.name(tagged(), "::GET /orders"),
		`Search\/first/and page`: byGroup.name(tagged(), "::Search/first::and page"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func tagged(pairs ...string) *metrics.TagSet {
	tags := metrics.NewRegistry().RootTagSet()
	for i := 0; i < len(pairs); i += 2 {
		tags = tags.With(pairs[i], pairs[i+1])
	}
	return tags
}
