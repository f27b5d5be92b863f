// SPDX-License-Identifier: Apache-2.0

package payload

import (
	"fmt"
	"math/bits"
)

// requestsWider is the ratio of the bucket widths of requests and transactions up to which shrink
// widens the buckets of requests first. Requests take most of the space, and short windows are
// used for transactions.
const requestsWider = 128

// narrow doubles the bucket widths until the payload has at most MaxBuckets and
// MaxRequestBuckets.
func (p *Payload) narrow() {
	for p.span() > MaxBuckets {
		p.widen()
	}
	for p.requestSpan() > MaxRequestBuckets {
		p.widenRequests()
	}
}

// extent is the range from the first to the last used bucket.
type extent struct {
	first, last int64
	used        bool
}

func (e *extent) cover(first, last int64) {
	if !e.used {
		*e = extent{first, last, true}
		return
	}
	e.first, e.last = min(e.first, first), max(e.last, last)
}

// width returns the number of buckets from the first to the last.
func (e *extent) width() int64 {
	if !e.used {
		return 0
	}
	return e.last - e.first + 1
}

// span returns the number of buckets from the first to the last used bucket, for transactions and
// counters.
func (p *Payload) span() int64 {
	e := p.seriesExtent(false)
	for _, c := range p.Counters {
		if n := len(c.Buckets); n > 0 {
			e.cover(c.Buckets[0].Index, c.Buckets[n-1].Index)
		}
	}
	return e.width()
}

// requestSpan returns the same for requests.
func (p *Payload) requestSpan() int64 {
	e := p.seriesExtent(true)
	return e.width()
}

func (p *Payload) seriesExtent(requests bool) extent {
	var e extent
	for i := range p.Series {
		s := &p.Series[i]
		if n := len(s.Buckets); n > 0 && s.isRequest() == requests {
			e.cover(s.Buckets[0].Index, s.Buckets[n-1].Index)
		}
	}
	return e
}

// widen doubles the width of the buckets of transactions and counters. The grids nest, so no
// bucket is split.
func (p *Payload) widen() {
	p.BucketSeconds *= 2
	p.widenSeries(false)
	for i := range p.Counters {
		old := p.Counters[i].Buckets
		p.Counters[i].Buckets = nil
		for _, b := range old {
			into, _ := p.Counters[i].bucket(floorDiv(b.Index, 2))
			into.Sum += b.Sum
		}
	}
}

// widenRequests does the same for requests.
func (p *Payload) widenRequests() {
	p.RequestBucketSeconds *= 2
	p.widenSeries(true)
}

func (p *Payload) widenSeries(requests bool) {
	for i := range p.Series {
		s := &p.Series[i]
		if s.isRequest() != requests {
			continue
		}
		old := s.Buckets
		s.Buckets = nil
		for _, b := range old {
			into, _ := s.bucket(floorDiv(b.Index, 2))
			into.add(b)
		}
	}
}

// Fit returns p, or a copy with wider buckets, so that Marshal returns at most limit bytes. It
// fails if the payload is larger even in a single bucket.
func (p *Payload) Fit(limit int) (*Payload, error) {
	fitted, _, err := p.fit(limit)
	return fitted, err
}

// fit also returns the output of Marshal for the result.
func (p *Payload) fit(limit int) (fitted *Payload, body []byte, err error) {
	for fitted = p; ; {
		data, err := Marshal(fitted)
		if err != nil {
			return nil, nil, err
		}
		if len(data) <= limit {
			return fitted, data, nil
		}
		if fitted.span() <= 1 && fitted.requestSpan() <= 1 {
			return nil, nil, fmt.Errorf("fitting payload of %s into %d bytes: it takes %d bytes even in a single bucket", p.Load, limit, len(data))
		}
		if fitted == p {
			fitted = p.Clone()
		}
		// A step at most halves the size, so at least this many steps are needed.
		for range bits.Len(uint(len(data) / limit)) {
			fitted.shrink()
		}
	}
}

// shrink reduces the size of p by one step, if possible.
func (p *Payload) shrink() {
	roomy := p.RequestBucketSeconds < requestsWider*p.BucketSeconds || p.span() <= 1
	if roomy && p.requestSpan() > 1 {
		p.widenRequests()
		return
	}
	if p.span() > 1 {
		p.widen()
	}
}
