// SPDX-License-Identifier: AGPL-3.0-only

package output_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"perflab.dev/perflab/k6/internal/k6test"
	"perflab.dev/perflab/payload"
)

func TestMain(m *testing.M) { k6test.Main(m) }

// fixed makes 60 iterations whose durations depend only on their number.
const fixed = `
import http from 'k6/http';
import exec from 'k6/execution';
import { Trend } from 'k6/metrics';
const duration = new Trend('transaction_duration', true);
export const options = { scenarios: { s: { executor: 'shared-iterations', vus: 4, iterations: 60 } } };
export function setup() { http.get(__ENV.URL + '/setup'); }
export default function () {
  const n = exec.scenario.iterationInTest;
  http.get(__ENV.URL + '/load', { tags: { name: 'GET /load', transaction: n % 3 ? 'A' : 'B' } });
  if (n % 7 === 0) console.log('a line of the script ' + n);
  duration.add(Math.pow(1.1, n), { transaction: n % 3 ? 'A' : 'B', outcome: n % 5 ? 'ok' : 'error' });
}`

// endless continues until it is stopped.
const endless = `
import { sleep } from 'k6';
import { Trend } from 'k6/metrics';
const duration = new Trend('transaction_duration', true);
export const options = { scenarios: { s: { executor: 'constant-vus', vus: 2, duration: '1h' } } };
export default function () { duration.add(5, { transaction: 'A', outcome: 'ok' }); sleep(0.05); }`

// endsByItself aborts itself.
const endsByItself = `
import exec from 'k6/execution';
import { Trend } from 'k6/metrics';
const duration = new Trend('transaction_duration', true);
export const options = { iterations: 2 };
export default function () { duration.add(5, { transaction: 'A', outcome: 'ok' }); if (__ITER === 1) exec.test.abort('enough'); }`

// neverStarts aborts before there is any load.
const neverStarts = `
import exec from 'k6/execution';
export function setup() { exec.test.abort('no'); }
export default function () {}`

// slowToEnd is in the middle of an iteration when it is stopped.
const slowToEnd = `
import { sleep } from 'k6';
import { Trend } from 'k6/metrics';
const duration = new Trend('transaction_duration', true);
export const options = { scenarios: { s: { executor: 'constant-vus', vus: 3, duration: '1h', gracefulStop: '20s' } } };
export default function () { for (let i = 0; i < 50; i++) { duration.add(5, { transaction: 'A', outcome: 'ok' }); sleep(0.1); } }`

func server(t *testing.T) (env []string, requests func(path string) int) {
	t.Helper()
	var mu sync.Mutex
	seen := map[string]int{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		seen[r.URL.Path]++
		mu.Unlock()
		switch r.URL.Path {
		case "/refused":
			w.WriteHeader(http.StatusForbidden)
		case "/hangup":
			panic(http.ErrAbortHandler)
		}
	}))
	t.Cleanup(s.Close)
	return []string{"URL=" + s.URL, "PERFLAB_LOAD=l", "PERFLAB_RUN=r"}, func(path string) int {
		mu.Lock()
		defer mu.Unlock()
		return seen[path]
	}
}

func TestTwoSegmentsMergeToTheSameAsOneProcess(t *testing.T) {
	script := k6test.Script(t, fixed)
	env, requests := server(t)
	one := k6test.Run(t, script, env).Payload(t)
	if requests("/load") != 60 || one.Total("http_reqs") != 60 {
		t.Errorf("%d requests, %v counted, want 60 without that of setup", requests("/load"), one.Total("http_reqs"))
	}
	var halves []*payload.Payload
	for _, segment := range []string{"0:1/2", "1/2:1"} {
		result := k6test.Run(t, script, env, "--execution-segment="+segment, "--execution-segment-sequence=0,1/2,1")
		if result.Code != 0 {
			t.Fatalf("segment %s exited with %d\n%s", segment, result.Code, result.Stderr)
		}
		half := result.Payload(t)
		if !half.Final || !strings.HasSuffix(half.Runner, " "+segment) {
			t.Errorf("payload of %q, final %v", half.Runner, half.Final)
		}
		halves = append(halves, half)
	}
	both, err := payload.Merge(halves...)
	k6test.NoError(t, err)
	if a, b := halves[0].Total("iterations"), halves[1].Total("iterations"); a != 30 || b != 30 {
		t.Errorf("the segments made %v and %v iterations, want 30 each", a, b)
	}
	for _, transaction := range one.Transactions() {
		got, _ := both.RequestSummary(transaction, "GET /load", "ok")
		want, _ := one.RequestSummary(transaction, "GET /load", "ok")
		if got.Count != want.Count || got.Count == 0 {
			t.Errorf("%s made %d requests merged, %d in one process", transaction, got.Count, want.Count)
		}
		for _, outcome := range []string{"ok", "error", ""} {
			got, _ := both.Summary(transaction, outcome)
			want, _ := one.Summary(transaction, outcome)
			if got != want || got.Count == 0 {
				t.Errorf("%s/%s merged = %+v, of one process %+v", transaction, outcome, got, want)
			}
		}
	}
	if !slices.Equal(one.Transactions(), []string{"A", "B"}) {
		t.Errorf("transactions %q", one.Transactions())
	}
}

