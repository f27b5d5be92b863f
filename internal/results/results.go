// SPDX-License-Identifier: Apache-2.0

// Package results turns what a run's loads measured into observations: one
// value per metric. It is pure.
package results

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/decimal"
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

// Units of observations.
const (
	unitMilliseconds = "ms"
	unitCores        = "cores"
	unitSeconds      = "s"
	unitPercent      = "%"
	unitPerSecond    = "1/s"
	unitCount        = "1"
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
	slices.SortFunc(observations, func(a, b v1alpha1.Observation) int {
		_, _, windowA := strings.Cut(a.Metric, "@")
		_, _, windowB := strings.Cut(b.Metric, "@")
		switch {
		case windowA == windowB:
			return strings.Compare(a.Metric, b.Metric)
		case windowB:
			return -1
		default:
			return 1
		}
	})
}

func observeTransactions(load string, all *payload.Payload, window Window) []v1alpha1.Observation {
	var observations []v1alpha1.Observation
	if window.empty() {
		return nil
	}
	p := all.Between(window.From, window.To)
	for _, transaction := range p.Transactions() {
		name := load + "/" + transaction + "/"
		total, _ := p.Summary(transaction, "")
		failed, _ := p.Summary(transaction, outcomeError)
		observations = append(observations,
			v1alpha1.Observation{Metric: name + "samples", Value: integer(total.Count), Unit: unitCount},
			v1alpha1.Observation{Metric: name + "errors", Value: decimal.Format(percent(float64(failed.Count), float64(total.Count))), Unit: unitPercent, Samples: total.Count},
		)
		// Response times are those of transactions that worked: a refused
		// request is fast and would make a broken system look good.
		if ok, any := p.Summary(transaction, outcomeOK); any {
			observations = append(observations, responseTimes(name, ok)...)
		}
	}
	observations = append(observations, observeThroughput(load, all, p)...)
	for i := range observations {
		observations[i].Metric = window.of(observations[i].Metric)
	}
	return observations
}

func responseTimes(name string, summary payload.Summary) []v1alpha1.Observation {
	statistics := []struct {
		name  string
		value time.Duration
	}{
		{"average", summary.Mean},
		{"p50", summary.P50},
		{"p75", summary.P75},
		{"p95", summary.P95},
		{"p99", summary.P99},
		{"max", summary.Max},
	}
	observations := make([]v1alpha1.Observation, 0, len(statistics))
	for _, statistic := range statistics {
		observations = append(observations, v1alpha1.Observation{
			Metric:  name + statistic.name,
			Value:   decimal.Format(float64(statistic.value) / float64(time.Millisecond)),
			Unit:    unitMilliseconds,
			Samples: summary.Count,
		})
	}
	return observations
}

func observeImport(load string, p *payload.Payload) []v1alpha1.Observation {
	records := p.Total(counterRecords)
	observations := []v1alpha1.Observation{
		{Metric: load + "/imports", Value: decimal.Format(p.Total(counterImports)), Unit: unitCount},
		{Metric: load + "/records", Value: decimal.Format(records), Unit: unitCount},
		{Metric: load + "/failedRecords", Value: decimal.Format(p.Total(counterRecordsFailed)), Unit: unitCount},
	}
	if children := p.Total(counterChildJobs); children > 0 {
		observations = append(observations,
			v1alpha1.Observation{Metric: load + "/childJobs", Value: decimal.Format(children), Unit: unitCount},
			v1alpha1.Observation{Metric: load + "/failedChildJobs", Value: decimal.Format(p.Total(counterChildJobsFailed)), Unit: unitCount},
		)
	}
	// The duration is the job's own, from its dates; the client's includes the
	// upload and up to one polling interval.
	if job, ok := p.Summary(transactionImportJob, outcomeOK); ok {
		observations = append(observations, v1alpha1.Observation{
			Metric: load + "/duration", Value: decimal.Format(job.Mean.Seconds()), Unit: unitSeconds, Samples: job.Count,
		})
		if total := job.Mean.Seconds() * float64(job.Count); total > 0 {
			observations = append(observations, v1alpha1.Observation{
				Metric: load + "/recordsPerSecond", Value: decimal.Format(records / total), Unit: unitPerSecond,
			})
		}
	}
	if client, ok := p.Summary(transactionImport, outcomeOK); ok {
		observations = append(observations, v1alpha1.Observation{
			Metric: load + "/clientDuration", Value: decimal.Format(client.Mean.Seconds()), Unit: unitSeconds, Samples: client.Count,
		})
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
