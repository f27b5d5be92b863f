// SPDX-License-Identifier: Apache-2.0

package payload_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"perflab.dev/perflab/payload"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)

// sample is one transaction with one request.
type sample struct {
	transaction, outcome string
	scenario, status     string
	at                   time.Time
	took                 time.Duration
}

// request returns the row of the sample's request.
func (s sample) request() payload.Row {
	return payload.Row{Scenario: s.scenario, Transaction: s.transaction, Request: "GET /a", Outcome: s.outcome, Status: s.status}
}

// samples returns n log-normal durations, distributed over a period of time.
func samples(rng *rand.Rand, n int, over time.Duration) []sample {
	out := make([]sample, n)
	for i := range out {
		s := sample{transaction: "Check-In", outcome: "ok", scenario: "s", status: "2xx", at: start.Add(time.Duration(rng.Int64N(int64(over))))}
		if rng.IntN(2) == 0 {
			s.transaction = "Check-Out"
		}
		if rng.IntN(50) == 0 {
			s.outcome = "error"
			s.status = []string{"4xx", "5xx", "error"}[rng.IntN(3)]
		}
		s.took = time.Duration(math.Exp(rng.NormFloat64()*0.8-1.5) * float64(time.Second))
		out[i] = s
	}
	return out
}

func recorded(runner string, all []sample) *payload.Payload {
	p := payload.New("cico", "run-1", runner, start)
	for _, s := range all {
		p.Record(s.transaction, s.outcome, s.at, s.took)
		p.Add(s.request(), s.at, s.took/2)
		p.Count("iterations", s.at, 1)
		if s.at.After(p.End) {
			p.End = s.at.Truncate(time.Millisecond)
		}
	}
	p.Final = true
	return p
}

func summary(t *testing.T, p *payload.Payload, transaction, outcome string) payload.Summary {
	t.Helper()
	s, ok := p.Summary(transaction, outcome)
	if !ok {
		t.Fatalf("no samples of %s/%s", transaction, outcome)
	}
	return s
}

func TestMergeEqualsOneOverAllSamples(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 1))
		all := samples(rng, 200+rng.IntN(3000), time.Duration(1+rng.IntN(4000))*time.Second)
		var parts [3][]sample
		slices.SortFunc(all, func(a, b sample) int { return a.at.Compare(b.at) })
		for i, s := range all {
			k := rng.IntN(len(parts))
			if i > len(all)/8 {
				k = rng.IntN(2) // the third has only the beginning: its buckets may be narrower
			}
			parts[k] = append(parts[k], s)
		}
		merged, err := payload.Merge(recorded("a", parts[0]), recorded("b", parts[1]), recorded("c", parts[2]))
		noError(t, err)
		whole := recorded("all", all)
		from, to := whole.End.Sub(start)/5, whole.End.Sub(start)/2
		sameWindow(t, merged.Between(start.Add(from), start.Add(to)), whole.Between(start.Add(from), start.Add(to)))
		for _, transaction := range []string{"Check-In", "Check-Out"} {
			for _, outcome := range []string{"ok", "error", ""} {
				got, okGot := merged.Summary(transaction, outcome)
				want, okWant := whole.Summary(transaction, outcome)
				if got != want || okGot != okWant {
					t.Errorf("seed %d: merged %s/%s = %+v, over all samples %+v", seed, transaction, outcome, got, want)
				}
				exact(t, all, transaction, outcome, got)
				got, _ = merged.RequestSummary(transaction, "GET /a", outcome)
				want, _ = whole.RequestSummary(transaction, "GET /a", outcome)
				if got != want || got.Count == 0 && okWant {
					t.Errorf("seed %d: merged request of %s/%s = %+v, over all samples %+v", seed, transaction, outcome, got, want)
				}
			}
		}
		if merged.Total("iterations") != float64(len(all)) {
			t.Errorf("seed %d: iterations = %v, want %d", seed, merged.Total("iterations"), len(all))
		}
		if merged.BucketSeconds != whole.BucketSeconds || !merged.Start.Equal(whole.Start) || !merged.End.Equal(whole.End) {
			t.Errorf("seed %d: merged spans %v..%v by %d s, want %v..%v by %d s", seed,
				merged.Start, merged.End, merged.BucketSeconds, whole.Start, whole.End, whole.BucketSeconds)
		}
	}
}

