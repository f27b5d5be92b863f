// SPDX-License-Identifier: Apache-2.0

package importers

import (
	"slices"
	"time"

	"perflab.dev/perflab/internal/measure/metric"
)

// openMessaging reads the results of the OpenMessaging Benchmark.
type openMessaging struct{}

func (openMessaging) Name() string { return "openmessaging" }
func (openMessaging) Tool() string { return "OpenMessaging Benchmark" }
func (openMessaging) Reads() string {
	return "the JSON that the OpenMessaging Benchmark writes for a workload and a driver"
}

// openMessagingResult has times in milliseconds and rates per second.
type openMessagingResult struct {
	Workload  string `json:"workload"`
	Driver    string `json:"driver"`
	BeginTime string `json:"beginTime"`
	EndTime   string `json:"endTime"`

	PublishRate []jsonNumber `json:"publishRate"`
	ConsumeRate []jsonNumber `json:"consumeRate"`
	ErrorRate   []jsonNumber `json:"publishErrorRate"`

	PublishAvg jsonNumber `json:"aggregatedPublishLatencyAvg"`
	Publish50  jsonNumber `json:"aggregatedPublishLatency50pct"`
	Publish75  jsonNumber `json:"aggregatedPublishLatency75pct"`
	Publish95  jsonNumber `json:"aggregatedPublishLatency95pct"`
	Publish99  jsonNumber `json:"aggregatedPublishLatency99pct"`
	PublishMax jsonNumber `json:"aggregatedPublishLatencyMax"`

	EndToEndAvg jsonNumber `json:"aggregatedEndToEndLatencyAvg"`
	EndToEnd50  jsonNumber `json:"aggregatedEndToEndLatency50pct"`
	EndToEnd75  jsonNumber `json:"aggregatedEndToEndLatency75pct"`
	EndToEnd95  jsonNumber `json:"aggregatedEndToEndLatency95pct"`
	EndToEnd99  jsonNumber `json:"aggregatedEndToEndLatency99pct"`
	EndToEndMax jsonNumber `json:"aggregatedEndToEndLatencyMax"`
}

// Latencies of the benchmark.
const publish, endToEnd = "publish", "end-to-end"

func (openMessaging) Read(from Source) (*Measured, error) {
	var read openMessagingResult
	if err := decode(from, &read, "an OpenMessaging Benchmark result"); err != nil {
		return nil, err
	}
	if read.PublishAvg.value == nil && read.EndToEndAvg.value == nil {
		return nil, refuse("aggregatedPublishLatencyAvg is missing, so the file is not an OpenMessaging Benchmark result")
	}
	found := observationList{}
	found.addTimes(&from, publish, read.PublishAvg, read.Publish50, read.Publish75, read.Publish95, read.Publish99, read.PublishMax)
	found.addTimes(&from, endToEnd, read.EndToEndAvg, read.EndToEnd50, read.EndToEnd75, read.EndToEnd95, read.EndToEnd99, read.EndToEndMax)
	found.addRate(&from, metric.RequestsPerSecond, read.PublishRate)
	found.addRate(&from, metric.RecordsPerSecond, read.ConsumeRate)
	addPublishErrors(&found, &from, &read)
	made, err := found.measured("the result")
	if err != nil {
		return nil, err
	}
	made.Start, made.End = parseTime(read.BeginTime), parseTime(read.EndTime)
	made.Notes = append(made.Notes,
		"the benchmark aggregates times over all messages, and does not record their number",
		"requestsPerSecond is the mean publish rate, recordsPerSecond the mean consume rate")
	return made, nil
}

// timed are the statistics of latencies, in order.
var timed = []string{metric.Average, metric.P50, metric.P75, metric.P95, metric.P99, metric.Max}

// addTimes adds the statistics of a latency. If all are 0, there were no messages, for
// example without consumers.
func (g *observationList) addTimes(from *Source, name string, values ...jsonNumber) {
	if !from.wants(name) {
		return
	}
	if !slices.ContainsFunc(values, func(one jsonNumber) bool { return one.value != nil && *one.value != 0 }) {
		g.empty = append(g.empty, name)
		return
	}
	for i, statistic := range timed {
		g.add(metric.Name(from.Load, name), statistic, values[i].value, 0)
	}
}

// addRate adds the mean of a rate over the periods of a test, unless all are 0.
func (g *observationList) addRate(from *Source, name string, values []jsonNumber) {
	if average := mean(values); average != nil && *average == 0 {
		g.empty = append(g.empty, name)
	} else {
		g.add(from.Load, name, average, 0)
	}
}

// addPublishErrors adds the percentage of failed messages.
func addPublishErrors(to *observationList, from *Source, read *openMessagingResult) {
	sent, failed := mean(read.PublishRate), mean(read.ErrorRate)
	if sent == nil || failed == nil || *sent+*failed <= 0 || !from.wants(publish) {
		return
	}
	share := 100 * *failed / (*sent + *failed)
	to.add(metric.Name(from.Load, publish), metric.Errors, &share, 0)
}

// parseTime parses a time with or without a zone; zero if it is invalid.
func parseTime(text string) time.Time {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", time.DateTime} {
		if found, err := time.Parse(layout, text); err == nil && found.After(earliest) && found.Before(latest) {
			return found
		}
	}
	return time.Time{}
}
