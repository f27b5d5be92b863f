// SPDX-License-Identifier: Apache-2.0

package payload

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Merge adds up the payloads of several runners of the same load; see [Sum]. It fails with
// ErrNone without payloads.
func Merge(ps ...*Payload) (*Payload, error) {
	var sum Sum
	for _, p := range ps {
		if err := sum.Add(p); err != nil {
			return nil, err
		}
	}
	return sum.Payload()
}

// maxSumBytes is the maximum size of the packed histograms of a sum. Those of the largest payload
// take 15 MiB, and runners of one load fill the same cells.
const maxSumBytes = 24 << 20

// Sum adds up the payloads of the runners of one load, one after the other, so that only one of
// them must be in memory. The result is the payload of a single runner that measured all samples:
// counts, sums, extremes and histograms add up, and percentiles are never averaged. Buckets get
// the widest width of all runners. The zero value is ready for use.
type Sum struct {
	all     *Payload
	runners map[string]bool
	// whole is the time from the first start to the last end. busy is the same for runners that
	// recorded transactions or counters.
	whole, busy interval
}

// Add adds the payload of one runner. It fails with ErrMismatch for another load or run, or for
// the same runner twice. It fails with ErrCorrupt for values that cannot have been measured, and
// with ErrTooLarge.
func (s *Sum) Add(p *Payload) error {
	if s.all == nil {
		*s = Sum{all: New(p.Load, p.Run, "", time.Time{}), runners: map[string]bool{}}
		s.all.Final = true
	}
	if err := s.takes(p); err != nil {
		return err
	}
	s.whole = s.whole.with(p)
	if p.span() > 0 {
		s.busy = s.busy.with(p)
	}
	s.all.widenTo(p)
	s.all.add(p)
	s.all.narrow()
	if size := s.all.packedSize(); size > maxSumBytes {
		return fmt.Errorf("merging load %q of run %q: %w: the runners' histograms together take %d MiB, at most %d MiB are allowed", p.Load, p.Run, ErrTooLarge, size>>20, maxSumBytes>>20)
	}
	return nil
}

// takes returns an error if a payload does not belong to the sum.
func (s *Sum) takes(p *Payload) error {
	if p.Load != s.all.Load || p.Run != s.all.Run {
		return fmt.Errorf("merging load %q of run %q with load %q of run %q: %w",
			s.all.Load, s.all.Run, p.Load, p.Run, ErrMismatch)
	}
	if err := p.validate(); err != nil {
		return fmt.Errorf("merging load %q of run %q: %w", p.Load, p.Run, err)
	}
	for _, runner := range strings.Split(p.Runner, ",") {
		if s.runners[runner] {
			return fmt.Errorf("merging load %q of run %q: runner %q occurs twice: %w", p.Load, p.Run, runner, ErrMismatch)
		}
		s.runners[runner] = true
	}
	return nil
}

// Payload returns the sum. It fails with ErrNone if nothing was added. Runners that recorded
// nothing do not affect Start and End, for example if there are more runners than users.
func (s *Sum) Payload() (*Payload, error) {
	if s.all == nil {
		return nil, fmt.Errorf("merging payloads: %w", ErrNone)
	}
	sum, window := s.all, s.busy
	if window == (interval{}) {
		window = s.whole
	}
	sum.Start, sum.End = window.from, window.to
	sum.Runner = strings.Join(slices.Sorted(maps.Keys(s.runners)), ",")
	sum.sort()
	if err := sum.validate(); err != nil {
		return nil, fmt.Errorf("merging load %q of run %q: %w", sum.Load, sum.Run, err)
	}
	return sum, nil
}

// with returns s, extended by the interval of a payload.
func (s interval) with(p *Payload) interval {
	if s == (interval{}) {
		return interval{p.Start, p.End}
	}
	return interval{earlier(s.from, p.Start), later(s.to, p.End)}
}

// packedSize returns the size of the histograms, in bytes.
func (p *Payload) packedSize() (size int) {
	for _, s := range p.Series {
		for _, b := range s.Buckets {
			size += b.Histogram.size()
		}
	}
	return size
}

// widenTo makes the buckets at least as wide as those of another payload.
func (p *Payload) widenTo(o *Payload) {
	for p.BucketSeconds < o.BucketSeconds {
		p.widen()
	}
	for p.RequestBucketSeconds < o.RequestBucketSeconds {
		p.widenRequests()
	}
}

// add adds p to sum, whose buckets are at least as wide.
func (sum *Payload) add(p *Payload) {
	sum.Final = sum.Final && p.Final
	for _, s := range p.Series {
		into := sum.row(s.Row)
		factor := int64(sum.seconds(s.isRequest()) / p.seconds(s.isRequest()))
		for _, b := range s.Buckets {
			bucket, _ := into.bucket(floorDiv(b.Index, factor))
			bucket.add(b)
			bucket.Histogram.pack()
		}
	}
	factor := int64(sum.BucketSeconds / p.BucketSeconds)
	for _, c := range p.Counters {
		into := sum.counter(c.Name)
		for _, b := range c.Buckets {
			bucket, _ := into.bucket(floorDiv(b.Index, factor))
			bucket.Sum += b.Sum
		}
	}
	for _, g := range p.Gauges {
		into := sum.gauge(g.Name)
		into.Last += g.Last
		into.Max += g.Max
	}
}

// sort sorts series, counters and gauges by name, so that equal contents result in equal bytes.
func (p *Payload) sort() {
	p.index = nil
	slices.SortFunc(p.Series, func(a, b Series) int { return a.compare(b.Row) })
	slices.SortFunc(p.Counters, func(a, b Counter) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(p.Gauges, func(a, b Gauge) int { return strings.Compare(a.Name, b.Name) })
}

// compare orders rows: each transaction before its requests.
func (r Row) compare(o Row) int {
	return cmp.Or(
		strings.Compare(r.Transaction, o.Transaction),
		strings.Compare(r.Request, o.Request),
		strings.Compare(r.Scenario, o.Scenario),
		strings.Compare(r.Status, o.Status),
		strings.Compare(r.Outcome, o.Outcome),
	)
}