// sameWindow compares cuts: a merge must keep the time of every sample.
func sameWindow(t *testing.T, got, want *payload.Payload) {
	t.Helper()
	gr, _ := got.RequestSummary("Check-In", "GET /a", "ok")
	wr, _ := want.RequestSummary("Check-In", "GET /a", "ok")
	if gr != wr {
		t.Errorf("requests of window of merged = %+v, of all samples %+v", gr, wr)
	}
	g, _ := got.Summary("Check-In", "ok")
	w, _ := want.Summary("Check-In", "ok")
	if g != w || got.Total("iterations") != want.Total("iterations") || !got.Start.Equal(want.Start) || !got.End.Equal(want.End) {
		t.Errorf("window of merged = %+v from %v to %v, of all samples %+v from %v to %v", g, got.Start, got.End, w, want.Start, want.End)
	}
}

// exact compares a summary with the samples themselves.
func exact(t *testing.T, all []sample, transaction, outcome string, got payload.Summary) {
	t.Helper()
	var took []time.Duration
	var sum time.Duration
	for _, s := range all {
		if s.transaction == transaction && (outcome == "" || s.outcome == outcome) {
			took = append(took, s.took)
			sum += s.took
		}
	}
	if len(took) == 0 {
		return
	}
	slices.Sort(took)
	if got.Count != int64(len(took)) || got.Min != took[0] || got.Max != took[len(took)-1] || got.Mean != sum/time.Duration(len(took)) {
		t.Errorf("%s/%s = %+v, want count %d, min %v, max %v, mean %v", transaction, outcome, got,
			len(took), took[0], took[len(took)-1], sum/time.Duration(len(took)))
	}
	for q, p := range map[float64]time.Duration{0.50: got.P50, 0.75: got.P75, 0.95: got.P95, 0.99: got.P99} {
		want := took[int(math.Ceil(q*float64(len(took))))-1]
		tolerance := max(want/1000, time.Microsecond)
		if d := (p - want).Abs(); d > tolerance {
			t.Errorf("%s/%s p%v = %v, want %v: off by %v, allowed %v", transaction, outcome, 100*q, p, want, d, tolerance)
		}
	}
}

func TestMergeRejectsMismatch(t *testing.T) {
	a := payload.New("cico", "run-1", "a", start)
	for name, other := range map[string]*payload.Payload{
		"load":   payload.New("import", "run-1", "b", start),
		"run":    payload.New("cico", "run-2", "b", start),
		"runner": payload.New("cico", "run-1", "a", start),
	} {
		if _, err := payload.Merge(a, other); !errors.Is(err, payload.ErrMismatch) {
			t.Errorf("other %s: error = %v, want ErrMismatch", name, err)
		}
	}
	if _, err := payload.Merge(); !errors.Is(err, payload.ErrNone) {
		t.Errorf("no payloads: error = %v, want ErrNone", err)
	}
}

func TestMergeIsFinalOnlyIfAllAre(t *testing.T) {
	a, b := payload.New("l", "r", "a", start), payload.New("l", "r", "b", start)
	a.Final = true
	if m, err := payload.Merge(a, b); err != nil || m.Final || m.Runner != "a,b" {
		t.Errorf("Merge = %+v, %v; want a checkpoint of runners a,b", m, err)
	}
}

