// SPDX-License-Identifier: Apache-2.0

package importers

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"perflab.dev/perflab/internal/measure/metric"
)

// k6Summary reads k6's end-of-test summary from --summary-export or a script's
// handleSummary, including the machine-readable one.
type k6Summary struct{}

func (k6Summary) Name() string { return "k6-summary" }
func (k6Summary) Tool() string { return "k6" }
func (k6Summary) Reads() string {
	return "the JSON of k6 run --summary-export, or the data of handleSummary"
}

// k6Document is a summary in either form: metrics by name, or as a list within the results
// of a machine-readable one, which alone has times.
type k6Document struct {
	Metrics map[string]map[string]json.RawMessage `json:"metrics"`
	Results struct {
		Metrics []struct {
			Name   string                     `json:"name"`
			Values map[string]json.RawMessage `json:"values"`
		} `json:"metrics"`
	} `json:"results"`
	Config struct {
		Seconds float64 `json:"duration"`
	} `json:"config"`
	Metadata struct {
		Generated time.Time `json:"generated_at"`
	} `json:"metadata"`
}

const k6Failed, k6Requests = "http_req_failed", "http_reqs"

// requests is the name of all requests together.
const requests = "requests"

func (k6Summary) Read(from Source) (*Measured, error) {
	var read k6Document
	if err := decode(from, &read, "a k6 summary"); err != nil {
		return nil, err
	}
	metrics, err := read.values()
	if err != nil {
		return nil, err
	}
	if len(metrics) == 0 {
		return nil, refuse(`no k6 metrics: expected {"metrics": {"http_req_duration": …}}`)
	}
	found, others := observationList{}, unread(nil)
	all := slices.Sorted(maps.Keys(metrics))
	named := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return k6Transaction(name) == nil })
	names := distinct(named, func(name string) string { return pathName(k6Transaction(name)) })
	for _, name := range all {
		if trend, _, _ := strings.Cut(name, "{"); metrics[name].isTrend() && !k6Known.MatchString(trend) {
			others.add(trend)
		}
		addK6(&found, &from, name, names[name], metrics[name])
	}
	made, err := found.measured("the summary")
	if err != nil {
		return nil, others.explain(err)
	}
	read.date(made)
	made.Samples = int64(metrics[k6Requests]["count"])
	made.Notes = slices.Concat(made.Notes, others.notes(), []string{"k6's times include failed requests, and those in setup() and teardown(); its percentiles are those set with --summary-trend-stats"})
	return made, nil
}

// date sets the times, if the summary has them.
func (d *k6Document) date(made *Measured) {
	if end := d.Metadata.Generated; end.After(earliest) && end.Before(latest) {
		made.Start, made.End = end.Add(-time.Duration(d.Config.Seconds*float64(time.Second))), end
	}
}

// k6Values are the values of a metric, by k6's names.
type k6Values map[string]float64

// values of all metrics.
func (d *k6Document) values() (map[string]k6Values, error) {
	all := map[string]k6Values{}
	for name, metric := range d.Metrics {
		values, err := newK6Values(name, metric)
		if err != nil {
			return nil, err
		}
		all[name] = values
	}
	for _, one := range d.Results.Metrics {
		values, err := newK6Values(one.Name, one.Values)
		if err != nil {
			return nil, err
		}
		if count, found := values["count"]; found && d.Config.Seconds > 0 {
			values["rate"] = count / d.Config.Seconds
		}
		all[one.Name] = values
	}
	return all, nil
}

// newK6Values parses a metric in any form.
func newK6Values(name string, metric map[string]json.RawMessage) (k6Values, error) {
	if nested, found := metric["values"]; found {
		inner := map[string]json.RawMessage{}
		if err := json.Unmarshal(nested, &inner); err != nil {
			return nil, refuse("the values of metric %q are invalid: %v", shorten(name), err)
		}
		metric = inner
	}
	values := k6Values{}
	for key, text := range metric {
		var value float64
		if json.Unmarshal(text, &value) == nil {
			values[key] = value
		}
	}
	return values, nil
}

func (v k6Values) isTrend() bool {
	_, hasAverage := v["avg"]
	_, hasMedian := v["med"]
	return hasAverage || hasMedian
}

// isEmpty reports whether a metric has no sample, for which k6 writes zeros: thresholds
// keep unused metrics.
func (v k6Values) isEmpty() bool {
	for _, value := range v {
		if value != 0 {
			return false
		}
	}
	return true
}

// k6Trends are k6's names of statistics.
var k6Trends = map[string]string{
	"avg": metric.Average, "med": metric.P50, "p(50)": metric.P50, "p(75)": metric.P75, "p(95)": metric.P95, "p(99)": metric.P99, "max": metric.Max,
	"p50": metric.P50, "p75": metric.P75, "p95": metric.P95, "p99": metric.P99,
}

func addK6(to *observationList, from *Source, name, transaction string, values k6Values) {
	rate, isRate := k6Rates[name]
	isTransaction := transaction != "" && from.wants(transaction)
	of := metric.Name(from.Load, transaction)
	switch {
	case !isRate && name != k6Failed && !isTransaction:
	case values.isEmpty():
		to.empty = append(to.empty, name)
	case isRate:
		to.add(from.Load, rate, at(values, "rate"), int64(values["count"]))
	case name == k6Failed:
		addK6Failed(to, from, values)
	default:
		addK6Trend(to, of, values)
		if strings.HasPrefix(name, k6Group) {
			to.paused = append(to.paused, metric.Name(of, metric.Average))
		}
	}
}

// k6Rates are counters with a rate per second.
var k6Rates = map[string]string{k6Requests: metric.RequestsPerSecond, k6Iterations: metric.IterationsPerSecond}

// addK6Failed adds the percentage of failed requests. In this rate, passes are the
// failures.
func addK6Failed(to *observationList, from *Source, values k6Values) {
	share := at(values, "value")
	if share == nil {
		share = at(values, "rate")
	}
	if share != nil {
		percent := 100 * *share
		to.add(metric.Name(from.Load, requests), metric.Errors, &percent, int64(values["passes"]+values["fails"]+values["total"]))
	}
}

func addK6Trend(to *observationList, of string, values k6Values) {
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

// k6Transaction returns the transaction of a trend: all requests, or those of a threshold's
// tag, such as group_duration{group:::Check-In}; nil for none. setup and teardown are no
// load.
func k6Transaction(name string) []string {
	if name == k6Request {
		return []string{requests}
	}
	trend, tags, tagged := strings.Cut(strings.TrimSuffix(name, "}"), "{")
	tag, value, _ := strings.Cut(tags, ":")
	tag = strings.TrimSpace(tag)
	isRequest := trend == k6Request
	switch {
	case !tagged || trend != k6Group && !isRequest || tag != "group" && tag != "name":
		return nil
	case tag == "name":
		return []string{value}
	case isOutside(value):
		return nil
	case isRequest:
		// The requests of a group, next to the group itself.
		return append(k6Groups(value), requests)
	}
	return k6Groups(value)
}

func at(values k6Values, key string) *float64 {
	value, found := values[key]
	if !found {
		return nil
	}
	return &value
}
