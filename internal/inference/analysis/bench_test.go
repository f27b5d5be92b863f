// SPDX-License-Identifier: Apache-2.0

package analysis_test

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"syscall"
	"testing"
	"time"

	"perflab.dev/perflab/internal/inference/analysis"
	"perflab.dev/perflab/internal/testing/expect"
)

// Analyzing the largest experiment must take at most two seconds and 200 MB. The time is the CPU
// time of all processors, which does not depend on other workloads.
const (
	maxSeconds   = 2
	maxMegabytes = 200
)

// largest is 100 arms x 30 blocks x 200 metrics.
func largest() bench {
	names := []string{"arm-0"}
	for arm := 1; arm < 99; arm++ {
		names = append(names, fmt.Sprintf("arm-%d", arm))
	}
	made := bench{arms: newArms(append(names, "twin")...), scenarios: []string{"cico-8"}, blocks: 30, spread: 0.03}
	made.metrics = []string{checkIn, checkOut}
	for len(made.metrics) < 200 {
		made.metrics = append(made.metrics, fmt.Sprintf("cico/step-%d/p95", len(made.metrics)))
	}
	return made
}

// BenchmarkFromRunsToStatus measures the operator's work from reading runs to writing the status.
// The memory excludes that of the runs.
func BenchmarkFromRunsToStatus(b *testing.B) {
	made := largest()
	spec, runs := made.spec(), made.runs()
	b.ReportAllocs()
	var held float64
	began := processorTime(b)
	for b.Loop() {
		held = max(held, peak(func() {
			answer := analysis.Analyze(spec, made.arms, 7, runs)
			if listed := answer.Bounded(); len(answer.Comparisons) != 99*200 || len(listed) != 300 {
				b.Fatalf("%d comparisons, %d listed", len(answer.Comparisons), len(listed))
			}
		}))
	}
	b.StopTimer()
	each := (processorTime(b) - began).Seconds() / float64(b.N)
	b.ReportMetric(held, "MB-peak")
	b.ReportMetric(each, "cpu-s/op")
	if each > maxSeconds || held > maxMegabytes {
		b.Errorf("%.2f s and %.0f MB, want at most %d s and %d MB", each, held, maxSeconds, maxMegabytes)
	}
}

func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	expect.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// peak returns the largest growth of the heap during a call, including uncollected garbage.
func peak(do func()) float64 {
	runtime.GC()
	before, most := heap(), uint64(0)
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			most = max(most, heap())
			select {
			case <-done:
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	}()
	do()
	close(done)
	<-stopped
	return float64(most-min(before, most)) / 1e6
}

func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
