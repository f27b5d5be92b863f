// SPDX-License-Identifier: AGPL-3.0-only

package output

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"go.k6.io/k6/v2/metrics"
	"go.k6.io/k6/v2/output"

	"perflab.dev/perflab/payload"
)

// source makes samples as k6 does.
type source struct {
	registry    *metrics.Registry
	builtin     *metrics.BuiltinMetrics
	transaction *metrics.Metric
	records     *metrics.Metric
}

func newSource() *source {
	registry := metrics.NewRegistry()
	return &source{
		registry:    registry,
		builtin:     metrics.RegisterBuiltinMetrics(registry),
		transaction: registry.MustNewMetric(transactionDuration, metrics.Trend, metrics.Time),
		records:     registry.MustNewMetric("perflab_records", metrics.Counter),
	}
}

func (s *source) sample(metric *metrics.Metric, at time.Time, value float64, tags ...string) metrics.Sample {
	set := s.registry.RootTagSet()
	for i := 0; i < len(tags); i += 2 {
		set = set.With(tags[i], tags[i+1])
	}
	return metrics.Sample{TimeSeries: metrics.TimeSeries{Metric: metric, Tags: set}, Time: at, Value: value}
}

func params(argument string, stdout *bytes.Buffer) output.Params {
	return output.Params{
		ConfigArgument: argument,
		Logger:         logrus.New(),
		StdOut:         stdout,
		Environment:    map[string]string{"PERFLAB_LOAD": "cico", "PERFLAB_RUN": "run-1", "PERFLAB_RUNNER": "runner-1"},
	}
}

func TestSamplesInPayloadOut(t *testing.T) {
	var stdout bytes.Buffer
	out, err := New(params("", &stdout))
	if err != nil {
		t.Fatal(err)
	}
	if err := out.Start(); err != nil {
		t.Fatal(err)
	}
	s := newSource()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	after := func(seconds int) time.Time { return at.Add(time.Duration(seconds) * time.Second) }
	out.AddMetricSamples([]metrics.SampleContainer{metrics.Samples{
		s.sample(s.builtin.VUs, after(-60), 0), // paused
		s.sample(s.builtin.VUsMax, after(-60), 8),
		s.sample(s.builtin.HTTPReqs, after(-1), 1, "group", "::setup"),
		s.sample(s.transaction, after(-1), 9999, "group", "::setup", "transaction", "Check-In"),
		s.sample(s.builtin.VUs, after(0), 1),
		s.sample(s.transaction, after(1), 100.5, "transaction", "Check-In", "outcome", "ok"),
		s.sample(s.transaction, after(2), 200.25, "transaction", "Check-In", "outcome", "ok"),
		s.sample(s.transaction, after(2), 7, "transaction", "Check-In", "outcome", "error"),
		s.sample(s.transaction, after(3), 1),
		s.sample(s.builtin.HTTPReqs, after(3), 1),
		s.sample(s.builtin.HTTPReqs, after(3), 1),
		s.sample(s.builtin.HTTPReqFailed, after(3), 0),
		s.sample(s.builtin.HTTPReqFailed, after(3), 1),
		s.sample(s.builtin.DroppedIterations, after(4), 3),
		s.sample(s.records, after(4), 500),
		s.sample(s.builtin.HTTPReqDuration, after(5), 42),
		s.sample(s.builtin.HTTPReqs, after(99), 1, "group", "::teardown"),
	}})
	if err := out.Stop(); err != nil {
		t.Fatal(err)
	}
	p, err := payload.Read(&stdout)
	if err != nil {
		t.Fatal(err)
	}
	if p.Load != "cico" || p.Run != "run-1" || p.Runner != "runner-1" || !p.Final {
		t.Errorf("payload of load %q, run %q, runner %q, final %v", p.Load, p.Run, p.Runner, p.Final)
	}
	if !p.Start.Equal(at) || !p.End.Equal(after(5)) {
		t.Errorf("measured from %v to %v, want %v to %v", p.Start, p.End, at, after(5))
	}
	ok, _ := p.Summary("Check-In", "ok")
	if ok.Count != 2 || ok.Min != 100500*time.Microsecond || ok.Max != 200250*time.Microsecond {
		t.Errorf("Check-In/ok = %+v", ok)
	}
	if failed, _ := p.Summary("Check-In", "error"); failed.Count != 1 {
		t.Errorf("Check-In/error = %+v", failed)
	}
	if untagged, _ := p.Summary(payload.Other, "ok"); untagged.Count != 1 {
		t.Errorf("transactions without a name = %+v", untagged)
	}
	for name, want := range map[string]float64{"http_reqs": 2, "http_req_failed": 1, "dropped_iterations": 3, "perflab_records": 500, "vus": 0} {
		if got := p.Total(name); got != want {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
}

func TestConfiguration(t *testing.T) {
	for argument, want := range map[string]time.Duration{"": time.Minute, "checkpoint=30s": 30 * time.Second} {
		if got, err := parseConfig(argument); err != nil || got != want {
			t.Errorf("parseConfig(%q) = %v, %v, want %v", argument, got, err, want)
		}
	}
	for _, argument := range []string{"checkpoint", "checkpoint=", "checkpoint=0s", "checkpoint=soon", "interval=1s"} {
		if _, err := New(params(argument, nil)); err == nil {
			t.Errorf("New took %q", argument)
		}
	}
}

func TestMemoryDoesNotGrowWithSamples(t *testing.T) {
	r := newRecorder("cico", "run-1", "a")
	s := newSource()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	feed := func(n int) uint64 {
		for i := range n {
			r.add(s.sample(s.transaction, at, float64(i%500), "transaction", "Check-In", "outcome", "ok"))
			r.add(s.sample(s.builtin.HTTPReqs, at, 1))
			at = at.Add(10 * time.Millisecond)
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	early := feed(100_000)
	late := feed(900_000)
	if grown := int64(late) - int64(early); grown > 4<<20 {
		t.Errorf("heap grew by %d bytes from 100,000 to 1,000,000 samples", grown)
	}
	p, err := r.payload(true)
	if err != nil {
		t.Fatal(err)
	}
	if all, _ := p.Summary("Check-In", "ok"); all.Count != 1_000_000 {
		t.Errorf("%d samples, want 1,000,000", all.Count)
	}
	body, err := payload.Marshal(p)
	if err != nil || len(body) > maxBytes {
		t.Errorf("payload of %d bytes, allowed %d (%v)", len(body), maxBytes, err)
	}
}

func TestDescription(t *testing.T) {
	out, err := New(params("checkpoint=5s", nil))
	if err != nil || !strings.Contains(out.Description(), "5s") {
		t.Errorf("description %q, %v", out.Description(), err)
	}
}
