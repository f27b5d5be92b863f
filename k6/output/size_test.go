// SPDX-License-Identifier: AGPL-3.0-only

package output

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.k6.io/k6/v2/metrics"

	"perflab.dev/perflab/payload"
)

// library simulates users who check in and out with all requests of FOLIO's pages, including
// preflights, without the system.
type library struct {
	*source
	rng      *rand.Rand
	desks    [2]desk
	exact    map[string][]time.Duration // of the rows with these names
	recorder *recorder
}

type desk struct {
	transaction string
	tags        *metrics.TagSet
	requests    []call
}

// call is a request with log-normal times.
type call struct {
	name   string
	tags   *metrics.TagSet
	median float64 // ns
}

func newLibrary() *library {
	l := &library{source: newSource(), rng: rand.New(rand.NewPCG(7, 8)), recorder: newRecorder("cico", "run-1", "a", scripted(""))}
	l.desks = [2]desk{l.desk("Check-In", 24), l.desk("Check-Out", 39)}
	l.exact = map[string][]time.Duration{"Check-In": nil, "Check-Out": nil, l.desks[0].requests[3].name: nil, l.desks[1].requests[30].name: nil}
	return l
}

func scripted(text string) transactions {
	t, err := parseTransactions(text)
	if err != nil {
		panic(err)
	}
	return t
}

// desk returns a desk whose requests have medians of 2 to 200 ms.
func (l *library) desk(transaction string, requests int) desk {
	d := desk{transaction: transaction, tags: l.tags("scenario", "cico", "transaction", transaction, "outcome", "ok")}
	for i := range requests {
		name := fmt.Sprintf("GET /%s/%d/{id}", strings.ToLower(transaction), i)
		d.requests = append(d.requests, call{name, l.requestTags(transaction, name, 200), 20e6 * math.Exp(l.rng.NormFloat64())})
	}
	return d
}

// run simulates users with 0.22 iterations per second each. Their times vary by a factor of two
// within a request, and by a third from one iteration to the next.
func (l *library) run(users int, d time.Duration, each func(at time.Time)) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	iterations := int(0.22 * float64(users) * d.Seconds())
	for i := range iterations {
		at := start.Add(time.Duration(float64(d) * float64(i) / float64(iterations)))
		own := l.desks[0]
		if l.rng.IntN(100) >= 43 {
			own = l.desks[1]
		}
		l.iteration(own, at)
		each(at)
	}
}

func (l *library) iteration(own desk, at time.Time) {
	slow := math.Exp(0.3 * l.rng.NormFloat64())
	var sum time.Duration
	for _, c := range own.requests {
		took := time.Duration(c.median * slow * math.Exp(0.7*l.rng.NormFloat64()))
		sum += took
		at = at.Add(took)
		l.recorder.add(l.trail(c.tags, at, took, false))
		l.keep(c.name, took)
	}
	l.recorder.add(metrics.Samples{l.tagged(l.transaction, at, metrics.D(sum), own.tags)})
	l.keep(own.transaction, sum)
	for _, traffic := range []*metrics.Metric{l.builtin.DataSent, l.builtin.DataReceived} {
		l.recorder.add(l.tagged(traffic, at, float64(9000+l.rng.IntN(90_000)), own.tags))
	}
	l.recorder.add(l.tagged(l.builtin.Iterations, at, 1, own.tags))
	l.recorder.add(l.tagged(l.builtin.VUs, at, 75, own.tags))
}

func (l *library) keep(name string, took time.Duration) {
	if all, ok := l.exact[name]; ok {
		l.exact[name] = append(all, took)
	}
}

