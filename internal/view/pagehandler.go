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

// reportTimeout bounds reading the raw results of an experiment.
const reportTimeout = 2 * time.Minute

var errNotLoaded = errors.New("the experiment is not loaded yet")

// PageHandler serves the page of one experiment at its root, the state that an open page
// requests at "state", and the report so far at "report". Each is built once for all viewers.
type PageHandler struct {
	Source Source
	Now    func() time.Time

	mu sync.Mutex
	// page of this version at this minute.
	page    *rendered
	version uint64
	minute  time.Time
	// summary of the runs with its digest.
	summary runSummary

	// reportMu is held while a report is built, which takes longer than a page may wait.
	reportMu sync.Mutex
	// report of the experiment and runs with reportDigest.
	report       []byte
	reportDigest string
}

// runSummary is the result so far, as the report shows it.
type runSummary struct {
	digest          string
	title, subtitle string
	card            g.Node
	failure         string
}

func (r *PageHandler) ServeHTTP(w http.ResponseWriter, request *http.Request) {
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

// serveWhole serves the report of a complete experiment. It serves the live page while the
// experiment runs, or if the report fails.
func (r *PageHandler) serveWhole(w http.ResponseWriter, request *http.Request) {
	snapshot := r.Source.Snapshot()
	reportError := ""
	if snapshot.isComplete() {
		written, err := r.buildReport(request.Context(), snapshot)
		if err == nil {
			writeReport(w, written)
			return
		}
		reportError = err.Error()
	}
	page, err := r.render(snapshot, reportError)
	if err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", policy)
	write(w, page.page)
}

func (r *PageHandler) serveState(w http.ResponseWriter, request *http.Request) {
	page, err := r.render(r.Source.Snapshot(), "")
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

func (r *PageHandler) serveReport(w http.ResponseWriter, request *http.Request) {
	written, err := r.buildReport(request.Context(), r.Source.Snapshot())
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

// write ignores the error of a client that disconnected.
func write(w http.ResponseWriter, body []byte) { _, _ = w.Write(body) }

func fail(w http.ResponseWriter, err error) {
	http.Error(w, "The page can't be shown: "+err.Error()+".", http.StatusServiceUnavailable)
}

// render returns the live page, cached for all viewers. A page with a reportError is not
// cached.
func (r *PageHandler) render(snapshot Snapshot, reportError string) (*rendered, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.Now()
	minute := now.Truncate(time.Minute)
	if reportError == "" && r.page != nil && r.version == snapshot.Version && r.minute.Equal(minute) {
		return r.page, nil
	}
	shown := newPage(snapshot, now)
	if snapshot.Experiment != nil {
		r.summary = newRunSummary(snapshot, r.summary)
		shown.Title, shown.Subtitle = cmp.Or(r.summary.title, shown.Title), r.summary.subtitle
		shown.Card, shown.SummaryError = r.summary.card, r.summary.failure
	}
	if reportError != "" {
		shown.Notices = append(shown.Notices, notice{"The report can't be shown yet.", reportError})
	}
	page, err := render(snapshot, &shown, now)
	if err == nil && reportError == "" {
		r.page, r.version, r.minute = page, snapshot.Version, minute
	}
	return page, err
}

// newRunSummary summarizes the finished runs, unless known is of the same runs.
func newRunSummary(s Snapshot, known runSummary) runSummary {
	ended := slices.DeleteFunc(slices.Clone(s.Runs), func(run v1alpha1.PerfRun) bool { return !run.Status.Phase.IsFinal() })
	made := runSummary{digest: runsDigest(s.Experiment, ended)}
	if made.digest == known.digest {
		return known
	}
	document, err := report.New(report.Input{Experiment: *s.Experiment, Runs: ended})
	if err != nil {
		made.failure = "The results so far can't be shown: " + err.Error() + "."
		return made
	}
	made.title, made.subtitle, made.card = document.Title(), document.Subtitle(), document.Card()
	return made
}

// buildReport returns the report of a snapshot, cached by its digest.
func (r *PageHandler) buildReport(ctx context.Context, snapshot Snapshot) ([]byte, error) {
	if snapshot.Experiment == nil {
		return nil, errNotLoaded
	}
	r.reportMu.Lock()
	defer r.reportMu.Unlock()
	digest := runsDigest(snapshot.Experiment, snapshot.Runs) + snapshot.Experiment.ResourceVersion
	if r.reportDigest == digest {
		return r.report, nil
	}
	// The client may disconnect; the next request needs the same report.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportTimeout)
	defer cancel()
	kept, err := r.Source.ReportInput(ctx, snapshot)
	if err != nil {
		return nil, fmt.Errorf("reading the report's input: %w", err)
	}
	document, err := report.New(report.Input{Experiment: *snapshot.Experiment, Runs: snapshot.Runs, Traces: kept.Traces, Manifest: kept.Manifest, History: kept.History, Notes: kept.Notes})
	if err != nil {
		return nil, fmt.Errorf("reporting: %w", err)
	}
	written, err := document.HTML()
	if err != nil {
		return nil, fmt.Errorf("writing the report: %w", err)
	}
	r.report, r.reportDigest = written, digest
	return written, nil
}

// runsDigest changes with the runs and with the experiment's spec.
func runsDigest(experiment *v1alpha1.PerfExperiment, runs []v1alpha1.PerfRun) string {
	var names []string
	for i := range runs {
		names = append(names, runs[i].Name+" "+runs[i].ResourceVersion)
	}
	slices.Sort(names)
	return hexDigest(fmt.Appendf(nil, "%s %d %v", experiment.UID, experiment.Generation, names))
}