func TestMergeLeavesIdleRunnersOutOfTheWindow(t *testing.T) {
	busy := recorded("a", samples(rand.New(rand.NewPCG(1, 1)), 100, time.Minute))
	idle := payload.New("cico", "run-1", "b", start.Add(-time.Hour))
	idle.Final = true
	m, err := payload.Merge(idle, busy)
	if err != nil || !m.Start.Equal(busy.Start) || !m.End.Equal(busy.End) {
		t.Errorf("merged spans %v..%v, want %v..%v (%v)", m.Start, m.End, busy.Start, busy.End, err)
	}
	if m, err = payload.Merge(idle); err != nil || !m.Start.Equal(idle.Start) {
		t.Errorf("an idle runner alone starts at %v, want %v (%v)", m.Start, idle.Start, err)
	}
}

func TestBucketsWidenAsTimePasses(t *testing.T) {
	p := payload.New("cico", "run-1", "a", start)
	const seconds = 24 * 3600
	for i := range seconds {
		p.Record("Check-In", "ok", start.Add(time.Duration(i)*time.Second), time.Duration(i)*time.Microsecond)
		p.Count("iterations", start.Add(time.Duration(i)*time.Second), 1)
	}
	if p.BucketSeconds != 256 {
		t.Errorf("bucket width after 24 h = %d s, want 256", p.BucketSeconds)
	}
	for _, n := range []int{len(p.Series[0].Buckets), len(p.Counters[0].Buckets)} {
		if n > payload.MaxBuckets {
			t.Errorf("%d buckets, allowed %d", n, payload.MaxBuckets)
		}
	}
	if s := summary(t, p, "Check-In", "ok"); s.Count != seconds || s.Max != (seconds-1)*time.Microsecond {
		t.Errorf("after widening: %+v", s)
	}
	if p.Total("iterations") != seconds {
		t.Errorf("iterations = %v, want %d", p.Total("iterations"), seconds)
	}
}

func TestTheOrderOfSamplesDoesNotMatter(t *testing.T) {
	late, orderly := payload.New("l", "r", "a", start), payload.New("l", "r", "a", start)
	record := func(p *payload.Payload, i int) {
		p.Record("A", "ok", start.Add(time.Duration(i/30)*time.Second), time.Duration(i+1)*time.Millisecond)
	}
	for i, k := range rand.New(rand.NewPCG(5, 5)).Perm(300) {
		record(orderly, i)
		record(late, k)
	}
	a, errA := payload.Marshal(late)
	b, errB := payload.Marshal(orderly)
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		t.Errorf("shuffled: %+v, in order: %+v", summary(t, late, "A", "ok"), summary(t, orderly, "A", "ok"))
	}
}

func TestSeriesAreBounded(t *testing.T) {
	p := payload.New("cico", "run-1", "a", start)
	for i := range 10 * payload.MaxSeries {
		p.Record(fmt.Sprint("t", i), "ok", start, time.Second)
		p.Count(fmt.Sprint("c", i), start, 1)
	}
	for i := range 10 * payload.MaxSeries {
		p.Add(payload.Row{Transaction: "t", Request: fmt.Sprint("r", i), Outcome: "ok", Status: "2xx"}, start, time.Second)
		p.Set(fmt.Sprint("g", i), 1)
	}
	if len(p.Series) != payload.MaxSeries+payload.MaxRequests+2 || len(p.Counters) != payload.MaxSeries+1 || len(p.Gauges) != payload.MaxSeries+1 {
		t.Errorf("%d series, %d counters, %d gauges, want %d transactions and requests, and %d of the others", len(p.Series), len(p.Counters), len(p.Gauges), payload.MaxSeries+payload.MaxRequests+2, payload.MaxSeries+1)
	}
	if s, _ := p.RequestSummary(payload.Other, payload.Other, "ok"); s.Count != 10*payload.MaxSeries-payload.MaxRequests {
		t.Errorf("other requests = %d, want %d", s.Count, 10*payload.MaxSeries-payload.MaxRequests)
	}
	if s := summary(t, p, payload.Other, "ok"); s.Count != 9*payload.MaxSeries {
		t.Errorf("other samples = %d, want %d", s.Count, 9*payload.MaxSeries)
	}
}

