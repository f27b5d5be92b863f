// SPDX-License-Identifier: Apache-2.0

package results_test

import (
	"math/rand/v2"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/results"
	"perflab.dev/perflab/payload"
)

func observedWithGrowth(samples *payload.Samples, window results.Window) []v1alpha1.Observation {
	return append(results.ObserveServers(samples, window), results.ObserveGrowth(samples, window, v1alpha1.Measurement{})...)
}

// The interval of a slope of 60 MiB per hour under noise lies above zero; that of noise alone does
// so only as often as the confidence level allows.
func TestGrowth(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	// Each value depends on the previous one, as with samples of memory.
	noisy := func(perHour float64) func(float64) float64 {
		drift := 0.0
		return func(minute float64) float64 {
			drift = 0.5*drift + random.NormFloat64()*5
			return 500 + perHour*minute/60 + drift
		}
	}
	grows := func(memory func(float64) float64) bool {
		seen := numbers(t, observedWithGrowth(sampledFor(constant(1), memory).Samples, window("", 0, 60)))
		const of = "module/mod-users/memory/"
		return seen[of+"slopeLow"] > 0 && seen[of+"slope"] > seen[of+"average"]/100
	}
	if !grows(noisy(30)) {
		t.Error("2 x 30 MiB/h are not seen")
	}
	alarms := 0
	const runs = 200
	for range runs {
		if grows(noisy(0)) {
			alarms++
		}
	}
	if alarms > runs*6/100 {
		t.Errorf("%d of %d runs without a leak were said to leak", alarms, runs)
	}
	if grows(constant(500)) {
		t.Error("what stands still grows")
	}
}

// Growth during the warm-up is no leak.
func TestShortWindowHasNoSlope(t *testing.T) {
	growing := sampledFor(constant(1), func(minute float64) float64 { return 100 + minute }).Samples
	for minutes, wanted := range map[float64]bool{9: false, 11: true} {
		_, told := values(results.ObserveGrowth(growing, window("", 0, minutes), v1alpha1.Measurement{}))["module/mod-users/memory/slope"]
		if told != wanted {
			t.Errorf("%g minutes have a slope: %t, want %t", minutes, told, wanted)
		}
	}
}

// after returns a measurement that reports growth after this time for heaps to fill.
func after(filling time.Duration) v1alpha1.Measurement {
	return v1alpha1.Measurement{Growth: &v1alpha1.Growth{After: &metav1.Duration{Duration: filling}}}
}

const slopeOfMemory = "module/mod-users/memory/slope"

// A heap that fills in ten minutes, is restarted after half an hour, and fills again.
func TestFillingHeapIsNoLeak(t *testing.T) {
	filled := func(minute float64) float64 { return 100 + 30*min(minute, 10) }
	restarted := func(minute float64) float64 {
		if minute >= 30 {
			minute -= 30
		}
		return filled(minute)
	}
	restart := []payload.ContainerEnd{{Component: "module/mod-users", Instance: "a/main", At: minutes(30), ExitCode: 1, Count: 1}}
	elsewhere := []payload.ContainerEnd{{Component: "module/mod-feesfines", Instance: "a/main", At: minutes(30), ExitCode: 1, Count: 1}}
	leaking := func(perHour float64, memory func(float64) float64) func(float64) float64 {
		return func(minute float64) float64 { return memory(minute) + perHour*minute/60 }
	}
	for name, tc := range map[string]struct {
		memory      func(minute float64) float64
		ends        []payload.ContainerEnd
		measurement v1alpha1.Measurement
		least, most float64
	}{
		"one that fills":                             {filled, nil, after(12 * time.Minute), -0.01, 0.01},
		"as long as heaps are given by default":      {filled, nil, v1alpha1.Measurement{}, 100, 1000},
		"one that fills twice":                       {restarted, restart, after(12 * time.Minute), -0.01, 0.01},
		"one that falls without a restart":           {restarted, elsewhere, after(12 * time.Minute), -1000, 1000},
		"one that leaks":                             {leaking(30, filled), nil, after(12 * time.Minute), 59, 61},
		"one that leaks all the time, and restarted": {leaking(30, restarted), restart, after(12 * time.Minute), 59, 61},
	} {
		t.Run(name, func(t *testing.T) {
			samples := sampledFor(constant(1), tc.memory).Samples
			samples.Ends = tc.ends
			hour := map[string]results.Measured{"cico": {Start: minutes(0), End: minutes(60)}}
			got := numbers(t, results.ObserveServersThroughout(samples, loads(users("")), hour, tc.measurement))
			slope, told := got[slopeOfMemory]
			if !told || slope < tc.least || slope > tc.most {
				t.Errorf("memory grows by %g MiB/h (told: %t), want %g to %g", slope, told, tc.least, tc.most)
			}
		})
	}
}
