// SPDX-License-Identifier: Apache-2.0

package results

import (
	"fmt"
	"math"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/payload"
)

// ObserveLags returns, for each fault, the highest lag of Kafka's consumers after it, and the time
// until the lag is at most the highest undisturbed one again, with sentences about lags that are
// not. The reference is the time from the loads' warm-up to the first fault.
func ObserveLags(scenario *v1alpha1.Scenario, measured map[string]Measured, measurement v1alpha1.Measurement, samples *payload.Samples, faults []v1alpha1.RunFault) (observations []v1alpha1.Observation, sentences []string) {
	if samples == nil || len(faults) == 0 {
		return nil, nil
	}
	before := beforeFaults(scenario.Loads, measured, measurement, faults)
	if before.To.IsZero() {
		return nil, nil // No fault began, which the run reports.
	}
	for _, lag := range quantities(samples) {
		if lag.name != metric.KafkaLag {
			continue
		}
		usual := highest(lag.within(before))
		if math.IsNaN(usual) {
			return nil, []string{fmt.Sprintf("the lag of Kafka's consumers was not sampled between the warm-up and fault %q, so its effect on the lag is unknown: begin the fault later", faults[0].Name)}
		}
		for _, fault := range faults {
			if fault.Begin == nil || fault.End == nil {
				continue
			}
			after := Window{Name: metric.AfterFault(fault.Name), From: fault.Begin.Time, To: fault.End.Time}
			points := lag.within(after)
			if len(points) == 0 {
				continue
			}
			drained, isDrained := drainTime(points, usual, after)
			if !isDrained {
				sentences = append(sentences, fmt.Sprintf("fault %q: the lag of Kafka's consumers was above %.4g at the end of the observation, so its drain time is longer: raise the fault's observe", fault.Name, usual))
			}
			observations = append(observations,
				observed(metric.In(metric.Name(lag.name, metric.Max), after.Name), lag.unit, highest(points), len(points)),
				observed(metric.In(metric.Name(lag.name, metric.DrainTime), after.Name), metric.UnitSeconds, drained.Seconds(), len(points)))
		}
	}
	return observations, sentences
}

// beforeFaults is the time from the last load's warm-up to the first fault.
func beforeFaults(loads []v1alpha1.Load, measured map[string]Measured, measurement v1alpha1.Measurement, faults []v1alpha1.RunFault) Window {
	var window Window
	for _, load := range loads {
		if own := steady(load, measured, measurement); !own.empty() {
			window.From = later(window.From, own.From)
		}
	}
	for _, fault := range faults {
		if fault.Begin != nil && (window.To.IsZero() || fault.Begin.Time.Before(window.To)) {
			window.To = fault.Begin.Time
		}
	}
	return window
}

// highest is NaN without points.
func highest(points payload.Points) float64 {
	most := math.NaN()
	for _, point := range points {
		if math.IsNaN(most) || point.Value > most {
			most = point.Value
		}
	}
	return most
}

// drainTime is the time from a window's start to the first point after the last one above usual; 0
// without one. A lag above usual at the end has lasted for at least the whole window.
func drainTime(points payload.Points, usual float64, window Window) (drained time.Duration, isDrained bool) {
	last := -1
	for i, point := range points {
		if point.Value > usual {
			last = i
		}
	}
	switch last {
	case -1:
		return 0, true
	case len(points) - 1:
		return window.To.Sub(window.From), false
	}
	return points[last+1].At.Sub(window.From), true
}
