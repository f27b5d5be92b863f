// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"perflab.dev/perflab/internal/testing/expect"
)

const audited = `{"stage":"ResponseStarted","verb":"watch","objectRef":{"resource":"pods"},"requestURI":"/api/v1/pods?watch=true"}
{"stage":"ResponseComplete","verb":"watch","objectRef":{"resource":"pods"},"requestURI":"/api/v1/pods?watch=true"}
{"stage":"ResponseComplete","verb":"patch","objectRef":{"resource":"perfruns","subresource":"status"}}
{"stage":"ResponseComplete","verb":"patch","objectRef":{"resource":"perfruns","subresource":"status"}}
{"stage":"ResponseComplete","verb":"list","objectRef":{"resource":"perfruns","namespace":"lab"}}
{"stage":"ResponseComplete","verb":"list","objectRef":{"resource":"perfruns"}}
{"stage":"ResponseComplete","verb":"get","requestURI":"/api"}
{"stage":"ResponseComp`

func TestAuditCountsRequestsOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	expect.NoError(t, os.WriteFile(path, []byte(audited), 0o600))
	c := &cluster{audit: path}
	found, end, err := c.countRequests(0)
	expect.NoError(t, err)
	want := requests{{"watch", "pods"}: 1, {"patch", "perfruns/status"}: 2, {"list", "perfruns"}: 1, {fill, "perfruns"}: 1, {"get", "discovery"}: 1}
	if !maps.Equal(found, want) {
		t.Errorf("counted %v, want %v", found, want)
	}
	if found.written() != 2 || found.reads() != 2 || found.total() != 6 {
		t.Errorf("%d writes, %d reads, %d in all; want 2, 2 and 6", found.written(), found.reads(), found.total())
	}
	if got := found.String(); got != "2 patch perfruns/status, 1 fill perfruns, 1 get discovery, 1 list perfruns, 1 watch pods" {
		t.Errorf("listed as %q", got)
	}
	// The incomplete line is read when it is complete, and nothing is read twice.
	expect.NoError(t, os.WriteFile(path, []byte(audited+`lete","verb":"create","objectRef":{"resource":"pods"}}`+"\n"), 0o600))
	if later, _, err := c.countRequests(end); err != nil || !maps.Equal(later, requests{{"create", "pods"}: 1}) {
		t.Errorf("counted %v later (%v), want one more", later, err)
	}
}

const scraped = `# TYPE controller_runtime_reconcile_total counter
controller_runtime_reconcile_total{controller="perfrun",result="success"} 10
controller_runtime_reconcile_total{controller="perfrun",result="error"} 2
controller_runtime_reconcile_total{controller="perfexperiment",result="success"} 5
# TYPE workqueue_depth gauge
workqueue_depth{name="perfrun"} 3
# TYPE controller_runtime_reconcile_time_seconds histogram
controller_runtime_reconcile_time_seconds_bucket{controller="perfrun",le="0.01"} 50
controller_runtime_reconcile_time_seconds_bucket{controller="perfrun",le="0.02"} 90
controller_runtime_reconcile_time_seconds_bucket{controller="perfrun",le="0.1"} 99
controller_runtime_reconcile_time_seconds_bucket{controller="perfrun",le="+Inf"} 100
controller_runtime_reconcile_time_seconds_sum{controller="perfrun"} 2
controller_runtime_reconcile_time_seconds_count{controller="perfrun"} 100
`

func TestMetricsSumByLabel(t *testing.T) {
	found, err := parseMetrics(strings.NewReader(scraped))
	expect.NoError(t, err)
	if all, runs, depth := found.sum(passesMetric, nil), found.sum(passesMetric, ofRuns), found.sum("workqueue_depth", nil); all != 17 || runs != 12 || depth != 3 {
		t.Errorf("%v passes, %v of runs, depth %v; want 17, 12 and 3", all, runs, depth)
	}
	if got := found.sum("no_such_metric", nil); got != 0 {
		t.Errorf("a missing metric adds up to %v", got)
	}
}

func TestQuantiles(t *testing.T) {
	found, err := parseMetrics(strings.NewReader(scraped))
	expect.NoError(t, err)
	times := found.times(ofRuns)
	for share, want := range map[float64]float64{0.25: 0.005, 0.5: 0.01, 0.7: 0.015, 0.9: 0.02, 0.99: 0.1, 1: 0.1} {
		if got := times.quantile(share); math.Abs(got-want) > 1e-9 {
			t.Errorf("quantile %v is %v, want %v", share, got, want)
		}
	}
	if got := found.times(ofExperiments).quantile(0.5); !math.IsNaN(got) {
		t.Errorf("of nothing, the median is %v", got)
	}
}

