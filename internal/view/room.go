// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	g "maragu.dev/gomponents"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/report"
)

// reportPatience bounds what reading the raw results of an experiment may take.
const reportPatience = 2 * time.Minute

var errNothingSeen = errors.New("the experiment was not seen yet")

// Room serves the page of one experiment, at its root; "state" below it is what an
// open page asks for, "report" the report as it is by now. What many look at is made
// once.
type Room struct {
	Watched Watched
	Now     func() time.Time

	mu sync.Mutex
	// page of this version at this minute.
	page    *rendered
	version uint64
	minute  time.Time
	// answer of the runs with this digest.
	answer answer

	// reporting takes longer than a page may wait for.
	reporting sync.Mutex
	// written is the report of the experiment and the runs with this digest.
	written []byte
	of      string
}

// answer is what came out so far, as the report has it.
type answer struct {
	of              string
	title, subtitle string
	card            g.Node
	unanswered      string
}

func (r *Room) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	switch strings.TrimPrefix(request.URL.Path, "/") {
	case "":
		r.serveWhole(w, request)
	case "state":
		r.serveState(w, request)
	case "report":
		r.serveReport(w, request)
	default:
		http.NotFound(w, request)
	}
}

// serveWhole shows the report of an experiment that is complete, and the living page
// of another, or where there is no report to be had.
func (r *Room) serveWhole(w http.ResponseWriter, request *http.Request) {
	sight := r.Watched.Sight()
	excuse := ""
	if sight.isComplete() {
		written, err := r.report(request.Context(), sight)
		if err == nil {
			writeReport(w, written)
			return
		}
		excuse = err.Error()
	}
	page, err := r.render(sight, excuse)
	if err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", policy)
	write(w, page.page)
}

func (r *Room) serveState(w http.ResponseWriter, request *http.Request) {
	page, err := r.render(r.Watched.Sight(), "")
	if err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("ETag", page.tag)
	if request.Header.Get("If-None-Match") == page.tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	write(w, page.state)
}

func (r *Room) serveReport(w http.ResponseWriter, request *http.Request) {
	written, err := r.report(request.Context(), r.Watched.Sight())
	if err != nil {
		fail(w, err)
		return
	}
	writeReport(w, written)
}

func writeReport(w http.ResponseWriter, written []byte) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", report.Policy()+"; frame-ancestors 'none'")
	write(w, written)
}

// write has nobody to tell of a reader that is gone.
func write(w http.ResponseWriter, body []byte) { _, _ = w.Write(body) }

func fail(w http.ResponseWriter, err error) {
	http.Error(w, "It can't be shown: "+err.Error()+".", http.StatusServiceUnavailable)
}

// render the living page, once for all who look at it. An excuse is why it is not the
// report; such a page is made for the one who asks.
func (r *Room) render(sight Sight, excuse string) (*rendered, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.Now()
	minute := now.Truncate(time.Minute)
	if excuse == "" && r.page != nil && r.version == sight.Version && r.minute.Equal(minute) {
		return r.page, nil
	}
	shown := pageOf(sight, now)
	if sight.Experiment != nil {
		r.answer = answerOf(sight, r.answer)
		shown.Title, shown.Subtitle = cmp.Or(r.answer.title, shown.Title), r.answer.subtitle
		shown.Card, shown.Unanswered = r.answer.card, r.answer.unanswered
	}
	if excuse != "" {
		shown.Notices = append(shown.Notices, notice{"The report can't be shown yet.", excuse})
	}
	page, err := render(sight, &shown, now)
	if err == nil && excuse == "" {
		r.page, r.version, r.minute = page, sight.Version, minute
	}
	return page, err
}

// answerOf a sight, unless it is known. Runs that are on say nothing yet.
func answerOf(s Sight, known answer) answer {
	ended := slices.DeleteFunc(slices.Clone(s.Runs), func(run v1alpha1.PerfRun) bool { return !run.Status.Phase.IsFinal() })
	made := answer{of: digestOfRuns(s.Experiment, ended)}
	if made.of == known.of {
		return known
	}
	document, err := report.New(report.Input{Experiment: *s.Experiment, Runs: ended})
	if err != nil {
		made.unanswered = "The answer so far can't be shown: " + err.Error() + "."
		return made
	}
	made.title, made.subtitle, made.card = document.Title(), document.Subtitle(), document.Card()
	return made
}

// report of a sight, written once.
func (r *Room) report(ctx context.Context, sight Sight) ([]byte, error) {
	if sight.Experiment == nil {
		return nil, errNothingSeen
	}
	r.reporting.Lock()
	defer r.reporting.Unlock()
	of := digestOfRuns(sight.Experiment, sight.Runs) + sight.Experiment.ResourceVersion
	if r.of == of {
		return r.written, nil
	}
	// Who looks may go away; the next one wants the same.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportPatience)
	defer cancel()
	kept, err := r.Watched.Kept(ctx, sight)
	if err != nil {
		return nil, fmt.Errorf("reading what the report needs: %w", err)
	}
	document, err := report.New(report.Input{Experiment: *sight.Experiment, Runs: sight.Runs, Traces: kept.Traces, Manifest: kept.Manifest, History: kept.History, Notes: kept.Notes})
	if err != nil {
		return nil, fmt.Errorf("reporting: %w", err)
	}
	written, err := document.HTML()
	if err != nil {
		return nil, fmt.Errorf("writing the report: %w", err)
	}
	r.written, r.of = written, of
	return written, nil
}

// digestOfRuns tells whether runs, or what is asked of them, are others.
func digestOfRuns(experiment *v1alpha1.PerfExperiment, runs []v1alpha1.PerfRun) string {
	var names []string
	for i := range runs {
		names = append(names, runs[i].Name+" "+runs[i].ResourceVersion)
	}
	slices.Sort(names)
	return digestOf(fmt.Appendf(nil, "%s %d %v", experiment.UID, experiment.Generation, names))
}
