// SPDX-License-Identifier: Apache-2.0

package payload

import (
	"slices"
	"time"
)

// Summary is the statistics of a transaction. Percentiles are by nearest rank
// and within 0.1 % (below 1 ms: within 1 µs) of the exact value.
type Summary struct {
	Count              int64
	Mean, Min, Max     time.Duration
	P50, P75, P95, P99 time.Duration
}

// Summary sums up one transaction; outcome "" means all outcomes. It says false
// if there is no sample.
func (p *Payload) Summary(transaction, outcome string) (Summary, bool) {
	all := Bucket{Histogram: newHistogram()}
	for _, s := range p.Series {
		if s.Transaction != transaction || (outcome != "" && s.Outcome != outcome) {
			continue
		}
		for _, b := range s.Buckets {
			all.add(b)
		}
	}
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

// Total is the sum of a counter, 0 for one that was never counted.
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

// Transactions names the transactions that have samples, sorted.
func (p *Payload) Transactions() []string {
	var names []string
	for _, s := range p.Series {
		if len(s.Buckets) > 0 && !slices.Contains(names, s.Transaction) {
			names = append(names, s.Transaction)
		}
	}
	slices.Sort(names)
	return names
}

// Between returns the part of p measured in whole buckets between from and to;
// Start and End of the result tell which stretch that is. The first and the
// last bucket of a measurement are whole from Start and up to End.
func (p *Payload) Between(from, to time.Time) *Payload {
	cut := *p
	cut.Start, cut.End = p.roundUp(from), p.roundDown(to)
	if cut.End.Before(cut.Start) {
		cut.End = cut.Start
	}
	inside := func(index int64) bool {
		begin, end := p.bucketStart(index), p.bucketStart(index+1)
		return !later(begin, p.Start).Before(cut.Start) && !earlier(end, p.End).After(cut.End) && cut.End.After(cut.Start)
	}
	cut.Series = nil
	for _, s := range p.Series {
		s.Buckets = cloneBuckets(keep(s.Buckets, func(b Bucket) bool { return inside(b.Index) }))
		cut.Series = append(cut.Series, s)
	}
	cut.Counters = nil
	for _, c := range p.Counters {
		c.Buckets = keep(c.Buckets, func(b CounterBucket) bool { return inside(b.Index) })
		cut.Counters = append(cut.Counters, c)
	}
	return &cut
}

// roundUp is the first time not before t at which a whole bucket begins.
func (p *Payload) roundUp(t time.Time) time.Time {
	if !t.After(p.Start) {
		return p.Start
	}
	if on := p.bucketStart(p.index(t)); on.Before(t) {
		return on.Add(p.width())
	}
	return millis(t)
}

// roundDown is the last time not after t at which a whole bucket ends.
func (p *Payload) roundDown(t time.Time) time.Time {
	if !t.Before(p.End) {
		return p.End
	}
	return p.bucketStart(p.index(t))
}

func keep[T any](all []T, is func(T) bool) []T {
	var kept []T
	for _, v := range all {
		if is(v) {
			kept = append(kept, v)
		}
	}
	return kept
}

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