func TestPayloadLinesStayWhole(t *testing.T) {
	env, _ := server(t)
	result := k6test.Run(t, k6test.Script(t, fixed), env, "--log-output=stdout")
	lines := strings.Split(strings.TrimSpace(result.Stdout), "\n")
	own := 0
	for _, line := range lines {
		if strings.HasPrefix(line, "perflab-payload ") {
			own++
		} else if strings.Contains(line, "perflab-") && !strings.HasPrefix(line, "perflab-log ") {
			t.Errorf("a payload line inside of another: %s", line)
		}
	}
	if own < 3 || own == len(lines) {
		t.Errorf("%d payload lines among %d", own, len(lines))
	}
}

func TestEveryStopPrintsPayload(t *testing.T) {
	tests := []struct {
		name   string
		script string
		stop   func(*k6test.Process)
		code   int
		least  int64 // transactions
	}{
		{"stopped through the REST API", endless, func(p *k6test.Process) { p.Patch("stopped", true) }, 103, 2},
		{"stopped by SIGTERM", endless, func(p *k6test.Process) { p.Interrupt() }, 105, 2},
		{"stopped by SIGTERM within iterations", slowToEnd, func(p *k6test.Process) { p.Interrupt() }, 105, 30},
		{"aborted by the script", endsByItself, nil, 108, 2},
		{"aborted before its load", neverStarts, nil, 108, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env, _ := server(t)
			p := k6test.Start(t, k6test.Script(t, tt.script), env)
			if tt.stop != nil {
				time.Sleep(3 * time.Second) // long enough for some samples
				tt.stop(p)
			}
			result := p.Wait()
			if result.Code != tt.code {
				t.Errorf("exit code %d, want %d\n%s", result.Code, tt.code, result.Stderr)
			}
			final := result.Payload(t)
			if all, _ := final.Summary("A", "ok"); !final.Final || all.Count < tt.least {
				t.Errorf("final %v with %d samples", final.Final, all.Count)
			}
		})
	}
}

// foreign is a third-party script: groups, a tag, and a server that rejects requests and closes
// connections.
const foreign = `
import http from 'k6/http';
import { check, group } from 'k6';
export const options = { scenarios: { browse: { executor: 'shared-iterations', vus: 2, iterations: 10 } } };
export function setup() { group('not load', () => http.get(__ENV.URL + '/setup')); }
export default function () {
  group('search', () => {
    http.get(__ENV.URL + '/load', { tags: { flow: 'find' } });
    group('open', () => {
      const answer = http.get(__ENV.URL + '/refused', { tags: { flow: 'open', name: 'GET /refused' } });
      check(answer, { 'is open': (r) => r.status === 200 });
    });
  });
  http.get(__ENV.URL + '/hangup', { tags: { name: 'GET /hangup' } });
}`

func TestThirdPartyScripts(t *testing.T) {
	script := k6test.Script(t, foreign)
	env, _ := server(t)
	t.Run("by group", func(t *testing.T) {
		p := k6test.Run(t, script, append(env, "PERFLAB_TRANSACTIONS=group")).Payload(t)
		if got := p.Transactions(); !slices.Equal(got, []string{"search", "search/open"}) {
			t.Errorf("transactions %q", got)
		}
		outer, _ := p.Summary("search", "ok")
		inner, _ := p.Summary("search/open", "ok")
		if outer.Count != 10 || inner.Count != 10 || outer.Mean <= inner.Mean {
			t.Errorf("search %+v, open inside of it %+v", outer, inner)
		}
		if refused, _ := p.RequestSummary("search/open", "GET /refused", "error"); refused.Count != 10 {
			t.Errorf("refused %+v", refused)
		}
		if p.Total("checks_failed") != 10 || p.Total("checks_passed") != 0 {
			t.Errorf("checks: %v failed, %v passed", p.Total("checks_failed"), p.Total("checks_passed"))
		}
	})
	t.Run("by tag", func(t *testing.T) {
		p := k6test.Run(t, script, append(env, "PERFLAB_TRANSACTIONS=tag:flow")).Payload(t)
		if got := p.Transactions(); !slices.Equal(got, []string{"find", "open"}) {
			t.Errorf("transactions %q", got)
		}
		if found, _ := p.Summary("find", "ok"); found.Count != 10 {
			t.Errorf("find %+v", found)
		}
		if opened, _ := p.Summary("open", "error"); opened.Count != 10 {
			t.Errorf("open %+v", opened)
		}
		for row, want := range map[payload.Row]int64{
			{Scenario: "browse", Transaction: "open", Request: "GET /refused", Outcome: "error", Status: "4xx"}: 10,
			{Scenario: "browse", Request: "GET /hangup", Outcome: "error", Status: "error"}:                     10,
		} {
			if got, _ := p.SummaryWhere(func(r payload.Row) bool { return r == row }); got.Count != want {
				t.Errorf("%+v has %d samples, want %d: %+v", row, got.Count, want, p.Series)
			}
		}
		if got := p.Total("http_req_failed"); got != 20 {
			t.Errorf("%v requests failed, want 20", got)
		}
	})
	t.Run("by nonsense", func(t *testing.T) {
		result := k6test.Run(t, script, append(env, "PERFLAB_TRANSACTIONS=nonsense"))
		if result.Code == 0 || !strings.Contains(result.Stderr, "PERFLAB_TRANSACTIONS") {
			t.Errorf("exit code %d\n%s", result.Code, result.Stderr)
		}
	})
}