// A payload of the maximum size, from a load with many workflows, keeps its requests apart and
// can be read.
func TestTheLargestPayloadCanBeRead(t *testing.T) {
	p := payload.New("all", "run-1", "a", start)
	for i := range payload.MaxSeries {
		for bucket := range payload.MaxBuckets {
			at := start.Add(time.Duration(bucket) * time.Second)
			for n := range 20 {
				p.Record(fmt.Sprint("transaction ", i), payload.OK, at, time.Duration(100+7*n+i%5)*time.Millisecond)
			}
		}
	}
	for i := range payload.MaxRequests {
		for bucket := range payload.MaxRequestBuckets {
			row := payload.Row{Transaction: fmt.Sprint("transaction ", i%payload.MaxSeries), Request: fmt.Sprint("GET /requests/", i), Outcome: payload.OK, Status: "2xx"}
			for n := range 20 {
				p.Add(row, start.Add(time.Duration(16*bucket)*time.Second), time.Duration(20+3*n+i%5)*time.Millisecond)
			}
		}
	}
	body, err := payload.Marshal(p)
	noError(t, err)
	again, err := payload.Unmarshal(body)
	noError(t, err)
	if len(again.Series) != payload.MaxSeries+payload.MaxRequests {
		t.Errorf("%d rows, want %d", len(again.Series), payload.MaxSeries+payload.MaxRequests)
	}
}

func TestBetween(t *testing.T) {
	p := payload.New("cico", "run-1", "a", start) // …05.678
	for i := range 100 {
		p.Record("Check-In", "ok", start.Add(time.Duration(i)*time.Second), time.Duration(i+1)*time.Millisecond)
		p.Count("iterations", start.Add(time.Duration(i)*time.Second), 1)
	}
	p.End = start.Add(99 * time.Second)
	tests := []struct {
		name       string
		from, to   time.Duration // after start
		count      int64
		begin, end time.Duration
	}{
		{"everything", 0, 99 * time.Second, 100, 0, 99 * time.Second},
		{"more than everything", -time.Hour, time.Hour, 100, 0, 99 * time.Second},
		{"whole buckets only", 10 * time.Second, 20 * time.Second, 9, 10*time.Second + 322*time.Millisecond, 19*time.Second + 322*time.Millisecond},
		{"on the grid", 322 * time.Millisecond, 2322 * time.Millisecond, 2, 322 * time.Millisecond, 2322 * time.Millisecond},
		{"within a bucket", 10400 * time.Millisecond, 10900 * time.Millisecond, 0, 11322 * time.Millisecond, 11322 * time.Millisecond},
		{"backwards", 20 * time.Second, 10 * time.Second, 0, 20322 * time.Millisecond, 20322 * time.Millisecond},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cut := p.Between(start.Add(tt.from), start.Add(tt.to))
			s, _ := cut.Summary("Check-In", "ok")
			if s.Count != tt.count || cut.Total("iterations") != float64(tt.count) {
				t.Errorf("%d samples, %v iterations, want %d", s.Count, cut.Total("iterations"), tt.count)
			}
			if cut.Start.Sub(start) != tt.begin || cut.End.Sub(start) != tt.end {
				t.Errorf("window %v..%v, want %v..%v", cut.Start.Sub(start), cut.End.Sub(start), tt.begin, tt.end)
			}
		})
	}
	if s := summary(t, p, "Check-In", "ok"); s.Count != 100 {
		t.Errorf("cutting changed the original: %d samples", s.Count)
	}
}

