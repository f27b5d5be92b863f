// SPDX-License-Identifier: Apache-2.0

// Package results turns what a run's loads measured into observations: one
// value per metric. It is pure.
package results

import (
	"fmt"
	"strconv"
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
)

// Units of observations.
const (
	unitMilliseconds = "ms"
	unitSeconds      = "s"
	unitPercent      = "%"
	unitPerSecond    = "1/s"
	unitCount        = "1"
)

// Window is a stretch of time; its end is not part of it.
type Window struct{ From, To time.Time }

// LoadWindow is the part of a load that counts. An import counts from its
// start to its end. Users count after the warm-up; where they last until
// another load has ended, only while that load is on.
func LoadWindow(load v1alpha1.Load, measured map[string]*payload.Payload, warmUp time.Duration) Window {
	own := measured[load.Name]
	window := Window{From: own.Start, To: own.End}
	if load.DataImport != nil {
		return window
	}
	window.From = window.From.Add(warmUp)
	if other, ok := measured[load.Until]; ok {
		window.From = later(window.From, other.Start)
		window.To = earlier(window.To, other.End)
	}
	return window
}

// Observe gives the observations of one load.
func Observe(load v1alpha1.Load, measured map[string]*payload.Payload, warmUp time.Duration) []v1alpha1.Observation {
	own := measured[load.Name]
	if load.DataImport != nil {
		return observeImport(load.Name, own)
	}
	window := LoadWindow(load, measured, warmUp)
	return observeTransactions(load.Name, own.Between(window.From, window.To))
}

func observeTransactions(load string, p *payload.Payload) []v1alpha1.Observation {
	var observations []v1alpha1.Observation
	for _, transaction := range p.Transactions() {
		name := load + "/" + transaction + "/"
		all, _ := p.Summary(transaction, "")
		failed, _ := p.Summary(transaction, outcomeError)
		observations = append(observations,
			v1alpha1.Observation{Metric: name + "samples", Value: integer(all.Count), Unit: unitCount},
			v1alpha1.Observation{Metric: name + "errors", Value: decimal.Format(percent(float64(failed.Count), float64(all.Count))), Unit: unitPercent, Samples: all.Count},
		)
		// Response times are those of transactions that worked: a refused
		// request is fast and would make a broken system look good.
		if ok, any := p.Summary(transaction, outcomeOK); any {
			observations = append(observations, responseTimes(name, ok)...)
		}
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

// Fault says why a load's results do not count.
type Fault struct {
	Reason  string
	Message string
}

// Check says whether a load's results count; nil when they do.
func Check(load v1alpha1.Load, measured map[string]*payload.Payload, warmUp time.Duration, validity v1alpha1.Validity) *Fault {
	own := measured[load.Name]
	if !own.Final {
		return &Fault{v1alpha1.ReasonResultsMissing, fmt.Sprintf("load %q ended before it could print its results; only a checkpoint is left", load.Name)}
	}
	if load.DataImport != nil {
		return checkImport(load, own)
	}
	window := LoadWindow(load, measured, warmUp)
	return checkTransactions(load.Name, own.Between(window.From, window.To), validity)
}

func checkImport(load v1alpha1.Load, p *payload.Payload) *Fault {
	imports, failed := p.Total(counterImports), p.Total(counterImportsFailed)
	if failed > 0 || imports != float64(load.DataImport.Imports) {
		return &Fault{v1alpha1.ReasonImportIncomplete, fmt.Sprintf("load %q: %d of %d imports were done, %d of them failed",
			load.Name, int(imports), load.DataImport.Imports, int(failed))}
	}
	wanted := float64(load.DataImport.Imports) * float64(load.DataImport.Records)
	records, lost := p.Total(counterRecords), p.Total(counterRecordsFailed)
	if lost > 0 || records != wanted {
		return &Fault{v1alpha1.ReasonImportIncomplete, fmt.Sprintf("load %q: %d of %d records were imported, %d failed",
			load.Name, int(records), int(wanted), int(lost))}
	}
	return nil
}

func checkTransactions(load string, p *payload.Payload, validity v1alpha1.Validity) *Fault {
	var all, failed int64
	for _, transaction := range p.Transactions() {
		total, _ := p.Summary(transaction, "")
		errors, _ := p.Summary(transaction, outcomeError)
		all += total.Count
		failed += errors.Count
	}
	if all == 0 {
		return &Fault{v1alpha1.ReasonResultsMissing, fmt.Sprintf("load %q did not finish a single transaction in its window; make it longer or the warm-up shorter", load)}
	}
	limit := 1.0
	if validity.MaxErrorPercent != nil {
		limit = float64(*validity.MaxErrorPercent)
	}
	if share := percent(float64(failed), float64(all)); share > limit {
		return &Fault{v1alpha1.ReasonTooManyErrors, fmt.Sprintf("load %q: %d of %d transactions failed (%s %%), more than the %s %% allowed",
			load, failed, all, decimal.Format(share), decimal.Format(limit))}
	}
	return nil
}

func percent(part, whole float64) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * part / whole
}

func integer(value int64) string { return strconv.FormatInt(value, 10) }

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
