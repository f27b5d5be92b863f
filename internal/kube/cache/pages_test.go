// SPDX-License-Identifier: Apache-2.0

package cache_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kubejson "sigs.k8s.io/json"
	"sigs.k8s.io/randfill"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/kube/cache"
	"perflab.dev/perflab/internal/testing/expect"
)

// shelf is a server that lists objects of a kind page by page.
type shelf struct {
	objects []client.Object
	// added are later objects, which the watch sends.
	added []client.Object
	// stale is how many lists end with an expired page, cut how many pages end in the
	// middle of an object.
	stale, cut int
	// unread is how many objects can't be decoded.
	unread int
	mu     sync.Mutex
	asked  []string
}

func runsOf(number int) []client.Object {
	made := make([]client.Object, number)
	for n := range made {
		run := folioRun(v1alpha1.RunSucceeded)
		run.Name = fmt.Sprintf("run-%03d", n)
		made[n] = run
	}
	return made
}

func (s *shelf) ServeHTTP(answer http.ResponseWriter, request *http.Request) {
	asked := request.URL.Query()
	s.note("%s from %q version %q of %s", asked.Get("limit"), asked.Get("continue"), asked.Get("resourceVersion"), request.URL.Path)
	first, _ := strconv.Atoi(asked.Get("continue"))
	limit, _ := strconv.Atoi(asked.Get("limit"))
	last := min(first+limit, len(s.objects))
	answer.Header().Set("Content-Type", "application/json")
	if first > 0 && s.once(&s.stale) {
		answer.WriteHeader(http.StatusGone)
		_ = json.NewEncoder(answer).Encode(apierrors.NewResourceExpired("the page is too old").Status())
		return
	}
	list := metav1.ListMeta{ResourceVersion: "77"}
	if last < len(s.objects) {
		list.Continue = strconv.Itoa(last)
	}
	text, _ := json.Marshal(map[string]any{
		"kind": "List", "apiVersion": v1alpha1.GroupVersion.String(), "metadata": list, "items": s.objects[first:last],
	})
	if s.once(&s.cut) {
		text = text[:len(text)/2]
	}
	_, _ = answer.Write(text)
}

func (s *shelf) watch(_ context.Context, options metav1.ListOptions) (watch.Interface, error) {
	s.note("a watch from version %q", options.ResourceVersion)
	told := watch.NewFakeWithChanSize(len(s.added), false)
	for _, object := range s.added {
		told.Add(object)
	}
	return told, nil
}

func (s *shelf) note(format string, words ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, fmt.Sprintf(format, words...))
}

// once returns true this many times.
func (s *shelf) once(times *int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	*times--
	return *times >= 0
}

// informed returns the objects of an informer that has read all of a shelf.
func informed(t *testing.T, s *shelf, example client.Object) map[string]client.Object {
	t.Helper()
	listening := httptest.NewServer(s)
	defer listening.Close()
	server, err := cache.NewRESTClient(&rest.Config{Host: listening.URL})
	expect.NoError(t, err)
	made := cache.NewInformer(server, "lab")(&toolscache.ListWatch{WatchFuncWithContext: s.watch}, example, 0, toolscache.Indexers{})
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	ended := make(chan struct{})
	go func() { made.RunWithContext(ctx); close(ended) }()
	all := func() bool {
		return made.HasSynced() && len(made.GetStore().ListKeys()) == len(s.objects)+len(s.added)-s.unread
	}
	if !toolscache.WaitForCacheSync(ctx.Done(), all) {
		t.Errorf("the informer has not seen all after 30s; asked for were %q", s.asked)
	}
	stop()
	<-ended
	known := map[string]client.Object{}
	for _, object := range made.GetStore().List() {
		named := object.(client.Object)
		known[named.GetName()] = named
	}
	return known
}

// The schema accepts values that the Go types cannot decode. One such object must not fail
// the list of its kind.
func TestListSkipsUndecodableObjects(t *testing.T) {
	for kind, example := range map[string]client.Object{
		"PerfExperiment": &v1alpha1.PerfExperiment{}, "PerfRun": &v1alpha1.PerfRun{},
		"PerfSystem": &v1alpha1.PerfSystem{}, "PerfSchedule": &v1alpha1.PerfSchedule{},
	} {
		t.Run(kind, func(t *testing.T) {
			object := func(name string, fields map[string]any) client.Object {
				made := &unstructured.Unstructured{Object: fields}
				made.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind))
				made.SetNamespace("lab")
				made.SetName(name)
				return made
			}
			spec := map[string]any{
				"deadlines": map[string]any{"load": "9999999999h"}, "modules": []any{map[string]any{"name": int64(7)}},
				"template": map[string]any{"spec": map[string]any{"deadlines": map[string]any{"load": "9999999999h"}}},
			}
			known := informed(t, &shelf{unread: 1, objects: []client.Object{
				object("a", map[string]any{}), object("b", map[string]any{"spec": spec}), object("c", map[string]any{}),
			}}, example)
			expect.Equal(t, []string{"a", "c"}, slices.Sorted(maps.Keys(known)), "what is known")
		})
	}
}

