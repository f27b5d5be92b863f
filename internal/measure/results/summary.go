// SPDX-License-Identifier: Apache-2.0

package results

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/measure/observation"
	"perflab.dev/perflab/internal/runs/evidence"
	"perflab.dev/perflab/payload"
	"perflab.dev/perflab/payload/label"
)

// ErrNoSummary means that a log contains no k6 summary.
var ErrNoSummary = errors.New("k6 printed no summary")

// Names of k6's metrics.
const (
	metricRequestFailed     = "http_req_failed"
	metricRequests          = "http_reqs"
	metricIterations        = "iterations"
	metricDroppedIterations = "dropped_iterations"
	metricChecks            = "checks"
	// Of PerfLab's own output.
	metricChecksPassed = "checks_passed"
	metricChecksFailed = "checks_failed"
)

// Summary is k6's end-of-test summary, of one runner or the sum of several.
type Summary struct {
	// Trends are times in ms, by metric.
	Trends map[string]Trend
	// Counts are sums, by metric.
	Counts map[string]float64
	// Rates are the same per second of the test.
	Rates map[string]float64
	// FailedRequests is the number of Requests with an error or without an answer.
	FailedRequests, Requests float64
	// FailedChecks is the number of failed checks among Checks.
	FailedChecks, Checks float64
	// Runners is the number of summaries in this one.
	Runners int
	// SHA256 of the summary as k6 printed it, in hexadecimal; empty for several.
	SHA256 string
}

// Trend is the distribution of a k6 trend.
type Trend struct {
	Count float64
	// Times in ms, by statistic. Percentiles of several runners are unknown, because they can't
	// be merged.
	Times map[string]float64
}

// exported is the format k6 exports summaries in.
type exported struct {
	Metrics map[string]map[string]float64 `json:"metrics"`
}

// ReadSummary finds k6's exported summary in a log.
func ReadSummary(log io.Reader) (*Summary, error) {
	lines := bufio.NewReader(log)
	for {
		line, err := readLine(lines)
		if line == "{" {
			rest := &io.LimitedReader{R: lines, N: maxSummary}
			found, bad := decodeSummary(io.MultiReader(strings.NewReader(line), rest))
			if rest.N <= 0 {
				return nil, fmt.Errorf("%w: k6's summary is larger than the limit of %d MiB", payload.ErrTooLarge, maxSummary>>20)
			}
			if bad != nil {
				return nil, fmt.Errorf("reading k6's summary: %w", bad)
			}
			return found, nil
		}
		if errors.Is(err, io.EOF) {
			return nil, ErrNoSummary
		}
		if err != nil {
			return nil, fmt.Errorf("reading log: %w", err)
		}
	}
}

// maxSummary limits the size of a summary, in bytes: each metric takes some hundred.
const maxSummary = 1 << 20

// readLine reads a line, and returns nothing if it is too long for the start of a summary.
func readLine(lines *bufio.Reader) (string, error) {
	line, more, err := lines.ReadLine()
	text := string(line)
	for more && err == nil {
		text = ""
		_, more, err = lines.ReadLine()
	}
	return text, err
}

func decodeSummary(from io.Reader) (*Summary, error) {
	var text json.RawMessage
	if err := json.NewDecoder(from).Decode(&text); err != nil {
		return nil, err
	}
	var read exported
	if err := json.Unmarshal(text, &read); err != nil {
		return nil, err
	}
	if len(read.Metrics) == 0 {
		return nil, ErrNoSummary
	}
	summary := &Summary{Trends: map[string]Trend{}, Counts: map[string]float64{}, Rates: map[string]float64{}, Runners: 1, SHA256: evidence.Sum(text)}
	for name, values := range read.Metrics {
		summary.take(name, values)
	}
	return summary, summary.check()
}

func (s *Summary) take(name string, values map[string]float64) {
	_, isTrend := values["avg"]
	switch {
	case isTrend:
		s.Trends[name] = newTrend(values)
	case name == metricRequestFailed:
		// The passes of a rate are its true samples: the failures.
		s.FailedRequests, s.Requests = values["passes"], values["passes"]+values["fails"]
	case name == metricChecks:
		s.FailedChecks, s.Checks = values["fails"], values["passes"]+values["fails"]
	default:
		if count, isCounter := values["count"]; isCounter {
			s.Counts[name], s.Rates[name] = count, values["rate"]
		}
	}
}

// plus adds the summary of another runner of the load.
func (s *Summary) plus(other *Summary) *Summary {
	s.Runners += other.Runners
	s.Requests += other.Requests
	s.FailedRequests += other.FailedRequests
	s.Checks += other.Checks
	s.FailedChecks += other.FailedChecks
	for name, count := range other.Counts {
		s.Counts[name] += count
		s.Rates[name] += other.Rates[name]
	}
	for name, trend := range other.Trends {
		s.Trends[name] = s.Trends[name].plus(trend)
	}
	return s
}

// maxSummaryMetrics limits the metrics of a test; k6 has some twenty of its own.
const maxSummaryMetrics = 1000

// check rejects a summary that takes too much memory.
func (s *Summary) check() error {
	if count := len(s.Trends) + len(s.Counts); count > maxSummaryMetrics {
		return fmt.Errorf("%w: k6's summary has %d metrics, more than the limit of %d", payload.ErrTooLarge, count, maxSummaryMetrics)
	}
	for _, name := range slices.Concat(slices.Collect(maps.Keys(s.Trends)), slices.Collect(maps.Keys(s.Counts))) {
		if len(name) > payload.MaxName {
			return fmt.Errorf("%w: a metric's name in k6's summary has %d bytes, more than the limit of %d", payload.ErrTooLarge, len(name), payload.MaxName)
		}
	}
	return nil
}

// plus has no percentiles.
func (t Trend) plus(other Trend) Trend {
	sum := Trend{Count: t.Count + other.Count, Times: map[string]float64{
		metric.Average: 0, metric.Max: max(t.Times[metric.Max], other.Times[metric.Max]),
	}}
	if sum.Count > 0 {
		sum.Times[metric.Average] = (t.Times[metric.Average]*t.Count + other.Times[metric.Average]*other.Count) / sum.Count
	}
	return sum
}

// observe returns one observation per number of the summary.
func (s *Summary) observe(load string) []v1alpha1.Observation {
	var observations []v1alpha1.Observation
	for _, name := range slices.Sorted(maps.Keys(s.Trends)) {
		observations = append(observations, s.Trends[name].observe(metric.Name(load, label.Join(name)))...)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Counts)) {
		observations = append(observations, observation.New(metric.Name(load, label.Join(name)), metric.Count, s.Counts[name], 0))
	}
	if s.Requests > 0 {
		observations = append(observations, observation.New(metric.Name(load, "http_req_duration"), metric.Errors, percent(s.FailedRequests, s.Requests), int64(s.Requests)))
	}
	return append(observations, s.observeThroughput(load)...)
}

func (t Trend) observe(of string) []v1alpha1.Observation {
	return append([]v1alpha1.Observation{observation.New(of, metric.Samples, t.Count, 0)}, t.times(of, int64(t.Count))...)
}
