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
	// StrimziV1 supports only KRaft.
	StrimziV1 = "v1"
	// StrimziV1Beta2 supports ZooKeeper, and needs annotations for KRaft and node pools.
	StrimziV1Beta2 = "v1beta2"
)

// Strimzi's kinds.
const (
	KindKafka         = "Kafka"
	KindKafkaNodePool = "KafkaNodePool"
)

// StrimziPodSetKind is the owner of Strimzi's pods in all versions.
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

// KafkaBootstrapService returns the bootstrap Service of a Kafka.
func KafkaBootstrapService(kafka string) string { return kafka + "-kafka-bootstrap" }

// KafkaPort is the port without TLS of brokers that PerfLab runs.
const KafkaPort = 9092

// Kafka reads a Strimzi Kafka.
type Kafka struct{ Object *unstructured.Unstructured }

// Ready reports whether the cluster is ready with its current spec. During a rolling update
// Strimzi keeps Ready=True of the old generation, so the generation counts as well.
func (k Kafka) Ready() bool { return isReady(k.Object) && isCurrent(k.Object) }

// Rolling reports whether the cluster was ready and rolls out a newer spec.
func (k Kafka) Rolling() bool { return isReady(k.Object) && !isCurrent(k.Object) }

// Refusal returns why Strimzi rejects the current spec. Strimzi sets NotReady=True with an
// exception's name as the reason, and removes Ready. It may be temporary: Strimzi retries.
func (k Kafka) Refusal() (reason, message string, refused bool) {
	notReady, found := findCondition(k.Object, "NotReady")
	if !found || notReady.status != "True" || notReady.reason == reasonCreating || !isCurrent(k.Object) {
		return "", "", false
	}
	return notReady.reason, notReady.message, true
}

// HasStatus reports whether Strimzi has written a status.
func (k Kafka) HasStatus() bool { return hasStatus(k.Object) }

// LastTransition returns the time of the last transition; zero if there was none.
func (k Kafka) LastTransition() time.Time { return lastTransition(k.Object) }

// StrimziPods returns the pods in a StrimziPodSet, as Strimzi creates them.
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

// BootstrapServers returns the address of a listener; empty if there is none.
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

// Version returns the brokers' version; empty if unknown.
func (k Kafka) Version() string { return text(k.Object, "status", "kafkaVersion") }

// OperatorVersion returns the version of Strimzi that last reconciled the cluster; empty if
// unknown.
func (k Kafka) OperatorVersion() string {
	return text(k.Object, "status", "operatorLastSuccessfulVersion")
}

func hasStatus(object *unstructured.Unstructured) bool {
	_, observed := field[int64](object, "status", "observedGeneration")
	return observed || len(conditions(object)) > 0
}
