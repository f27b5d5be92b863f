// SPDX-License-Identifier: Apache-2.0

package payload

import (
	"sort"
	"time"
)

// Record adds one transaction that ended at the given time. Durations below
// zero, as a clock that jumps may give, count as zero.
func (p *Payload) Record(transaction, outcome string, at time.Time, d time.Duration) {
	d = max(d, 0)
	s := p.series(transaction, outcome)
	b := s.bucket(p.index(at))
	b.add(Bucket{Count: 1, Sum: d, Min: d, Max: d})
	record(b.Histogram, d)
	p.narrow()
}

// Count adds n to a counter at the given time.
func (p *Payload) Count(counter string, at time.Time, n float64) {
	c := p.counter(counter)
	c.bucket(p.index(at)).Sum += n
	p.narrow()
}

// index is the bucket that covers a time.
func (p *Payload) index(at time.Time) int64 {
	sec, w := at.Unix(), int64(p.BucketSeconds)
	return floorDiv(sec, w)
}

func (p *Payload) series(transaction, outcome string) *Series {
	for i := range p.Series {
		if s := &p.Series[i]; s.Transaction == transaction && s.Outcome == outcome {
			return s
		}
	}
	if len(p.Series) >= MaxSeries && transaction != Other {
		return p.series(Other, outcome)
	}
	p.Series = append(p.Series, Series{Transaction: transaction, Outcome: outcome})
	return &p.Series[len(p.Series)-1]
}

func (p *Payload) counter(name string) *Counter {
	for i := range p.Counters {
		if c := &p.Counters[i]; c.Name == name {
			return c
		}
	}
	if len(p.Counters) >= MaxSeries && name != Other {
		return p.counter(Other)
	}
	p.Counters = append(p.Counters, Counter{Name: name})
	return &p.Counters[len(p.Counters)-1]
}

// bucket finds or inserts a bucket; the last one is nearly always the one.
func (s *Series) bucket(index int64) *Bucket {
	n := len(s.Buckets)
	if n > 0 && s.Buckets[n-1].Index == index {
		return &s.Buckets[n-1]
	}
	i := sort.Search(n, func(i int) bool { return s.Buckets[i].Index >= index })
	if i == n || s.Buckets[i].Index != index {
		s.Buckets = append(s.Buckets, Bucket{})
		copy(s.Buckets[i+1:], s.Buckets[i:])
		s.Buckets[i] = Bucket{Index: index, Histogram: newHistogram()}
	}
	return &s.Buckets[i]
}

func (c *Counter) bucket(index int64) *CounterBucket {
	n := len(c.Buckets)
	if n > 0 && c.Buckets[n-1].Index == index {
		return &c.Buckets[n-1]
	}
	i := sort.Search(n, func(i int) bool { return c.Buckets[i].Index >= index })
	if i == n || c.Buckets[i].Index != index {
		c.Buckets = append(c.Buckets, CounterBucket{})
		copy(c.Buckets[i+1:], c.Buckets[i:])
		c.Buckets[i] = CounterBucket{Index: index}
	}
	return &c.Buckets[i]
}

// add adds the exact figures of o to b, and its histogram if it has one.
func (b *Bucket) add(o Bucket) {
	if o.Count == 0 {
		return
	}
	if b.Count == 0 || o.Min < b.Min {
		b.Min = o.Min
	}
	b.Max = max(b.Max, o.Max)
	b.Count += o.Count
	b.Sum += o.Sum
	if o.Histogram != nil {
		// Both have the same geometry, so nothing can be dropped.
		b.Histogram.Merge(o.Histogram)
	}
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