func TestBetweenCutsRequestsCoarsely(t *testing.T) {
	p := payload.New("cico", "run-1", "a", start)
	const seconds = 7200 // requests in buckets of 256 s
	for i := range seconds {
		at := start.Add(time.Duration(i) * time.Second)
		p.Record("Check-In", "ok", at, time.Second)
		p.Add(payload.Row{Transaction: "Check-In", Request: "GET /a", Outcome: "ok", Status: "2xx"}, at, time.Second)
	}
	p.End = start.Add(seconds * time.Second)
	if p.RequestBucketSeconds != 256 || p.BucketSeconds != 16 {
		t.Fatalf("buckets of %d and %d s", p.RequestBucketSeconds, p.BucketSeconds)
	}
	edge := time.Unix((start.Unix()/256+1)*256, 0) // where the second bucket starts
	tests := []struct {
		name     string
		from, to time.Time
		begin    time.Time
		end      time.Time
	}{
		{"everything", start, p.End, start, p.End},
		{"without requests in a short window", edge.Add(100 * time.Second), edge.Add(300 * time.Second), edge.Add(256 * time.Second), edge.Add(256 * time.Second)},
		{"on the grid", edge, edge.Add(512 * time.Second), edge, edge.Add(512 * time.Second)},
		{"outwards where it adds little", edge.Add(50 * time.Second), edge.Add((10*256 - 40) * time.Second), edge, edge.Add(10 * 256 * time.Second)},
		{"inwards where it loses little", edge.Add(250 * time.Second), edge.Add((10*256 + 5) * time.Second), edge.Add(256 * time.Second), edge.Add(10 * 256 * time.Second)},
		{"inwards where both are much", edge.Add(120 * time.Second), edge.Add((4*256 + 120) * time.Second), edge.Add(256 * time.Second), edge.Add(4 * 256 * time.Second)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cut := p.Between(tt.from, tt.to)
			from, to := cut.RequestSpan()
			if !from.Equal(tt.begin) || !to.Equal(tt.end) {
				t.Fatalf("requests of %v..%v, want %v..%v after the first edge", from.Sub(edge), to.Sub(edge), tt.begin.Sub(edge), tt.end.Sub(edge))
			}
			// One request per second, with a deviation because the start is at 678 ms.
			want := to.Sub(from).Seconds()
			s, _ := cut.RequestSummary("Check-In", "GET /a", "ok")
			if math.Abs(float64(s.Count)-want) > 1 {
				t.Errorf("%d requests, want %v", s.Count, want)
			}
		})
	}
}

func TestGaugesAndTheGenerator(t *testing.T) {
	a, b := payload.New("l", "r", "a", start), payload.New("l", "r", "b", start)
	for i, p := range []*payload.Payload{a, b} {
		p.Set("vus", 9)
		p.Set("vus", 4)
		for second := range 20 {
			at := start.Add(time.Duration(second) * time.Second)
			p.Count(payload.GeneratorCPULimit, at, 2)
			p.Count(payload.GeneratorCPU, at, float64(i)+float64(second/19)/2)
		}
	}
	m, err := payload.Merge(a, b)
	noError(t, err)
	if last, highest, ok := m.Gauge("vus"); last != 8 || highest != 18 || !ok {
		t.Errorf("users at last %v, at most %v", last, highest)
	}
	if _, _, ok := m.Gauge("nothing"); ok {
		t.Error("a gauge that never was")
	}
	for name, tt := range map[string]struct {
		p                *payload.Payload
		average, busiest float64
	}{"idle": {a, 0.0125, 0.25}, "busy": {b, 0.5125, 0.75}, "merged": {m, 0.2625, 0.5}} {
		average, busiest, ok := tt.p.GeneratorLoad()
		if !ok || math.Abs(average-tt.average) > 1e-9 || math.Abs(busiest-tt.busiest) > 1e-9 {
			t.Errorf("%s: %v and at most %v, want %v and %v", name, average, busiest, tt.average, tt.busiest)
		}
	}
	if _, _, ok := payload.New("l", "r", "a", start).GeneratorLoad(); ok {
		t.Error("a load of nothing recorded")
	}
}

