// SPDX-License-Identifier: Apache-2.0

package importers

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/text/prose"
)

// prometheus reads the answer of Prometheus' HTTP API to a range query.
type prometheus struct{}

func (prometheus) Name() string { return "prometheus" }
func (prometheus) Tool() string { return "Prometheus" }
func (prometheus) Reads() string {
	return "the JSON response of Prometheus' HTTP API to query_range"
}

type prometheusAnswer struct {
	Status string `json:"status"`
	Error  string `json:"error"`
	// Warnings say why the answer is incomplete.
	Warnings []string `json:"warnings"`
	Data     struct {
		Type   string             `json:"resultType"`
		Result []prometheusSeries `json:"result"`
	} `json:"data"`
}

type prometheusSeries struct {
	Metric     map[string]string    `json:"metric"`
	Values     [][2]json.RawMessage `json:"values"`
	Histograms []json.RawMessage    `json:"histograms"`
}

func (prometheus) Read(from Source) (*Measured, error) {
	var read prometheusAnswer
	if err := decode(from, &read, "a Prometheus HTTP API response"); err != nil {
		return nil, err
	}
	switch {
	case read.Status != "success":
		return nil, refuse("the status is %q, not success: %s", shorten(read.Status), shorten(read.Error))
	case read.Data.Type != "matrix":
		return nil, refuse("the result type is %q, not matrix: query /api/v1/query_range", shorten(read.Data.Type))
	case len(read.Data.Result) == 0:
		return nil, refuse("the query returned no series: select a time range with samples")
	}
	answer := prometheusMeans{}
	for label, series := range labelled(read.Data.Result) {
		if from.wants(label) {
			answer.add(label, &series)
		}
	}
	made, err := answer.measured()
	if err == nil && len(read.Warnings) > 0 {
		made.Notes = append(made.Notes, "Prometheus warned: "+shorten(prose.Enumerate(read.Warnings)))
	}
	return made, err
}

// labelled returns the series by unique names.
func labelled(all []prometheusSeries) iter.Seq2[string, prometheusSeries] {
	labels := make([]string, 0, len(all))
	for _, series := range all {
		labels = append(labels, seriesLabel(series.Metric))
	}
	names := distinct(labels, func(name string) string { return metricName(name, longestName) })
	return func(yield func(string, prometheusSeries) bool) {
		for i, series := range all {
			if !yield(names[labels[i]], series) {
				return
			}
		}
	}
}

// prometheusMeans are the aggregated series.
type prometheusMeans struct {
	observationList
	start, end time.Time
	samples    int64
	// infinite and NaN points were left out.
	infinite int64
	// leftOut lists the series that are not read, with reasons.
	leftOut []string
}

// add adds the mean and the maximum of a series, or why it has none.
func (m *prometheusMeans) add(name string, series *prometheusSeries) {
	var sum float64
	largest, count := math.Inf(-1), int64(0)
	for i, point := range series.Values {
		at, value, err := prometheusPoint(point)
		switch {
		case err != nil:
			m.leaveOut(name, fmt.Sprintf("point %d: %s", i+1, lineReason(err)))
			return
		case math.IsNaN(value), math.IsInf(value, 0):
			// For example a ratio without requests.
			m.infinite++
			continue
		}
		m.span(at)
		sum, largest, count = sum+value, max(largest, value), count+1
	}
	switch {
	case count > 0:
		m.samples += count
		m.addOwn(metric.Name(metric.OwnName(name), metric.Average), "", sum/float64(count), count)
		m.addOwn(metric.Name(metric.OwnName(name), metric.Max), "", largest, count)
	case len(series.Histograms) > 0:
		m.leaveOut(name, "it is a native histogram: query histogram_quantile(0.95, …) or histogram_avg(…)")
	default:
		m.leaveOut(name, "it has no finite value")
	}
}

func (m *prometheusMeans) leaveOut(name, why string) {
	m.leftOut = append(m.leftOut, shorten(name)+": "+why)
}

func (m *prometheusMeans) span(at time.Time) {
	if m.start.IsZero() || at.Before(m.start) {
		m.start = at
	}
	if at.After(m.end) {
		m.end = at
	}
}

func (m *prometheusMeans) measured() (*Measured, error) {
	if len(m.observations) == 0 && len(m.leftOut) > 0 {
		return nil, refuse("%s", prose.Enumerate(m.leftOut))
	}
	made, err := m.observationList.measured("the response")
	if err != nil {
		return nil, err
	}
	made.Start, made.End, made.Samples = m.start, m.end, m.samples
	if len(m.leftOut) > 0 {
		made.Notes = append(made.Notes, fmt.Sprintf("%d series omitted: %s", len(m.leftOut), prose.Enumerate(m.leftOut)))
	}
	if m.infinite > 0 {
		made.Notes = append(made.Notes, leftOut(m.infinite, "point"))
	}
	made.Notes = append(made.Notes, "Prometheus does not record units: values are as queried")
	return made, nil
}

// prometheusPoint parses a time in seconds and a quoted value.
func prometheusPoint(point [2]json.RawMessage) (time.Time, float64, error) {
	seconds, err := strconv.ParseFloat(string(point[0]), 64)
	if err != nil {
		return time.Time{}, 0, refuse("the time %s is not a number of seconds", shorten(string(point[0])))
	}
	at := time.UnixMilli(int64(seconds * 1000))
	if !(seconds > 0) || at.Before(earliest) || at.After(latest) {
		return at, 0, refuse("the time %s is not in seconds since 1970", shorten(string(point[0])))
	}
	value, err := strconv.ParseFloat(strings.Trim(string(point[1]), `"`), 64)
	if err != nil {
		return at, 0, refuse("the value %s is not a number", shorten(string(point[1])))
	}
	return at, value, nil
}

// seriesLabel returns the name of a series and its labels.
func seriesLabel(labels map[string]string) string {
	name := labels["__name__"]
	var pairs []string
	for _, label := range slices.Sorted(maps.Keys(labels)) {
		if label != "__name__" {
			pairs = append(pairs, label+"="+labels[label])
		}
	}
	if len(pairs) > 0 {
		name = strings.TrimSpace(name + "{" + strings.Join(pairs, ",") + "}")
	}
	return cmp.Or(name, "value")
}
