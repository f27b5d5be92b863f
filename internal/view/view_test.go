// SPDX-License-Identifier: Apache-2.0

package view_test

import (
	"context"
	"encoding/json"
	"errors"
	"html"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/recorded"
	"perflab.dev/perflab/internal/view"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func after(minutes float64) *metav1.Time {
	return &metav1.Time{Time: noon.Add(time.Duration(minutes * float64(time.Minute)))}
}

// fakeSource returns a fixed snapshot.
type fakeSource struct {
	snapshot view.Snapshot
	input    view.ReportInput
	err      error
	// reads counts the reads of report input.
	reads atomic.Int32
}

func (w *fakeSource) Snapshot() view.Snapshot { return w.snapshot }

func (w *fakeSource) ReportInput(context.Context, view.Snapshot) (view.ReportInput, error) {
	w.reads.Add(1)
	return w.input, w.err
}

// runningSnapshot is the recorded experiment after the given number of finished runs, while
// the next run loads.
func runningSnapshot(ended int) view.Snapshot {
	input := recorded.Experiment(1)
	experiment := &input.Experiment
	experiment.Status.Phase, experiment.Status.CompletionTime = v1alpha1.ExperimentRunning, nil
	experiment.Status.Runs = &v1alpha1.RunCounts{Planned: 36, Done: int32(ended)} //nolint:gosec // A few.
	runs := input.Runs[:ended+1]
	for i := range runs[:ended] {
		runs[i].Status.Timings.ProvisionStart, runs[i].Status.Timings.Finish = after(float64(10*(i-ended))), after(float64(10*(i-ended+1)))
	}
	run := &runs[ended]
	run.Status = v1alpha1.PerfRunStatus{Phase: v1alpha1.RunLoading, Message: "cico: running 2m of 20m"}
	run.Status.Timings.ProvisionStart, run.Status.Timings.LoadStart = after(0), after(1)
	run.Status.Loads = []v1alpha1.LoadStatus{{Name: run.Spec.Scenario.Loads[0].Name, CreateTime: after(0.5), StartTime: after(1)}}
	run.Status.Loads[0].Progress = newProgress(3)
	experiment.Status.Current = &v1alpha1.CurrentRun{Run: run.Name, Phase: run.Status.Phase, Message: run.Status.Message}
	return view.Snapshot{Version: 1, Experiment: experiment, Runs: runs, LastChange: after(3).Time}
}

func newProgress(minutes float64) *v1alpha1.LoadProgress {
	return &v1alpha1.LoadProgress{
		Time: *after(minutes), Users: 8, RequestsPerSecond: "12.3", ErrorPercent: "0.4",
		P95: []v1alpha1.TransactionProgress{{Transaction: "Check-In", Milliseconds: "417"}},
	}
}

// newHandler serves a page at five past noon.
func newHandler(seen view.Source) http.Handler {
	return view.Secure(view.Loopback, &view.PageHandler{Source: seen, Now: func() time.Time { return after(5).Time }})
}

// request the pages as a browser on the same machine does.
func request(pages http.Handler, method, path string, header http.Header) *httptest.ResponseRecorder {
	request := httptest.NewRequest(method, "http://127.0.0.1:4711"+path, nil)
	for name, values := range header {
		request.Header[name] = values
	}
	if host := header.Get("Host"); host != "" {
		request.Host = host
	}
	answer := httptest.NewRecorder()
	pages.ServeHTTP(answer, request)
	return answer
}

func get(pages http.Handler, path string) *httptest.ResponseRecorder {
	return request(pages, http.MethodGet, path, nil)
}

func TestPageShowsProgress(t *testing.T) {
	page := get(newHandler(&fakeSource{snapshot: runningSnapshot(30)}), "/").Body.String()
	for _, want := range []string{
		`<strong>Running</strong>`, `<progress max="36" value="30"`, `<dd>30 of 36</dd>`, `<dd>5 of 6</dd>`,
		// Six runs of ten minutes remain; five minutes have passed.
		`about <time datetime="2026-03-02T13:00:00Z">13:00 UTC</time>`,
		`<li aria-current="step">Loading</li>`, `<span>Check-In 417 ms</span>`, `<td class="n">0.4 %</td><td class="n">8</td><td class="n">12.3</td>`,
		`<div class="card">`, `Too few blocks for a verdict`,
		`<noscript><meta http-equiv="refresh" content="10"></noscript>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

func TestPageShowsVerdicts(t *testing.T) {
	input := recorded.Experiment(1)
	input.Experiment.Status.Phase = v1alpha1.ExperimentRunning
	page := get(newHandler(&fakeSource{snapshot: view.Snapshot{Experiment: &input.Experiment, Runs: input.Runs}}), "/").Body.String()
	if !strings.Contains(page, `<li class="chip better">`) {
		t.Error("there is no verdict")
	}
}

func TestPageListsInvalidRuns(t *testing.T) {
	snapshot := runningSnapshot(14)
	at := slices.IndexFunc(snapshot.Runs, func(run v1alpha1.PerfRun) bool { return run.Status.Phase == v1alpha1.RunInvalid })
	want := `<span class="verdict invalid">no</span> ` + html.EscapeString(snapshot.Runs[at].Status.Message)
	if page := get(newHandler(&fakeSource{snapshot: snapshot}), "/").Body.String(); !strings.Contains(page, want) || !strings.Contains(page, "2 earlier runs are not listed.") {
		t.Errorf("the page lacks %s", want)
	}
}

// The levels of each run show how the search for a capacity goes.
func TestPageShowsSearchForCapacity(t *testing.T) {
	snapshot := runningSnapshot(14)
	if page := get(newHandler(&fakeSource{snapshot: snapshot}), "/").Body.String(); strings.Contains(page, "Capacity so far") {
		t.Error("there is a search without a capacity")
	}
	scenario := &snapshot.Experiment.Spec.Scenarios[1]
	scenario.Capacity = &v1alpha1.Capacity{Load: "cico", Min: 5}
	at := slices.IndexFunc(snapshot.Runs, func(run v1alpha1.PerfRun) bool {
		return run.Status.Phase == v1alpha1.RunSucceeded && run.Spec.Scenario.Name == scenario.Name
	})
	snapshot.Runs[at].Status.Capacity = &v1alpha1.RunCapacity{
		Side: v1alpha1.CapacityWithin, Value: "17.5", Limiting: "cico/Check-In/p95",
		Levels: []v1alpha1.CapacityLevel{{Level: 5, Held: true}, {Level: 10, Held: true}, {Level: 20}, {Level: 40}},
	}
	expect.Contains(t, get(newHandler(&fakeSource{snapshot: snapshot}), "/").Body.String(), []string{
		"Capacity so far", "Levels of cico under " + scenario.Name, ">Capacity, users</th>",
		`<td>5, 10</td><td>20, 40</td><td class="n">17.50</td><td>cico/Check-In/p95</td>`,
	})
}

func TestSecureRejectsWrites(t *testing.T) {
	pages := newHandler(&fakeSource{snapshot: runningSnapshot(2)})
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions, http.MethodTrace} {
		if answer := request(pages, method, "/", nil); answer.Code != http.StatusMethodNotAllowed || answer.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: %d, %v", method, answer.Code, answer.Header())
		}
	}
	for _, path := range []string{"/", "/state", "/report"} {
		if answer := request(pages, http.MethodHead, path, nil); answer.Code != http.StatusOK {
			t.Errorf("HEAD %s: %d", path, answer.Code)
		}
	}
	for _, path := range []string{"/../state", "/state/", "/x", "/favicon.ico"} {
		if answer := get(pages, path); answer.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, answer.Code)
		}
	}
}

func TestSecureRejectsOtherHosts(t *testing.T) {
	pages := newHandler(&fakeSource{snapshot: runningSnapshot(2)})
	for host, want := range map[string]int{
		"127.0.0.1:4711": http.StatusOK, "localhost:4711": http.StatusOK, "LOCALHOST": http.StatusOK, "[::1]:4711": http.StatusOK,
		"attacker.example:4711": http.StatusMisdirectedRequest, "127.0.0.1.attacker.example": http.StatusMisdirectedRequest,
		"localhost.": http.StatusMisdirectedRequest, "192.168.1.7:4711": http.StatusMisdirectedRequest,
	} {
		for _, path := range []string{"/", "/state", "/report"} {
			answer := request(pages, http.MethodGet, path, http.Header{"Host": {host}})
			if answer.Code != want || want != http.StatusOK && strings.Contains(answer.Body.String(), recorded.Arm) {
				t.Errorf("%s of %q: %d, want %d", path, host, answer.Code, want)
			}
		}
	}
}

// The policy of a page allows only its own script and requests for its state.
func TestResponsesHaveSecurityPolicy(t *testing.T) {
	complete := runningSnapshot(36)
	complete.Experiment.Status.Phase = v1alpha1.ExperimentComplete
	for name, c := range map[string]struct {
		snapshot view.Snapshot
		path     string
		want     string
	}{
		"living":   {runningSnapshot(2), "/", `^default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-[^' ]+'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$`},
		"state":    {runningSnapshot(2), "/state", `^default-src 'none'; frame-ancestors 'none'$`},
		"report":   {runningSnapshot(2), "/report", `^default-src 'none'; style-src 'unsafe-inline'; script-src( 'sha256-[^' ]+'){3}; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$`},
		"complete": {complete, "/", `^default-src 'none'; style-src 'unsafe-inline'; script-src( 'sha256-[^' ]+'){3}; img-src data:;`},
		"nothing":  {runningSnapshot(2), "/x", `^default-src 'none'; frame-ancestors 'none'$`},
	} {
		header := get(newHandler(&fakeSource{snapshot: c.snapshot}), c.path).Header()
		if got := header.Get("Content-Security-Policy"); !regexp.MustCompile(c.want).MatchString(got) {
			t.Errorf("%s: policy %q", name, got)
		}
		for key, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
		} {
			expect.Equal(t, want, header.Get(key), "%s: %s", name, key)
		}
	}
}

// hostile is text that must be escaped.
const hostile = `</script><script>alert(1)</script><img src=x onerror=alert(2)>"'` + "\x1b[2J\u202e"

func TestPageEscapesText(t *testing.T) {
	snapshot := runningSnapshot(14)
	experiment := snapshot.Experiment
	experiment.Spec.Question, experiment.Status.Verdict, experiment.Status.WaitingFor = hostile, hostile, hostile
	experiment.Status.Conditions = []metav1.Condition{{Type: hostile, Status: metav1.ConditionFalse, Message: hostile}}
	snapshot.Outage = &view.Outage{Since: noon, Reason: hostile}
	run := &snapshot.Runs[14]
	run.Spec.Arm, run.Spec.Scenario.Name, run.Name = hostile, hostile, hostile
	run.Spec.Scenario.Loads[0].Name, run.Status.Loads[0].Name = hostile, hostile
	experiment.Status.Current = &v1alpha1.CurrentRun{Run: hostile, Phase: hostile, Message: hostile}
	for _, words := range []*v1alpha1.LoadProgress{newProgress(3), newProgress(4)} {
		words.RequestsPerSecond, words.ErrorPercent, words.P95[0].Transaction = hostile, hostile, hostile
		run.Status.Loads[0].Progress = words
	}
	snapshot.Loads = map[string][]view.LoadSample{hostile: {{P95: map[string]float64{hostile: 1}, Users: 1}, {At: time.Minute, P95: map[string]float64{hostile: 2}, Users: 2}, {At: 2 * time.Minute, P95: map[string]float64{hostile: 3}, Users: 3}}}
	for i := range snapshot.Runs[:14] {
		if snapshot.Runs[i].Status.Phase == v1alpha1.RunInvalid {
			snapshot.Runs[i].Status.Message, snapshot.Runs[i].Spec.Arm = hostile, hostile
		}
	}
	pages := newHandler(&fakeSource{snapshot: snapshot})
	page := get(pages, "/").Body.String()
	var state struct {
		Parts map[string]struct{ HTML string }
	}
	expect.NoError(t, json.Unmarshal(get(pages, "/state").Body.Bytes(), &state))
	if escaped := strings.Count(page, "&lt;img src=x"); escaped < 12 {
		t.Errorf("only %d places hold the words", escaped)
	}
	// Without progress, the page shows the run's message.
	run.Status.Loads[0].Progress, experiment.Status.Current = nil, &v1alpha1.CurrentRun{Run: "another", Message: hostile}
	page += get(newHandler(&fakeSource{snapshot: snapshot}), "/").Body.String()
	for _, part := range state.Parts {
		page += part.HTML
	}
	for _, bad := range []string{"<img", "<script>alert", "\x1b", "\u202e"} {
		if at := strings.Index(page, bad); at >= 0 {
			t.Errorf("%q stands in the page: %q", bad, page[max(0, at-200):at+50])
		}
	}
}

func TestUnchangedStateIsNotModified(t *testing.T) {
	seen := &fakeSource{snapshot: runningSnapshot(2)}
	pages := newHandler(seen)
	first := get(pages, "/state")
	tag := first.Header().Get("ETag")
	if !strings.Contains(get(pages, "/").Body.String(), "data-tag=\""+strings.ReplaceAll(tag, `"`, "&#34;")) {
		t.Error("the page does not know its own tag")
	}
	if again := request(pages, http.MethodGet, "/state", http.Header{"If-None-Match": {tag}}); again.Code != http.StatusNotModified || again.Body.Len() > 0 {
		t.Errorf("again: %d, %d bytes", again.Code, again.Body.Len())
	}
	changed := runningSnapshot(3)
	changed.Version = 2
	seen.snapshot = changed
	if other := request(pages, http.MethodGet, "/state", http.Header{"If-None-Match": {tag}}); other.Code != http.StatusOK || other.Header().Get("ETag") == tag {
		t.Errorf("what changed: %d, tag %s", other.Code, other.Header().Get("ETag"))
	}
}

// The report equals the output of perflab report, and is read once for all viewers.
func TestPageOfCompleteExperimentIsReport(t *testing.T) {
	input := recorded.Experiment(1)
	seen := &fakeSource{snapshot: view.Snapshot{Version: 7, Experiment: &input.Experiment, Runs: input.Runs, LastChange: noon}, input: view.ReportInput{Traces: map[string]*report.Trace{}}}
	for i := range input.Runs {
		run := &input.Runs[i]
		raw := slices.DeleteFunc(recorded.Experiment(1).Raw, isOfOtherRun(run.Name))
		trace, err := report.TraceOf(run, raw...)
		expect.NoError(t, err)
		seen.input.Traces[run.Name] = trace
	}
	document, err := report.New(recorded.Experiment(1))
	expect.NoError(t, err)
	want, err := document.HTML()
	expect.NoError(t, err)
	pages := newHandler(seen)
	for _, path := range []string{"/", "/report", "/"} {
		if got := get(pages, path).Body.String(); got != string(want) {
			t.Errorf("%s is not the report: %d bytes, want %d", path, len(got), len(want))
		}
	}
	if reads := seen.reads.Load(); reads != 1 {
		t.Errorf("what the report needs was read %d times", reads)
	}
}

func TestPageShowsReportError(t *testing.T) {
	complete := runningSnapshot(36)
	complete.Experiment.Status.Phase = v1alpha1.ExperimentComplete
	seen := &fakeSource{snapshot: complete, err: errors.New("the line is dead")}
	pages := newHandler(seen)
	answer := get(pages, "/")
	if page := answer.Body.String(); answer.Code != http.StatusOK || !strings.Contains(page, "the line is dead") || !strings.Contains(page, "<strong>Complete</strong>") {
		t.Errorf("%d: %.300s", answer.Code, page)
	}
	seen.err = nil
	if page := get(pages, "/").Body.String(); strings.Contains(page, "the line is dead") || !strings.Contains(page, `id="recommendations"`) {
		t.Error("the report does not come later")
	}
}

func TestPageShowsOutageAndDeletion(t *testing.T) {
	lost, gone := runningSnapshot(2), runningSnapshot(2)
	lost.Outage = &view.Outage{Since: after(4).Time, Reason: "It is asked again every few seconds: connection refused."}
	gone.Deleted = true
	for name, c := range map[string]struct {
		snapshot view.Snapshot
		want     []string
	}{
		"lost":   {lost, []string{"The cluster has been unavailable since 12:04:00 UTC.", "connection refused", `<dd>2 of 36</dd>`, `last change seen at <time datetime="2026-03-02T12:03:00Z">`}},
		"gone":   {gone, []string{"The experiment was deleted.", `<dd>2 of 36</dd>`}},
		"unseen": {view.Snapshot{Outage: lost.Outage}, []string{"Loading the experiment", "connection refused"}},
	} {
		page := get(newHandler(&fakeSource{snapshot: c.snapshot}), "/").Body.String()
		expect.Contains(t, page, c.want, "%s", name)
	}
}

func TestLoadHistoryIsBounded(t *testing.T) {
	var courses view.LoadHistory
	run := &v1alpha1.PerfRun{}
	run.Name = "one"
	run.Status.Timings.LoadStart = after(0)
	const words = 2880
	for i := range words {
		run.Status.Loads = []v1alpha1.LoadStatus{{Name: "cico", Progress: newProgress(float64(i) / 2)}}
		courses.Add(run)
		// The same report again adds no sample.
		courses.Add(run)
	}
	kept := courses.Loads("one")["cico"]
	if len(kept) < 400 || len(kept) > 800 || kept[0].At != 0 || kept[len(kept)-1].At != (words-1)*30*time.Second {
		t.Errorf("%d words are kept, from %s to %s", len(kept), kept[0].At, kept[len(kept)-1].At)
	}
	for i := 1; i < len(kept); i++ {
		if kept[i].At <= kept[i-1].At {
			t.Fatalf("word %d is not later than the one before", i)
		}
	}
	run.Name = "two"
	courses.Add(run)
	if len(courses.Loads("two")["cico"]) != 1 || courses.Loads("one") != nil {
		t.Error("another run does not start again")
	}
}

func isOfOtherRun(run string) func(corev1.ConfigMap) bool {
	return func(one corev1.ConfigMap) bool { return one.Labels[v1alpha1.LabelRun] != run }
}
