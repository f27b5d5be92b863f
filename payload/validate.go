// SPDX-License-Identifier: Apache-2.0

package payload

import "fmt"

const (
	// maxBucketSeconds is the widest bucket: about 12 days.
	maxBucketSeconds = 1 << 20
	// maxIndex bounds bucket indices: about 8,900 years in seconds.
	maxIndex = 1 << 38
	// maxCount and maxSum bound a bucket so that no addition overflows: 10^12
	// samples, 104 days.
	maxCount = 1 << 40
	maxSum   = 1 << 53
)

// validate tells what is wrong with p as ErrCorrupt, so that no reader has to
// fear a number that could not have been measured.
func (p *Payload) validate() error {
	if p.Version != Version {
		return fmt.Errorf("%w: version %d, this reader knows version %d", ErrCorrupt, p.Version, Version)
	}
	if w := p.BucketSeconds; w < 1 || w > maxBucketSeconds || w&(w-1) != 0 {
		return fmt.Errorf("%w: bucket width of %d s is not a power of two", ErrCorrupt, w)
	}
	if p.End.Before(p.Start) {
		return fmt.Errorf("%w: ends before it starts", ErrCorrupt)
	}
	names := map[[2]string]bool{}
	for _, s := range p.Series {
		key := [2]string{s.Transaction, s.Outcome}
		if names[key] {
			return fmt.Errorf("%w: transaction %q with outcome %q twice", ErrCorrupt, s.Transaction, s.Outcome)
		}
		names[key] = true
		if err := validBuckets(s.Buckets); err != nil {
			return fmt.Errorf("transaction %q: %w", s.Transaction, err)
		}
	}
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
	if p.span() > MaxBuckets {
		return fmt.Errorf("%w: %d buckets from first to last, at most %d are allowed", ErrCorrupt, p.span(), MaxBuckets)
	}
	return nil
}

func validBuckets(bs []Bucket) error {
	for i, b := range bs {
		if i > 0 && b.Index <= bs[i-1].Index {
			return fmt.Errorf("%w: bucket %d after %d", ErrCorrupt, b.Index, bs[i-1].Index)
		}
		if b.Index > maxIndex || b.Index < -maxIndex {
			return fmt.Errorf("%w: bucket index %d", ErrCorrupt, b.Index)
		}
		if b.Histogram == nil || b.Count < 1 || b.Count > maxCount || b.Histogram.TotalCount() != b.Count {
			return fmt.Errorf("%w: bucket %d does not count its samples right", ErrCorrupt, b.Index)
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
			return fmt.Errorf("%w: bucket index %d", ErrCorrupt, b.Index)
		}
	}
	return nil
}
