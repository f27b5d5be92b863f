// SPDX-License-Identifier: Apache-2.0

package watching_test

import (
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/expect"
)

// requests counts the requests of a connection by their target.
type requests struct {
	mu    sync.Mutex
	count map[string]int
}

func (r *requests) RoundTripper(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		kind := request.Method
		if request.URL.Query().Get("watch") != "" {
			kind = "watch"
		}
		r.mu.Lock()
		r.count[kind+" "+path.Base(request.URL.Path)]++
		r.mu.Unlock()
		return next.RoundTrip(request)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// Any number of viewers costs the API server one read and one watch of each kind.
func TestManyViewersCostOneWatch(t *testing.T) {
	l := newLab(t)
	counted := &requests{count: map[string]int{}}
	config := rest.CopyConfig(server.Config(t))
	config.Wrap(counted.RoundTripper)
	address, _ := l.serve(config)
	l.begin(0)
	l.read(address, "aria-current=\"step\">Loading")
	var viewers sync.WaitGroup
	for range 20 {
		viewers.Go(func() {
			for range 5 {
				l.read(address+"state", "parts")
			}
		})
	}
	viewers.Wait()
	l.tell(10, "417", "0")
	l.read(address, "Check-In 417 ms")
	counted.mu.Lock()
	defer counted.mu.Unlock()
	want := map[string]int{
		"GET " + l.experiment.Name: 1, "GET perfruns": 1, "watch perfexperiments": 1, "watch perfruns": 1,
	}
	// Discovery is requested once, too.
	maps.DeleteFunc(counted.count, func(kind string, number int) bool {
		return number == 1 && slices.Contains([]string{"GET api", "GET apis", "GET v1alpha1"}, kind)
	})
	expect.Equal(t, want, counted.count, "requests")
}

// While the cluster is unavailable, the page keeps the last state, and the watch retries.
func TestWatchSurvivesUnavailableCluster(t *testing.T) {
	l := newLab(t)
	line, config := lineTo(t, server.Config(t))
	address, _ := l.serve(config)
	l.begin(0)
	l.tell(10, "417", "0")
	l.read(address, "Check-In 417 ms")
	line.cut()
	page := l.read(address, "The cluster has been unavailable since ")
	if !strings.Contains(page, "Check-In 417 ms") || !strings.Contains(page, "last change seen at") {
		t.Error("what was seen is gone")
	}
	l.tell(40, "431", "0")
	line.mend()
	if page := l.read(address, "Check-In 431 ms"); strings.Contains(page, "has been unavailable since") {
		t.Error("the cluster answers, and the page says it does not")
	}
}

// After the deletion the page keeps the last state, even if another experiment has the name.
func TestDeletedExperimentIsKept(t *testing.T) {
	l := newLab(t)
	address, _ := l.serve(server.Config(t))
	l.begin(0)
	l.read(address, "aria-current=\"step\">Loading")
	deleted := l.experiment.DeepCopy()
	l.must(l.client.Delete(t.Context(), deleted))
	l.read(address, "The experiment was deleted.")
	again := l.input.Experiment.DeepCopy()
	again.Namespace, again.UID, again.ResourceVersion = l.experiment.Namespace, "", ""
	l.must(l.client.Create(t.Context(), again))
	if page := l.read(address, "The experiment was deleted."); !strings.Contains(page, l.run.Name) {
		t.Error("what was seen last is gone")
	}
}

// Reports of a running experiment are requested repeatedly, but the raw results of a
// finished run are read once.
func TestRawResultsAreReadOnce(t *testing.T) {
	l := newLab(t)
	l.input.Raw = slices.DeleteFunc(l.input.Raw, func(raw corev1.ConfigMap) bool { return raw.Labels[v1alpha1.LabelRun] != l.input.Runs[0].Name })
	l.keep()
	counted := &requests{count: map[string]int{}}
	config := rest.CopyConfig(server.Config(t))
	config.Wrap(counted.RoundTripper)
	address, _ := l.serve(config)
	l.begin(0)
	l.end(0)
	l.begin(1)
	l.read(address, "1 of 36")
	for at, p95 := range []string{"417", "431"} {
		l.tell(10+30*at, p95, "0")
		l.read(address, "Check-In "+p95+" ms")
		l.read(address+"report", "methodology")
	}
	counted.mu.Lock()
	defer counted.mu.Unlock()
	for _, raw := range l.input.Raw {
		if number := counted.count["GET "+raw.Name]; number != 1 {
			t.Errorf("%s was read %d times", raw.Name, number)
		}
	}
}

// The final page is the report that perflab report would write.
func TestFinishedExperimentShowsReport(t *testing.T) {
	l := newLab(t)
	address, _ := l.serve(server.Config(t))
	for number := range l.input.Runs {
		l.begin(number)
		l.end(number)
	}
	l.complete()
	page := l.read(address, `id="recommendations"`)
	input := report.Input{Experiment: *l.experiment, Raw: l.input.Raw}
	for _, run := range l.input.Runs {
		run.Namespace = l.experiment.Namespace
		input.Runs = append(input.Runs, run)
	}
	for i := range input.Raw {
		input.Raw[i].Namespace = l.experiment.Namespace
	}
	written, err := report.New(input)
	l.must(err)
	want, err := written.HTML()
	l.must(err)
	if page != string(want) {
		t.Errorf("the page is not the report: %d bytes, want %d", len(page), len(want))
	}
}
