// SPDX-License-Identifier: Apache-2.0

package elsewhere

import (
	"time"

	"perflab.dev/perflab/internal/metric"
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

	PublishRate []float64 `json:"publishRate"`
	ConsumeRate []float64 `json:"consumeRate"`
	ErrorRate   []float64 `json:"publishErrorRate"`

	PublishAvg *float64 `json:"aggregatedPublishLatencyAvg"`
	Publish50  *float64 `json:"aggregatedPublishLatency50pct"`
	Publish75  *float64 `json:"aggregatedPublishLatency75pct"`
	Publish95  *float64 `json:"aggregatedPublishLatency95pct"`
	Publish99  *float64 `json:"aggregatedPublishLatency99pct"`
	PublishMax *float64 `json:"aggregatedPublishLatencyMax"`

	EndToEndAvg *float64 `json:"aggregatedEndToEndLatencyAvg"`
	EndToEnd50  *float64 `json:"aggregatedEndToEndLatency50pct"`
	EndToEnd75  *float64 `json:"aggregatedEndToEndLatency75pct"`
	EndToEnd95  *float64 `json:"aggregatedEndToEndLatency95pct"`
	EndToEnd99  *float64 `json:"aggregatedEndToEndLatency99pct"`
	EndToEndMax *float64 `json:"aggregatedEndToEndLatencyMax"`
}

// What the benchmark measures of a message.
const publish, endToEnd = "publish", "end-to-end"

func (openMessaging) Read(from Source) (*Measured, error) {
	var read openMessagingResult
	if err := decode(from, &read, "a result of the OpenMessaging Benchmark"); err != nil {
		return nil, err
	}
	if read.PublishAvg == nil && read.EndToEndAvg == nil {
		return nil, refuse("it has no aggregatedPublishLatencyAvg, as results of the OpenMessaging Benchmark have")
	}
	found := given{}
	for name, values := range map[string][]*float64{
		publish:  {read.PublishAvg, read.Publish50, read.Publish75, read.Publish95, read.Publish99, read.PublishMax},
		endToEnd: {read.EndToEndAvg, read.EndToEnd50, read.EndToEnd75, read.EndToEnd95, read.EndToEnd99, read.EndToEndMax},
	} {
		if !from.wants(name) {
			continue
		}
		for i, statistic := range []string{metric.Average, metric.P50, metric.P75, metric.P95, metric.P99, metric.Max} {
			found.add(metric.Name(from.Load, name), statistic, values[i], 0)
		}
	}
	found.add(from.Load, metric.RequestsPerSecond, mean(read.PublishRate), 0)
	found.add(from.Load, metric.RecordsPerSecond, mean(read.ConsumeRate), 0)
	addPublishErrors(&found, &from, &read)
	made, err := found.measured("the result")
	if err != nil {
		return nil, err
	}
	made.Start, made.End = momentOf(read.BeginTime), momentOf(read.EndTime)
	made.Notes = []string{
		"times are of all messages, as the benchmark sums them up; how many there were it does not tell",
		"requestsPerSecond is the mean of the rates at which messages were published, recordsPerSecond of those at which they were consumed",
	}
	return made, nil
}

// addPublishErrors adds the share of messages that could not be published.
func addPublishErrors(to *given, from *Source, read *openMessagingResult) {
	sent, failed := mean(read.PublishRate), mean(read.ErrorRate)
	if sent == nil || failed == nil || *sent+*failed <= 0 || !from.wants(publish) {
		return
	}
	share := 100 * *failed / (*sent + *failed)
	to.add(metric.Name(from.Load, publish), metric.Errors, &share, 0)
}

// momentOf is a time as the benchmark writes it, with or without a zone; zero where
// it is none.
func momentOf(text string) time.Time {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", time.DateTime} {
		if found, err := time.Parse(layout, text); err == nil && found.After(earliest) && found.Before(latest) {
			return found
		}
	}
	return time.Time{}
}
