// SPDX-License-Identifier: Apache-2.0

package cache_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	goruntime "runtime"
	"strconv"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/kube/cache"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/recorded"
)

// BenchmarkStrippedRuns reports the size of a finished run in the cache, in bytes of the live
// heap, and how much larger it would be with its own copies of the texts that runs of an
// experiment share.
func BenchmarkStrippedRuns(b *testing.B) {
	run := folioRun(v1alpha1.RunSucceeded)
	run.Spec.PlanHash, run.UID = naming.Hash("plan"), "0f3b7c52-7d7e-4d0b-9d44-0b0a1b8f2c11"
	run.Labels = naming.RunLabels(run)
	run.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: v1alpha1.GroupVersion.String(), Kind: "PerfExperiment", Name: "folio", UID: run.UID,
		Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true),
	}}
	at := &metav1.Time{Time: time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)}
	run.Status.Timings = v1alpha1.RunTimings{ProvisionStart: at, Provisioned: at, Ready: at, LoadStart: at, LoadFinish: at, CollectStart: at, Finish: at}
	whole := written(b, run)
	small := written(b, cache.StripRun(run))
	var shared, apart float64
	for b.Loop() {
		shared = held(b, whole, cache.StripRun)
		apart = held(b, small, func(read *v1alpha1.PerfRun) *v1alpha1.PerfRun { return read })
	}
	b.ReportMetric(shared, "heap-B/run")
	b.ReportMetric(apart/shared, "apart/shared")
}

func written(b *testing.B, object any) []byte {
	b.Helper()
	text, err := json.Marshal(object)
	expect.NoError(b, err)
	return text
}

// held returns the average size of many runs that were decoded one by one and then stripped.
func held(b *testing.B, text []byte, keep func(*v1alpha1.PerfRun) *v1alpha1.PerfRun) float64 {
	b.Helper()
	runs := make([]*v1alpha1.PerfRun, 500)
	before := heap()
	for i := range runs {
		read := &v1alpha1.PerfRun{}
		expect.NoError(b, json.Unmarshal(text, read))
		runs[i] = keep(read)
	}
	after := heap()
	goruntime.KeepAlive(runs)
	return (after - before) / float64(len(runs))
}

func heap() float64 {
	goruntime.GC()
	var now goruntime.MemStats
	goruntime.ReadMemStats(&now)
	return float64(now.HeapAlloc)
}

// BenchmarkDecodeRuns reports the time and the allocations for listing a finished run, and the
// factors by which both grow if it is decoded whole first, as by client-go.
func BenchmarkDecodeRuns(b *testing.B) {
	const pages = 100
	listening := httptest.NewServer(copies(b, pages))
	defer listening.Close()
	config := &rest.Config{Host: listening.URL, QPS: -1}
	var part, whole cost
	for b.Loop() {
		part.of(b, func() { readInPart(b, config) })
		whole.of(b, func() { readWhole(b, config, pages) })
	}
	runs := float64(b.N * pages * pageSize)
	b.ReportMetric(float64(part.took.Microseconds())/runs, "µs/run")
	b.ReportMetric(float64(part.allocated)/runs, "allocated-B/run")
	b.ReportMetric(float64(whole.took)/float64(part.took), "whole/part")
	b.ReportMetric(float64(whole.allocated)/float64(part.allocated), "whole/part-allocated")
}

// pageSize is the operator's.
const pageSize = 20

// copies is a server with a number of pages of recorded runs.
func copies(b *testing.B, pages int) http.Handler {
	b.Helper()
	list, known := v1alpha1.PerfRunList{}, recorded.Experiment(1).Runs
	for n := range pageSize {
		list.Items = append(list.Items, known[n%len(known)])
	}
	texts := make([][]byte, pages)
	for n := range texts {
		if list.Continue = strconv.Itoa(n + 1); n+1 == pages {
			list.Continue = ""
		}
		texts[n] = written(b, list)
	}
	b.Logf("a run is stored as %d bytes", len(texts[0])/pageSize)
	return http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		page, _ := strconv.Atoi(request.URL.Query().Get("continue"))
		answer.Header().Set("Content-Type", "application/json")
		_, _ = answer.Write(texts[page])
	})
}

func readInPart(b *testing.B, config *rest.Config) {
	b.Helper()
	server, err := cache.NewRESTClient(config)
	expect.NoError(b, err)
	watcher := &toolscache.ListWatch{WatchFuncWithContext: (&shelf{}).watch}
	made := cache.NewInformer(server, "")(watcher, &v1alpha1.PerfRun{}, 0, toolscache.Indexers{})
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	go made.RunWithContext(ctx)
	// Polling would distort the measurement.
	if !toolscache.WaitFor(ctx, "", made.HasSyncedChecker()) {
		b.Fatal("not all has been read")
	}
}

func readWhole(b *testing.B, config *rest.Config, pages int) {
	b.Helper()
	known := runtime.NewScheme()
	expect.NoError(b, v1alpha1.AddToScheme(known))
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(v1alpha1.GroupVersion.WithKind("PerfRun"), meta.RESTScopeNamespace)
	reader, err := client.New(config, client.Options{Scheme: known, Mapper: mapper})
	expect.NoError(b, err)
	var kept []*v1alpha1.PerfRun
	for n := range pages {
		list := &v1alpha1.PerfRunList{}
		expect.NoError(b, reader.List(b.Context(), list, client.Continue(strconv.Itoa(n))))
		for i := range list.Items {
			kept = append(kept, cache.StripRun(&list.Items[i]))
		}
	}
	goruntime.KeepAlive(kept)
}

// cost is the total time and memory of an operation.
type cost struct {
	took      time.Duration
	allocated uint64
}

func (c *cost) of(b *testing.B, something func()) {
	b.Helper()
	var before, after goruntime.MemStats
	goruntime.ReadMemStats(&before)
	began := time.Now()
	something()
	c.took += time.Since(began)
	goruntime.ReadMemStats(&after)
	c.allocated += after.TotalAlloc - before.TotalAlloc
}
