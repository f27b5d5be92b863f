// SPDX-License-Identifier: Apache-2.0

package elsewhere

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"perflab.dev/perflab/internal/metric"
)

// prometheus reads what Prometheus' HTTP API answers to a query over a time.
type prometheus struct{}

func (prometheus) Name() string { return "prometheus" }
func (prometheus) Tool() string { return "Prometheus" }
func (prometheus) Reads() string {
	return "the JSON that Prometheus' HTTP API answers to query_range"
}

type prometheusAnswer struct {
	Status string `json:"status"`
	Error  string `json:"error"`
	Data   struct {
		Type   string `json:"resultType"`
		Result []struct {
			Metric map[string]string    `json:"metric"`
			Values [][2]json.RawMessage `json:"values"`
		} `json:"result"`
	} `json:"data"`
}

func (prometheus) Read(from Source) (*Measured, error) {
	var read prometheusAnswer
	if err := decode(from, &read, "an answer of Prometheus' HTTP API"); err != nil {
		return nil, err
	}
	switch {
	case read.Status != "success":
		return nil, refuse("its status is %q and not success: %s", said(read.Status), said(read.Error))
	case read.Data.Type != "matrix":
		return nil, refuse("it is a %s, and a matrix is wanted: ask /api/v1/query_range", said(read.Data.Type))
	case len(read.Data.Result) == 0:
		return nil, refuse("the query found no series: ask for a time in which there were samples")
	}
	found := given{}
	made := &Measured{}
	for _, series := range read.Data.Result {
		name := seriesName(series.Metric)
		if !from.wants(name) {
			continue
		}
		if err := made.addSeries(&found, name, series.Values); err != nil {
			return nil, err
		}
	}
	summed, err := found.measured("the answer")
	if err != nil {
		return nil, err
	}
	made.Observations = summed.Observations
	made.Notes = []string{"Prometheus tells no unit: values are as they were asked for, and lower is taken for better"}
	return made, nil
}

// addSeries adds the mean of a series and its largest value.
func (m *Measured) addSeries(to *given, name string, points [][2]json.RawMessage) error {
	var sum, largest float64
	largest = math.Inf(-1)
	count := int64(0)
	for i, point := range points {
		at, value, err := prometheusPoint(point)
		if err != nil {
			return refuse("point %d of %s: %s", i+1, said(name), whyOf(err))
		}
		if math.IsNaN(value) {
			// No sample, as of a rate without requests.
			continue
		}
		if m.Start.IsZero() || at.Before(m.Start) {
			m.Start = at
		}
		if at.After(m.End) {
			m.End = at
		}
		sum, largest, count = sum+value, max(largest, value), count+1
	}
	if count == 0 {
		return refuse("the series %s has no value that is a number", said(name))
	}
	m.Samples += count
	to.addOwn(metric.Name(metric.Custom, name, metric.Average), "", sum/float64(count), count)
	to.addOwn(metric.Name(metric.Custom, name, metric.Max), "", largest, count)
	return nil
}

// prometheusPoint is a time in seconds and a value in quotes.
func prometheusPoint(point [2]json.RawMessage) (time.Time, float64, error) {
	seconds, err := strconv.ParseFloat(string(point[0]), 64)
	if err != nil {
		return time.Time{}, 0, refuse("the time %s is no number of seconds", said(string(point[0])))
	}
	at := time.UnixMilli(int64(seconds * 1000))
	if !(seconds > 0) || at.Before(earliest) || at.After(latest) {
		return at, 0, refuse("the time %s is not in seconds since 1970", said(string(point[0])))
	}
	value, err := strconv.ParseFloat(strings.Trim(string(point[1]), `"`), 64)
	if err != nil {
		return at, 0, refuse("the value %s is no number", said(string(point[1])))
	}
	return at, value, nil
}

// seriesName is the name of a series and its labels, without what metrics' names use
// for themselves.
func seriesName(labels map[string]string) string {
	name := labels["__name__"]
	var told []string
	for _, label := range slices.Sorted(maps.Keys(labels)) {
		if label != "__name__" {
			told = append(told, label+"="+labels[label])
		}
	}
	if len(told) > 0 {
		name = strings.TrimSpace(name + "{" + strings.Join(told, ",") + "}")
	}
	if name == "" {
		name = "value"
	}
	return nameOf(strings.NewReplacer("/", "_", "@", "_", " ", "_").Replace(name))
}
