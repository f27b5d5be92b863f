// SPDX-License-Identifier: Apache-2.0

package results

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/metric"
	"perflab.dev/perflab/internal/observation"
)

// ErrNoSummary says that a log holds no summary of k6.
var ErrNoSummary = errors.New("k6 printed no summary")

// Names of k6's metrics.
const (
	metricRequestFailed     = "http_req_failed"
	metricRequests          = "http_reqs"
	metricIterations        = "iterations"
	metricDroppedIterations = "dropped_iterations"
	metricChecks            = "checks"
	// Of our own output.
	metricChecksPassed = "checks_passed"
	metricChecksFailed = "checks_failed"
)

// Summary is what k6 itself says of a test at its end, of one runner or of
// several added up.
type Summary struct {
	// Trends are times in ms, by metric.
	Trends map[string]Trend
	// Counts are sums, by metric.
	Counts map[string]float64
	// Rates are the same per second of the test.
	Rates map[string]float64
	// FailedRequests of Requests answered with an error or not at all.
	FailedRequests, Requests float64
	// FailedChecks of Checks.
	FailedChecks, Checks float64
	// Runners is the number of summaries in this one.
	Runners int
}

// Trend is the distribution of a k6 trend.
type Trend struct {
	Count, Average, Max float64
	// P50, P75, P95 and P99 are NaN for several runners: percentiles of parts
	// don't tell those of the whole.
	P50, P75, P95, P99 float64
}

// exported is the format k6 exports summaries in.
type exported struct {
	Metrics map[string]map[string]float64 `json:"metrics"`
}

// ReadSummary finds the summary that k6 exported among the lines of a log.
func ReadSummary(log io.Reader) (*Summary, error) {
	lines := bufio.NewReader(log)
	for {
		line, err := lines.ReadString('\n')
		if strings.TrimRight(line, "\r\n") == "{" {
			found, bad := decodeSummary(io.MultiReader(strings.NewReader(line), lines))
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

func decodeSummary(from io.Reader) (*Summary, error) {
	var read exported
	if err := json.NewDecoder(from).Decode(&read); err != nil {
		return nil, err
	}
	if len(read.Metrics) == 0 {
		return nil, ErrNoSummary
	}
	summary := &Summary{Trends: map[string]Trend{}, Counts: map[string]float64{}, Rates: map[string]float64{}, Runners: 1}
	for name, values := range read.Metrics {
		summary.take(name, values)
	}
	return summary, nil
}

func (s *Summary) take(name string, values map[string]float64) {
	_, isTrend := values["avg"]
	switch {
	case isTrend:
		s.Trends[name] = Trend{
			Count: values["count"], Average: values["avg"], Max: values["max"],
			P50: values["med"], P75: values["p(75)"], P95: values["p(95)"], P99: values["p(99)"],
		}
	case name == metricRequestFailed:
		// Of a rate, passes are the samples that are true: the failures.
		s.FailedRequests, s.Requests = values["passes"], values["passes"]+values["fails"]
	case name == metricChecks:
		s.FailedChecks, s.Checks = values["fails"], values["passes"]+values["fails"]
	default:
		if count, isCounter := values["count"]; isCounter {
			s.Counts[name], s.Rates[name] = count, values["rate"]
		}
	}
}

// AddSummaries adds up what the runners of one load said.
func AddSummaries(parts []*Summary) *Summary {
	if len(parts) == 1 {
		return parts[0]
	}
	sum := &Summary{Trends: map[string]Trend{}, Counts: map[string]float64{}, Rates: map[string]float64{}}
	for _, part := range parts {
		sum.Runners += part.Runners
		sum.Requests += part.Requests
		sum.FailedRequests += part.FailedRequests
		sum.Checks += part.Checks
		sum.FailedChecks += part.FailedChecks
		for name, count := range part.Counts {
			sum.Counts[name] += count
			sum.Rates[name] += part.Rates[name]
		}
		for name, trend := range part.Trends {
			sum.Trends[name] = sum.Trends[name].plus(trend)
		}
	}
	return sum
}

// plus has no percentiles.
func (t Trend) plus(other Trend) Trend {
	count := t.Count + other.Count
	sum := Trend{Count: count, Max: math.Max(t.Max, other.Max), P50: math.NaN(), P75: math.NaN(), P95: math.NaN(), P99: math.NaN()}
	if count > 0 {
		sum.Average = (t.Average*t.Count + other.Average*other.Count) / count
	}
	return sum
}

// observe gives one observation per number of the summary.
func (s *Summary) observe(load string) []v1alpha1.Observation {
	var observations []v1alpha1.Observation
	for _, name := range slices.Sorted(maps.Keys(s.Trends)) {
		observations = append(observations, s.Trends[name].observe(metric.Name(load, name))...)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Counts)) {
		observations = append(observations, observation.Of(metric.Name(load, name), metric.Count, s.Counts[name], 0))
	}
	if s.Requests > 0 {
		observations = append(observations, observation.Of(metric.Name(load, "http_req_duration"), metric.Errors, percent(s.FailedRequests, s.Requests), int64(s.Requests)))
	}
	return append(observations, s.observeThroughput(load)...)
}

func (t Trend) observe(of string) []v1alpha1.Observation {
	return append([]v1alpha1.Observation{observation.Of(of, metric.Samples, t.Count, 0)}, t.times(of, int64(t.Count))...)
}

// times are one observation per statistic that is known.
func (t Trend) times(of string, samples int64) []v1alpha1.Observation {
	var observations []v1alpha1.Observation
	for _, one := range []struct {
		statistic string
		value     float64
	}{{metric.Average, t.Average}, {metric.P50, t.P50}, {metric.P75, t.P75}, {metric.P95, t.P95}, {metric.P99, t.P99}, {metric.Max, t.Max}} {
		if !math.IsNaN(one.value) {
			observations = append(observations, observation.Of(of, one.statistic, one.value, samples))
		}
	}
	return observations
}
