// SPDX-License-Identifier: AGPL-3.0-only

package output

import (
	"math"
	"strings"
	"time"

	"go.k6.io/k6/v2/metrics"

	"perflab.dev/perflab/payload"
)

// transactionDuration is the trend whose samples are transactions: milliseconds,
// tagged "transaction" and "outcome".
const transactionDuration = "transaction_duration"

// recorder turns samples into a payload.
type recorder struct {
	total *payload.Payload
	began bool
}

func newRecorder(load, run, runner string) *recorder {
	return &recorder{total: payload.New(load, run, runner, time.Now())}
}

// add takes in one sample. What setup and teardown do is not load.
func (r *recorder) add(s metrics.Sample) {
	if outsideOfLoad(s) {
		return
	}
	switch {
	case s.Metric.Name == transactionDuration:
		r.transaction(s)
	case s.Metric.Name == metrics.HTTPReqFailedName && s.Value != 0:
		r.total.Count(s.Metric.Name, s.Time, s.Value)
	case s.Metric.Type == metrics.Counter:
		r.total.Count(s.Metric.Name, s.Time, s.Value)
	}
	r.cover(s.Time)
}

func (r *recorder) transaction(s metrics.Sample) {
	name, ok := s.Tags.Get("transaction")
	if !ok {
		name = payload.Other
	}
	outcome, ok := s.Tags.Get("outcome")
	if !ok {
		outcome = "ok"
	}
	took := time.Duration(math.Round(s.Value * float64(time.Millisecond)))
	r.total.Record(name, outcome, s.Time, took)
}

// outsideOfLoad says whether a sample is from setup or teardown, or tells
// nothing because no user is active, as while k6 is paused.
func outsideOfLoad(s metrics.Sample) bool {
	switch s.Metric.Name {
	case metrics.VUsMaxName:
		return true
	case metrics.VUsName:
		return s.Value == 0
	}
	group, _ := s.Tags.Get("group")
	return strings.HasPrefix(group, "::setup") || strings.HasPrefix(group, "::teardown")
}

// cover widens the time measured to include t.
func (r *recorder) cover(t time.Time) {
	t = t.UTC().Truncate(time.Millisecond)
	if !r.began || t.Before(r.total.Start) {
		r.total.Start = t
	}
	if !r.began || t.After(r.total.End) {
		r.total.End = t
	}
	r.began = true
}

// payload is everything so far, small enough to be printed. What had to be
// widened stays so: the next payload would be larger still.
func (r *recorder) payload(final bool) (*payload.Payload, error) {
	r.total.Final = final
	fitted, err := r.total.Fit(maxBytes)
	if err != nil {
		return nil, err
	}
	r.total = fitted
	return fitted, nil
}
