// SPDX-License-Identifier: Apache-2.0

package sampler

import (
	"context"
	"fmt"
	"io"

	prometheusv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/procfs"
	"github.com/prometheus/procfs/sysfs"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	metricsclient "k8s.io/metrics/pkg/client/clientset/versioned/typed/metrics/v1beta1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/collector"
	"perflab.dev/perflab/internal/network/egress"
	"perflab.dev/perflab/internal/network/egress/apiserver"
	"perflab.dev/perflab/internal/network/kafkaadmin"
)

// Logins are credentials that PostgreSQL's client does not read from the environment.
type Logins struct {
	KafkaUsername, KafkaPassword string
	KafkaCA                      string
	PrometheusToken              string
}

// Location is where a collector runs.
type Location struct {
	// Pod and Node by name.
	Pod, Node string
}

// New creates the loop of a collector at this location that prints to a log.
func New(cluster *rest.Config, config collector.Config, logins Logins, place Location, log io.Writer) (*Loop, error) {
	cluster = rest.CopyConfig(cluster)
	cluster.ContentType = "application/vnd.kubernetes.protobuf"
	cluster.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	clientset, err := kubernetes.NewForConfig(cluster)
	if err != nil {
		return nil, fmt.Errorf("connecting to the API server: %w", err)
	}
	metrics, err := metricsclient.NewForConfig(cluster)
	if err != nil {
		return nil, fmt.Errorf("connecting to the metrics API: %w", err)
	}
	pods := clientset.CoreV1().Pods(config.Namespace)
	lister, err := newPodLister(pods, config.Components)
	if err != nil {
		return nil, err
	}
	lister.place = place
	loop := &Loop{
		Run: config.Run, Collector: place.Pod, Interval: config.Interval, Longest: config.Longest, Log: log, pods: lister,
		ShouldEnd: func(ctx context.Context) (bool, error) {
			own, err := pods.Get(ctx, place.Pod, metav1.GetOptions{})
			if err != nil {
				return false, fmt.Errorf("reading the collector's own pod: %w", err)
			}
			_, ordered := own.Annotations[v1alpha1.AnnotationEnd]
			return ordered, nil
		},
	}
	servers, err := apiserver.Addresses(cluster)
	if err != nil {
		return nil, err
	}
	rules, err := egress.New(config.Egress, servers...)
	if err != nil {
		return nil, err
	}
	if loop.sources, err = sources(config, logins, place, metrics, rules); err != nil {
		return nil, err
	}
	own, err := newNode(place.Node, procfs.DefaultMountPoint, sysfs.DefaultMountPoint)
	if err != nil {
		return nil, err
	}
	loop.sources = append(loop.sources, own)
	return loop, nil
}

// managed are the sources for the parts of the system that Amazon runs.
func managed(config *collector.Prometheus, prometheus prometheusv1.API) []source {
	var found []source
	if len(config.Databases) > 0 {
		found = append(found, newDatabases(prometheus, config.Databases))
	}
	if config.Cluster != "" {
		found = append(found, newBrokers(prometheus, config.Cluster))
	}
	if config.BrokerDomain != "" {
		found = append(found, &brokerHosts{prometheus: prometheus, domain: config.BrokerDomain})
	}
	return found
}

func sources(config collector.Config, logins Logins, place Location, metrics metricsclient.MetricsV1beta1Interface, rules egress.Rules) ([]source, error) {
	var found []source
	if config.Prometheus == nil {
		found = append(found, &metricsAPI{pods: metrics.PodMetricses(config.Namespace)})
	} else {
		prometheus, err := connectPrometheus(config.Prometheus.URL, logins.PrometheusToken, rules)
		if err != nil {
			return nil, err
		}
		found = append(found, &podMetrics{prometheus: prometheus, namespace: config.Namespace}, &nodeNetwork{prometheus: prometheus, node: place.Node})
		for _, metric := range config.Prometheus.Metrics {
			found = append(found, &customMetric{prometheus: prometheus, metric: metric})
		}
		found = append(found, managed(config.Prometheus, prometheus)...)
	}
	if config.Postgres != nil {
		found = append(found, &databases{fixed: config.Postgres.Servers, egress: rules})
	}
	if kafka := config.Kafka; kafka != nil {
		found = append(found, &brokers{admin: kafkaadmin.Admin{Egress: rules}, brokers: kafkaadmin.Brokers{
			Servers: kafka.Servers, TLS: kafka.TLS, CA: []byte(logins.KafkaCA),
			Mechanism: kafka.Mechanism, Username: logins.KafkaUsername, Password: logins.KafkaPassword,
			InsecurePlaintext: kafka.InsecurePlaintext,
		}})
	}
	return found, nil
}
