// SPDX-License-Identifier: AGPL-3.0-only

package output

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"go.k6.io/k6/v2/lib/netext/httpext"
	"go.k6.io/k6/v2/metrics"

	"perflab.dev/perflab/payload"
)

// plain adds samples up in the simplest way. For each sample, it parses the tags, finds the row
// and the counters by name, and rounds the time.
type plain struct {
	transactions transactions
	total        *payload.Payload
	began        bool
}

func (p *plain) add(container metrics.SampleContainer) {
	if trail, ok := container.(*httpext.Trail); ok {
		p.trail(trail)
		return
	}
	for _, s := range container.GetSamples() {
		p.sample(s)
	}
}

func (p *plain) trail(t *httpext.Trail) {
	if p.outside(t.Tags) {
		return
	}
	p.total.Count("http_reqs", t.EndTime, 1)
	if t.Failed.Bool {
		p.total.Count("http_req_failed", t.EndTime, 1)
	}
	p.request(t.Tags, t.EndTime, t.Duration)
	p.cover(t.EndTime)
}

func (p *plain) sample(s metrics.Sample) {
	name, took := s.Metric.Name, time.Duration(math.Round(s.Value*1e6))
	if name == "vus_max" || name == "vus" && s.Value == 0 || p.outside(s.Tags) {
		return
	}
	switch {
	case s.Metric.Type == metrics.Trend && name == "http_req_duration":
		p.request(s.Tags, s.Time, took)
	case s.Metric.Type == metrics.Trend && name == p.transactions.metric:
		p.transaction(s.Tags, s.Time, took)
	case s.Metric.Type == metrics.Counter:
		p.total.Count(name, s.Time, s.Value)
	case s.Metric.Type == metrics.Gauge:
		p.total.Set(name, s.Value)
		if name == "vus" {
			p.total.Count("perflab_user_seconds", s.Time, s.Value)
		}
	case name == "http_req_failed" && s.Value != 0:
		p.total.Count(name, s.Time, 1)
	case name == "checks" && s.Value != 0:
		p.total.Count("checks_passed", s.Time, 1)
	case name == "checks":
		p.total.Count("checks_failed", s.Time, 1)
	}
	p.cover(s.Time)
}

func tagOf(tags *metrics.TagSet, name string) string {
	value, _ := tags.Get(name)
	return value
}

func (p *plain) outside(tags *metrics.TagSet) bool {
	group := tagOf(tags, "group") + "::"
	return strings.HasPrefix(group, "::setup::") || strings.HasPrefix(group, "::teardown::")
}

func (p *plain) request(tags *metrics.TagSet, at time.Time, took time.Duration) {
	name := p.transactions.name(tags, tagOf(tags, "group"))
	p.total.Add(payload.Row{
		Scenario: tagOf(tags, "scenario"), Transaction: name, Request: requestName(tagOf(tags, "name"), tagOf(tags, "method")),
		Outcome: requestOutcome(tags), Status: statusClass(tagOf(tags, "status")),
	}, at, took)
	if p.transactions.metric == "http_req_duration" && name != "" {
		p.transaction(tags, at, took)
	}
}

func (p *plain) transaction(tags *metrics.TagSet, at time.Time, took time.Duration) {
	name := p.transactions.name(tags, tagOf(tags, "group"))
	p.total.Add(payload.Row{Scenario: tagOf(tags, "scenario"), Transaction: cmp.Or(name, payload.Other), Outcome: p.transactions.outcome(tags)}, at, took)
}

func (p *plain) cover(t time.Time) {
	t = t.UTC().Truncate(time.Millisecond)
	if !p.began || t.Before(p.total.Start) {
		p.total.Start = t
	}
	if !p.began || t.After(p.total.End) {
		p.total.End = t
	}
	if !p.began {
		p.began = true
		for _, name := range []string{"http_reqs", "http_req_failed", "checks_passed", "checks_failed", "iterations", "dropped_iterations"} {
			p.total.Count(name, t, 0)
		}
	}
}

// storm generates random samples of every kind.
type storm struct {
	*source
	random  *rand.Rand
	metrics []*metrics.Metric
	at      time.Time
}

