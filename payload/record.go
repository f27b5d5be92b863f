// SPDX-License-Identifier: Apache-2.0

package payload

import (
	"crypto/sha256"
	"encoding/hex"
	"sort"
	"time"
)

// Record adds one transaction that ended at the given time; see Add.
func (p *Payload) Record(transaction, outcome string, at time.Time, d time.Duration) {
	p.Add(Row{Transaction: transaction, Outcome: outcome}, at, d)
}

// Add adds one transaction or request that ended at the given time. Durations below zero, which a
// clock change can cause, count as zero.
func (p *Payload) Add(row Row, at time.Time, d time.Duration) {
	p.addTo(p.row(row), at, d)
}

func (p *Payload) addTo(s *Series, at time.Time, d time.Duration) {
	b, isNew := s.bucket(floorDiv(at.Unix(), int64(p.seconds(s.isRequest()))))
	b.count(max(d, 0))
	if isNew {
		p.narrow()
	}
}

// Count adds n to a counter at the given time.
func (p *Payload) Count(counter string, at time.Time, n float64) {
	p.countTo(p.counter(counter), at, n)
}

func (p *Payload) countTo(c *Counter, at time.Time, n float64) {
	b, isNew := c.bucket(floorDiv(at.Unix(), int64(p.BucketSeconds)))
	b.Sum += n
	if isNew {
		p.narrow()
	}
}

// Set sets the latest value of a gauge.
func (p *Payload) Set(gauge string, value float64) {
	g := p.gauge(gauge)
	g.Last, g.Max = value, max(g.Max, value)
}

// row returns the series of a row, and creates it if needed.
func (p *Payload) row(row Row) *Series { return &p.Series[p.rowIndex(row)] }

// rowIndex returns the index of that series in Series.
func (p *Payload) rowIndex(row Row) int {
	row.Scenario, row.Transaction, row.Request = boundedName(row.Scenario), boundedName(row.Transaction), boundedName(row.Request)
	if p.index == nil {
		p.index = map[Row]int{}
		for i, s := range p.Series {
			p.index[s.Row] = i
		}
	}
	if i, ok := p.index[row]; ok {
		return i
	}
	if other := row.other(); row != other && p.rows(row.isRequest()) >= mostRows(row.isRequest()) {
		return p.rowIndex(other)
	}
	p.index[row] = len(p.Series)
	p.Series = append(p.Series, Series{Row: row})
	return len(p.Series) - 1
}

// other returns the row that collects the rows beyond the limit.
func (r Row) other() Row {
	o := Row{Transaction: Other, Outcome: r.Outcome}
	if r.isRequest() {
		o.Request, o.Status = Other, r.Status
	}
	return o
}

// mostRows returns the maximum number of rows of requests, or of transactions.
func mostRows(requests bool) int {
	if requests {
		return MaxRequests
	}
	return MaxSeries
}

// rows returns the number of series of requests, or of transactions.
func (p *Payload) rows(requests bool) int {
	n := 0
	for i := range p.Series {
		if p.Series[i].isRequest() == requests {
			n++
		}
	}
	return n
}

func (p *Payload) counter(name string) *Counter { return &p.Counters[p.counterIndex(name)] }

// counterIndex returns the index of a counter in Counters, and creates the counter if needed.
func (p *Payload) counterIndex(name string) int {
	name = boundedName(name)
	for i := range p.Counters {
		if p.Counters[i].Name == name {
			return i
		}
	}
	if len(p.Counters) >= MaxSeries && name != Other {
		return p.counterIndex(Other)
	}
	p.Counters = append(p.Counters, Counter{Name: name})
	return len(p.Counters) - 1
}

func (p *Payload) gauge(name string) *Gauge {
	name = boundedName(name)
	for i := range p.Gauges {
		if g := &p.Gauges[i]; g.Name == name {
			return g
		}
	}
	if len(p.Gauges) >= MaxSeries && name != Other {
		return p.gauge(Other)
	}
	p.Gauges = append(p.Gauges, Gauge{Name: name})
	return &p.Gauges[len(p.Gauges)-1]
}

// bucket returns a bucket, and inserts it if it is new. In most calls, it is the last one.
func (s *Series) bucket(index int64) (b *Bucket, isNew bool) {
	n := len(s.Buckets)
	if n > 0 && s.Buckets[n-1].Index == index {
		return &s.Buckets[n-1], false
	}
	i := sort.Search(n, func(i int) bool { return s.Buckets[i].Index >= index })
	if i < n && s.Buckets[i].Index == index {
		return &s.Buckets[i], false
	}
	if i == n && n > 0 {
		// Few durations will be added to the previous bucket.
		s.Buckets[n-1].Histogram.pack()
	}
	s.Buckets = append(s.Buckets, Bucket{})
	copy(s.Buckets[i+1:], s.Buckets[i:])
	s.Buckets[i] = Bucket{Index: index, Histogram: &Histogram{}}
	return &s.Buckets[i], true
}

func (c *Counter) bucket(index int64) (b *CounterBucket, isNew bool) {
	n := len(c.Buckets)
	if n > 0 && c.Buckets[n-1].Index == index {
		return &c.Buckets[n-1], false
	}
	i := sort.Search(n, func(i int) bool { return c.Buckets[i].Index >= index })
	if i < n && c.Buckets[i].Index == index {
		return &c.Buckets[i], false
	}
	c.Buckets = append(c.Buckets, CounterBucket{})
	copy(c.Buckets[i+1:], c.Buckets[i:])
	c.Buckets[i] = CounterBucket{Index: index}
	return &c.Buckets[i], true
}

// count adds one duration to b.
func (b *Bucket) count(d time.Duration) {
	b.extremes(d, d)
	b.Count++
	b.Sum += d
	b.Histogram.Record(d)
}

// add adds o to b.
func (b *Bucket) add(o Bucket) {
	if o.Count == 0 {
		return
	}
	b.extremes(o.Min, o.Max)
	b.Count += o.Count
	b.Sum += o.Sum
	b.Histogram.add(o.Histogram)
}

func (b *Bucket) extremes(lowest, highest time.Duration) {
	if b.Count == 0 || lowest < b.Min {
		b.Min = lowest
	}
	b.Max = max(b.Max, highest)
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// boundedName returns a name as it is recorded. A truncated name ends in its digest, which
// distinguishes it from names with the same start.
func boundedName(text string) string {
	if len(text) <= MaxName {
		return text
	}
	const digest = 4
	sum := sha256.Sum256([]byte(text))
	return cut(text, MaxName, hex.EncodeToString(sum[:digest]))
}
