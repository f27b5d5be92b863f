// SPDX-License-Identifier: Apache-2.0

package payload

import (
	"errors"
	"time"
)

// Version is the only format version this package writes and reads.
const Version = 2

// Limits that keep a payload small however long a test runs.
const (
	// MaxBuckets is the longest stretch of time, in buckets, between the first
	// and the last bucket of transactions and counters. Past it their width
	// doubles.
	MaxBuckets = 512
	// MaxRequestBuckets is the same for requests.
	MaxRequestBuckets = 32
	// MaxSeries is the number of transaction rows, of counters and of gauges that
	// are kept apart. What comes after is added up under the name Other.
	MaxSeries = 256
	// MaxRequests is the number of request rows that are kept apart. With so few
	// buckets each they take less than a tenth of what transactions may.
	MaxRequests = 512
	// MaxName is the longest name of a transaction, a request, a counter or a
	// gauge, in bytes. Longer ones are cut.
	MaxName = 512
	// Other is the transaction, request and counter name of what exceeds that.
	Other = "(other)"
)

// Outcomes of transactions and requests.
const (
	OK    = "ok"
	Error = "error"
)

// firstRequestBucketSeconds is the width that buckets of requests begin with:
// narrower ones would be merged before anybody reads them.
const firstRequestBucketSeconds = 16

var (
	// ErrNone says that there was no payload at all.
	ErrNone = errors.New("no payload")
	// ErrCorrupt says that what should be a payload is damaged or incomplete.
	ErrCorrupt = errors.New("corrupt payload")
	// ErrTooLarge says that reading would take more memory than a reader has.
	ErrTooLarge = errors.New("too large")
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
	// Generator is what measured, with its version: "k6 v2.2.0". Empty: it does
	// not say. Merge does not keep it.
	Generator string `json:"generator,omitempty"`
	// Start and End bound the measurement: UTC, whole milliseconds.
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
	// BucketSeconds is the width of the buckets of transactions and counters,
	// RequestBucketSeconds that of requests: powers of two.
	BucketSeconds        int `json:"bucketSeconds"`
	RequestBucketSeconds int `json:"requestBucketSeconds"`
	// Final is false for a checkpoint of a test that was still running.
	Final    bool      `json:"final"`
	Series   []Series  `json:"series"`
	Counters []Counter `json:"counters"`
	Gauges   []Gauge   `json:"gauges"`

	index    map[Row]int // of rows in Series; made when needed
	requests *interval   // what Between left of the requests
}

// interval is a part of time.
type interval struct{ from, to time.Time }

// Row says what the durations of a series are of.
type Row struct {
	// Scenario is k6's name of the scenario, if there is one.
	Scenario string `json:"scenario,omitempty"`
	// Transaction is "" for requests outside of any.
	Transaction string `json:"transaction"`
	// Request names a request within the transaction; "" is the transaction itself.
	Request string `json:"request,omitempty"`
	// Outcome is OK or Error.
	Outcome string `json:"outcome"`
	// Status is the class of a request's status: "1xx" to "5xx", or Error if
	// there was no answer.
	Status string `json:"status,omitempty"`
}

// Series is the durations of one row.
type Series struct {
	Row
	// Buckets are sorted by Index; buckets without samples are absent.
	Buckets []Bucket `json:"buckets"`
}

// Bucket is the durations that ended in one interval of time. Count, Sum, Min
// and Max are exact to the nanosecond.
type Bucket struct {
	// Index is the place on the grid that all payloads share: unix seconds of
	// the interval's beginning, divided by the width.
	Index    int64
	Count    int64
	Sum      time.Duration
	Min, Max time.Duration
	// Histogram has the same count.
	Histogram *Histogram
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

// UserSeconds is the counter of users, added up each second.
const UserSeconds = "perflab_user_seconds"

// Gauge is a quantity that goes up and down: users, records done so far. After
// Merge both values are sums over the runners.
type Gauge struct {
	Name string  `json:"name"`
	Last float64 `json:"last"`
	Max  float64 `json:"max"`
}

// New returns an empty payload with the narrowest buckets, measured from start on.
func New(load, run, runner string, start time.Time) *Payload {
	start = millis(start)
	return &Payload{
		Version: Version, Load: load, Run: run, Runner: runner,
		Start: start, End: start, BucketSeconds: 1, RequestBucketSeconds: firstRequestBucketSeconds,
	}
}

// Clone returns a copy that shares nothing with p.
func (p *Payload) Clone() *Payload {
	c := *p
	c.index = nil
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
	c.Gauges = append([]Gauge(nil), p.Gauges...)
	return &c
}

// WithoutRequests returns p without its request rows; it shares the rest with p.
func (p *Payload) WithoutRequests() *Payload {
	c := *p
	c.index = nil
	c.Series = keep(p.Series, func(s Series) bool { return !s.isRequest() })
	return &c
}

func (r Row) isRequest() bool { return r.Request != "" }

// seconds returns the bucket width of requests, or of transactions.
func (p *Payload) seconds(requests bool) int {
	if requests {
		return p.RequestBucketSeconds
	}
	return p.BucketSeconds
}

func cloneBuckets(bs []Bucket) []Bucket {
	out := make([]Bucket, len(bs))
	for i, b := range bs {
		b.Histogram = b.Histogram.clone()
		out[i] = b
	}
	return out
}

func millis(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
