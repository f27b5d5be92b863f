// SPDX-License-Identifier: Apache-2.0

package payload

import "fmt"

// narrow doubles the bucket width until the payload spans at most MaxBuckets.
func (p *Payload) narrow() {
	for p.span() > MaxBuckets {
		p.widen()
	}
}

// span is the number of buckets from the first used to the last used.
func (p *Payload) span() int64 {
	var first, last int64
	seen := false
	extend := func(from, to int64) {
		if !seen || from < first {
			first = from
		}
		if !seen || to > last {
			last = to
		}
		seen = true
	}
	for _, s := range p.Series {
		if n := len(s.Buckets); n > 0 {
			extend(s.Buckets[0].Index, s.Buckets[n-1].Index)
		}
	}
	for _, c := range p.Counters {
		if n := len(c.Buckets); n > 0 {
			extend(c.Buckets[0].Index, c.Buckets[n-1].Index)
		}
	}
	if !seen {
		return 0
	}
	return last - first + 1
}

// widen doubles the bucket width. The grids nest, so nothing is split.
func (p *Payload) widen() {
	p.BucketSeconds *= 2
	for i := range p.Series {
		old := p.Series[i].Buckets
		p.Series[i].Buckets = nil
		for _, b := range old {
			p.Series[i].bucket(floorDiv(b.Index, 2)).add(b)
		}
	}
	for i := range p.Counters {
		old := p.Counters[i].Buckets
		p.Counters[i].Buckets = nil
		for _, b := range old {
			p.Counters[i].bucket(floorDiv(b.Index, 2)).Sum += b.Sum
		}
	}
}

// Fit returns p, or a copy with wider buckets, so that Marshal gives at most
// limit bytes. It fails if the payload is larger even in a single bucket.
func (p *Payload) Fit(limit int) (*Payload, error) {
	for fitted := p; ; {
		data, err := Marshal(fitted)
		if err != nil {
			return nil, err
		}
		if len(data) <= limit {
			return fitted, nil
		}
		if fitted.span() <= 1 {
			return nil, fmt.Errorf("fitting payload of %s into %d bytes: it takes %d in a single bucket", p.Load, limit, len(data))
		}
		if fitted == p {
			fitted = p.Clone()
		}
		fitted.widen()
	}
}
