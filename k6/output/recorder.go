// SPDX-License-Identifier: AGPL-3.0-only

package output

import (
	"io"
	"math"
	"time"

	"go.k6.io/k6/v2/lib/netext/httpext"
	"go.k6.io/k6/v2/metrics"

	"perflab.dev/perflab/payload"
)

// Counters that k6 lacks.
const (
	checksPassed = "checks_passed"
	checksFailed = "checks_failed"
)

// maxSubjects bounds the cache of tag sets. Scripts with unique tags don't benefit from it.
const maxSubjects = 8192

// recorder turns samples into a payload.
type recorder struct {
	transactions transactions
	total        *payload.Payload
	progress     *progress
	subjects     map[*metrics.TagSet]*subject
	// metricSums are the counters recorded so far, except those of requests.
	metricSums       map[string]*payload.CounterRecorder
	requests, failed *payload.CounterRecorder

	began    bool
	from, to int64 // total's start and end: milliseconds of Unix time
}

func newRecorder(load, run, runner string, t transactions) *recorder {
	total := payload.New(load, run, runner, time.Now())
	total.Generator = k6Version()
	return &recorder{
		transactions: t,
		total:        total,
		progress:     newProgress(),
		subjects:     map[*metrics.TagSet]*subject{},
		metricSums:   map[string]*payload.CounterRecorder{},
		requests:     total.CounterRecorder(metrics.HTTPReqsName),
		failed:       total.CounterRecorder(metrics.HTTPReqFailedName),
	}
}

// add records samples that k6 measured together.
func (r *recorder) add(container metrics.SampleContainer) {
	switch own := container.(type) {
	case *httpext.Trail:
		r.recordTrail(own)
	case metrics.Sample:
		// GetSamples would allocate a list.
		r.sample(&own)
	default:
		samples := container.GetSamples()
		for i := range samples {
			r.sample(&samples[i])
		}
	}
}

// recordTrail records a request. Three of its nine samples matter, and all have the same
// tags and time.
func (r *recorder) recordTrail(t *httpext.Trail) {
	s := r.subject(t.Tags)
	if s.outside {
		return
	}
	r.requests.Count(t.EndTime, 1)
	if t.Failed.Valid && t.Failed.Bool {
		r.failed.Count(t.EndTime, 1)
	}
	r.request(s, t.EndTime, t.Duration)
	r.extendRange(t.EndTime)
}

// sample records one sample. It ignores setup and teardown, which are not part of the load. It
// also ignores the maximum number of users, and the number of users while it is 0, for example
// while k6 is paused.
func (r *recorder) sample(s *metrics.Sample) {
	if s.Metric.Name == metrics.VUsMaxName || s.Metric.Name == metrics.VUsName && s.Value == 0 {
		return
	}
	about := r.subject(s.Tags)
	if about.outside {
		return
	}
	switch s.Metric.Type {
	case metrics.Trend:
		r.trend(s, about)
	case metrics.Counter:
		r.count(s.Metric.Name, s.Time, s.Value)
	case metrics.Gauge:
		r.total.Set(s.Metric.Name, s.Value)
		if s.Metric.Name == metrics.VUsName {
			// k6 samples them each second.
			r.count(payload.UserSeconds, s.Time, s.Value)
		}
	case metrics.Rate:
		r.rate(s)
	}
	r.extendRange(s.Time)
}

func (r *recorder) trend(s *metrics.Sample, about *subject) {
	switch s.Metric.Name {
	case metrics.HTTPReqDurationName:
		r.request(about, s.Time, duration(s.Value))
	case r.transactions.metric:
		r.transaction(about, s.Time, duration(s.Value))
	}
}

// duration converts a trend's milliseconds.
func duration(milliseconds float64) time.Duration {
	return time.Duration(math.Round(milliseconds * float64(time.Millisecond)))
}

// rate counts samples of k6's rates. It ignores a script's own rates, whose meaning is
// unknown.
func (r *recorder) rate(s *metrics.Sample) {
	switch {
	case s.Metric.Name == metrics.HTTPReqFailedName && s.Value != 0:
		r.failed.Count(s.Time, 1)
	case s.Metric.Name == metrics.ChecksName && s.Value != 0:
		r.count(checksPassed, s.Time, 1)
	case s.Metric.Name == metrics.ChecksName:
		r.count(checksFailed, s.Time, 1)
	}
}

func (r *recorder) request(about *subject, at time.Time, took time.Duration) {
	about.requests.Add(at, took)
	r.progress.requests++
	if r.transactions.metric == metrics.HTTPReqDurationName && about.named {
		r.transaction(about, at, took)
	}
}

func (r *recorder) transaction(about *subject, at time.Time, took time.Duration) {
	about.transactions.Add(at, took)
	r.progress.transaction(about.transaction, took)
}

func (r *recorder) count(name string, at time.Time, n float64) {
	sum, ok := r.metricSums[name]
	if !ok {
		sum = r.total.CounterRecorder(name)
		r.metricSums[name] = sum
	}
	sum.Count(at, n)
}

// subject parses tags once per set: k6 shares equal sets.
func (r *recorder) subject(tags *metrics.TagSet) *subject {
	if s, ok := r.subjects[tags]; ok {
		return s
	}
	if len(r.subjects) >= maxSubjects {
		clear(r.subjects)
	}
	s := r.transactions.subject(tags, r.total)
	r.subjects[tags] = s
	return s
}

// extendRange extends the measured time to include t, in whole milliseconds.
func (r *recorder) extendRange(t time.Time) {
	at := t.UnixMilli()
	if r.began && at >= r.from && at <= r.to {
		return
	}
	if !r.began || at < r.from {
		r.from, r.total.Start = at, time.UnixMilli(at).UTC()
	}
	if !r.began || at > r.to {
		r.to, r.total.End = at, time.UnixMilli(at).UTC()
	}
	if !r.began {
		r.began = true
		r.reserve(t)
	}
}

// reserve adds the counters that validity needs, before a script's counters exhaust the
// limit.
func (r *recorder) reserve(at time.Time) {
	for _, name := range []string{metrics.HTTPReqsName, metrics.HTTPReqFailedName, checksPassed, checksFailed, metrics.IterationsName, metrics.DroppedIterationsName} {
		r.count(name, at, 0)
	}
}

// final writes everything, within the size limit.
func (r *recorder) final(w io.Writer) error {
	r.total.Final = true
	return payload.WriteFit(w, r.total, maxBytes)
}

// checkpoint writes the data that survives a killed test, without requests, so that it is
// small.
func (r *recorder) checkpoint(w io.Writer) error {
	return payload.WriteFit(w, r.total.WithoutRequests(), maxCheckpointBytes)
}
