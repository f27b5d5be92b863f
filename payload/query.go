// SPDX-License-Identifier: Apache-2.0

package payload

import (
	"maps"
	"slices"
	"time"
)

// Summary holds the statistics of a transaction or a request. Percentiles use the nearest rank,
// and are within 0.1 % (below 1 µs: within 1 µs) of the exact value.
type Summary struct {
	Count              int64
	Mean, Min, Max     time.Duration
	P50, P75, P95, P99 time.Duration
}

// Summary returns the statistics of one transaction over all scenarios. If outcome is "", it
// includes all outcomes. It returns false if there is no sample.
func (p *Payload) Summary(transaction, outcome string) (Summary, bool) {
	return p.SummaryWhere(func(r Row) bool {
		return r.Transaction == transaction && r.Request == "" && (outcome == "" || r.Outcome == outcome)
	})
}

// RequestSummary returns the statistics of one request of a transaction over all scenarios and
// status classes. If outcome is "", it includes all outcomes. It returns false if there is no
// sample. After Between, it covers RequestSpan.
func (p *Payload) RequestSummary(transaction, request, outcome string) (Summary, bool) {
	return p.SummaryWhere(func(r Row) bool {
		return r.Transaction == transaction && r.Request == request && request != "" && (outcome == "" || r.Outcome == outcome)
	})
}

// Quantiles returns the durations of a transaction at shares from 0 to 1, and the number of all
// its durations. It uses the nearest rank, and is as exact as a Summary's percentiles. If outcome
// is "", it includes all outcomes. It returns nil if there is no sample.
func (p *Payload) Quantiles(transaction, outcome string, shares ...float64) (at []time.Duration, count int64) {
	all := p.sum(func(r Row) bool {
		return r.Transaction == transaction && r.Request == "" && (outcome == "" || r.Outcome == outcome)
	})
	if all.Count == 0 {
		return nil, 0
	}
	for _, share := range shares {
		at = append(at, min(max(all.Histogram.Quantile(share), all.Min), all.Max))
	}
	return at, all.Count
}

// LastEnd returns the end of the last interval with a sample of a transaction, which is the zero
// time if there is none.
func (p *Payload) LastEnd(transaction string) time.Time {
	var last int64
	for _, s := range p.Series {
		if s.Transaction == transaction && !s.isRequest() && len(s.Buckets) > 0 {
			last = max(last, s.Buckets[len(s.Buckets)-1].Index+1)
		}
	}
	if last == 0 {
		return time.Time{}
	}
	return p.grid(p.BucketSeconds).begin(last)
}

// sum returns the sum of the rows for which is returns true.
func (p *Payload) sum(is func(Row) bool) Bucket {
	all := Bucket{Histogram: &Histogram{}}
	for _, s := range p.Series {
		if !is(s.Row) {
			continue
		}
		for _, b := range s.Buckets {
			all.add(b)
		}
	}
	return all
}

// SummaryWhere returns the statistics of the rows for which is returns true. It returns false if
// there is no sample.
func (p *Payload) SummaryWhere(is func(Row) bool) (Summary, bool) {
	all := p.sum(is)
	if all.Count == 0 {
		return Summary{}, false
	}
	return Summary{
		Count: all.Count,
		Mean:  all.Sum / time.Duration(all.Count),
		Min:   all.Min, Max: all.Max,
		P50: all.percentile(50), P75: all.percentile(75), P95: all.percentile(95), P99: all.percentile(99),
	}, true
}

// percentile returns the histogram's percentile, limited to the measured range.
func (b *Bucket) percentile(percent int64) time.Duration {
	return min(max(b.Histogram.Percentile(percent), b.Min), b.Max)
}

// Total returns the sum of a counter, or 0 if it was never counted.
func (p *Payload) Total(counter string) float64 {
	var sum float64
	for _, c := range p.Counters {
		if c.Name != counter {
			continue
		}
		for _, b := range c.Buckets {
			sum += b.Sum
		}
	}
	return sum
}

// Gauge returns the last and the highest value of a gauge during the whole measurement. It
// returns false if the gauge was never set.
func (p *Payload) Gauge(name string) (last, highest float64, ok bool) {
	for _, g := range p.Gauges {
		if g.Name == name {
			return g.Last, g.Max, true
		}
	}
	return 0, 0, false
}

// Transactions returns the names of the transactions that have samples of their own, sorted.
func (p *Payload) Transactions() []string {
	return p.names(func(r Row) (string, bool) { return r.Transaction, !r.isRequest() })
}

// Requests returns the names of the requests of a transaction that have samples, sorted. If
// transaction is "", they are those outside of transactions.
func (p *Payload) Requests(transaction string) []string {
	return p.names(func(r Row) (string, bool) { return r.Request, r.isRequest() && r.Transaction == transaction })
}

// names returns the names of rows with samples, each once, sorted.
func (p *Payload) names(of func(Row) (name string, ok bool)) []string {
	seen := map[string]bool{}
	for _, s := range p.Series {
		if name, ok := of(s.Row); ok && len(s.Buckets) > 0 {
			seen[name] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// Counters of the load generator's own resources: the CPU seconds that it used, and those that it
// could have used.
const (
	GeneratorCPU      = "generator_cpu_seconds"
	GeneratorCPULimit = "generator_cpu_limit_seconds"
)

// GeneratorLoad returns the share of its CPUs that the load generator used, from 0 to 1, on
// average and in the busiest bucket. Near 1, the results describe the load generator, not the
// system. It returns false if the share was not recorded. After Merge, it covers all runners: a
// saturated runner is more visible in its own payload.
func (p *Payload) GeneratorLoad() (average, busiest float64, ok bool) {
	used, limit := p.counts(GeneratorCPU), p.counts(GeneratorCPULimit)
	for index, cpus := range limit {
		if cpus > 0 {
			busiest = max(busiest, used[index]/cpus)
		}
	}
	all := p.Total(GeneratorCPULimit)
	if all == 0 {
		return 0, 0, false
	}
	return p.Total(GeneratorCPU) / all, busiest, true
}

// counts returns a counter's sums by bucket index.
func (p *Payload) counts(counter string) map[int64]float64 {
	sums := map[int64]float64{}
	for _, c := range p.Counters {
		if c.Name != counter {
			continue
		}
		for _, b := range c.Buckets {
			sums[b.Index] += b.Sum
		}
	}
	return sums
}
