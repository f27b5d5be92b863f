// SPDX-License-Identifier: Apache-2.0

// Package results turns what a run's loads measured into observations: one
// value per metric. It is pure.
package results

import (
	"slices"
	"strconv"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/decimal"
	"perflab.dev/perflab/internal/metric"
	"perflab.dev/perflab/payload"
)

// Names the k6 scripts use; see k6/README.md.
const (
	transactionImport    = "Import"
	transactionImportJob = "Import job"
	outcomeOK            = "ok"
	outcomeError         = "error"
	counterImports       = "perflab_imports"
	counterImportsFailed = "perflab_imports_failed"
	counterRecords       = "perflab_records"
	counterRecordsFailed = "perflab_records_failed"
	// Of a file that the system split.
	counterChildJobs       = "perflab_child_jobs"
	counterChildJobsFailed = "perflab_child_jobs_failed"
)

// Observe gives the observations of a run's loads: of each over the whole
// stretch that counts, and in each window of the scenario.
func Observe(loads []v1alpha1.Load, measured map[string]Measured, measurement v1alpha1.Measurement) []v1alpha1.Observation {
	var observations []v1alpha1.Observation
	windows := Windows(loads, measured)
	for _, load := range loads {
		own := measured[load.Name]
		switch {
		case own.Summary != nil:
			observations = append(observations, own.Summary.observe(load.Name)...)
		case isImport(load):
			observations = append(observations, observeImport(load.Name, own.Histograms)...)
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

// Sort puts observations into the order in which a reader, or a status with
// little room, wants them: whole stretches before windows, each by name.
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
		failed, _ := p.Summary(transaction, outcomeError)
		observations = append(observations,
			// A count is exact, however many digits it has.
			v1alpha1.Observation{Metric: metric.Name(of, metric.Samples), Value: integer(total.Count), Unit: metric.UnitCount},
			observed(of, metric.Errors, percent(float64(failed.Count), float64(total.Count)), total.Count),
		)
		// Response times are those of transactions that worked: a refused
		// request is fast and would make a broken system look good.
		if ok, any := p.Summary(transaction, outcomeOK); any {
			observations = append(observations, responseTimes(of, ok)...)
		}
	}
	observations = append(observations, observeThroughput(load, all, p)...)
	for i := range observations {
		observations[i].Metric = metric.In(observations[i].Metric, window.Name)
	}
	return observations
}

// observed is the value of a statistic of a load or a transaction, in its unit.
func observed(of, statistic string, value float64, samples int64) v1alpha1.Observation {
	return v1alpha1.Observation{Metric: metric.Name(of, statistic), Value: decimal.Format(value), Unit: metric.Unit(statistic), Samples: samples}
}

func responseTimes(transaction string, summary payload.Summary) []v1alpha1.Observation {
	ms := func(length time.Duration) float64 { return float64(length) / float64(time.Millisecond) }
	return Trend{
		Average: ms(summary.Mean), P50: ms(summary.P50), P75: ms(summary.P75), P95: ms(summary.P95), P99: ms(summary.P99), Max: ms(summary.Max),
	}.times(transaction, summary.Count)
}

func observeImport(load string, p *payload.Payload) []v1alpha1.Observation {
	records := p.Total(counterRecords)
	observations := []v1alpha1.Observation{
		observed(load, metric.Imports, p.Total(counterImports), 0),
		observed(load, metric.Records, records, 0),
		observed(load, metric.FailedRecords, p.Total(counterRecordsFailed), 0),
	}
	if children := p.Total(counterChildJobs); children > 0 {
		observations = append(observations,
			observed(load, metric.ChildJobs, children, 0),
			observed(load, metric.FailedChildJobs, p.Total(counterChildJobsFailed), 0),
		)
	}
	// The duration is the job's own, from its dates; the client's includes the
	// upload and up to one polling interval.
	if job, ok := p.Summary(transactionImportJob, outcomeOK); ok {
		observations = append(observations, observed(load, metric.Duration, job.Mean.Seconds(), job.Count))
		if total := job.Mean.Seconds() * float64(job.Count); total > 0 {
			observations = append(observations, observed(load, metric.RecordsPerSecond, records/total, 0))
		}
	}
	if client, ok := p.Summary(transactionImport, outcomeOK); ok {
		observations = append(observations, observed(load, metric.ClientDuration, client.Mean.Seconds(), client.Count))
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
