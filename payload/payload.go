// SPDX-License-Identifier: Apache-2.0

package payload

import (
	"errors"
	"time"
)

// Version is the only format version this package writes and reads.
const Version = 2

// Limits of the size of a payload, for tests of any length.
const (
	// MaxBuckets is the maximum number of buckets from the first to the last bucket of
	// transactions and counters. For longer tests, their width doubles.
	MaxBuckets = 512
	// MaxRequestBuckets is the same limit for requests.
	MaxRequestBuckets = 32
	// MaxSeries is the maximum number of transaction rows, of counters and of gauges. Further
	// ones are added up under the name Other.
	MaxSeries = 256
	// MaxRequests is the maximum number of request rows. They have so few buckets that they take
	// an eighth of the space that transactions may take.
	MaxRequests = 512
	// MaxName is the maximum length of the name of a transaction, a request, a counter or a
	// gauge, in bytes. Longer names are truncated.
	MaxName = 512
	// Other is the name of the transactions, requests, counters and gauges beyond these limits.
	Other = "(other)"
)

// Outcomes of transactions and requests.
const (
	OK    = "ok"
	Error = "error"
)

// firstRequestBucketSeconds is the initial bucket width of requests. Narrower buckets would be
// merged before they are read.
const firstRequestBucketSeconds = 16

var (
	// ErrNone means that there is no payload.
	ErrNone = errors.New("no payload")
	// ErrCorrupt means that a payload is damaged or incomplete.
	ErrCorrupt = errors.New("corrupt payload")
	// ErrTooLarge means that reading would exceed the memory limit of the reader.
	ErrTooLarge = errors.New("too large")
	// ErrMismatch means that payloads do not belong together.
	ErrMismatch = errors.New("payloads do not belong together")
)

// Payload holds the measurements of one load generator, or the sum of several.
type Payload struct {
	Version int `json:"version"`
	// Load and Run are the names of the measured load and of its run.
	Load string `json:"load"`
	Run  string `json:"run"`
	// Runner is the name of the runner. After Merge, it is the names of all runners, sorted and
	// joined by ",".
	Runner string `json:"runner"`
	// Generator is the name and version of the load generator: "k6 v2.2.0". It is empty if the
	// load generator does not report it. Merge does not keep it.
	Generator string `json:"generator,omitempty"`
	// Start and End bound the measurement: UTC, whole milliseconds.
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
	// BucketSeconds is the width of the buckets of transactions and counters,
	// RequestBucketSeconds that of requests. Both are powers of two.
	BucketSeconds        int `json:"bucketSeconds"`
	RequestBucketSeconds int `json:"requestBucketSeconds"`
	// Final is false for a checkpoint of a test that was still running.
	Final    bool      `json:"final"`
	Series   []Series  `json:"series"`
	Counters []Counter `json:"counters"`
	Gauges   []Gauge   `json:"gauges"`

	index    map[Row]int // of rows in Series; created when needed
	requests *interval   // interval of the requests after Between
}

// interval is a period of time.
type interval struct{ from, to time.Time }

// Row identifies the transaction or request that the durations of a series belong to.
type Row struct {
	// Scenario is k6's name of the scenario, if there is one.
	Scenario string `json:"scenario,omitempty"`
	// Transaction is "" for requests outside of transactions.
	Transaction string `json:"transaction"`
	// Request names a request within the transaction; "" is the transaction itself.
	Request string `json:"request,omitempty"`
	// Outcome is OK or Error.
	Outcome string `json:"outcome"`
	// Status is the class of a request's status: "1xx" to "5xx", or Error if there was no
	// response.
	Status string `json:"status,omitempty"`
}

// Series holds the durations of one row.
type Series struct {
	Row
	// Buckets are sorted by Index; buckets without samples are absent.
	Buckets []Bucket `json:"buckets"`
}

// Bucket holds the durations that ended in one time interval. Count, Sum, Min and Max are exact
// to the nanosecond.
type Bucket struct {
	// Index is the position on the grid that all payloads share: the Unix seconds of the
	// interval's start, divided by the width.
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

// CounterBucket is the increase of a counter in one time interval.
type CounterBucket struct {
	// Index is as in Bucket.
	Index int64
	Sum   float64
}

// UserSeconds is the name of the counter that increases each second by the number of users.
const UserSeconds = "perflab_user_seconds"

// Gauge is a quantity that goes up and down: users, records processed so far. After Merge, both
// values are sums over the runners.
type Gauge struct {
	Name string  `json:"name"`
	Last float64 `json:"last"`
	Max  float64 `json:"max"`
}

// New returns an empty payload that starts at start, with the narrowest buckets.
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
