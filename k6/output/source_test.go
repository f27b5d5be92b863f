// SPDX-License-Identifier: AGPL-3.0-only

package output

import (
	"strconv"
	"time"

	"go.k6.io/k6/v2/lib/netext/httpext"
	"go.k6.io/k6/v2/metrics"
	"gopkg.in/guregu/null.v3"
)

// source creates samples as k6 does.
type source struct {
	registry    *metrics.Registry
	builtin     *metrics.BuiltinMetrics
	transaction *metrics.Metric
	records     *metrics.Metric
	done        *metrics.Metric
}

func newSource() *source {
	registry := metrics.NewRegistry()
	return &source{
		registry:    registry,
		builtin:     metrics.RegisterBuiltinMetrics(registry),
		transaction: registry.MustNewMetric(transactionDuration, metrics.Trend, metrics.Time),
		records:     registry.MustNewMetric("perflab_records", metrics.Counter),
		done:        registry.MustNewMetric(recordsDone, metrics.Gauge),
	}
}

func (s *source) tags(pairs ...string) *metrics.TagSet {
	set := s.registry.RootTagSet()
	for i := 0; i < len(pairs); i += 2 {
		set = set.With(pairs[i], pairs[i+1])
	}
	return set
}

func (s *source) sample(metric *metrics.Metric, at time.Time, value float64, tags ...string) metrics.Sample {
	return s.tagged(metric, at, value, s.tags(tags...))
}

func (s *source) tagged(metric *metrics.Metric, at time.Time, value float64, tags *metrics.TagSet) metrics.Sample {
	return metrics.Sample{TimeSeries: metrics.TimeSeries{Metric: metric, Tags: tags}, Time: at, Value: value}
}

// requestTags returns the tags of a request of PerfLab's scripts.
func (s *source) requestTags(transaction, name string, status int) *metrics.TagSet {
	return s.tags("scenario", "cico", "group", "", "method", "GET", "proto", "HTTP/1.1", "name", name, "url", name,
		"status", strconv.Itoa(status), "expected_response", strconv.FormatBool(status < 400), "transaction", transaction)
}

// trail returns a request as k6 passes it to an output.
func (s *source) trail(tags *metrics.TagSet, at time.Time, took time.Duration, failed bool) *httpext.Trail {
	trail := &httpext.Trail{EndTime: at, Duration: took, Failed: null.NewBool(failed, true)}
	trail.SaveSamples(s.builtin, &metrics.TagsAndMeta{Tags: tags})
	return trail
}
