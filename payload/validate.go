// SPDX-License-Identifier: Apache-2.0

package payload

import (
	"fmt"
	"time"
)

const (
	// maxBucketSeconds is the widest bucket: about 12 days.
	maxBucketSeconds = 1 << 20
	// maxIndex is the limit of bucket indices: about 8,700 years in seconds.
	maxIndex = 1 << 38
	// maxCount and maxSum limit a bucket so that the sum of two cannot overflow: two billion
	// samples, 146 years.
	maxCount = 1 << 31
	maxSum   = 1 << 62
	// maxRows is the maximum number of rows: those of transactions and of requests, and as many
	// again for the others, which are added up by outcome and status.
	maxRows = 2 * (MaxSeries + MaxRequests)
)

// Times before and after these cannot be written in RFC 3339. A clock that shows such a time is
// wrong.
var (
	firstTime = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	lastTime  = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
)

func isTime(at time.Time) bool { return !at.Before(firstTime) && !at.After(lastTime) }

// validTimes returns ErrCorrupt for times that only a wrong clock can show.
func validTimes(times ...time.Time) error {
	for _, at := range times {
		if !isTime(at) {
			return fmt.Errorf("%w: invalid time in the year %d", ErrCorrupt, at.UTC().Year())
		}
	}
	return nil
}

// validate returns ErrCorrupt if p is invalid, so that readers need not check for values that
// cannot have been measured.
func (p *Payload) validate() error {
	if p.Version != Version {
		return fmt.Errorf("%w: unsupported version %d, want %d", ErrCorrupt, p.Version, Version)
	}
	for _, w := range []int{p.BucketSeconds, p.RequestBucketSeconds} {
		if w < 1 || w > maxBucketSeconds || w&(w-1) != 0 {
			return fmt.Errorf("%w: bucket width of %d s is not a power of two", ErrCorrupt, w)
		}
	}
	if err := validTimes(p.Start, p.End); err != nil {
		return err
	}
	if p.End.Before(p.Start) {
		return fmt.Errorf("%w: ends before it starts", ErrCorrupt)
	}
	if n := len(p.Series); n > maxRows {
		return fmt.Errorf("%w: %d rows, at most %d are allowed", ErrCorrupt, n, maxRows)
	}
	if n := max(len(p.Counters), len(p.Gauges)); n > MaxSeries+1 {
		return fmt.Errorf("%w: %d counters or gauges, at most %d are allowed", ErrCorrupt, n, MaxSeries+1)
	}
	for _, valid := range []func() error{p.validNames, p.validSeries, p.validCounters, p.validGauges} {
		if err := valid(); err != nil {
			return err
		}
	}
	if n := p.requestSpan(); n > MaxRequestBuckets {
		return fmt.Errorf("%w: %d buckets of requests from first to last, at most %d are allowed", ErrCorrupt, n, MaxRequestBuckets)
	}
	if p.span() > MaxBuckets {
		return fmt.Errorf("%w: %d buckets from first to last, at most %d are allowed", ErrCorrupt, p.span(), MaxBuckets)
	}
	return nil
}

func (p *Payload) validSeries() error {
	rows := map[Row]bool{}
	for _, s := range p.Series {
		if rows[s.Row] {
			return fmt.Errorf("%w: row %+v twice", ErrCorrupt, s.Row)
		}
		rows[s.Row] = true
		if err := validBuckets(s.Buckets); err != nil {
			return fmt.Errorf("row %+v: %w", s.Row, err)
		}
	}
	return nil
}

func (p *Payload) validCounters() error {
	counters := map[string]bool{}
	for _, c := range p.Counters {
		if counters[c.Name] {
			return fmt.Errorf("%w: counter %q twice", ErrCorrupt, c.Name)
		}
		counters[c.Name] = true
		if err := validCounts(c.Buckets); err != nil {
			return fmt.Errorf("counter %q: %w", c.Name, err)
		}
	}
	return nil
}

func (p *Payload) validGauges() error {
	gauges := map[string]bool{}
	for _, g := range p.Gauges {
		if gauges[g.Name] {
			return fmt.Errorf("%w: gauge %q twice", ErrCorrupt, g.Name)
		}
		gauges[g.Name] = true
	}
	return nil
}

// validNames returns ErrCorrupt for names that every recorder would have truncated.
func (p *Payload) validNames() error {
	names := []string{p.Load, p.Run}
	for _, s := range p.Series {
		names = append(names, s.Scenario, s.Transaction, s.Request, s.Outcome, s.Status)
	}
	for _, c := range p.Counters {
		names = append(names, c.Name)
	}
	for _, g := range p.Gauges {
		names = append(names, g.Name)
	}
	for _, name := range names {
		if len(name) > MaxName {
			return fmt.Errorf("%w: a name of %d bytes, at most %d are allowed", ErrCorrupt, len(name), MaxName)
		}
	}
	return nil
}

func validBuckets(bs []Bucket) error {
	for i, b := range bs {
		if i > 0 && b.Index <= bs[i-1].Index {
			return fmt.Errorf("%w: bucket %d after %d", ErrCorrupt, b.Index, bs[i-1].Index)
		}
		if b.Index > maxIndex || b.Index < -maxIndex {
			return fmt.Errorf("%w: bucket index %d is out of range", ErrCorrupt, b.Index)
		}
		if b.Histogram == nil || b.Count < 1 || b.Count > maxCount || b.Histogram.Count() != b.Count {
			return fmt.Errorf("%w: bucket %d has an invalid sample count", ErrCorrupt, b.Index)
		}
		if b.Min < 0 || b.Max < b.Min || b.Sum < b.Max || b.Sum > maxSum {
			return fmt.Errorf("%w: bucket %d has sum %v, min %v, max %v", ErrCorrupt, b.Index, b.Sum, b.Min, b.Max)
		}
	}
	return nil
}

func validCounts(bs []CounterBucket) error {
	for i, b := range bs {
		if i > 0 && b.Index <= bs[i-1].Index {
			return fmt.Errorf("%w: bucket %d after %d", ErrCorrupt, b.Index, bs[i-1].Index)
		}
		if b.Index > maxIndex || b.Index < -maxIndex {
			return fmt.Errorf("%w: bucket index %d is out of range", ErrCorrupt, b.Index)
		}
	}
	return nil
}