// busy keeps its CPUs busy and reports records.
const busy = `
import { Gauge, Trend } from 'k6/metrics';
const duration = new Trend('transaction_duration', true);
const done = new Gauge('perflab_records_done');
export const options = { scenarios: { s: { executor: 'constant-vus', vus: 3, duration: '4s', gracefulStop: '1s' } } };
export default function () {
  const end = Date.now() + 50;
  while (Date.now() < end);
  duration.add(50, { transaction: 'Import', outcome: __ITER % 4 ? 'ok' : 'error' });
  done.add(1000);
}`

func TestProgressAndTheGeneratorsLoad(t *testing.T) {
	env, _ := server(t)
	result := k6test.Run(t, k6test.Script(t, busy), append(env, "GOMAXPROCS=1"), "--out=perflab=progress=1s")
	var lines []string
	for _, line := range strings.Split(result.Stdout, "\n") {
		if text, ok := strings.CutPrefix(line, "perflab-progress "); ok {
			lines = append(lines, text)
		}
	}
	if len(lines) < 3 {
		t.Fatalf("%d lines of progress\n%s", len(lines), result.Stdout)
	}
	var last struct {
		At           time.Time          `json:"at"`
		Users        int                `json:"users"`
		ErrorPercent float64            `json:"errorPercent"`
		P95          map[string]float64 `json:"p95"`
		Records      int                `json:"records"`
	}
	k6test.NoError(t, json.Unmarshal([]byte(lines[len(lines)-1]), &last))
	if last.Users != 3 || last.Records != 1000 || last.ErrorPercent < 15 || last.ErrorPercent > 60 ||
		last.P95["Import"] < 49.9 || last.P95["Import"] > 50.1 || time.Since(last.At) > time.Minute {
		t.Errorf("progress %s", lines[len(lines)-1])
	}
	// The share of its one CPU that it gets depends on the machine.
	final := result.Payload(t)
	if average, busiest, _ := final.GeneratorLoad(); average < 0.15 || average > 1.05 || busiest < average {
		t.Errorf("the generator used %v of its CPU, at most %v", average, busiest)
	}
	if limit := final.Total(payload.GeneratorCPULimit); limit < 2.5 || limit > 7 {
		t.Errorf("%v CPU seconds in about 4 s on one CPU", limit)
	}
	if users := final.Total(payload.UserSeconds) / final.End.Sub(final.Start).Seconds(); users < 0.9 || users > 4.1 {
		t.Errorf("%v users on average, want about 3", users)
	}
}

func TestIdleGeneratorIsNotBusy(t *testing.T) {
	env, _ := server(t)
	p := k6test.Start(t, k6test.Script(t, endless), env)
	time.Sleep(4 * time.Second)
	p.Interrupt()
	result := p.Wait().Payload(t)
	if average, _, ok := result.GeneratorLoad(); !ok || average > 0.15 {
		t.Errorf("the generator used %v of its CPUs", average)
	}
}

func TestCheckpointsWhileItRuns(t *testing.T) {
	env, _ := server(t)
	p := k6test.Start(t, k6test.Script(t, endless), env, "--out=perflab=checkpoint=1s", "--paused")
	time.Sleep(2 * time.Second) // paused: there is nothing to measure, but a runner waits like this
	p.Patch("paused", false)
	released := time.Now()
	time.Sleep(5 * time.Second)
	p.Interrupt()
	result := p.Wait()
	checkpoint, err := payload.Read(strings.NewReader(beforeLast(result.Stdout)))
	k6test.NoError(t, err)
	final := result.Payload(t)
	a, _ := checkpoint.Summary("A", "ok")
	b, _ := final.Summary("A", "ok")
	if checkpoint.Final || !final.Final || a.Count == 0 || a.Count > b.Count {
		t.Errorf("checkpoint (final %v) of %d samples, then final %v with %d", checkpoint.Final, a.Count, final.Final, b.Count)
	}
	if late := final.Start.Sub(released); late < -100*time.Millisecond || late > 2*time.Second {
		t.Errorf("measured from %v after the release on", late)
	}
}

// beforeLast returns the output of a killed runner: everything except the last payload.
func beforeLast(stdout string) string {
	return stdout[:strings.LastIndex(stdout, "perflab-payload begin")]
}

func TestUnknownOptionIsRefused(t *testing.T) {
	env, _ := server(t)
	result := k6test.Run(t, k6test.Script(t, fixed), env, "--out=perflab=nonsense=1")
	if result.Code == 0 || !strings.Contains(result.Stderr, `unknown option`) {
		t.Errorf("exit code %d\n%s", result.Code, fmt.Sprint(result.Stderr))
	}
}
