// SPDX-License-Identifier: AGPL-3.0-only

package output

import (
	"math"
	"time"

	"go.k6.io/k6/v2/metrics"

	"perflab.dev/perflab/payload"
	"perflab.dev/perflab/payload/label"
)

const (
	// maxProgressTransactions is the maximum number of transactions in a line. It has the first
	// ones.
	maxProgressTransactions = 8
	// recordsDone is the gauge of records imported so far.
	recordsDone = "perflab_records_done"
)

// progress is the progress report of the test: sums since its start.
type progress struct {
	requests     int64
	transactions int64
	errors       int64
	times        map[string]*payload.Histogram // of successful transactions

	printed   time.Time // time of the last line
	requestsP int64     // requests until then
}

func newProgress() *progress { return &progress{times: map[string]*payload.Histogram{}} }

func (p *progress) transaction(row payload.Row, took time.Duration) {
	p.transactions++
	if row.Outcome != payload.OK {
		p.errors++
		return
	}
	times, ok := p.times[row.Transaction]
	if !ok {
		if len(p.times) >= maxProgressTransactions {
			return
		}
		times = &payload.Histogram{}
		p.times[row.Transaction] = times
	}
	times.Record(took)
}

// line returns the line of progress at the given time.
func (p *progress) line(now time.Time, total *payload.Payload) (string, error) {
	since := p.printed
	if since.IsZero() {
		since = total.Start
	}
	line := payload.Progress{At: now.UTC().Truncate(time.Second), Requests: p.requests, P95: map[string]float64{}}
	line.Users, _, _ = total.Gauge(metrics.VUsName)
	if seconds := now.Sub(since).Seconds(); seconds > 0 {
		line.RequestsPerSecond = rounded(float64(p.requests-p.requestsP) / seconds)
	}
	if p.transactions > 0 {
		line.ErrorPercent = rounded(100 * float64(p.errors) / float64(p.transactions))
	}
	for name, times := range p.times {
		line.P95[label.Plain(name)] = rounded(float64(times.Percentile(95)) / float64(time.Millisecond))
	}
	if records, _, ok := total.Gauge(recordsDone); ok {
		line.Records = &records
	}
	p.printed, p.requestsP = now, p.requests
	return line.Line()
}

// rounded keeps two decimals.
func rounded(x float64) float64 { return math.Round(100*x) / 100 }
