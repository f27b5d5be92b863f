// SPDX-License-Identifier: Apache-2.0

// Package results turns the measurements of a run's loads into observations: one value per metric.
// It is pure.
package results

import (
	"slices"
	"strconv"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kind"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/measure/observation"
	"perflab.dev/perflab/payload"
)

// Observe returns the observations of a run's loads: of each over its whole measured time, and
// in each window of the scenario.
func Observe(loads []v1alpha1.Load, measured map[string]Measured, measurement v1alpha1.Measurement) []v1alpha1.Observation {
	var observations []v1alpha1.Observation
	windows := Windows(loads, measured)
	for _, load := range loads {
		own := measured[load.Name]
		batch, isBatch := kinds.ForLoad(load).(kind.Batch)
		switch {
		case own.Summary != nil:
			observations = append(observations, own.Summary.observe(load.Name)...)
		case isBatch:
			observations = append(observations, batch.Observe(own.Histograms)...)
		default:
			observations = append(observations, observeTransactions(load.Name, own.Histograms, Whole(load, measured, measurement))...)
			for _, window := range windows {
				part := window.Within(steady(load, measured, measurement))
				observations = append(observations, observeTransactions(load.Name, own.Histograms, part)...)
			}
		}
	}
	return observations
}

// Sort orders observations for readers, and for statuses with little space: the whole measurement
// before windows, each by name.
func Sort(observations []v1alpha1.Observation) {
	slices.SortFunc(observations, func(a, b v1alpha1.Observation) int { return metric.Compare(a.Metric, b.Metric) })
}

func observeTransactions(load string, all *payload.Payload, window Window) []v1alpha1.Observation {
	var observations []v1alpha1.Observation
	if window.empty() {
		return nil
	}
	p := all.Between(window.From, window.To)
	for _, transaction := range p.Transactions() {
		of := metric.Name(load, transaction)
		total, _ := p.Summary(transaction, "")
		failed, _ := p.Summary(transaction, payload.Error)
		observations = append(observations,
			// A count is exact, however many digits it has.
			v1alpha1.Observation{Metric: metric.Name(of, metric.Samples), Value: integer(total.Count), Unit: metric.UnitCount},
			observation.New(of, metric.Errors, percent(float64(failed.Count), float64(total.Count)), total.Count),
		)
		// Response times are those of successful transactions: a rejected request is fast and would
		// make a broken system look good.
		if ok, any := p.Summary(transaction, payload.OK); any {
			observations = append(observations, responseTimes(of, ok)...)
		}
	}
	observations = append(observations, observeThroughput(load, all, p)...)
	for i := range observations {
		observations[i].Metric = metric.In(observations[i].Metric, window.Name)
	}
	return observations
}

func percent(part, whole float64) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * part / whole
}

func integer(value int64) string { return strconv.FormatInt(value, 10) }