func TestTransactions(t *testing.T) {
	p := recorded("a", samples(rand.New(rand.NewPCG(1, 1)), 100, time.Minute))
	if got := p.Transactions(); !slices.Equal(got, []string{"Check-In", "Check-Out"}) {
		t.Errorf("Transactions = %q", got)
	}
	if got := p.Requests("Check-In"); !slices.Equal(got, []string{"GET /a"}) {
		t.Errorf("Requests = %q", got)
	}
	if got := p.WithoutRequests(); got.Requests("Check-In") != nil || len(got.Transactions()) != 2 || len(p.Requests("Check-In")) != 1 {
		t.Errorf("without requests: %q, %q", got.Requests("Check-In"), got.Transactions())
	}
	if _, ok := p.Summary("Renew", ""); ok {
		t.Error("a transaction that never was has a summary")
	}
}

func TestFitKeepsTheSamples(t *testing.T) {
	p := recorded("a", samples(rand.New(rand.NewPCG(3, 1)), 20000, 500*time.Second))
	const limit = 30 << 10
	fitted, err := p.Fit(limit)
	noError(t, err)
	body, err := payload.Marshal(fitted)
	noError(t, err)
	if len(body) > limit || fitted.BucketSeconds <= p.BucketSeconds || fitted.RequestBucketSeconds <= p.RequestBucketSeconds {
		t.Errorf("fitted to %d bytes with buckets of %d and %d s", len(body), fitted.BucketSeconds, fitted.RequestBucketSeconds)
	}
	if before := summary(t, p, "Check-In", ""); p.BucketSeconds != 1 || before.Count == 0 {
		t.Errorf("fitting changed the original to buckets of %d s", p.BucketSeconds)
	}
	if got, want := summary(t, fitted, "Check-In", ""), summary(t, p, "Check-In", ""); got != want {
		t.Errorf("fitting changed %+v to %+v", want, got)
	}
	if _, err := p.Fit(100); err == nil {
		t.Error("fitted 20,000 samples into 100 bytes")
	}
}

func TestQuantilesArePercentiles(t *testing.T) {
	p := payload.New("l", "r", "1", time.Unix(0, 0))
	for i := range 1237 {
		p.Record("T", payload.OK, time.Unix(int64(i), 0), time.Duration(i*i)*time.Microsecond)
	}
	summary, _ := p.Summary("T", payload.OK)
	at, count := p.Quantiles("T", payload.OK, 0, 0.5, 0.75, 0.95, 0.99)
	want := []time.Duration{summary.Min, summary.P50, summary.P75, summary.P95, summary.P99}
	if count != summary.Count || !slices.Equal(at, want) {
		t.Errorf("quantiles %v of %d, want %v of %d", at, count, want, summary.Count)
	}
	var all payload.Histogram
	for i := range 300 {
		all.Record(time.Duration(i) * time.Millisecond)
		for percent := range int64(101) {
			if quantile, percentile := all.Quantile(float64(percent)/100), all.Percentile(percent); quantile != percentile {
				t.Fatalf("of %d durations, %d %% are %v or %v", i+1, percent, quantile, percentile)
			}
		}
	}
	if at, count := p.Quantiles("other", "", 0.5); at != nil || count != 0 {
		t.Errorf("quantiles of nothing: %v of %d", at, count)
	}
}

func TestHistogramAllListsEveryCount(t *testing.T) {
	h := &payload.Histogram{}
	want := []time.Duration{0, 3 * time.Millisecond, 3 * time.Millisecond, 40 * time.Second}
	for _, duration := range want {
		h.Record(duration)
	}
	var got []time.Duration
	for duration, n := range h.All() {
		for range n {
			got = append(got, duration)
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%v, want %v", got, want)
	}
	for i := range want {
		if off := (got[i] - want[i]).Abs(); float64(off) > 0.001*float64(want[i]) {
			t.Errorf("%v, want %v within 0.1 %%", got[i], want[i])
		}
	}
	for range h.All() {
		break
	}
}

func noError(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
