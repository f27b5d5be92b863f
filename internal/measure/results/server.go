// SPDX-License-Identifier: Apache-2.0

package results

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/text/decimal"
	"perflab.dev/perflab/payload"
	"perflab.dev/perflab/payload/label"
)

const (
	// maxGroups is the number of groups listed by name, those with the largest lag.
	maxGroups = 10
	// generators are the components of the load's own pods.
	generators = metric.Generator + "/"
	// oomKilled is the kubelet's reason.
	oomKilled = "OOMKilled"
)

// others is the CPU of the node without that of the run's pods.
const others = metric.Node + "/" + metric.OtherCPU

// shares are the resources in percent: instances are averaged, not added.
var shares = map[string]bool{metric.CPUThrottled: true, metric.GCShare: true, metric.CPUUsed: true, metric.DiskUsed: true}

// CountedWindow is the window that servers are judged in: from the first load's counted start to
// the last load's counted end.
func CountedWindow(loads []v1alpha1.Load, measured map[string]Measured, measurement v1alpha1.Measurement) Window {
	return around(loads, func(load v1alpha1.Load) Window { return Whole(load, measured, measurement) })
}

// ObserveServersThroughout returns the observations of a run's servers: over the counted window,
// and in each window of the scenario.
func ObserveServersThroughout(samples *payload.Samples, loads []v1alpha1.Load, measured map[string]Measured, measurement v1alpha1.Measurement) []v1alpha1.Observation {
	counted := CountedWindow(loads, measured, measurement)
	observations := append(ObserveServers(samples, counted), ObserveGrowth(samples, growing(loads, measured, measurement, counted), measurement)...)
	// The measured time of a load that lasts until an import ends is that of the import, so windows
	// next to it lie within a larger one.
	steady := Steady(loads, measured, measurement)
	for _, window := range Windows(loads, measured) {
		observations = append(observations, ObserveServers(samples, window.Within(steady))...)
	}
	return observations
}

// ObserveServers returns the observations of the servers in a window: average and maximum of each
// resource. Resources without samples in the window have none.
func ObserveServers(samples *payload.Samples, window Window) []v1alpha1.Observation {
	var observations []v1alpha1.Observation
	add := func(of, statistic, unit string, value float64, count int) {
		observations = append(observations, observed(metric.In(metric.Name(of, statistic), window.Name), unit, value, count))
	}
	for _, quantity := range quantities(samples) {
		points := quantity.within(window)
		if len(points) == 0 {
			continue
		}
		average, highest := mean(points), maximum(points)
		add(quantity.name, metric.Average, quantity.unit, average, len(points))
		// Rounding may raise the mean of similar numbers above all of them.
		add(quantity.name, metric.Max, quantity.unit, max(highest, average), len(points))
		if percents := within(quantity.ofRequest, window); len(percents) > 0 {
			add(quantity.name, metric.PercentOfRequest, metric.UnitPercent, mean(percents), len(percents))
		}
		if percents := within(quantity.ofLimit, window); len(percents) > 0 && quantity.resource == metric.CPU {
			add(quantity.name, metric.PercentOfLimit, metric.UnitPercent, mean(percents), len(percents))
		}
	}
	for component, ends := range countEnds(samples, window) {
		add(component, metric.Restarts, metric.UnitCount, float64(ends.all), 0)
		add(component, metric.OOMKills, metric.UnitCount, float64(ends.oom), 0)
	}
	slices.SortFunc(observations, func(a, b v1alpha1.Observation) int { return cmp.Compare(a.Metric, b.Metric) })
	return observations
}

func observed(name, unit string, value float64, count int) v1alpha1.Observation {
	return v1alpha1.Observation{Metric: name, Value: decimal.Format(value), Unit: unit, Samples: int64(count)}
}

// quantity is a resource of a component, with all instances combined.
type quantity struct {
	name, resource, unit string
	points               payload.Points
	// reach is the longest time before a point for which its value counts.
	reach time.Duration
	// ofRequest and ofLimit are in percent; empty if nothing was requested.
	ofRequest, ofLimit payload.Points
}

// quantities returns the quantities in the samples, by component.
func quantities(samples *payload.Samples) []quantity {
	parts := map[[2]string][]payload.SampleSeries{}
	for _, series := range samples.Series {
		key := [2]string{series.Component, series.Resource}
		if series.Component == metric.KafkaLag {
			key[0] = metric.Name(key[0], label.Join(series.Instance))
		}
		parts[key] = append(parts[key], series)
	}
	containers := map[string]payload.Container{}
	for _, container := range samples.Containers {
		containers[container.Component+"/"+container.Instance] = container
	}
	var found []quantity
	for key, series := range parts {
		own := quantity{name: strings.TrimSuffix(key[0]+"/"+key[1], "/"), resource: key[1], unit: series[0].Unit}
		own.points, own.reach = sumSeries(series, shares[own.resource]), sampleReach(series)
		switch own.resource {
		case metric.CPU:
			own.ofRequest = percentOfAmount(series, containers, func(c payload.Container) float64 { return c.CPURequest })
			own.ofLimit = percentOfAmount(series, containers, func(c payload.Container) float64 { return c.CPULimit })
		case metric.Memory:
			own.ofRequest = percentOfAmount(series, containers, func(c payload.Container) float64 { return c.MemoryRequest })
		}
		found = append(found, own)
	}
	if points := otherPoints(samples); len(points) > 0 {
		found = append(found, quantity{name: others, resource: metric.CPU, unit: metric.UnitCores, points: points})
	}
	return furthestBehind(found)
}

