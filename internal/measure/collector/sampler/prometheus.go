// SPDX-License-Identifier: Apache-2.0

package sampler

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/api"
	prometheusv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"

	"perflab.dev/perflab/internal/measure/collector"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/network/egress"
	"perflab.dev/perflab/payload"
)

// rateWindow is the minimum age of the two samples of a rate. The rate is that between Prometheus'
// last two samples, like the metrics API's: one over a fixed time would extend beyond windows, and
// be too low for younger pods.
const rateWindow = 2 * time.Minute

// connectPrometheus returns a client within the egress rules. The token may be empty.
func connectPrometheus(url, token string, rules egress.Rules) (prometheusv1.API, error) {
	client, err := api.NewClient(api.Config{Address: url, RoundTripper: bearer{token: token, next: rules.Transport()}})
	if err != nil {
		return nil, fmt.Errorf("connecting to Prometheus at %s: %w", url, err)
	}
	return prometheusv1.NewAPI(client), nil
}

// bearer adds a token to requests, and rejects redirects: the token is for the named server only.
type bearer struct {
	token string
	next  http.RoundTripper
}

func (b bearer) RoundTrip(request *http.Request) (*http.Response, error) {
	if b.token != "" {
		request = request.Clone(request.Context())
		request.Header.Set("Authorization", "Bearer "+b.token)
	}
	answer, err := b.next.RoundTrip(request)
	if err != nil || !egress.IsRedirect(answer.StatusCode) {
		return answer, err
	}
	return nil, errors.Join(
		fmt.Errorf("it answers with a redirect (%d %s), which PerfLab does not follow: write the address of Prometheus itself", answer.StatusCode, http.StatusText(answer.StatusCode)),
		answer.Body.Close())
}

// podQuery is a query that returns a value for each pod, or container.
type podQuery struct {
	resource, unit string
	// query with %[1]s for the namespace and %[2]s for the window.
	query string
	// scale is a factor for the values.
	scale float64
	// perContainer means that the response has a series for each container.
	perContainer bool
	// missing describes what is not measured if Prometheus has no series; empty: that is an
	// error.
	missing string
}

// podQueries are the queries for the system's pods.
var podQueries = []podQuery{
	{
		resource: metric.CPU, unit: metric.UnitCores, scale: 1, perContainer: true,
		query: `sum by (pod, container) (irate(container_cpu_usage_seconds_total{namespace="%[1]s",container!="",container!="POD"}[%[2]s]))`,
	},
	{
		resource: metric.Memory, unit: metric.UnitMebibytes, scale: 1.0 / (1 << 20), perContainer: true,
		query: `sum by (pod, container) (container_memory_working_set_bytes{namespace="%[1]s",container!="",container!="POD"})`,
	},
	{
		resource: metric.CPUThrottled, unit: metric.UnitPercent, scale: 100, perContainer: true,
		query: `sum by (pod, container) (irate(container_cpu_cfs_throttled_periods_total{namespace="%[1]s",container!=""}[%[2]s]))` +
			` / sum by (pod, container) (irate(container_cpu_cfs_periods_total{namespace="%[1]s",container!=""}[%[2]s]))`,
		missing: "CPU throttling is not measured: Prometheus has no container_cpu_cfs_periods_total of these pods; perhaps none of them has a CPU limit",
	},
	{
		resource: metric.HeapUsed, unit: metric.UnitMebibytes, scale: 1.0 / (1 << 20),
		query:   `sum by (pod) ({__name__=~"jvm_memory_used_bytes|jvm_memory_bytes_used",namespace="%[1]s",area="heap"})`,
		missing: "the JVMs' heaps are not measured: Prometheus has no jvm_memory_used_bytes of these pods",
	},
	{
		resource: metric.GCShare, unit: metric.UnitPercent, scale: 100,
		query:   `sum by (pod) (irate({__name__=~"jvm_gc_pause_seconds_sum|jvm_gc_collection_seconds_sum",namespace="%[1]s"}[%[2]s]))`,
		missing: "the JVMs' time in garbage collection is not measured: Prometheus has no jvm_gc_pause_seconds of these pods",
	},
	{
		resource: metric.BytesIn, unit: metric.UnitBytesPerSec, scale: 1,
		query:   `sum by (pod) (irate({__name__=~"kafka_server_brokertopicmetrics_bytesin(persec)?(_total|_count)?",namespace="%[1]s",topic=""}[%[2]s]))`,
		missing: "the brokers' bytes in are not measured: Prometheus has no kafka_server_brokertopicmetrics_bytesin_total of these pods",
	},
	{
		resource: metric.BytesOut, unit: metric.UnitBytesPerSec, scale: 1,
		query:   `sum by (pod) (irate({__name__=~"kafka_server_brokertopicmetrics_bytesout(persec)?(_total|_count)?",namespace="%[1]s",topic=""}[%[2]s]))`,
		missing: "the brokers' bytes out are not measured: Prometheus has no kafka_server_brokertopicmetrics_bytesout_total of these pods",
	},
}

// podMetrics reads the resource use of pods from Prometheus.
type podMetrics struct {
	prometheus prometheusv1.API
	namespace  string
}

func (p *podMetrics) name() string { return "metrics" }

func (p *podMetrics) sample(ctx context.Context, now round) (recordFunc, error) {
	var (
		records []recordFunc
		failed  []error
	)
	for _, query := range podQueries {
		write, err := p.query(ctx, query, now)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		records = append(records, write)
	}
	return combine(records), errors.Join(failed...)
}

