// SPDX-License-Identifier: Apache-2.0

package results

import (
	"math"
	"slices"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/stats"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/payload"
)

const (
	// slopeConfidence of the interval of a slope.
	slopeConfidence = 0.95
	// slopeBatches is the number of means that a line is fitted to. Consecutive samples depend on
	// each other, which would make the interval too narrow; means of many do less.
	slopeBatches = 20
	// slopeSpan is the shortest time for a slope: a minute does not predict an hour.
	slopeSpan = 10 * time.Minute
)

// leaking are the resources with leak reports, so the interval of their slope is recorded as well.
var leaking = map[string]bool{
	metric.Memory: true, metric.HeapUsed: true, metric.Disk: true, metric.DiskUsed: true, metric.DatabaseSize: true, metric.Connections: true, metric.ConsumerLag: true,
}

func (q quantity) mayLeak() bool {
	return leaking[q.resource] || metric.Parse(q.name).Component == metric.Custom
}

// growing is the part of the counted window in which growth is reported: in a long load, the time
// after heaps and caches have filled.
func growing(loads []v1alpha1.Load, measured map[string]Measured, measurement v1alpha1.Measurement, counted Window) Window {
	load, known := extent(loads, measured, func(v1alpha1.Load) bool { return true })
	if known && measurement.IsLong(load.To.Sub(load.From)) {
		counted.From = later(counted.From, load.From.Add(measurement.GrowthAfterOrDefault()))
	}
	return counted
}

// ObserveGrowth returns the slopes, per hour, of the servers' resources in a window, and the
// intervals of those that may leak. A restarted container continues at another level, after as much
// time to fill its heap as the first one had.
func ObserveGrowth(samples *payload.Samples, window Window, measurement v1alpha1.Measurement) []v1alpha1.Observation {
	return observeGrowth(samples, window, measurement, slopeSpan)
}

// observeGrowth is ObserveGrowth with another shortest time.
func observeGrowth(samples *payload.Samples, window Window, measurement v1alpha1.Measurement, shortest time.Duration) []v1alpha1.Observation {
	var observations []v1alpha1.Observation
	for _, quantity := range quantities(samples) {
		points := quantity.within(window)
		slope := slopeOf(stretches(points, restartsOf(samples, quantity), measurement.GrowthAfterOrDefault()), shortest)
		if !slope.HasInterval() {
			continue
		}
		add := func(statistic string, value float64) {
			observations = append(observations, observed(metric.Name(quantity.name, statistic), metric.PerHour(quantity.unit), value, len(points)))
		}
		add(metric.Slope, slope.Value)
		if low, high := slope.Interval(slopeConfidence); quantity.mayLeak() {
			add(metric.SlopeLow, low)
			add(metric.SlopeHigh, high)
		}
	}
	return observations
}

// restartsOf returns the times of restarts of a quantity's containers, in order.
func restartsOf(samples *payload.Samples, of quantity) []time.Time {
	var times []time.Time
	for _, end := range samples.Ends {
		if end.Component+"/"+of.resource == of.name {
			times = append(times, end.At)
		}
	}
	slices.SortFunc(times, time.Time.Compare)
	return times
}

// stretches are the points between restarts, without the time that a restarted container takes to
// fill.
func stretches(points payload.Points, restarts []time.Time, filling time.Duration) []payload.Points {
	var parts []payload.Points
	for _, restart := range restarts {
		at, _ := slices.BinarySearchFunc(points, restart, func(point payload.Point, restart time.Time) int { return point.At.Compare(restart) })
		if at > 0 {
			parts = append(parts, points[:at])
		}
		full := slices.IndexFunc(points, func(point payload.Point) bool { return !point.At.Before(restart.Add(filling)) })
		if full < 0 {
			return parts
		}
		points = points[max(at, full):]
	}
	return append(parts, points)
}

// slopeOf is the common change per hour of all parts.
func slopeOf(parts []payload.Points, shortest time.Duration) stats.Estimate {
	none := stats.Estimate{Value: math.NaN(), StandardError: math.NaN()}
	all := 0
	var span time.Duration
	for _, points := range parts {
		all += len(points)
		span += length(points)
	}
	if span < shortest {
		return none
	}
	var lines []stats.Line
	for _, points := range parts {
		if len(points) > 0 {
			lines = append(lines, batched(points, max(1, (all+slopeBatches-1)/slopeBatches)))
		}
	}
	slope, err := stats.CommonSlope(lines...)
	if err != nil {
		// Too few points for a line.
		return none
	}
	return slope
}

// batched returns means of consecutive points, over hours.
func batched(points payload.Points, size int) stats.Line {
	var line stats.Line
	for batch := range slices.Chunk(points, size) {
		var hour, value float64
		for _, point := range batch {
			hour += point.At.Sub(points[0].At).Hours()
			value += point.Value
		}
		line.X, line.Y = append(line.X, hour/float64(len(batch))), append(line.Y, value/float64(len(batch)))
	}
	return line
}
