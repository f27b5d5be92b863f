// SPDX-License-Identifier: Apache-2.0

package payload

import (
	"errors"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Version is the only format version this package writes and reads.
const Version = 1

// Limits that keep a payload small however long a test runs.
const (
	// MaxBuckets is the longest stretch of time, in buckets, between the first
	// and the last bucket of a payload. Past it the bucket width doubles.
	MaxBuckets = 512
	// MaxSeries is the number of series, and of counters, that are kept apart.
	// What comes after is added up under the name Other.
	MaxSeries = 256
	// Other is the transaction and counter name of what exceeds MaxSeries.
	Other = "(other)"
)

var (
	// ErrNone says that there was no payload at all.
	ErrNone = errors.New("no payload")
	// ErrCorrupt says that what should be a payload is damaged or incomplete.
	ErrCorrupt = errors.New("corrupt payload")
	// ErrMismatch says that payloads do not belong together.
	ErrMismatch = errors.New("payloads do not belong together")
)

// Payload is what one load generator measured, or the sum of several.
type Payload struct {
	Version int `json:"version"`
	// Load and Run name what was measured.
	Load string `json:"load"`
	Run  string `json:"run"`
	// Runner names who measured; after Merge the runners, sorted, joined by ",".
	Runner string `json:"runner"`
	// Start and End bound the measurement: UTC, whole milliseconds.
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
	// BucketSeconds is the width of every bucket: a power of two.
	BucketSeconds int `json:"bucketSeconds"`
	// Final is false for a checkpoint of a test that was still running.
	Final    bool      `json:"final"`
	Series   []Series  `json:"series"`
	Counters []Counter `json:"counters"`
}

// Series is the durations of one transaction with one outcome.
type Series struct {
	Transaction string `json:"transaction"`
	// Outcome is "ok" or "error".
	Outcome string `json:"outcome"`
	// Buckets are sorted by Index; buckets without samples are absent.
	Buckets []Bucket `json:"buckets"`
}

// Bucket is the durations that ended in one interval of time. Count, Sum, Min
// and Max are exact to the nanosecond.
type Bucket struct {
	// Index is the place on the grid that all payloads share: unix seconds of
	// the interval's beginning, divided by BucketSeconds.
	Index    int64
	Count    int64
	Sum      time.Duration
	Min, Max time.Duration
	// Histogram holds microseconds with three significant digits.
	Histogram *hdrhistogram.PackedHistogram
}

// Counter is a quantity that adds up: requests, iterations, records.
type Counter struct {
	Name    string          `json:"name"`
	Buckets []CounterBucket `json:"buckets"`
}

// CounterBucket is what was added to a counter in one interval of time.
type CounterBucket struct {
	// Index is as in Bucket.
	Index int64
	Sum   float64
}

// New returns an empty payload with one-second buckets, measured from start on.
func New(load, run, runner string, start time.Time) *Payload {
	start = millis(start)
	return &Payload{
		Version: Version, Load: load, Run: run, Runner: runner,
		Start: start, End: start, BucketSeconds: 1,
	}
}

// Clone returns a copy that shares nothing with p.
func (p *Payload) Clone() *Payload {
	c := *p
	c.Series = make([]Series, len(p.Series))
	for i, s := range p.Series {
		s.Buckets = cloneBuckets(s.Buckets)
		c.Series[i] = s
	}
	c.Counters = make([]Counter, len(p.Counters))
	for i, n := range p.Counters {
		n.Buckets = append([]CounterBucket(nil), n.Buckets...)
		c.Counters[i] = n
	}
	return &c
}

// width is the length of a bucket.
func (p *Payload) width() time.Duration {
	return time.Duration(p.BucketSeconds) * time.Second
}

// bucketStart is the time at which the bucket at index begins.
func (p *Payload) bucketStart(index int64) time.Time {
	return time.Unix(index*int64(p.BucketSeconds), 0).UTC()
}

func cloneBuckets(bs []Bucket) []Bucket {
	out := make([]Bucket, len(bs))
	for i, b := range bs {
		b.Histogram = b.Histogram.Clone()
		out[i] = b
	}
	return out
}

func millis(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