func TestUsageWithSpacesInName(t *testing.T) {
	stat := "42 (a (b) c) S 1 42 42 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 9 0 100 1000 200 18446744073709551615"
	used, err := parseUsage(stat, "Name:\ta\nVmHWM:\t   4096 kB\nVmRSS:\t    2048 kB\n")
	expect.NoError(t, err)
	if want := (usage{cpu: 3, resident: 2 * mib, peak: 4 * mib}); used != want {
		t.Errorf("used %+v, want %+v", used, want)
	}
	if _, err := parseUsage(stat, "Name:\ta\n"); err == nil {
		t.Error("a status without memory is accepted")
	}
	if own, err := readUsage(os.Getpid()); err != nil || own.resident < mib || own.peak < own.resident {
		t.Errorf("this process used %+v (%v)", own, err)
	}
}

func TestThreadSecondsResolution(t *testing.T) {
	before, err := threadSeconds(os.Getpid())
	expect.NoError(t, err)
	for began := time.Now(); time.Since(began) < 30*time.Millisecond; {
		_ = digest(began)
	}
	// The kernel updates a running thread's time at the next interrupt.
	time.Sleep(10 * time.Millisecond)
	after, err := threadSeconds(os.Getpid())
	if used := after - before; err != nil || used < 0.005 || used > 10 {
		t.Errorf("30 ms of work took %v s of CPU (%v)", used, err)
	}
	if _, err := threadSeconds(1 << 30); err == nil {
		t.Error("a missing process has threads")
	}
}

func TestIdleDependsOnLastReadings(t *testing.T) {
	steps := int(calm / look)
	working := make([]float64, steps)
	for i := range working {
		working[i] = float64(i)
	}
	still := slices.Repeat([]float64{working[len(working)-1]}, steps)
	for name, tt := range map[string]struct {
		used []float64
		want bool
	}{
		"too early":      {still, false},
		"still":          {append(slices.Clone(still), still[0]), true},
		"one tick":       {append(slices.Clone(still), still[0]+0.01), true},
		"at work":        {append(slices.Clone(working), 100), false},
		"at work before": {append(append(slices.Clone(working), still...), still[0]), true},
	} {
		expect.Equal(t, tt.want, isCalm(tt.used, calm), "%s", name)
	}
}

func TestHistogramQuantiles(t *testing.T) {
	log := `{"stage":"ResponseComplete","verb":"patch","requestReceivedTimestamp":"2026-03-02T08:00:00.100000Z","stageTimestamp":"2026-03-02T08:00:00.125500Z"}` + "\n"
	if _, err := readAudit(strings.NewReader(log), 0, func(event auditEvent) {
		if got := event.took(); got != 25.5 {
			t.Errorf("a request took %v ms, want 25.5", got)
		}
	}); err != nil {
		t.Error(err)
	}
	values := []float64{40, 10, 30, 20}
	for share, want := range map[float64]float64{0: 10, 0.5: 20, 0.51: 30, 0.99: 40, 1: 40} {
		expect.Equal(t, want, quantile(values, share), "of %v, %v are up to", values, share)
	}
	if got := quantile(nil, 0.5); !math.IsNaN(got) {
		t.Errorf("of nothing, half is up to %v", got)
	}
}

