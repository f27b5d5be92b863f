// SPDX-License-Identifier: Apache-2.0

package view_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/recorded"
	"perflab.dev/perflab/internal/view"
)

// testServer is a server with fake sources.
type testServer struct {
	*view.Server
	listed []view.ListItem
	err    error
	lists  int
	now    time.Time
	open   map[types.NamespacedName]*fakeSource
}

func newTestServer(names ...string) *testServer {
	b := &testServer{now: noon, open: map[types.NamespacedName]*fakeSource{}}
	for _, name := range names {
		b.listed = append(b.listed, view.ListItem{NamespacedName: types.NamespacedName{Namespace: "lab", Name: name}, Phase: "Running", Progress: "2/36"})
	}
	b.Server = &view.Server{
		List: func(context.Context) ([]view.ListItem, error) { b.lists++; return b.listed, b.err },
		Open: func(name types.NamespacedName) (view.Source, func()) {
			b.open[name] = &fakeSource{snapshot: runningSnapshot(2)}
			return b.open[name], func() { delete(b.open, name) }
		},
		Viewer: view.IdentifyViewer("X-Viewer"),
		Now:    func() time.Time { return b.now },
	}
	return b
}

func TestListLinksToPages(t *testing.T) {
	b := newTestServer("one", "two")
	answer := get(view.Secure(view.Loopback, b), "/")
	expect.Contains(t, answer.Body.String(), []string{`<a href="lab/one/">one</a>`, `<td>Running</td><td class="n">2/36</td>`}, "the list")
	if policy := answer.Header().Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'; style-src 'unsafe-inline'; base-uri") {
		t.Errorf("policy %q", policy)
	}
	for path, want := range map[string]int{
		"/lab/one/": http.StatusOK, "/lab/one/state": http.StatusOK, "/lab/one/report": http.StatusOK, "/lab/one/x": http.StatusNotFound,
		"/lab/one": http.StatusPermanentRedirect, "/lab/three/": http.StatusNotFound, "/lab": http.StatusNotFound, "/lab/": http.StatusNotFound, "/else/one/": http.StatusNotFound,
	} {
		if answer := get(b, path); answer.Code != want {
			t.Errorf("%s: %d, want %d", path, answer.Code, want)
		}
	}
	if location := get(b, "/lab/two").Header().Get("Location"); location != "two/" {
		t.Errorf("it leads to %q", location)
	}
	if len(b.open) != 1 || b.lists != 1 {
		t.Errorf("%d are watched, and they were listed %d times, want 1 and 1", len(b.open), b.lists)
	}
}

func TestListEscapesText(t *testing.T) {
	b := newTestServer()
	b.listed = []view.ListItem{{NamespacedName: types.NamespacedName{Namespace: "lab", Name: "javascript:alert(1)"}, Phase: hostile, Verdict: hostile, Message: hostile}}
	page := get(b, "/").Body.String()
	if strings.Contains(page, "<script") || strings.Contains(page, "<img") || strings.Contains(page, `href="javascript`) || strings.Count(page, "&lt;img") != 3 {
		t.Error(page[strings.Index(page, "<main>"):])
	}
}

func TestIdlePagesClose(t *testing.T) {
	b := newTestServer("one", "two")
	get(b, "/lab/one/")
	b.now = b.now.Add(4 * time.Minute)
	get(b, "/lab/two/")
	b.now = b.now.Add(2 * time.Minute)
	b.CloseIdle()
	if len(b.open) != 1 || b.open[types.NamespacedName{Namespace: "lab", Name: "two"}] == nil {
		t.Errorf("%d are watched, want two alone", len(b.open))
	}
}

func TestOpenPagesAreLimited(t *testing.T) {
	var names []string
	for i := range 9 {
		names = append(names, fmt.Sprintf("e%d", i))
	}
	b := newTestServer(names...)
	for i, name := range names {
		want := http.StatusOK
		if i == 8 {
			want = http.StatusServiceUnavailable
		}
		if answer := get(b, "/lab/"+name+"/"); answer.Code != want {
			t.Errorf("%s: %d, want %d", name, answer.Code, want)
		}
	}
	b.now = b.now.Add(6 * time.Minute)
	if answer := get(b, "/lab/e8/"); answer.Code != http.StatusOK || len(b.open) != 1 {
		t.Errorf("later: %d, %d are watched", answer.Code, len(b.open))
	}
}

// Viewers of a deleted experiment keep its last state; new viewers see the recreated one.
func TestRecreatedExperimentHasNewPage(t *testing.T) {
	b := newTestServer("one")
	get(b, "/lab/one/")
	first := b.open[types.NamespacedName{Namespace: "lab", Name: "one"}]
	first.snapshot.Deleted, first.snapshot.Version = true, 2
	again := b.listed
	b.listed, b.now = nil, b.now.Add(time.Minute)
	if state := get(b, "/lab/one/state").Body.String(); !strings.Contains(state, `"ended":true`) {
		t.Errorf("%.200s", state)
	}
	b.listed, b.now = again, b.now.Add(time.Minute)
	if page := get(b, "/lab/one/").Body.String(); strings.Contains(page, "was deleted") || !strings.Contains(page, recorded.Arm) {
		t.Error("the next of that name is taken for the one that was deleted")
	}
}

func TestListErrorIsCached(t *testing.T) {
	b := newTestServer("one")
	b.err = errors.New("the line is dead")
	for range 3 {
		for _, path := range []string{"/", "/lab/one/"} {
			if answer := get(b, path); answer.Code != http.StatusServiceUnavailable || !strings.Contains(answer.Body.String(), "the line is dead") {
				t.Errorf("%s: %d: %s", path, answer.Code, answer.Body)
			}
		}
	}
	if b.lists != 1 {
		t.Errorf("they were listed %d times at once", b.lists)
	}
}

func TestOpenPagesWorkWithoutList(t *testing.T) {
	b := newTestServer("one")
	get(b, "/lab/one/")
	b.err, b.listed, b.now = errors.New("the line is dead"), nil, b.now.Add(time.Minute)
	for _, path := range []string{"/lab/one/state", "/lab/one/"} {
		if answer := get(b, path); answer.Code != http.StatusOK || !strings.Contains(answer.Body.String(), recorded.Arm) {
			t.Errorf("%s: %d: %.200s", path, answer.Code, answer.Body)
		}
	}
}
