// SPDX-License-Identifier: Apache-2.0

package elsewhere

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"perflab.dev/perflab/internal/metric"
)

// k6Summary reads k6's summary at the end of a test, as --summary-export writes it or
// as a script's handleSummary is given it.
type k6Summary struct{}

func (k6Summary) Name() string { return "k6-summary" }
func (k6Summary) Tool() string { return "k6" }
func (k6Summary) Reads() string {
	return "the JSON of k6 run --summary-export, and what handleSummary is given"
}

type k6Document struct {
	Metrics map[string]map[string]json.RawMessage `json:"metrics"`
}

const k6Failed, k6Requests = "http_req_failed", "http_reqs"

// requests is what all requests together are called, of which k6 sums up the times.
const requests = "requests"

func (k6Summary) Read(from Source) (*Measured, error) {
	var read k6Document
	if err := decode(from, &read, "a summary of k6"); err != nil {
		return nil, err
	}
	if len(read.Metrics) == 0 {
		return nil, refuse(`it holds no metrics as k6's summaries do ({"metrics": {"http_req_duration": …}}): are these the lines of --out json? Then read them with --from k6`)
	}
	found := given{}
	for _, name := range slices.Sorted(maps.Keys(read.Metrics)) {
		values, err := k6Values(name, read.Metrics[name])
		if err != nil {
			return nil, err
		}
		addK6(&found, &from, name, values)
	}
	made, err := found.measured("the summary")
	if err != nil {
		return nil, err
	}
	if count := k6Count(read.Metrics); count > 0 {
		made.Samples = count
	}
	made.Notes = []string{"k6 sums up the times of requests that failed, too, and its percentiles are those that it was asked for (--summary-trend-stats)"}
	return made, nil
}

// k6Values are those of a metric, in either form.
func k6Values(name string, metric map[string]json.RawMessage) (map[string]float64, error) {
	if nested, found := metric["values"]; found {
		inner := map[string]json.RawMessage{}
		if err := json.Unmarshal(nested, &inner); err != nil {
			return nil, refuse("the values of metric %q are none: %v", said(name), err)
		}
		metric = inner
	}
	values := map[string]float64{}
	for key, text := range metric {
		var value float64
		if json.Unmarshal(text, &value) == nil {
			values[key] = value
		}
	}
	return values, nil
}

// k6Trends are k6's words for statistics.
var k6Trends = map[string]string{
	"avg": metric.Average, "med": metric.P50, "p(50)": metric.P50, "p(75)": metric.P75, "p(95)": metric.P95, "p(99)": metric.P99, "max": metric.Max,
}

func addK6(to *given, from *Source, name string, values map[string]float64) {
	switch name {
	case k6Requests:
		to.add(from.Load, metric.RequestsPerSecond, at(values, "rate"), int64(values["count"]))
		return
	case k6Iterations:
		to.add(from.Load, metric.IterationsPerSecond, at(values, "rate"), int64(values["count"]))
		return
	case k6Failed:
		// Of a rate, passes are the samples that are true: the failures.
		all := values["passes"] + values["fails"]
		share := at(values, "value")
		if share == nil {
			share = at(values, "rate")
		}
		if share != nil {
			percent := 100 * *share
			to.add(metric.Name(from.Load, requests), metric.Errors, &percent, int64(all))
		}
		return
	}
	transaction, is := k6Transaction(name)
	if !is || !from.wants(transaction) {
		return
	}
	of := metric.Name(from.Load, transaction)
	count := int64(values["count"])
	if count > 0 {
		to.add(of, metric.Samples, at(values, "count"), 0)
	}
	written := map[string]bool{}
	for _, key := range slices.Sorted(maps.Keys(k6Trends)) {
		if statistic := k6Trends[key]; !written[statistic] {
			value := at(values, key)
			to.add(of, statistic, value, count)
			written[statistic] = value != nil
		}
	}
}

// k6Transaction is what a trend is of: all requests, or those that a threshold's tag
// chose, such as group_duration{group:::Check-In}.
func k6Transaction(name string) (string, bool) {
	if name == k6Request {
		return requests, true
	}
	trend, tags, tagged := strings.Cut(strings.TrimSuffix(name, "}"), "{")
	if !tagged || trend != k6Group && trend != k6Request {
		return "", false
	}
	tag, value, _ := strings.Cut(tags, ":")
	if strings.TrimSpace(tag) != "group" && strings.TrimSpace(tag) != "name" {
		return "", false
	}
	if trend == k6Request && strings.TrimSpace(tag) == "group" {
		// The requests of a group, beside the group itself.
		return nameOf(strings.ReplaceAll(strings.TrimPrefix(value, "::"), "::", "/")) + "/" + requests, true
	}
	return nameOf(strings.ReplaceAll(strings.TrimPrefix(value, "::"), "::", "/")), true
}

func at(values map[string]float64, key string) *float64 {
	value, found := values[key]
	if !found {
		return nil
	}
	return &value
}

func k6Count(metrics map[string]map[string]json.RawMessage) int64 {
	values, err := k6Values(k6Requests, metrics[k6Requests])
	if err != nil {
		return 0
	}
	return int64(values["count"])
}
