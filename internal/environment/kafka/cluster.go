// SPDX-License-Identifier: Apache-2.0

// Package kafka renders the declared Kafka as Strimzi's objects and as topics, and assesses
// their readiness. It is pure.
package kafka

import (
	"strconv"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
)

// Listener is the name of the listener on contract.KafkaPort, to which modules and the
// operator connect.
const Listener = "plain"

// Build returns the Kafka and its node pools in one of Strimzi's API versions, with
// declared patches; nothing if the system has no Kafka or an external one. The pools come
// first, so that Strimzi reconciles a Kafka with its current pools.
func Build(req environment.Request, apiVersion string) []environment.Intent {
	kafka := req.System.Kafka
	if kafka == nil || IsExternal(kafka) {
		return nil
	}
	intents := []environment.Intent{buildZooKeeperCluster(req, apiVersion)}
	if kafka.Mode != v1alpha1.KafkaModeZooKeeper {
		intents = append(buildPools(req, apiVersion), buildKRaftCluster(req, apiVersion))
	}
	return environment.Patched(intents, req.Patches(contract.KindKafka, contract.KindKafkaNodePool))
}

// PlaintextRefused is the reason why a password is not sent.
const PlaintextRefused = "mechanism PLAIN without tls would send the password in clear text: write kafka.external.tls: {}, or a SCRAM mechanism, or, on a trusted network, kafka.external.sasl.insecurePlaintext: true"

// IsExternal reports whether PerfLab does not run the brokers.
func IsExternal(kafka *v1alpha1.Kafka) bool {
	return kafka.Provider == v1alpha1.KafkaProviderExternal
}

// buildKRaftCluster returns a Kafka with node pools, which Strimzi before 0.46 enables by
// annotations.
func buildKRaftCluster(req environment.Request, apiVersion string) environment.Intent {
	cluster := newCluster(req, apiVersion)
	if apiVersion == contract.StrimziV1Beta2 {
		annotations := cluster.GetAnnotations()
		annotations["strimzi.io/kraft"] = "enabled"
		annotations["strimzi.io/node-pools"] = "enabled"
		cluster.SetAnnotations(annotations)
	}
	cluster.Object["spec"] = map[string]any{"kafka": brokers(req)}
	return cluster
}

// buildZooKeeperCluster returns a Kafka without node pools: brokers and ZooKeeper are in
// one object.
func buildZooKeeperCluster(req environment.Request, apiVersion string) environment.Intent {
	kafka := req.System.Kafka
	brokers := brokers(req)
	brokers["storage"] = volume(kafka.Brokers.Storage)
	addNodes(brokers, kafka.Brokers, podsNamed(req.KafkaName(), componentBrokers))

	keepers := zooKeeper(kafka)
	zookeeper := map[string]any{"storage": volume(keepers.Storage)}
	addNodes(zookeeper, keepers, podsNamed(req.KafkaName(), componentZooKeeper))
	restrict(zookeeper, keepers.Storage != nil, zooKeeperContainers...)

	cluster := newCluster(req, apiVersion)
	cluster.Object["spec"] = map[string]any{"kafka": brokers, "zookeeper": zookeeper}
	return cluster
}

// zooKeeper returns the declared ZooKeeper nodes, or one per broker up to three, because
// all vote on every write.
func zooKeeper(kafka *v1alpha1.Kafka) v1alpha1.KafkaNodes {
	if kafka.ZooKeeper != nil {
		return *kafka.ZooKeeper
	}
	return v1alpha1.KafkaNodes{Replicas: min(3, kafka.Brokers.Replicas)}
}

func newCluster(req environment.Request, apiVersion string) environment.Intent {
	cluster := req.Intent(contract.KafkaKind(apiVersion), req.KafkaName(), environment.ComponentKafka, req.KafkaShape())
	environment.AddLabel(cluster, contract.LabelStrimziCluster, req.KafkaName())
	return cluster
}

// brokers returns the part of spec.kafka that all modes share.
func brokers(req environment.Request) map[string]any {
	kafka := req.System.Kafka
	brokers := map[string]any{
		"listeners": []any{map[string]any{
			"name": Listener, "port": int64(contract.KafkaPort), "type": "internal", "tls": false,
		}},
		"config": brokerConfig(kafka),
		// Strimzi's Ready refers to the Kafka's generation, which a change of a pool does
		// not increase. With the fingerprint, every change changes the Kafka.
		"template": map[string]any{"pod": map[string]any{"metadata": map[string]any{
			"annotations": map[string]any{v1alpha1.AnnotationFingerprint: req.KafkaShape()},
		}}},
	}
	persistent := kafka.Brokers.Storage != nil || kafka.Controllers != nil && kafka.Controllers.Storage != nil
	restrict(brokers, persistent, brokerContainers...)
	if kafka.Version != "" {
		brokers["version"] = kafka.Version
	}
	if kafka.Metrics != nil {
		brokers["metricsConfig"] = metrics(*kafka.Metrics)
	}
	return brokers
}

func metrics(declared v1alpha1.KafkaMetrics) map[string]any {
	if declared.JMXExporter == nil {
		return map[string]any{"type": "strimziMetricsReporter"}
	}
	return map[string]any{
		"type": "jmxPrometheusExporter",
		"valueFrom": map[string]any{"configMapKeyRef": map[string]any{
			"name": declared.JMXExporter.Name, "key": declared.JMXExporter.Key,
		}},
	}
}

// brokerConfig returns the declared configuration with defaults for settings that would
// fail, or not be comparable, on a small cluster.
func brokerConfig(kafka *v1alpha1.Kafka) map[string]any {
	// An automatically created topic would have undeclared partitions.
	config := map[string]any{"auto.create.topics.enable": false}
	if brokers := int64(kafka.Brokers.Replicas); brokers < 3 {
		// Kafka's defaults need three brokers.
		config["offsets.topic.replication.factor"] = brokers
		config["transaction.state.log.replication.factor"] = brokers
		config["transaction.state.log.min.isr"] = int64(1)
		config["default.replication.factor"] = brokers
		config["min.insync.replicas"] = int64(1)
	}
	for key, value := range kafka.Config {
		config[key] = typed(value)
	}
	return config
}

// typed converts integers and booleans, as users write them in a Kafka resource. Other
// values stay strings.
func typed(value string) any {
	if number, err := strconv.ParseInt(value, 10, 64); err == nil && strconv.FormatInt(number, 10) == value {
		return number
	}
	switch value {
	case "true":
		return true
	case "false":
		return false
	}
	return value
}
