// SPDX-License-Identifier: Apache-2.0

package results

import (
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/measure/observation"
	"perflab.dev/perflab/payload"
)

// times maps statistics of response times from k6's summary to PerfLab's.
var times = []struct {
	statistic, k6 string
	in            func(payload.Summary) time.Duration
}{
	{metric.Average, "avg", func(s payload.Summary) time.Duration { return s.Mean }},
	{metric.P50, "med", func(s payload.Summary) time.Duration { return s.P50 }},
	{metric.P75, "p(75)", func(s payload.Summary) time.Duration { return s.P75 }},
	{metric.P95, "p(95)", func(s payload.Summary) time.Duration { return s.P95 }},
	{metric.P99, "p(99)", func(s payload.Summary) time.Duration { return s.P99 }},
	{metric.Max, "max", func(s payload.Summary) time.Duration { return s.Max }},
}

// newTrend converts a trend of k6.
func newTrend(values map[string]float64) Trend {
	trend := Trend{Count: values["count"], Times: map[string]float64{}}
	for _, one := range times {
		if value, found := values[one.k6]; found {
			trend.Times[one.statistic] = value
		}
	}
	return trend
}

// responseTimes returns the observations of a transaction.
func responseTimes(transaction string, summary payload.Summary) []v1alpha1.Observation {
	trend := Trend{Times: map[string]float64{}}
	for _, one := range times {
		trend.Times[one.statistic] = float64(one.in(summary)) / float64(time.Millisecond)
	}
	return trend.times(transaction, summary.Count)
}

// times returns one observation per known statistic.
func (t Trend) times(of string, samples int64) []v1alpha1.Observation {
	var observations []v1alpha1.Observation
	for _, one := range times {
		if value, known := t.Times[one.statistic]; known {
			observations = append(observations, observation.New(of, one.statistic, value, samples))
		}
	}
	return observations
}