func TestGrowth(t *testing.T) {
	for name, tt := range map[string]struct {
		row  row
		want float64
	}{
		"linear":                 {row{small: 10, large: 20}, 2},
		"linear above the empty": {row{small: 78, large: 88, base: 68}, 2},
		"quadratic":              {row{small: 4.3, large: 17.2}, 4},
		"next to nothing":        {row{small: 0, large: 1, slack: 1}, 2},
		"less than nothing":      {row{small: -3, large: 1, slack: 4}, 1.25},
		"from some to less":      {row{small: 4, large: -3, slack: 4}, 0.5},
		"flat":                   {row{small: 1, large: 1, slack: 1}, 1},
	} {
		if got := tt.row.growth(); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

func TestWaitsAreNamespaceMedians(t *testing.T) {
	at := time.Now()
	first := func(made, looked, loaded time.Duration) map[request]time.Time {
		return map[request]time.Time{
			{"create", "perfruns"}: at.Add(made), {"patch", "perfruns/status"}: at.Add(looked), {"patch", "testruns"}: at.Add(loaded),
		}
	}
	applied := map[string]time.Time{"a": at, "b": at, "c": at}
	found, err := waitedFor(applied, map[string]map[request]time.Time{
		"a": first(time.Second, 2*time.Second, 5*time.Second), "b": first(time.Second, 16*time.Second, 50*time.Second), "c": first(0, 8*time.Second, 20*time.Second),
	})
	if want := (waited{8, 20}); err != nil || found != want {
		t.Errorf("waited %+v (%v), want %+v", found, err, want)
	}
	if _, err := waitedFor(applied, map[string]map[request]time.Time{"a": first(0, 0, 0)}); err == nil {
		t.Error("namespaces in which nothing was done have waits")
	}
}

func bound(value float64) *float64 { return &value }

func TestJudgeLimitsAndGoals(t *testing.T) {
	for name, tt := range map[string]struct {
		limit         limit
		value, growth float64
		want          finding
	}{
		"nothing set":          {limit{}, 1, 1, unbounded},
		"within both":          {limit{Goal: bound(10), Limit: bound(20)}, 10, 1, within},
		"over the goal":        {limit{Goal: bound(10), Limit: bound(20)}, 15, 1, overGoal},
		"over the limit":       {limit{Goal: bound(10), Limit: bound(20)}, 25, 1, broken},
		"grows over the goal":  {limit{GrowthGoal: bound(2)}, 1, 2.5, overGoal},
		"grows over the limit": {limit{Goal: bound(10), GrowthLimit: bound(2)}, 1, 2.5, broken},
		"not measured":         {limit{Limit: bound(10)}, none, 1, broken},
		"growth not measured":  {limit{Goal: bound(10)}, 1, none, within},
		"growth is infinite":   {limit{GrowthLimit: bound(2)}, 1, math.Inf(1), broken},
	} {
		expect.Equal(t, tt.want, tt.limit.judge(tt.value, tt.growth), "%s", name)
	}
}

// tableWith returns a table in which every row has a value.
func tableWith(limits limits) *table {
	made := &table{size: "small", limits: limits}
	of := func(used usage) *started {
		return &started{took: time.Second, used: used, requests: requests{{"list", "pods"}: 3}, metrics: families{}}
	}
	empty := of(usage{cpu: 0.2, resident: 60 * mib, peak: 64 * mib})
	made.empty = empty
	starts := [2]*started{of(usage{cpu: 4, resident: 100 * mib, peak: 110 * mib}), of(usage{cpu: 16, resident: 140 * mib, peak: 160 * mib})}
	each := &cost{cpu: 0.1, allocated: mib, experimentPasses: 3, runPasses: 1, reads: 5, requests: requests{{"get", "configmaps"}: 25}}
	event := disturbances{active: each, foreign: each, own: each, scrape: each}
	made.add(row{key: "program", what: "the program", unit: unitMiB, small: none, large: 70})
	made.add(row{key: "empty.rss", what: "nothing", unit: unitMiB, small: none, large: 60})
	for _, name := range []string{"demo", "folio"} {
		made.addExperiments(&pair{name: name, count: 10, runs: 12, starts: starts, events: [2]disturbances{event, event}, stored: [2]float64{10 * mib, 20 * mib}})
		made.addRetained(&pair{name: name, count: 10, runs: 12}, "thinned", "20 experiments x 12 runs, thinned", mib, starts[1])
		made.addRetained(&pair{name: name, count: 10, runs: 12}, "late", "20 experiments x 12 runs, archived later", mib/2, starts[1])
		made.addRetained(&pair{name: name, count: 10, runs: 12}, "archived", "20 experiments x 12 runs, archived", mib/2, starts[1])
	}
	made.addPods(1000, starts, starts[1])
	made.addHostile(starts[1])
	made.addRuns(65*time.Second, 2, map[string]float64{"short": 136, "long": 164, "twice": 250}, families{}, families{})
	made.addStatuses(map[string][]float64{"experiment": {20, 60, 30}, "run": {10}})
	made.addOthers(45, waited{0.1, 3}, waited{15, 60})
	return made
}

// A limit without a row would never fail.
func TestLimitsHaveRows(t *testing.T) {
	found, err := parseLimits(knownLimits)
	expect.NoError(t, err)
	var keys []string
	for _, r := range tableWith(found).rows {
		if slices.Contains(keys, r.key) {
			t.Errorf("two rows have the key %s", r.key)
		}
		keys = append(keys, r.key)
	}
	for key := range found {
		if !slices.Contains(keys, key) {
			t.Errorf("no row has the key %s; the keys are %s", key, strings.Join(keys, ", "))
		}
	}
	if _, err := parseLimits([]byte("[{key: a, from: huge}]")); err == nil {
		t.Error("a limit with an unknown size is accepted")
	}
	if _, err := parseLimits([]byte("[{key: a, golas: 1}]")); err == nil {
		t.Error("a misspelled limit is accepted")
	}
	if _, err := parseLimits([]byte("[{key: a}, {key: a}]")); err == nil {
		t.Error("two limits on one row are accepted")
	}
}

func TestTableFailsOnExceededLimit(t *testing.T) {
	over := limits{"demo.rss": {Key: "demo.rss", Goal: bound(80), Limit: bound(150)}}
	if err := tableWith(over).verdict(false); err != nil {
		t.Errorf("a goal that is missed fails: %v", err)
	}
	if err := tableWith(over).verdict(true); err == nil || !strings.Contains(err.Error(), "140 MiB") {
		t.Errorf("a goal that is missed, strictly: %v", err)
	}
	far := limits{"demo.rss": {Key: "demo.rss", From: "medium", Limit: bound(1)}}
	if err := tableWith(far).verdict(false); err != nil {
		t.Errorf("what is set for a larger size fails in a smaller one: %v", err)
	}
	large := tableWith(limits{"demo.rss": {Key: "demo.rss", Goal: bound(80), Large: &largeGoal{At: "for more", Goal: 140}}})
	if err := large.verdict(true); err == nil {
		t.Error("the goal of the large size is that of a smaller one")
	}
	if large.size = "large"; large.verdict(true) != nil {
		t.Errorf("the large size has the goal of a smaller one: %v", large.verdict(true))
	}
	if err := tableWith(limits{"demo.start.cpu": {Key: "demo.start.cpu", GrowthLimit: bound(3)}}).verdict(false); err == nil || !strings.Contains(err.Error(), "4.00") {
		t.Errorf("growth over its limit: %v", err)
	}
}

// The memory of an operator differs by up to 1 MiB between two starts.
func TestMemoryNoiseIsNotGrowth(t *testing.T) {
	found, err := parseLimits(knownLimits)
	expect.NoError(t, err)
	for name, tt := range map[string]struct {
		small, large float64
		want         bool
	}{
		"as much":                     {62.7, 62.7, true},
		"a little, and a little more": {62.8, 63.4, true},
		"less than an empty one":      {62.4, 63.5, true},
		"linear, but for noise":       {64.0, 67.1, true},
		"quadratic":                   {65.7, 74.7, false},
	} {
		made := &table{size: "small", limits: limits{"pods.rss": found["pods.rss"]}, empty: &started{used: usage{resident: 62.7 * mib}}}
		starts := [2]*started{{used: usage{resident: tt.small * mib}}, {used: usage{resident: tt.large * mib}}}
		made.addMemory("pods", "pods", starts)
		if err := made.verdict(false); (err == nil) != tt.want {
			t.Errorf("%s, from %v to %v MiB beside 62.7: %v", name, tt.small, tt.large, err)
		}
	}
}

func TestPrintTable(t *testing.T) {
	var text strings.Builder
	tableWith(limits{"demo.rss": {Key: "demo.rss", At: "at 100", Goal: bound(80)}}).print(&text, "Title.")
	for _, want := range []string{
		"Title.\n\n| what |",
		"| demo, 10 and 20 experiments x 12 runs: idle memory | 100 MiB | 140 MiB | 1.95 | <= 80 MiB at 100 | over the goal |",
		"| demo, 10 and 20 experiments x 12 runs: CPU to start | 4 s | 16 s | 4.00 |  |  |",
		// The operator uses 60 MiB without runs, and 50 MiB for every 120 runs.
		"| 256 MiB | 470 | 470 | 3920 |",
		"| 3 list pods |",
		"| writes of one run for each further 10 s of load |  | 2.33 |",
		"| of which status writes of the experiment in the API server, p50 |  | 30 ms |",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in\n%s", want, text.String())
		}
	}
}
