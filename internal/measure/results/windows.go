// SPDX-License-Identifier: Apache-2.0

package results

import (
	"slices"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/payload"
)

// Measured is the measurement of one load, and its time.
type Measured struct {
	// Histograms are nil if the load's k6 lacks PerfLab's output.
	Histograms *payload.Payload
	// Summary is k6's own, used without histograms.
	Summary *Summary
	// GeneratorPercent is the share of its CPUs that the busiest of the load's runners used; zero
	// if unknown.
	GeneratorPercent float64
	// Start and End are those of the load's first and last request or, with a summary, of its
	// runners.
	Start, End time.Time
	// Disturbed is when the first fault began; zero without faults.
	Disturbed time.Time
}

// FromHistograms returns the measurement of a load with PerfLab's output, from one runner or the
// sum of several.
func FromHistograms(p *payload.Payload) Measured {
	measured := Measured{Histograms: p, Start: p.Start, End: p.End}
	if average, _, known := p.GeneratorLoad(); known {
		measured.GeneratorPercent = 100 * average
	}
	return measured
}

// isOn reports whether the load was running at a time.
func (m Measured) isOn(at time.Time) bool { return m.Start.Before(at) && m.End.After(at) }

// Window is a part of a run; its end is excluded.
type Window struct {
	// Name is empty for the whole counted window.
	Name     string
	From, To time.Time
}

func (w Window) empty() bool { return !w.To.After(w.From) }

// Within is the intersection with other.
func (w Window) Within(other Window) Window {
	w.From, w.To = later(w.From, other.From), earlier(w.To, other.To)
	return w
}

// Windows splits a scenario by its batches, after the run: before the first batch, during
// each, after the last. A scenario without batches next to other loads has none. Warm-up and
// tail are not yet removed: each load has its own.
func Windows(loads []v1alpha1.Load, measured map[string]Measured) []Window {
	run, ok := extent(loads, measured, func(v1alpha1.Load) bool { return true })
	working, any := extent(loads, measured, kinds.IsBatch)
	batches := batchLoads(loads)
	if !ok || !any || len(batches) == len(loads) {
		return nil
	}
	windows := []Window{{Name: metric.Alone, From: run.From, To: working.From}}
	for _, load := range batches {
		if own, found := measured[load.Name]; found {
			windows = append(windows, Window{Name: metric.During(load.Name), From: own.Start, To: own.End})
		}
	}
	return append(windows, Window{Name: metric.After, From: working.To, To: run.To})
}

func batchLoads(loads []v1alpha1.Load) []v1alpha1.Load {
	return slices.DeleteFunc(slices.Clone(loads), func(load v1alpha1.Load) bool { return !kinds.IsBatch(load) })
}

// extent is from the first start to the last end of some loads; false if none of them was measured.
func extent(loads []v1alpha1.Load, measured map[string]Measured, among func(v1alpha1.Load) bool) (Window, bool) {
	var some []v1alpha1.Load
	for _, load := range loads {
		if _, found := measured[load.Name]; found && among(load) {
			some = append(some, load)
		}
	}
	return around(some, func(load v1alpha1.Load) Window {
		own := measured[load.Name]
		return Window{From: own.Start, To: own.End}
	}), len(some) > 0
}

// Whole is the counted window of a load: of a batch from its start to its end, of other loads
// without warm-up and tail; if they last until another load has ended, only while that load runs.
func Whole(load v1alpha1.Load, measured map[string]Measured, measurement v1alpha1.Measurement) Window {
	window := steady(load, measured, measurement)
	if other, ok := measured[load.Until]; ok {
		window = window.Within(Window{From: other.Start, To: other.End})
	}
	return window
}

// Steady is from the first load's start without its warm-up to the last load's end without its
// tail.
func Steady(loads []v1alpha1.Load, measured map[string]Measured, measurement v1alpha1.Measurement) Window {
	return around(loads, func(load v1alpha1.Load) Window { return steady(load, measured, measurement) })
}

// around is the time from the first to the last of the loads' windows.
func around(loads []v1alpha1.Load, of func(v1alpha1.Load) Window) Window {
	var all Window
	for i, load := range loads {
		own := of(load)
		if i == 0 {
			all = own
		}
		all.From, all.To = earlier(all.From, own.From), later(all.To, own.To)
	}
	return all
}

// steady is a load without its warm-up and tail, and without the time after a fault.
func steady(load v1alpha1.Load, measured map[string]Measured, measurement v1alpha1.Measurement) Window {
	own := measured[load.Name]
	window := Window{From: own.Start, To: own.End}
	if kinds.IsBatch(load) {
		return window
	}
	window.From = window.From.Add(measurement.WarmUpOrDefault())
	if !own.Disturbed.IsZero() {
		window.To = earlier(window.To, own.Disturbed)
		return window
	}
	if load.Until == "" {
		// A load that lasts until another has ended has no tail of its own.
		window.To = window.To.Add(-measurement.TailOrDefault())
	}
	return window
}

func later(times ...time.Time) time.Time { return slices.MaxFunc(times, time.Time.Compare) }

func earlier(times ...time.Time) time.Time { return slices.MinFunc(times, time.Time.Compare) }
