// SPDX-License-Identifier: Apache-2.0

package payload

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Merge adds up what several runners of the same load measured. The result is
// what one runner would have measured that saw all samples: counts, sums,
// extremes and histograms add, percentiles are never averaged. Buckets are
// brought to the widest width among ps. It fails with ErrNone without payloads
// and with ErrMismatch for different loads or runs or the same runner twice.
func Merge(ps ...*Payload) (*Payload, error) {
	if len(ps) == 0 {
		return nil, fmt.Errorf("merging payloads: %w", ErrNone)
	}
	if err := mergeable(ps); err != nil {
		return nil, err
	}
	sum := New(ps[0].Load, ps[0].Run, runners(ps), time.Time{})
	sum.Start, sum.End = window(ps)
	sum.Final = true
	for _, p := range ps {
		sum.BucketSeconds = max(sum.BucketSeconds, p.BucketSeconds)
		sum.RequestBucketSeconds = max(sum.RequestBucketSeconds, p.RequestBucketSeconds)
	}
	for _, p := range ps {
		sum.add(p)
	}
	sum.sort()
	sum.narrow()
	if err := sum.validate(); err != nil {
		return nil, fmt.Errorf("merging load %q of run %q: %w", sum.Load, sum.Run, err)
	}
	return sum, nil
}

func mergeable(ps []*Payload) error {
	seen := map[string]bool{}
	for _, p := range ps {
		if p.Load != ps[0].Load || p.Run != ps[0].Run {
			return fmt.Errorf("merging load %q of run %q with load %q of run %q: %w",
				ps[0].Load, ps[0].Run, p.Load, p.Run, ErrMismatch)
		}
		if err := p.validate(); err != nil {
			return fmt.Errorf("merging load %q of run %q: %w", p.Load, p.Run, err)
		}
		for _, r := range strings.Split(p.Runner, ",") {
			if seen[r] {
				return fmt.Errorf("merging load %q of run %q: runner %q would count twice: %w", p.Load, p.Run, r, ErrMismatch)
			}
			seen[r] = true
		}
	}
	return nil
}

func runners(ps []*Payload) string {
	var names []string
	for _, p := range ps {
		names = append(names, strings.Split(p.Runner, ",")...)
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}

// window is from the first start to the last end. A runner that had nothing to
// do, as where there are more runners than users, has no say in it.
func window(ps []*Payload) (start, end time.Time) {
	busy := keep(ps, func(p *Payload) bool { return p.span() > 0 })
	if len(busy) == 0 {
		busy = ps
	}
	start, end = busy[0].Start, busy[0].End
	for _, p := range busy {
		start, end = earlier(start, p.Start), later(end, p.End)
	}
	return start, end
}

// add adds p to sum, whose buckets are at least as wide.
func (sum *Payload) add(p *Payload) {
	sum.Final = sum.Final && p.Final
	for _, s := range p.Series {
		into := sum.row(s.Row)
		factor := int64(sum.seconds(s.Row) / p.seconds(s.Row))
		for _, b := range s.Buckets {
			bucket, _ := into.bucket(floorDiv(b.Index, factor))
			bucket.add(b)
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

// sort puts series, counters and gauges into the order of their names, so that
// equal contents make equal bytes.
func (p *Payload) sort() {
	p.places = nil
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
