// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// families are the metrics of one scrape.
type families map[string]*dto.MetricFamily

// scrape reads a page of metrics.
func scrape(ctx context.Context, url string) (families, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("reading metrics: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("reading metrics: GET %s: %s", url, answer.Status)
	}
	return parseMetrics(answer.Body)
}

func parseMetrics(page io.Reader) (families, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	found, err := parser.TextToMetricFamilies(page)
	if err != nil {
		return nil, fmt.Errorf("reading metrics: %w", err)
	}
	return found, nil
}

// sum returns the sum of the series of a counter or gauge that have these labels. A missing
// metric is 0, as in Prometheus.
func (f families) sum(name string, labels map[string]string) float64 {
	var sum float64
	for _, series := range f[name].GetMetric() {
		if has(series, labels) {
			sum += series.GetCounter().GetValue() + series.GetGauge().GetValue() + series.GetUntyped().GetValue()
		}
	}
	return sum
}

func has(series *dto.Metric, labels map[string]string) bool {
	found := 0
	for _, pair := range series.GetLabel() {
		if wanted, filtered := labels[pair.GetName()]; filtered && wanted == pair.GetValue() {
			found++
		}
	}
	return found == len(labels)
}

// histogram is the number of observations up to each bound.
type histogram struct {
	bounds []float64
	counts []float64
	all    float64
}

// times returns the durations of reconciles with these labels, or the zero value if there are
// none.
func (f families) times(labels map[string]string) histogram {
	for _, series := range f[timesMetric].GetMetric() {
		if !has(series, labels) {
			continue
		}
		made := histogram{all: float64(series.GetHistogram().GetSampleCount())}
		for _, bucket := range series.GetHistogram().GetBucket() {
			made.bounds = append(made.bounds, bucket.GetUpperBound())
			made.counts = append(made.counts, float64(bucket.GetCumulativeCount()))
		}
		return made
	}
	return histogram{}
}

// since returns the observations since an earlier scrape.
func (h histogram) since(before histogram) (histogram, error) {
	if len(before.bounds) == 0 {
		return h, nil
	}
	if len(before.bounds) != len(h.bounds) {
		return histogram{}, errors.New("the buckets of a histogram have changed")
	}
	later := histogram{bounds: h.bounds, all: h.all - before.all}
	for i := range h.counts {
		later.counts = append(later.counts, h.counts[i]-before.counts[i])
	}
	return later, nil
}

// quantile returns the value below which this share of the observations lies, interpolated
// linearly within a bucket. It is NaN if there are none. It is the largest bound if the value
// is above that.
func (h histogram) quantile(share float64) float64 {
	if h.all == 0 || len(h.bounds) == 0 {
		return math.NaN()
	}
	rank, low, below := share*h.all, 0.0, 0.0
	for i, bound := range h.bounds {
		if math.IsInf(bound, 1) {
			return low
		}
		if h.counts[i] >= rank {
			return low + (bound-low)*(rank-below)/(h.counts[i]-below)
		}
		low, below = bound, h.counts[i]
	}
	return low
}
