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

// watched is an experiment as the test wants it seen.
type watched struct {
	sight view.Sight
	kept  view.Kept
	err   error
	// reads of what a report needs.
	reads atomic.Int32
}

func (w *watched) Sight() view.Sight { return w.sight }

func (w *watched) Kept(context.Context, view.Sight) (view.Kept, error) {
	w.reads.Add(1)
	return w.kept, w.err
}

// underway is the recorded experiment when so many of its runs had ended and the next
// one loads.
func underway(ended int) view.Sight {
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
	run.Status.Loads[0].Progress = told(3)
	experiment.Status.Current = &v1alpha1.CurrentRun{Run: run.Name, Phase: run.Status.Phase, Message: run.Status.Message}
	return view.Sight{Version: 1, Experiment: experiment, Runs: runs, Seen: after(3).Time}
}

func told(minutes float64) *v1alpha1.LoadProgress {
	return &v1alpha1.LoadProgress{
		Time: *after(minutes), Users: 8, RequestsPerSecond: "12.3", ErrorPercent: "0.4",
		P95: []v1alpha1.TransactionProgress{{Transaction: "Check-In", Milliseconds: "417"}},
	}
}

// open is a room in which it is five past noon.
func open(seen view.Watched) http.Handler {
	return view.Guard(view.Loopback, &view.Room{Watched: seen, Now: func() time.Time { return after(5).Time }})
}

// ask the pages, as a browser on this machine does.
func ask(pages http.Handler, method, path string, header http.Header) *httptest.ResponseRecorder {
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
	return ask(pages, http.MethodGet, path, nil)
}