func TestLongRunsFit(t *testing.T) {
	tests := []struct {
		users           int
		hours           int
		buckets         int // widest of transactions, seconds
		requestsBuckets int
	}{
		{75, 2, 16, 2048},
		{20, 24, 512, 32768},
		{8, 2, 16, 256},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%d users, %d h", tt.users, tt.hours), func(t *testing.T) {
			if testing.Short() && tt.hours > 2 {
				t.Skip("makes twelve million requests")
			}
			t.Parallel()
			l := newLibrary()
			log := newLog(l.recorder)
			l.run(tt.users, time.Duration(tt.hours)*time.Hour, log.at)
			began := time.Now()
			var printed bytes.Buffer
			err := l.recorder.final(&printed)
			took := time.Since(began)
			if err != nil {
				t.Fatal(err)
			}
			final, err := payload.Read(&printed)
			if err != nil {
				t.Fatal(err)
			}
			body, err := payload.Marshal(final)
			if err != nil || len(body) > maxBytes {
				t.Fatalf("payload of %d bytes, allowed %d (%v)", len(body), maxBytes, err)
			}
			t.Logf("%d KiB, transactions by %d s, requests by %d s, in %v; %d checkpoints of together %d KiB, with lines of progress %d KiB",
				len(body)>>10, final.BucketSeconds, final.RequestBucketSeconds, took.Round(time.Millisecond), log.checkpoints, log.size>>10, (log.size+log.lines)>>10)
			if final.BucketSeconds > tt.buckets || final.RequestBucketSeconds > tt.requestsBuckets {
				t.Errorf("buckets of %d and %d s, want at most %d and %d", final.BucketSeconds, final.RequestBucketSeconds, tt.buckets, tt.requestsBuckets)
			}
			if all := log.size + log.lines + len(body)*4/3; all > 8<<20 {
				t.Errorf("the log has %d bytes, more than 8 of the 10 MiB at which it would be rotated", all)
			}
			back, err := payload.Unmarshal(body)
			if err != nil {
				t.Fatal(err)
			}
			l.accurate(t, back)
		})
	}
}

// accurate compares percentiles with the samples themselves.
func (l *library) accurate(t *testing.T, p *payload.Payload) {
	t.Helper()
	for name, all := range l.exact {
		got, ok := p.SummaryWhere(func(r payload.Row) bool { return r.Request == name || r.Request == "" && r.Transaction == name })
		if !ok || got.Count != int64(len(all)) {
			t.Fatalf("%s has %d samples, want %d", name, got.Count, len(all))
		}
		slices.Sort(all)
		for percent, value := range map[int]time.Duration{50: got.P50, 75: got.P75, 95: got.P95, 99: got.P99} {
			want := all[(len(all)*percent+99)/100-1]
			if off := float64(value-want) / float64(want); math.Abs(off) > 0.001 {
				t.Errorf("%s p%d = %v, exactly %v: off by %.3f %%", name, percent, value, want, 100*off)
			}
		}
	}
}

// written is the output before the end of the test, by the simulation's clock.
type written struct {
	recorder                 *recorder
	nextCheckpoint, nextLine time.Time
	checkpoints, size, lines int
}

func newLog(r *recorder) *written { return &written{recorder: r} }

func (w *written) at(now time.Time) {
	if w.nextLine.IsZero() {
		w.nextLine, w.nextCheckpoint = now.Add(10*time.Second), now.Add(time.Minute)
	}
	if !now.Before(w.nextLine) {
		w.nextLine = w.nextLine.Add(10 * time.Second)
		line, err := w.recorder.progress.line(now, w.recorder.total)
		if err != nil {
			panic(err)
		}
		w.lines += len(line)
	}
	if !now.Before(w.nextCheckpoint) {
		out := &sized{Writer: io.Discard}
		if err := w.recorder.checkpoint(out); err != nil {
			panic(err)
		}
		w.checkpoints++
		w.size += out.size
		w.nextCheckpoint = now.Add(spacing(time.Minute, now.Sub(w.recorder.total.Start), out.size))
	}
}

func TestMemoryIsBounded(t *testing.T) {
	l := newLibrary()
	l.exact = nil
	var heaps []uint64
	next := time.Time{}
	l.run(75, 4*time.Hour, func(at time.Time) {
		if next.IsZero() {
			next = at.Add(30 * time.Minute)
		}
		if at.Before(next) {
			return
		}
		next = at.Add(30 * time.Minute)
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		heaps = append(heaps, m.HeapAlloc>>20)
	})
	t.Logf("heap each half hour: %d MiB", heaps)
	// The heap grows and shrinks as buckets fill and are merged.
	if half := len(heaps) / 2; slices.Max(heaps[half:]) > slices.Max(heaps[:half])+4 || slices.Max(heaps) > 20 {
		t.Errorf("heap each half hour: %d MiB", heaps)
	}
}

func BenchmarkRequest(b *testing.B) {
	l := newLibrary()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	trails := make([]metrics.SampleContainer, 0, 4096)
	for range cap(trails) {
		own := l.desks[l.rng.IntN(2)]
		c := own.requests[l.rng.IntN(len(own.requests))]
		trails = append(trails, l.trail(c.tags, at, time.Duration(c.median*math.Exp(0.7*l.rng.NormFloat64())), false))
	}
	for i := 0; b.Loop(); i++ {
		l.recorder.add(trails[i%len(trails)])
	}
}
