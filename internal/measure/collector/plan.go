// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"cmp"
	"net"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/naming"
)

// timeReserve is the time that a run may last beyond its loads before the collector ends.
const timeReserve = time.Hour

// ConfigFor returns the configuration of a run's collector. The selectors are those of
// existing workloads, by module.
func ConfigFor(run *v1alpha1.PerfRun, request environment.Request, selectors map[string]string) Config {
	config := Config{
		Run: run.Name, Namespace: run.Namespace,
		Interval:   run.Spec.Measurement.IntervalOrDefault(),
		Longest:    maxDuration(run),
		Components: components(run, request, selectors),
	}
	if declared := run.Spec.Measurement.Prometheus; declared != nil {
		config.Prometheus = prometheus(declared, run.Namespace)
		config.Prometheus.addManaged(&request.System)
	}
	if request.System.Postgres != nil {
		config.Postgres = servers(request)
	}
	if declared := request.System.Kafka; declared != nil {
		config.Kafka = brokers(declared, request)
	}
	return config
}

// maxDuration is the maximum duration of the loads.
func maxDuration(run *v1alpha1.PerfRun) time.Duration {
	sum := run.Spec.Deadlines.LoadStartOrDefault() + timeReserve
	for _, load := range run.Spec.Scenario.Loads {
		sum += load.StartAfterOrDefault() + run.Spec.Deadlines.LoadOrDefault()
		if load.Duration != nil {
			sum += load.Duration.Duration
		}
	}
	return sum
}

func components(run *v1alpha1.PerfRun, request environment.Request, selectors map[string]string) []Component {
	var found []Component
	for _, load := range run.Spec.Scenario.Loads {
		found = append(found, Component{Name: metric.Name(metric.Generator, load.Name), Selector: selector(map[string]string{
			contract.LabelTestRun: naming.TestRun(run, load.Name), contract.LabelRunner: "true",
		})})
	}
	for _, module := range request.System.Modules {
		own, borrowed := selectors[module.Name]
		if !borrowed {
			labels := naming.ComponentLabels(request.Experiment, environment.ComponentModule)
			labels[v1alpha1.LabelModule] = module.Name
			own = selector(labels)
		}
		found = append(found, Component{Name: metric.Name(metric.Module, module.Name), Selector: own})
	}
	found = append(found, kafkaComponents(request)...)
	return append(found, postgresComponents(request)...)
}

func kafkaComponents(request environment.Request) []Component {
	declared, cluster := request.System.Kafka, request.KafkaName()
	if declared == nil || declared.External != nil {
		return nil
	}
	node := func(name, label, value string) Component {
		labels := map[string]string{contract.LabelStrimziCluster: cluster, label: value}
		return Component{Name: name, Selector: selector(labels), Numbered: ByOrdinal}
	}
	if declared.Mode == v1alpha1.KafkaModeZooKeeper {
		return []Component{
			node(metric.Broker, contract.LabelStrimziName, cluster+"-kafka"),
			node(metric.Name(metric.Kafka, "zookeeper-"), contract.LabelStrimziName, cluster+"-zookeeper"),
		}
	}
	return []Component{
		node(metric.Broker, contract.LabelStrimziPool, request.Names.BrokerPool(cluster)),
		node(metric.Name(metric.Kafka, "controller-"), contract.LabelStrimziPool, request.Names.ControllerPool(cluster)),
	}
}

func postgresComponents(request environment.Request) []Component {
	declared, cluster := request.System.Postgres, request.PostgresName()
	if declared == nil || declared.External != nil {
		return nil
	}
	instance := func(role string) string {
		return selector(map[string]string{
			contract.LabelPostgresCluster:      cluster,
			contract.LabelPostgresRole:         contract.PostgresRoleInstance,
			contract.LabelPostgresInstanceRole: role,
		})
	}
	found := []Component{
		{Name: metric.Primary, Selector: instance(contract.PostgresInstancePrimary)},
		{Name: metric.Replica, Selector: instance(contract.PostgresInstanceReplica), Numbered: ByRank},
	}
	if declared.Pooler != nil {
		pooler := func(name, pooler string) Component {
			return Component{Name: name, Selector: selector(map[string]string{contract.LabelPostgresPooler: pooler})}
		}
		found = append(found,
			pooler(metric.Name(metric.Postgres, "pooler-rw"), contract.PostgresWriterPooler(cluster)),
			pooler(metric.Name(metric.Postgres, "pooler-ro"), contract.PostgresReaderPooler(cluster)))
	}
	return found
}

func selector(labels map[string]string) string {
	return metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: labels})
}

func prometheus(declared *v1alpha1.Prometheus, namespace string) *Prometheus {
	prometheus := &Prometheus{URL: declared.URL}
	for _, metric := range declared.Metrics {
		prometheus.Metrics = append(prometheus.Metrics, Metric{
			Name: metric.Name, Label: metric.Label, Unit: metric.Unit,
			Query: strings.ReplaceAll(metric.Query, "$namespace", namespace),
		})
	}
	return prometheus
}

// servers are those of the pods if PerfLab runs them.
func servers(request environment.Request) *Postgres {
	external := request.System.Postgres.External
	if external == nil {
		return &Postgres{}
	}
	found := []Server{{Component: metric.Primary, Host: external.Host, Port: cmp.Or(external.Port, contract.PostgresPort)}}
	if external.ReaderHost != "" {
		found = append(found, Server{
			Component: metric.Replica + "1", Host: external.ReaderHost, Port: cmp.Or(external.ReaderPort, contract.PostgresPort),
		})
	}
	return &Postgres{Servers: found}
}

func brokers(declared *v1alpha1.Kafka, request environment.Request) *Kafka {
	external := declared.External
	if external == nil {
		return &Kafka{Servers: []string{net.JoinHostPort(contract.KafkaBootstrapService(request.KafkaName()), strconv.Itoa(contract.KafkaPort))}}
	}
	found := &Kafka{Servers: external.BootstrapServers, TLS: external.TLS != nil}
	if external.SASL != nil {
		found.Mechanism, found.InsecurePlaintext = external.SASL.MechanismOrDefault(), external.SASL.InsecurePlaintext
	}
	return found
}
