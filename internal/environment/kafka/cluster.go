// SPDX-License-Identifier: Apache-2.0

// Package kafka turns the declared Kafka and its topics into Strimzi's objects,
// and what Strimzi makes of them into a readiness. It is pure.
package kafka

import (
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/naming"
)

// Port is where the brokers take clients without TLS.
const Port = 9092

// Listener is the name of the listener on Port, to which modules and the
// operator itself connect.
const Listener = "plain"

// Build returns the Kafka and its node pools as Strimzi wants them in one of
// its API versions; nothing when the system has no Kafka. The pools come
// first: a Kafka that is applied after them is reconciled with them as they
// are now.
func Build(req environment.Request, apiVersion string) []environment.Intent {
	kafka := req.System.Kafka
	if kafka == nil {
		return nil
	}
	fingerprint := req.KafkaShape()
	intents := buildPools(req, apiVersion, fingerprint)
	return append(intents, buildCluster(req, apiVersion, fingerprint))
}

func buildPools(req environment.Request, apiVersion, fingerprint string) []environment.Intent {
	kafka := req.System.Kafka
	if kafka.Controllers == nil {
		return []environment.Intent{
			buildPool(req, apiVersion, fingerprint, naming.BrokerPool(req.KafkaName()), kafka.Brokers, "controller", "broker"),
		}
	}
	return []environment.Intent{
		buildPool(req, apiVersion, fingerprint, naming.BrokerPool(req.KafkaName()), kafka.Brokers, "broker"),
		buildPool(req, apiVersion, fingerprint, naming.ControllerPool(req.KafkaName()), *kafka.Controllers, "controller"),
	}
}

func buildPool(req environment.Request, apiVersion, fingerprint, name string, nodes v1alpha1.KafkaNodes, roles ...any) environment.Intent {
	spec := map[string]any{
		"replicas": int64(nodes.Replicas),
		"roles":    roles,
		"storage":  map[string]any{"type": "jbod", "volumes": []any{volume(nodes.Storage)}},
	}
	if resources := environment.Fields(nodes.Resources.DeepCopy()); len(resources) > 0 {
		spec["resources"] = resources
	}
	if nodes.Heap != nil {
		size := heapSize(*nodes.Heap)
		spec["jvmOptions"] = map[string]any{"-Xms": size, "-Xmx": size}
	}
	pool := req.Intent(contract.KafkaNodePoolKind(apiVersion), name, environment.ComponentKafka, fingerprint)
	environment.AddLabel(pool, contract.LabelStrimziCluster, req.KafkaName())
	pool.Object["spec"] = spec
	return pool
}

func volume(storage *v1alpha1.Storage) map[string]any {
	volume := map[string]any{"id": int64(0), "type": "ephemeral", "kraftMetadata": "shared"}
	if storage == nil {
		return volume
	}
	volume["type"] = "persistent-claim"
	volume["size"] = storage.Size.String()
	// The next Kafka of this name must not find the data of this one.
	volume["deleteClaim"] = true
	if storage.Class != "" {
		volume["class"] = storage.Class
	}
	return volume
}

// heapSize writes a size as Strimzi takes it: a whole number of bytes or MiB.
func heapSize(size resource.Quantity) string {
	const mebibyte = 1 << 20
	bytes := size.Value()
	if bytes%mebibyte == 0 {
		return strconv.FormatInt(bytes/mebibyte, 10) + "m"
	}
	return strconv.FormatInt(bytes, 10)
}

func buildCluster(req environment.Request, apiVersion, fingerprint string) environment.Intent {
	kafka := req.System.Kafka
	brokers := map[string]any{
		"listeners": []any{map[string]any{
			"name": Listener, "port": int64(Port), "type": "internal", "tls": false,
		}},
		"config": brokerConfig(kafka),
		// Strimzi's word for "done" is about the Kafka's generation, which a
		// change of a pool does not raise. Repeating the fingerprint here
		// makes every change one of the Kafka.
		"template": map[string]any{"pod": map[string]any{"metadata": map[string]any{
			"annotations": map[string]any{v1alpha1.AnnotationFingerprint: fingerprint},
		}}},
	}
	if kafka.Version != "" {
		brokers["version"] = kafka.Version
	}
	cluster := req.Intent(contract.KafkaKind(apiVersion), req.KafkaName(), environment.ComponentKafka, fingerprint)
	environment.AddLabel(cluster, contract.LabelStrimziCluster, req.KafkaName())
	if apiVersion == contract.StrimziV1Beta2 {
		annotations := cluster.GetAnnotations()
		annotations["strimzi.io/kraft"] = "enabled"
		annotations["strimzi.io/node-pools"] = "enabled"
		cluster.SetAnnotations(annotations)
	}
	cluster.Object["spec"] = map[string]any{"kafka": brokers, "entityOperator": entityOperator(kafka)}
	return cluster
}

// brokerConfig is the declared configuration with defaults for what would not
// work, or not be comparable, on a small cluster of a benchmark.
func brokerConfig(kafka *v1alpha1.Kafka) map[string]any {
	// A topic made by accident would have other partitions than declared.
	config := map[string]any{"auto.create.topics.enable": false}
	if brokers := int64(kafka.Brokers.Replicas); brokers < 3 {
		// Kafka's own defaults take three brokers.
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

// typed writes whole numbers and booleans as such, the way people write them
// in a Kafka resource. Everything else stays text.
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

// entityOperator runs the topic operator alone. It creates the topics of one
// batch in one request, and Kafka refuses a request for more than 10,000
// partitions as a whole (KAFKA-17870), so the batch is kept below that.
func entityOperator(kafka *v1alpha1.Kafka) map[string]any {
	return map[string]any{
		"topicOperator": map[string]any{},
		"template": map[string]any{"topicOperatorContainer": map[string]any{"env": []any{
			map[string]any{"name": "STRIMZI_MAX_BATCH_SIZE", "value": strconv.Itoa(int(batchSize(kafka)))},
		}}},
	}
}

func batchSize(kafka *v1alpha1.Kafka) int32 {
	const (
		usual  = 100
		capped = 9_999
	)
	most := int32(1)
	for _, group := range kafka.Topics {
		most = max(most, group.Partitions)
	}
	return max(1, min(usual, capped/most))
}

// declared says in a few words what the cluster consists of.
func declared(kafka *v1alpha1.Kafka) string {
	if kafka.Controllers == nil {
		return counted(kafka.Brokers.Replicas, "node") + ", broker and controller in one"
	}
	return counted(kafka.Brokers.Replicas, "broker") + " and " + counted(kafka.Controllers.Replicas, "controller")
}

func counted(number int32, noun string) string {
	if number == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", number, noun)
}