// furthestBehind omits the consumer groups with the smallest lag.
func furthestBehind(found []quantity) []quantity {
	var groups []quantity
	for _, one := range found {
		if strings.HasPrefix(one.name, metric.KafkaLag+"/") {
			groups = append(groups, one)
		}
	}
	slices.SortFunc(groups, func(a, b quantity) int {
		return cmp.Or(cmp.Compare(maximum(b.points), maximum(a.points)), cmp.Compare(a.name, b.name))
	})
	left := map[string]bool{}
	for _, one := range groups[min(len(groups), maxGroups):] {
		left[one.name] = true
	}
	return slices.DeleteFunc(found, func(one quantity) bool { return left[one.name] })
}

// sumSeries returns the sum or the mean of a component's instances. A time without a sample of
// an existing instance is omitted: the sum of the others would be too small.
func sumSeries(series []payload.SampleSeries, average bool) payload.Points {
	if len(series) == 1 {
		return series[0].Points
	}
	sums, counts := map[time.Time]float64{}, map[time.Time]int{}
	for _, one := range series {
		for _, point := range one.Points {
			sums[point.At] += point.Value
			counts[point.At]++
		}
	}
	var points payload.Points
	for _, at := range slices.SortedFunc(maps.Keys(sums), time.Time.Compare) {
		if counts[at] < present(series, at) {
			continue
		}
		value := sums[at]
		if average {
			value /= float64(counts[at])
		}
		points = append(points, payload.Point{At: at, Value: value})
	}
	return points
}

// present counts the instances that were there at a time.
func present(series []payload.SampleSeries, at time.Time) int {
	count := 0
	for _, one := range series {
		if n := len(one.Points); n > 0 && !at.Before(one.Points[0].At) && !at.After(one.Points[n-1].At) {
			count++
		}
	}
	return count
}

// percentOfAmount returns the use of containers with a request or limit as a share of it.
func percentOfAmount(series []payload.SampleSeries, containers map[string]payload.Container, amount func(payload.Container) float64) payload.Points {
	var used, wanted []payload.SampleSeries
	for _, one := range series {
		total := amount(containers[one.Component+"/"+one.Instance])
		if total <= 0 {
			continue
		}
		reference := one
		reference.Points = slices.Clone(one.Points)
		for i := range reference.Points {
			reference.Points[i].Value = total
		}
		used, wanted = append(used, one), append(wanted, reference)
	}
	if len(used) == 0 {
		return nil
	}
	shares, totals := slices.Clone(sumSeries(used, false)), sumSeries(wanted, false)
	for i := range shares {
		shares[i].Value = 100 * shares[i].Value / totals[i].Value
	}
	return shares
}

// within returns the points in a window, both ends included: a sample covers the time before it.
func within(points payload.Points, window Window) payload.Points {
	from := slices.IndexFunc(points, func(p payload.Point) bool { return !p.At.Before(window.From) })
	if from < 0 {
		return nil
	}
	own := points[from:]
	if to := slices.IndexFunc(own, func(p payload.Point) bool { return p.At.After(window.To) }); to >= 0 {
		own = own[:to]
	}
	return own
}

// mean weights each point by the time that it covers, since the previous point: the interval grows
// as a run gets long.
func mean(points payload.Points) float64 {
	if len(points) == 1 {
		return points[0].Value
	}
	var sum, weights float64
	for i, point := range points {
		since := points[max(i, 1)].At.Sub(points[max(i, 1)-1].At).Seconds()
		sum += since * point.Value
		weights += since
	}
	return sum / weights
}

// length is the time from the first of the points to the last.
func length(points payload.Points) time.Duration {
	if len(points) == 0 {
		return 0
	}
	return points[len(points)-1].At.Sub(points[0].At)
}

func maximum(points payload.Points) float64 {
	highest := math.Inf(-1)
	for _, point := range points {
		highest = max(highest, point.Value)
	}
	return highest
}

// Ends returns the containers that ended within a window and were restarted. Those of load
// generators are no result.
func Ends(samples *payload.Samples, window Window) []payload.ContainerEnd {
	var found []payload.ContainerEnd
	for _, end := range samples.Ends {
		if !strings.HasPrefix(end.Component, generators) && !end.At.Before(window.From) && !end.At.After(window.To) {
			found = append(found, end)
		}
	}
	return found
}

type ends struct{ all, oom int32 }

// countEnds counts how often containers ended within a window, by component, including zeros,
// without generators.
func countEnds(samples *payload.Samples, window Window) map[string]ends {
	counts := map[string]ends{}
	for _, container := range samples.Containers {
		if !strings.HasPrefix(container.Component, generators) {
			counts[container.Component] = ends{}
		}
	}
	for _, end := range Ends(samples, window) {
		count, known := counts[end.Component]
		if !known {
			continue
		}
		count.all += end.Count
		if end.Reason == oomKilled {
			count.oom += end.Count
		}
		counts[end.Component] = count
	}
	return counts
}
