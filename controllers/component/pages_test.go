// SPDX-License-Identifier: Apache-2.0

package component_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
)

// shelf plays a server that has runs, and gives them page by page.
type shelf struct {
	runs int
	// stale is how many lists end with a page that is too old.
	stale int
	asked []string
}

func (s *shelf) list(_ context.Context, options metav1.ListOptions) (runtime.Object, error) {
	s.asked = append(s.asked, fmt.Sprintf("%d from %q version %q", options.Limit, options.Continue, options.ResourceVersion))
	first, _ := strconv.Atoi(options.Continue)
	if first > 0 && s.stale > 0 {
		s.stale--
		return nil, apierrors.NewResourceExpired("the page is too old")
	}
	page := &v1alpha1.PerfRunList{ListMeta: metav1.ListMeta{ResourceVersion: "77"}}
	for n := first; n < s.runs && n < first+int(options.Limit); n++ {
		run := folioRun(v1alpha1.RunSucceeded)
		run.Name = fmt.Sprintf("run-%03d", n)
		page.Items = append(page.Items, *run)
	}
	if next := first + len(page.Items); next < s.runs {
		page.Continue = strconv.Itoa(next)
	}
	return page, nil
}

func (s *shelf) watch(_ context.Context, options metav1.ListOptions) (watch.Interface, error) {
	s.asked = append(s.asked, fmt.Sprintf("a watch from version %q", options.ResourceVersion))
	return watch.NewFake(), nil
}

// informed is what an informer of runs knows of a shelf once it has seen all.
func informed(t *testing.T, s *shelf) []any {
	t.Helper()
	made := component.NewInformer(&toolscache.ListWatch{ListWithContextFunc: s.list, WatchFuncWithContext: s.watch},
		&v1alpha1.PerfRun{}, 0, toolscache.Indexers{})
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	ended := make(chan struct{})
	go func() { made.RunWithContext(ctx); close(ended) }()
	if !toolscache.WaitForCacheSync(ctx.Done(), made.HasSynced) {
		t.Errorf("the informer has not seen all after 30s; asked for were %q", s.asked)
	}
	stop()
	<-ended
	return made.GetStore().List()
}

// What a server has is asked for in pages, and none is missed or held whole.
func TestRunsAreReadInPages(t *testing.T) {
	s := &shelf{runs: 50}
	known := informed(t, s)
	want := []string{`20 from "" version ""`, `20 from "20" version ""`, `20 from "40" version ""`}
	if diff := cmp.Diff(want, s.asked[:min(3, len(s.asked))]); diff != "" {
		t.Errorf("lists (-want +got):\n%s", diff)
	}
	for _, asked := range s.asked[min(3, len(s.asked)):] {
		if asked != `a watch from version "77"` {
			t.Errorf("then %s was asked for", asked)
		}
	}
	names := map[string]bool{}
	for _, object := range known {
		run := object.(*v1alpha1.PerfRun)
		names[run.Name] = true
		if size(t, run) > 2000 {
			t.Fatalf("of run %s %d bytes are kept in mind", run.Name, size(t, run))
		}
	}
	if len(names) != 50 {
		t.Errorf("%d runs are known, want 50", len(names))
	}
}

// Where pages become too old in the middle, all are read again.
func TestPagesThatAreTooOldAreReadAgain(t *testing.T) {
	s := &shelf{runs: 30, stale: 1}
	if known := informed(t, s); len(known) != 30 {
		t.Errorf("%d runs are known after %q, want 30", len(known), s.asked)
	}
}
