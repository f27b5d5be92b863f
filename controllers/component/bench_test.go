// SPDX-License-Identifier: Apache-2.0

package component_test

import (
	"encoding/json"
	"runtime"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/naming"
)

// BenchmarkSummaries says what the cache holds of a run that is over, in bytes of the live
// heap, and how much more that would be if each had its own copy of the words that runs
// of an experiment share.
func BenchmarkSummaries(b *testing.B) {
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
	small := written(b, component.Summary(run))
	var shared, apart float64
	for b.Loop() {
		shared = held(b, whole, component.Summary)
		apart = held(b, small, func(read *v1alpha1.PerfRun) *v1alpha1.PerfRun { return read })
	}
	b.ReportMetric(shared, "heap-B/run")
	b.ReportMetric(apart/shared, "apart/shared")
}

func written(b *testing.B, run *v1alpha1.PerfRun) []byte {
	b.Helper()
	text, err := json.Marshal(run)
	if err != nil {
		b.Fatal(err)
	}
	return text
}

// held is what each of many runs takes that were read one by one, and kept so.
func held(b *testing.B, text []byte, keep func(*v1alpha1.PerfRun) *v1alpha1.PerfRun) float64 {
	b.Helper()
	runs := make([]*v1alpha1.PerfRun, 500)
	before := heap()
	for i := range runs {
		read := &v1alpha1.PerfRun{}
		if err := json.Unmarshal(text, read); err != nil {
			b.Fatal(err)
		}
		runs[i] = keep(read)
	}
	after := heap()
	runtime.KeepAlive(runs)
	return (after - before) / float64(len(runs))
}

func heap() float64 {
	runtime.GC()
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	return float64(now.HeapAlloc)
}
