// SPDX-License-Identifier: AGPL-3.0-only

package output

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"go.k6.io/k6/v2/metrics"
	"go.k6.io/k6/v2/output"

	"perflab.dev/perflab/payload"
)

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
		s.sample(s.builtin.Checks, after(4), 1),
		s.sample(s.builtin.Checks, after(4), 0),
		s.sample(s.done, after(4), 700),
		s.sample(s.done, after(4), 500),
		s.sample(s.builtin.HTTPReqDuration, after(5), 42, "name", "GET /a", "status", "201", "scenario", "s", "transaction", "Check-In"),
		s.sample(s.builtin.HTTPReqDuration, after(5), 43, "name", "GET /a", "status", "0", "expected_response", "false", "transaction", "Check-In"),
		s.sample(s.builtin.HTTPReqDuration, after(5), 44, "name", "/login", "status", "302"),
		s.sample(s.builtin.GroupDuration, after(5), 44, "group", "::a"),
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
	answered, _ := p.SummaryWhere(func(r payload.Row) bool {
		return r == payload.Row{Scenario: "s", Transaction: "Check-In", Request: "GET /a", Outcome: "ok", Status: "2xx"}
	})
	unanswered, _ := p.SummaryWhere(func(r payload.Row) bool { return r.Request == "GET /a" && r.Status == "error" })
	if answered.Max != 42*time.Millisecond || unanswered.Max != 43*time.Millisecond {
		t.Errorf("GET /a answered %+v, unanswered %+v", answered, unanswered)
	}
	if login, _ := p.RequestSummary("", "/login", "ok"); login.Count != 1 {
		t.Errorf("request without transaction %+v", login)
	}
	if last, highest, _ := p.Gauge("perflab_records_done"); last != 500 || highest != 700 {
		t.Errorf("records done %v, at most %v", last, highest)
	}
	for name, want := range map[string]float64{"checks_passed": 1, "checks_failed": 1, "http_reqs": 2, "http_req_failed": 1, "dropped_iterations": 3, "perflab_records": 500, "vus": 0} {
		if got := p.Total(name); got != want {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
}

func TestConfiguration(t *testing.T) {
	for argument, want := range map[string]config{
		"":                           {time.Minute, 10 * time.Second},
		"checkpoint=30s":             {30 * time.Second, 10 * time.Second},
		"checkpoint=2s,progress=20s": {2 * time.Second, 20 * time.Second},
	} {
		if got, err := parseConfig(argument); err != nil || got != want {
			t.Errorf("parseConfig(%q) = %v, %v, want %v", argument, got, err, want)
		}
	}
	for _, argument := range []string{"checkpoint", "checkpoint=", "checkpoint=0s", "progress=soon", "interval=1s"} {
		if _, err := New(params(argument, nil)); err == nil {
			t.Errorf("New took %q", argument)
		}
	}
	for _, text := range []string{"groups", "tag:", "tag", "url"} {
		wrong := params("", nil)
		wrong.Environment["PERFLAB_TRANSACTIONS"] = text
		if _, err := New(wrong); err == nil || !strings.Contains(err.Error(), "PERFLAB_TRANSACTIONS") {
			t.Errorf("New took transactions %q: %v", text, err)
		}
	}
}

func TestDescription(t *testing.T) {
	out, err := New(params("checkpoint=5s", nil))
	if err != nil || !strings.Contains(out.Description(), "5s") {
		t.Errorf("description %q, %v", out.Description(), err)
	}
}