func newStorm(seed uint64) *storm {
	s := &storm{source: newSource(), random: rand.New(rand.NewPCG(seed, 1)), at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	kinds := []metrics.MetricType{metrics.Counter, metrics.Gauge, metrics.Trend, metrics.Rate}
	for i := range 4 * payload.MaxSeries {
		s.metrics = append(s.metrics, s.registry.MustNewMetric(fmt.Sprint("own_", i), kinds[i%len(kinds)]))
	}
	b := s.builtin
	for range 100 {
		s.metrics = append(s.metrics, s.transaction, s.records, s.done, b.Checks, b.VUs, b.VUsMax, b.HTTPReqs, b.HTTPReqDuration, b.HTTPReqFailed, b.GroupDuration, b.Iterations)
	}
	return s
}

func (s *storm) next() metrics.SampleContainer {
	s.at = s.at.Add(time.Duration(1e7 + 3e8*s.random.NormFloat64()))
	tags := s.requestTags(fmt.Sprint("T", int(math.Exp(3*s.random.Float64()))), fmt.Sprint("GET /", int(math.Exp(7*s.random.Float64()))), 200+100*s.random.IntN(4)).
		With("group", []string{"", "::a", "::a::b", "::setup", "::setup::a", "::setup cart"}[s.random.IntN(6)])
	switch s.random.IntN(5) {
	case 0:
		return s.any(tags)
	case 1:
		return metrics.Samples{s.any(tags), s.any(tags)}
	case 2:
		return metrics.ConnectedSamples{Samples: []metrics.Sample{s.any(tags), s.any(tags)}, Tags: tags, Time: s.at}
	default:
		return s.trail(tags, s.at, time.Duration(1e6*math.Exp(2*s.random.NormFloat64())), s.random.IntN(9) == 0)
	}
}

func (s *storm) any(tags *metrics.TagSet) metrics.Sample {
	metric := s.metrics[s.random.IntN(len(s.metrics))]
	return s.tagged(metric, s.at, math.Abs(s.random.NormFloat64())*float64(s.random.IntN(2)*1000), tags)
}

// TestRecorderMatchesPlainImplementation checks that caching between samples does not change a
// single byte of the results.
func TestRecorderMatchesPlainImplementation(t *testing.T) {
	for i, text := range []string{"", "group", "tag:transaction"} {
		s, r := newStorm(uint64(i)), newRecorder("cico", "run-1", "a", scripted(text))
		want := &plain{transactions: scripted(text), total: r.total.Clone()}
		for range 30_000 {
			samples := s.next()
			r.add(samples)
			want.add(samples)
		}
		wanted, err := payload.Marshal(want.total)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := payload.Marshal(r.total); err != nil || !bytes.Equal(got, wanted) {
			t.Errorf("transactions %q: other bytes than the plain way (%v)", text, err)
		}
	}
}

// slow is a log that is slow to write. While it writes, the output is busy.
type slow struct {
	io.Writer
	mutex sync.Mutex
	lines int
}

func (s *slow) Write(text []byte) (int, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.lines++
	time.Sleep(50 * time.Millisecond)
	return s.Writer.Write(text)
}

// TestNothingIsLostWhileAPayloadIsPrinted adds samples continuously. The output must not block k6
// when it passes samples on.
func TestNothingIsLostWhileAPayloadIsPrinted(t *testing.T) {
	var log bytes.Buffer
	stdout := &slow{Writer: &log}
	made, err := New(params("checkpoint=1s,progress=1s", nil))
	if err != nil {
		t.Fatal(err)
	}
	out, ok := made.(*Output)
	if !ok {
		t.Fatalf("an output of type %T", made)
	}
	out.stdout = stdout
	if err := out.Start(); err != nil {
		t.Fatal(err)
	}
	s, handed, waited := newSource(), 0, 0
	for began := time.Now(); time.Since(began) < 3*time.Second; handed++ {
		before := time.Now()
		out.AddMetricSamples([]metrics.SampleContainer{
			s.trail(s.requestTags("Check-In", "GET /a", 200), time.Now(), time.Millisecond, false),
			s.sample(s.done, time.Now(), float64(handed+1)),
		})
		if out.busy.TryLock() {
			out.busy.Unlock()
		} else if time.Since(before) < 25*time.Millisecond {
			waited++
		}
		time.Sleep(time.Millisecond)
	}
	if err := out.Stop(); err != nil {
		t.Fatal(err)
	}
	p, err := payload.Read(&log)
	if err != nil {
		t.Fatal(err)
	}
	if last, highest, _ := p.Gauge(recordsDone); p.Total("http_reqs") != float64(handed) || last != float64(handed) || highest != last {
		t.Errorf("%v requests and the gauge at %v of at most %v, want %d", p.Total("http_reqs"), last, highest, handed)
	}
	if stdout.lines < 5 || waited == 0 {
		t.Errorf("nothing came while %d lines were printed: nothing is shown", stdout.lines)
	}
}

func TestBufferedSamplesComeFirst(t *testing.T) {
	made, err := New(params("", &bytes.Buffer{}))
	if err != nil {
		t.Fatal(err)
	}
	out, ok := made.(*Output)
	if !ok {
		t.Fatalf("an output of type %T", made)
	}
	s, at := newSource(), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	done := func(n float64) []metrics.SampleContainer { return []metrics.SampleContainer{s.sample(s.done, at, n)} }
	out.busy.Lock()
	out.AddMetricSamples(done(1))
	out.busy.Unlock()
	out.AddMetricSamples(done(2))
	out.flush()
	if last, highest, _ := out.recorder.total.Gauge(recordsDone); last != 2 || highest != 2 {
		t.Errorf("the gauge is at %v of at most %v, want 2: what waited came last", last, highest)
	}
}
