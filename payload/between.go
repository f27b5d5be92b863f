// SPDX-License-Identifier: Apache-2.0

package payload

import (
	"slices"
	"time"
)

// requestSlack is the share of a window, in percent, that Between may add at either end of the
// requests if it would otherwise lose more. Without it, the wide buckets of a long test would
// lose hours of requests to minutes of warm-up.
const requestSlack = 5

// Between returns the part of p measured in whole buckets between from and to. Start and End of
// the result are the bounds of that part. The first and the last bucket of a measurement are
// whole from Start and up to End. Gauges are not cut.
//
// The buckets of requests are wider. If whole buckets would lose more than 5 % of the window at
// one end, Between also includes the bucket there, unless it adds more than 5 %. RequestSpan of
// the result returns the interval of the requests, which is empty if the window is short.
func (p *Payload) Between(from, to time.Time) *Payload {
	cut := *p
	cut.index = nil
	grid := p.grid(p.BucketSeconds)
	own := interval{grid.roundUp(from), grid.roundDown(to)}.valid()
	cut.Start, cut.End = own.from, own.to
	requestGrid := p.grid(p.RequestBucketSeconds)
	requests := requestGrid.roundOff(interval{from, to})
	cut.requests = &requests
	cut.Series = nil
	for _, s := range p.Series {
		in := func(b Bucket) bool { return grid.inside(b.Index, own) }
		if s.isRequest() {
			in = func(b Bucket) bool { return requestGrid.inside(b.Index, requests) }
		}
		s.Buckets = cloneBuckets(keep(s.Buckets, in))
		cut.Series = append(cut.Series, s)
	}
	cut.Counters = nil
	for _, c := range p.Counters {
		c.Buckets = keep(c.Buckets, func(b CounterBucket) bool { return grid.inside(b.Index, own) })
		cut.Counters = append(cut.Counters, c)
	}
	return &cut
}

// RequestSpan returns the interval of the requests: Start to End unless p was cut by Between.
func (p *Payload) RequestSpan() (from, to time.Time) {
	if p.requests == nil {
		return p.Start, p.End
	}
	return p.requests.from, p.requests.to
}

// valid returns s, or an empty interval at its start if it ends before it starts.
func (s interval) valid() interval {
	if s.to.Before(s.from) {
		s.to = s.from
	}
	return s
}

// grid is the set of buckets of one width between the measurement's start and end.
type grid struct {
	width time.Duration
	interval
}

func (p *Payload) grid(seconds int) grid {
	return grid{time.Duration(seconds) * time.Second, interval{p.Start, p.End}}
}

// index returns the bucket that covers t.
func (g grid) index(t time.Time) int64 { return floorDiv(t.Unix(), int64(g.width/time.Second)) }

// begin returns the time at which a bucket starts.
func (g grid) begin(index int64) time.Time {
	return time.Unix(index*int64(g.width/time.Second), 0).UTC()
}

// inside reports whether the measured part of a bucket lies in an interval.
func (g grid) inside(index int64, s interval) bool {
	begin, end := later(g.begin(index), g.from), earlier(g.begin(index+1), g.to)
	return s.to.After(s.from) && !begin.Before(s.from) && !end.After(s.to)
}

// roundUp returns the first time not before t at which a whole bucket starts.
func (g grid) roundUp(t time.Time) time.Time {
	if !t.After(g.from) {
		return g.from
	}
	if on := g.begin(g.index(t)); on.Before(t) {
		return on.Add(g.width)
	}
	return millis(t)
}

// roundDown returns the last time not after t at which a whole bucket ends.
func (g grid) roundDown(t time.Time) time.Time {
	if !t.Before(g.to) {
		return g.to
	}
	return g.begin(g.index(t))
}

// roundOff returns s with its ends moved to the starts of buckets: inwards, unless that loses
// much of s and moving outwards adds little.
func (g grid) roundOff(s interval) interval {
	s = interval{later(s.from, g.from), earlier(s.to, g.to)}.valid()
	little := s.to.Sub(s.from) * requestSlack / 100
	in := interval{g.roundUp(s.from), g.roundDown(s.to)}
	out := interval{later(g.begin(g.index(s.from)), g.from), earlier(g.begin(g.index(s.to)).Add(g.width), g.to)}
	if in.from.Sub(s.from) > little && s.from.Sub(out.from) <= little {
		in.from = out.from
	}
	if s.to.Sub(in.to) > little && out.to.Sub(s.to) <= little {
		in.to = out.to
	}
	return in.valid()
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

func later(times ...time.Time) time.Time { return slices.MaxFunc(times, time.Time.Compare) }

func earlier(times ...time.Time) time.Time { return slices.MinFunc(times, time.Time.Compare) }
