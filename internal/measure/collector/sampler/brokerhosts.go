// SPDX-License-Identifier: Apache-2.0

package sampler

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"

	prometheusv1 "github.com/prometheus/client_golang/api/prometheus/v1"

	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/payload"
)

// brokerHosts reads the metrics of MSK's brokers from Prometheus: those of their JMX and node
// exporters, by host name.
type brokerHosts struct {
	prometheus prometheusv1.API
	// domain of the hosts, after b-1. and so on.
	domain string
}

// hostQueries return a value for each instance. %[1]s is replaced by the instances, %[2]s by the
// window.
var hostQueries = []struct{ resource, unit, query, missing string }{
	{
		metric.CPU, metric.UnitCores,
		`sum by (instance) (irate(node_cpu_seconds_total{instance=~%[1]s,mode!~"idle|iowait|steal"}[%[2]s]))`,
		"node_cpu_seconds_total",
	},
	{
		metric.CPUUsed, metric.UnitPercent,
		`100 * sum by (instance) (irate(node_cpu_seconds_total{instance=~%[1]s,mode!~"idle|iowait|steal"}[%[2]s]))` +
			` / count by (instance) (node_cpu_seconds_total{instance=~%[1]s,mode="idle"})`,
		"node_cpu_seconds_total",
	},
	{
		metric.Memory, metric.UnitMebibytes,
		`sum by (instance) (node_memory_MemTotal_bytes{instance=~%[1]s} - node_memory_MemAvailable_bytes{instance=~%[1]s}) / 1048576`,
		"node_memory_MemAvailable_bytes",
	},
	{
		metric.BytesIn, metric.UnitBytesPerSec,
		`sum by (instance) (irate({__name__=~"kafka_server_BrokerTopicMetrics_Count|kafka_server_brokertopicmetrics_count",name="BytesInPerSec",topic="",instance=~%[1]s}[%[2]s]))`,
		`kafka_server_BrokerTopicMetrics_Count with name="BytesInPerSec"`,
	},
	{
		metric.BytesOut, metric.UnitBytesPerSec,
		`sum by (instance) (irate({__name__=~"kafka_server_BrokerTopicMetrics_Count|kafka_server_brokertopicmetrics_count",name="BytesOutPerSec",topic="",instance=~%[1]s}[%[2]s]))`,
		`kafka_server_BrokerTopicMetrics_Count with name="BytesOutPerSec"`,
	},
}

// brokerID matches the number in a broker's host name.
var brokerID = regexp.MustCompile(`^b-([0-9]+)[.-]`)

func (b *brokerHosts) name() string { return "MSK in Prometheus" }

func (b *brokerHosts) sample(ctx context.Context, now round) (recordFunc, error) {
	instances := strconv.Quote(`b-[0-9]+(-public)?[.]` + regexp.QuoteMeta(b.domain) + `(:[0-9]+)?`)
	var (
		records []recordFunc
		failed  []error
	)
	for _, query := range hostQueries {
		vector, err := instant(ctx, b.prometheus, fmt.Sprintf(query.query, instances, windowFor(now.interval)), now.at)
		if err != nil {
			failed = append(failed, fmt.Errorf("querying Prometheus for %s of brokers: %w", query.resource, err))
			continue
		}
		records = append(records, func(into *payload.SampleRecorder) {
			known := false
			for _, sample := range vector {
				if id := brokerID.FindStringSubmatch(string(sample.Metric["instance"])); id != nil {
					known = true
					into.Record(metric.Broker+id[1], "", query.resource, query.unit, now.at, float64(sample.Value))
				}
			}
			if !known {
				into.Samples.Note(fmt.Sprintf("%s of the brokers is not measured: Prometheus has no %s with an instance such as b-1.%s", metric.ResourcePhrase(query.resource), query.missing, b.domain))
			}
		})
	}
	return combine(records), errors.Join(failed...)
}