// The informer requests all objects in pages, misses none, and holds none whole.
func TestInformerListsInPages(t *testing.T) {
	s := &shelf{objects: runsOf(50)}
	known := informed(t, s, &v1alpha1.PerfRun{})
	const path = "/apis/perflab.dev/v1alpha1/namespaces/lab/perfruns"
	want := []string{
		`20 from "" version "" of ` + path, `20 from "20" version "" of ` + path, `20 from "40" version "" of ` + path,
	}
	expect.Equal(t, want, s.asked[:min(3, len(s.asked))], "lists")
	for _, asked := range s.asked[min(3, len(s.asked)):] {
		if asked != `a watch from version "77"` {
			t.Errorf("then %s was asked for", asked)
		}
	}
	for name, run := range known {
		if size(t, run) > 2000 {
			t.Fatalf("of run %s %d bytes are kept in mind", name, size(t, run))
		}
	}
	if len(known) != 50 {
		t.Errorf("%d runs are known, want 50", len(known))
	}
}

// A run from the watch is stripped like a listed one.
func TestWatchStripsRuns(t *testing.T) {
	all := runsOf(2)
	known := informed(t, &shelf{objects: all[:1], added: all[1:]}, &v1alpha1.PerfRun{})
	for name, run := range known {
		if size(t, run) > 2000 {
			t.Errorf("of run %s %d bytes are kept in mind", name, size(t, run))
		}
	}
	if len(known) != 2 {
		t.Errorf("%d runs are known, want 2", len(known))
	}
}

// If a page has expired or breaks off, the informer lists again from the start.
func TestInformerRetriesFailedPages(t *testing.T) {
	for name, s := range map[string]*shelf{"too old": {stale: 1}, "cut off": {cut: 1}} {
		t.Run(name, func(t *testing.T) {
			s.objects = runsOf(30)
			if known := informed(t, s, &v1alpha1.PerfRun{}); len(known) != 30 {
				t.Errorf("%d runs are known after %q, want 30", len(known), s.asked)
			}
		})
	}
}

// Decoding an object gives the same result as decoding it whole and stripping it, with any
// content.
func TestDecodeEqualsStrip(t *testing.T) {
	t.Run("runs", func(t *testing.T) {
		isReadAs(t, cache.StripRun, func(run *v1alpha1.PerfRun, n int) {
			run.Status.Phase = []v1alpha1.RunPhase{v1alpha1.RunSucceeded, v1alpha1.RunInvalid, v1alpha1.RunLoading, ""}[n%4]
			for i := range run.Status.Conditions {
				run.Status.Conditions[i].Type = v1alpha1.ConditionValid
			}
		})
	})
	t.Run("experiments", func(t *testing.T) {
		isReadAs(t, cache.StripExperiment, func(experiment *v1alpha1.PerfExperiment, n int) {
			experiment.Status.Settled = []string{"", "abc"}[n%2]
		})
	})
}

// isReadAs fills many objects at random, except fields that decide how much of them is kept.
func isReadAs[S any, T interface {
	*S
	client.Object
}](t *testing.T, strip func(T) T, decide func(object T, n int),
) {
	t.Helper()
	const seed = 7
	random := fuzzer.FuzzerFor(metafuzzer.Funcs, rand.NewSource(seed), scheme.Codecs).NilChance(0.1).NumElements(1, 2)
	random.Funcs(func(at *metav1.Time, random randfill.Continue) { *at = metav1.Unix(int64(random.Uint32()), 0) })
	s, want := &shelf{}, map[string]client.Object{}
	for n := range 40 {
		object := T(new(S))
		random.Fill(object)
		decide(object, n)
		object.SetName(strconv.Itoa(n))
		s.objects = append(s.objects, object)
		text, err := json.Marshal(object)
		expect.NoError(t, err)
		whole := T(new(S))
		expect.NoError(t, kubejson.UnmarshalCaseSensitivePreserveInts(text, whole))
		kept := strip(whole)
		kept.SetManagedFields(nil)
		want[object.GetName()] = kept
	}
	expect.Equal(t, want, informed(t, s, T(new(S))), "what is known")
}