func (p *podMetrics) query(ctx context.Context, query podQuery, now round) (recordFunc, error) {
	vector, err := instant(ctx, p.prometheus, fmt.Sprintf(query.query, p.namespace, windowFor(now.interval)), now.at)
	if err != nil {
		return nil, fmt.Errorf("querying Prometheus for %s: %w", query.resource, err)
	}
	byName := map[string]pod{}
	for _, pod := range now.pods {
		byName[pod.name] = pod
	}
	matched := 0
	write := func(into *payload.SampleRecorder) {
		for _, sample := range vector {
			pod, belongs := byName[string(sample.Metric["pod"])]
			if !belongs {
				continue
			}
			instance := pod.name
			if query.perContainer {
				instance = instanceName(pod.name, string(sample.Metric["container"]))
			}
			into.Record(pod.component, instance, query.resource, query.unit, now.at, float64(sample.Value)*query.scale)
		}
	}
	for _, sample := range vector {
		if _, belongs := byName[string(sample.Metric["pod"])]; belongs {
			matched++
		}
	}
	switch {
	case matched > 0:
		return write, nil
	case query.missing != "":
		return func(into *payload.SampleRecorder) { into.Samples.Note(query.missing) }, nil
	default:
		return nil, fmt.Errorf("no %s in Prometheus for the pods of namespace %q over the last %s: it needs the kubelets' cAdvisor metrics, scraped at least every %s",
			query.resource, p.namespace, windowFor(now.interval), windowFor(now.interval)/2)
	}
}

// nodeNetwork reads the network traffic of the collector's node from Prometheus: a container
// sees only its own network.
type nodeNetwork struct {
	prometheus prometheusv1.API
	node       string
}

// networkQuery uses the series of a whole node of kubelets' cAdvisor. Interfaces of pods carry
// traffic that others carry as well, or that never leaves the node.
const networkQuery = `irate(container_network_%s_bytes_total{id="/",interface!~"lo|veth.*|cni.*|cali.*|cilium.*|lxc.*|flannel.*|vxlan.*|tunl.*|docker.*|br-.*|kube-.*|nodelocaldns"}[%s])`

func (n *nodeNetwork) name() string { return "node network" }

func (n *nodeNetwork) sample(ctx context.Context, now round) (recordFunc, error) {
	var records []recordFunc
	for _, way := range []struct{ resource, direction string }{{metric.NetworkIn, "receive"}, {metric.NetworkOut, "transmit"}} {
		vector, err := instant(ctx, n.prometheus, fmt.Sprintf(networkQuery, way.direction, windowFor(now.interval)), now.at)
		if err != nil {
			return nil, fmt.Errorf("querying Prometheus for what nodes %s: %w", way.direction, err)
		}
		own, known := 0.0, false
		for _, sample := range vector {
			if n.isOwn(sample.Metric) {
				own, known = own+float64(sample.Value), true
			}
		}
		records = append(records, func(into *payload.SampleRecorder) {
			if !known {
				into.Samples.Note(fmt.Sprintf("the network of the collector's node is not measured: Prometheus has no container_network_receive_bytes_total with id=\"/\" of node %q", n.node))
				return
			}
			into.Record(metric.Node, n.node, way.resource, metric.UnitBytesPerSec, now.at, own)
		})
	}
	return combine(records), nil
}

// isOwn reports whether any label names the node: its name differs between configurations of
// Prometheus. An instance is followed by a port.
func (n *nodeNetwork) isOwn(labels model.Metric) bool {
	for _, value := range labels {
		if host, _, _ := strings.Cut(string(value), ":"); host == n.node {
			return true
		}
	}
	return false
}

func windowFor(interval time.Duration) time.Duration { return max(rateWindow, 4*interval) }

// customMetric reads a metric that the experiment declares from Prometheus.
type customMetric struct {
	prometheus prometheusv1.API
	metric     collector.Metric
}

func (c *customMetric) name() string { return metric.Name(metric.Custom, c.metric.Name) }

func (c *customMetric) sample(ctx context.Context, now round) (recordFunc, error) {
	vector, err := instant(ctx, c.prometheus, c.metric.Query, now.at)
	switch {
	case err != nil:
		return nil, fmt.Errorf("querying Prometheus for metric %q: %w", c.metric.Name, err)
	case len(vector) == 0:
		return nil, fmt.Errorf("the query of metric %q has no result in Prometheus", c.metric.Name)
	case c.metric.Label == "" && len(vector) > 1:
		return nil, fmt.Errorf("the query of metric %q has %d results in Prometheus: sum them, or set the label that distinguishes them", c.metric.Name, len(vector))
	}
	return func(into *payload.SampleRecorder) {
		for _, sample := range vector {
			component := c.name()
			if c.metric.Label != "" {
				component = metric.OwnName(c.metric.Name, string(sample.Metric[model.LabelName(c.metric.Label)]))
			}
			into.Record(component, "", "", c.metric.Unit, now.at, float64(sample.Value))
		}
	}, nil
}

// instant queries the values at a time.
func instant(ctx context.Context, prometheus prometheusv1.API, query string, at time.Time) (model.Vector, error) {
	// Prometheus' warnings are about its storage, not about the answer.
	value, _, err := prometheus.Query(ctx, query, at)
	if err != nil {
		return nil, err
	}
	switch answer := value.(type) {
	case model.Vector:
		return answer, nil
	case *model.Scalar:
		return model.Vector{{Value: answer.Value, Timestamp: answer.Timestamp}}, nil
	default:
		return nil, fmt.Errorf("the answer is a %s, not one number for each series", value.Type())
	}
}
