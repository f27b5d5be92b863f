// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// StrimziGroup is the API group of Strimzi's kinds. They are served as v1
// since Strimzi 0.49, as v1beta2 up to 0.51.
const StrimziGroup = "kafka.strimzi.io"

const (
	// StrimziV1 is the version that knows only KRaft.
	StrimziV1 = "v1"
	// StrimziV1Beta2 is the version that knows ZooKeeper, and in which Kafka
	// needs annotations to run with KRaft and node pools.
	StrimziV1Beta2 = "v1beta2"
)

// Strimzi's kinds.
const (
	KindKafka         = "Kafka"
	KindKafkaNodePool = "KafkaNodePool"
)

// StrimziPodSetKind is what Strimzi makes its pods from, whatever its version.
var StrimziPodSetKind = schema.GroupKind{Group: "core.strimzi.io", Kind: "StrimziPodSet"}

// LabelStrimziCluster names the Kafka a pool, a topic or a pod belongs to.
const LabelStrimziCluster = "strimzi.io/cluster"

// LabelStrimziName names the component of a Kafka a pod belongs to: brokers
// (and controllers) have <kafka>-kafka, ZooKeeper's nodes <kafka>-zookeeper.
const LabelStrimziName = "strimzi.io/name"

// LabelStrimziPool names the KafkaNodePool a pod belongs to.
const LabelStrimziPool = "strimzi.io/pool-name"

// reasonCreating is NotReady's reason while Strimzi builds a new cluster.
const reasonCreating = "Creating"

// KafkaKind is Kafka in one of Strimzi's versions.
func KafkaKind(version string) schema.GroupVersionKind { return strimziKind(version, KindKafka) }

// KafkaNodePoolKind is KafkaNodePool in one of Strimzi's versions.
func KafkaNodePoolKind(version string) schema.GroupVersionKind {
	return strimziKind(version, KindKafkaNodePool)
}

func strimziKind(version, kind string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: StrimziGroup, Version: version, Kind: kind}
}

// KafkaBootstrapService is the Service through which clients in the same
// namespace find the brokers of a Kafka.
func KafkaBootstrapService(kafka string) string { return kafka + "-kafka-bootstrap" }

// KafkaPort is where the brokers PerfLab runs take clients without TLS.
const KafkaPort = 9092

// Kafka reads a Strimzi Kafka.
type Kafka struct{ Object *unstructured.Unstructured }

// Ready reports whether the cluster is up as its spec says now. Strimzi keeps
// Ready=True of the old generation all through a roll, so the generation has
// to be asked for as well.
func (k Kafka) Ready() bool { return isReady(k.Object) && isCurrent(k.Object) }

// Rolling reports whether the cluster was up and is changing over to a newer
// spec.
func (k Kafka) Rolling() bool { return isReady(k.Object) && !isCurrent(k.Object) }

// Refusal returns what Strimzi has against the spec as it is now. Strimzi says
// so with NotReady=True and an exception's name as the reason, and leaves
// Ready away. It may still pass: Strimzi tries again.
func (k Kafka) Refusal() (reason, message string, refused bool) {
	notReady, found := findCondition(k.Object, "NotReady")
	if !found || notReady.status != "True" || notReady.reason == reasonCreating || !isCurrent(k.Object) {
		return "", "", false
	}
	return notReady.reason, notReady.message, true
}

// HasStatus reports whether Strimzi has said anything about the Kafka yet.
func (k Kafka) HasStatus() bool { return hasStatus(k.Object) }

// LastTransition is when Strimzi last changed its mind about the Kafka; zero: never.
func (k Kafka) LastTransition() time.Time { return lastTransition(k.Object) }

// StrimziPods are the pods a StrimziPodSet is to have, whole, as Strimzi asks
// the API server for them.
func StrimziPods(podSet *unstructured.Unstructured) []unstructured.Unstructured {
	entries, _ := field[[]any](podSet, "spec", "pods")
	var pods []unstructured.Unstructured
	for _, entry := range entries {
		if fields, isMap := entry.(map[string]any); isMap {
			pods = append(pods, unstructured.Unstructured{Object: fields})
		}
	}
	return pods
}

// BootstrapServers is the address of a listener, empty while there is none.
func (k Kafka) BootstrapServers(listener string) string {
	listeners, _ := field[[]any](k.Object, "status", "listeners")
	for _, entry := range listeners {
		fields, isMap := entry.(map[string]any)
		if isMap && fields["name"] == listener {
			servers, _ := fields["bootstrapServers"].(string)
			return servers
		}
	}
	return ""
}

// Version is the version the brokers run, empty while unknown.
func (k Kafka) Version() string { return text(k.Object, "status", "kafkaVersion") }

// OperatorVersion is that of the Strimzi that last brought the cluster to its
// spec, empty while unknown.
func (k Kafka) OperatorVersion() string {
	return text(k.Object, "status", "operatorLastSuccessfulVersion")
}

func hasStatus(object *unstructured.Unstructured) bool {
	_, observed := field[int64](object, "status", "observedGeneration")
	return observed || len(conditions(object)) > 0
}