// What was asked for is there: how far it is, what the run does, what came out.
func TestThePageTellsHowFarItIs(t *testing.T) {
	page := get(open(&watched{sight: underway(30)}), "/").Body.String()
	for _, want := range []string{
		`<strong>Running</strong>`, `<progress max="36" value="30"`, `<dd>30 of 36</dd>`, `<dd>5 of 6</dd>`,
		// Six runs of ten minutes are left, of which five minutes are over.
		`about <time datetime="2026-03-02T13:00:00Z">13:00 UTC</time>`,
		`<li aria-current="step">Loading</li>`, `<span>Check-In 417 ms</span>`, `<td class="n">0.4 %</td><td class="n">8</td><td class="n">12.3</td>`,
		`<div class="card">`, `These runs describe, they do not decide`,
		`<noscript><meta http-equiv="refresh" content="10"></noscript>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

// Verdicts come as soon as there are runs enough.
func TestVerdictsCome(t *testing.T) {
	input := recorded.Experiment(1)
	input.Experiment.Status.Phase = v1alpha1.ExperimentRunning
	page := get(open(&watched{sight: view.Sight{Experiment: &input.Experiment, Runs: input.Runs}}), "/").Body.String()
	if !strings.Contains(page, `<li class="chip better">`) {
		t.Error("there is no verdict")
	}
}

// Attempts that did not count are told with their reason.
func TestInvalidRuns(t *testing.T) {
	sight := underway(14)
	at := slices.IndexFunc(sight.Runs, func(run v1alpha1.PerfRun) bool { return run.Status.Phase == v1alpha1.RunInvalid })
	want := `<span class="verdict invalid">no</span> ` + html.EscapeString(sight.Runs[at].Status.Message)
	if page := get(open(&watched{sight: sight}), "/").Body.String(); !strings.Contains(page, want) || !strings.Contains(page, "2 more ended before.") {
		t.Errorf("the page lacks %s", want)
	}
}

// Whoever asks may ask only.
func TestOnlyQuestions(t *testing.T) {
	pages := open(&watched{sight: underway(2)})
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions, http.MethodTrace} {
		if answer := ask(pages, method, "/", nil); answer.Code != http.StatusMethodNotAllowed || answer.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: %d, %v", method, answer.Code, answer.Header())
		}
	}
	for _, path := range []string{"/", "/state", "/report"} {
		if answer := ask(pages, http.MethodHead, path, nil); answer.Code != http.StatusOK {
			t.Errorf("HEAD %s: %d", path, answer.Code)
		}
	}
	for _, path := range []string{"/../state", "/state/", "/x", "/favicon.ico"} {
		if answer := get(pages, path); answer.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, answer.Code)
		}
	}
}

// A name that was made to lead here is not ours.
func TestOtherHostsGetNothing(t *testing.T) {
	pages := open(&watched{sight: underway(2)})
	for host, want := range map[string]int{
		"127.0.0.1:4711": http.StatusOK, "localhost:4711": http.StatusOK, "LOCALHOST": http.StatusOK, "[::1]:4711": http.StatusOK,
		"attacker.example:4711": http.StatusMisdirectedRequest, "127.0.0.1.attacker.example": http.StatusMisdirectedRequest,
		"localhost.": http.StatusMisdirectedRequest, "192.168.1.7:4711": http.StatusMisdirectedRequest,
	} {
		for _, path := range []string{"/", "/state", "/report"} {
			answer := ask(pages, http.MethodGet, path, http.Header{"Host": {host}})
			if answer.Code != want || want != http.StatusOK && strings.Contains(answer.Body.String(), recorded.Arm) {
				t.Errorf("%s of %q: %d, want %d", path, host, answer.Code, want)
			}
		}
	}
}

// Everything bears a policy; that of pages lets nothing run but their own script, and
// nothing be fetched but their state.
func TestPolicies(t *testing.T) {
	complete := underway(36)
	complete.Experiment.Status.Phase = v1alpha1.ExperimentComplete
	for name, c := range map[string]struct {
		sight view.Sight
		path  string
		want  string
	}{
		"living":   {underway(2), "/", `^default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-[^' ]+'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$`},
		"state":    {underway(2), "/state", `^default-src 'none'; frame-ancestors 'none'$`},
		"report":   {underway(2), "/report", `^default-src 'none'; style-src 'unsafe-inline'; script-src( 'sha256-[^' ]+'){3}; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$`},
		"complete": {complete, "/", `^default-src 'none'; style-src 'unsafe-inline'; script-src( 'sha256-[^' ]+'){3}; img-src data:;`},
		"nothing":  {underway(2), "/x", `^default-src 'none'; frame-ancestors 'none'$`},
	} {
		header := get(open(&watched{sight: c.sight}), c.path).Header()
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

// hostile is what a name, a message or a transaction may be made of.
const hostile = `</script><script>alert(1)</script><img src=x onerror=alert(2)>"'` + "\x1b[2J\u202e"

// What others named is text wherever it stands.
func TestForeignWordsAreText(t *testing.T) {
	sight := underway(14)
	experiment := sight.Experiment
	experiment.Spec.Question, experiment.Status.Verdict, experiment.Status.WaitingFor = hostile, hostile, hostile
	experiment.Status.Conditions = []metav1.Condition{{Type: hostile, Status: metav1.ConditionFalse, Message: hostile}}
	sight.Lost = &view.Loss{Since: noon, Why: hostile}
	run := &sight.Runs[14]
	run.Spec.Arm, run.Spec.Scenario.Name, run.Name = hostile, hostile, hostile
	run.Spec.Scenario.Loads[0].Name, run.Status.Loads[0].Name = hostile, hostile
	experiment.Status.Current = &v1alpha1.CurrentRun{Run: hostile, Phase: hostile, Message: hostile}
	for _, words := range []*v1alpha1.LoadProgress{told(3), told(4)} {
		words.RequestsPerSecond, words.ErrorPercent, words.P95[0].Transaction = hostile, hostile, hostile
		run.Status.Loads[0].Progress = words
	}
	sight.Courses = map[string][]view.Word{hostile: {{P95: map[string]float64{hostile: 1}, Users: 1}, {At: time.Minute, P95: map[string]float64{hostile: 2}, Users: 2}, {At: 2 * time.Minute, P95: map[string]float64{hostile: 3}, Users: 3}}}
	for i := range sight.Runs[:14] {
		if sight.Runs[i].Status.Phase == v1alpha1.RunInvalid {
			sight.Runs[i].Status.Message, sight.Runs[i].Spec.Arm = hostile, hostile
		}
	}
	pages := open(&watched{sight: sight})
	page := get(pages, "/").Body.String()
	var state struct {
		Parts map[string]struct{ HTML string }
	}
	expect.NoError(t, json.Unmarshal(get(pages, "/state").Body.Bytes(), &state))
	if escaped := strings.Count(page, "&lt;img src=x"); escaped < 12 {
		t.Errorf("only %d places hold the words", escaped)
	}
	// Without figures, what the run does is told in its own words.
	run.Status.Loads[0].Progress, experiment.Status.Current = nil, &v1alpha1.CurrentRun{Run: "another", Message: hostile}
	page += get(open(&watched{sight: sight}), "/").Body.String()
	for _, part := range state.Parts {
		page += part.HTML
	}
	for _, bad := range []string{"<img", "<script>alert", "\x1b", "\u202e"} {
		if at := strings.Index(page, bad); at >= 0 {
			t.Errorf("%q stands in the page: %q", bad, page[max(0, at-200):at+50])
		}
	}
}

// An open page that has seen the state is told nothing.
func TestNothingNew(t *testing.T) {
	seen := &watched{sight: underway(2)}
	pages := open(seen)
	first := get(pages, "/state")
	tag := first.Header().Get("ETag")
	if !strings.Contains(get(pages, "/").Body.String(), "data-tag=\""+strings.ReplaceAll(tag, `"`, "&#34;")) {
		t.Error("the page does not know its own tag")
	}
	if again := ask(pages, http.MethodGet, "/state", http.Header{"If-None-Match": {tag}}); again.Code != http.StatusNotModified || again.Body.Len() > 0 {
		t.Errorf("again: %d, %d bytes", again.Code, again.Body.Len())
	}
	changed := underway(3)
	changed.Version = 2
	seen.sight = changed
	if other := ask(pages, http.MethodGet, "/state", http.Header{"If-None-Match": {tag}}); other.Code != http.StatusOK || other.Header().Get("ETag") == tag {
		t.Errorf("what changed: %d, tag %s", other.Code, other.Header().Get("ETag"))
	}
}

// The report is the one that perflab report writes, byte for byte, and read once for
// all who look.
func TestACompleteExperimentIsItsReport(t *testing.T) {
	input := recorded.Experiment(1)
	seen := &watched{sight: view.Sight{Version: 7, Experiment: &input.Experiment, Runs: input.Runs, Seen: noon}, kept: view.Kept{Traces: map[string]*report.Trace{}}}
	for i := range input.Runs {
		run := &input.Runs[i]
		raw := slices.DeleteFunc(recorded.Experiment(1).Raw, notOf(run.Name))
		trace, err := report.TraceOf(run, raw...)
		expect.NoError(t, err)
		seen.kept.Traces[run.Name] = trace
	}
	document, err := report.New(recorded.Experiment(1))
	expect.NoError(t, err)
	want, err := document.HTML()
	expect.NoError(t, err)
	pages := open(seen)
	for _, path := range []string{"/", "/report", "/"} {
		if got := get(pages, path).Body.String(); got != string(want) {
			t.Errorf("%s is not the report: %d bytes, want %d", path, len(got), len(want))
		}
	}
	if reads := seen.reads.Load(); reads != 1 {
		t.Errorf("what the report needs was read %d times", reads)
	}
}

// A report that can't be had leaves the page, which says so and goes on.
func TestAReportThatCantBeHad(t *testing.T) {
	complete := underway(36)
	complete.Experiment.Status.Phase = v1alpha1.ExperimentComplete
	seen := &watched{sight: complete, err: errors.New("the line is dead")}
	pages := open(seen)
	answer := get(pages, "/")
	if page := answer.Body.String(); answer.Code != http.StatusOK || !strings.Contains(page, "the line is dead") || !strings.Contains(page, "<strong>Complete</strong>") {
		t.Errorf("%d: %.300s", answer.Code, page)
	}
	seen.err = nil
	if page := get(pages, "/").Body.String(); strings.Contains(page, "the line is dead") || !strings.Contains(page, `id="recommendations"`) {
		t.Error("the report does not come later")
	}
}

// A cluster that is away, or an experiment that was deleted, leaves what was last seen.
func TestEndings(t *testing.T) {
	lost, gone := underway(2), underway(2)
	lost.Lost = &view.Loss{Since: after(4).Time, Why: "It is asked again every few seconds: connection refused."}
	gone.Gone = true
	for name, c := range map[string]struct {
		sight view.Sight
		want  []string
	}{
		"lost":   {lost, []string{"The cluster does not answer since 12:04:00 UTC.", "connection refused", `<dd>2 of 36</dd>`, `last change seen at <time datetime="2026-03-02T12:03:00Z">`}},
		"gone":   {gone, []string{"The experiment was deleted.", `<dd>2 of 36</dd>`}},
		"unseen": {view.Sight{Lost: lost.Lost}, []string{"Looking for the experiment", "connection refused"}},
	} {
		page := get(open(&watched{sight: c.sight}), "/").Body.String()
		expect.Contains(t, page, c.want, "%s", name)
	}
}

func TestCoursesOfADay(t *testing.T) {
	var courses view.Courses
	run := &v1alpha1.PerfRun{}
	run.Name = "one"
	run.Status.Timings.LoadStart = after(0)
	const words = 2880
	for i := range words {
		run.Status.Loads = []v1alpha1.LoadStatus{{Name: "cico", Progress: told(float64(i) / 2)}}
		courses.Take(run)
		// The same word again.
		courses.Take(run)
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
	courses.Take(run)
	if len(courses.Loads("two")["cico"]) != 1 || courses.Loads("one") != nil {
		t.Error("another run does not begin anew")
	}
}

// notOf is of another run than this.
func notOf(run string) func(corev1.ConfigMap) bool {
	return func(one corev1.ConfigMap) bool { return one.Labels[v1alpha1.LabelRun] != run }
}
