// SPDX-License-Identifier: Apache-2.0

package strimzi

import (
	"fmt"
	"maps"

	kafkav1 "perflab.dev/perflab/test/emulators/strimzi/api/v1"
)

// Names of the objects of one cluster.
func kafkaComponentName(cluster string) string   { return cluster + "-kafka" }
func bootstrapServiceName(cluster string) string { return cluster + "-kafka-bootstrap" }
func brokersServiceName(cluster string) string   { return cluster + "-kafka-brokers" }

// clusterLabels are on every object of a Kafka cluster.
func clusterLabels(cluster string) map[string]string {
	return map[string]string{
		kafkav1.LabelCluster:           cluster,
		kafkav1.LabelKind:              "Kafka",
		kafkav1.LabelName:              kafkaComponentName(cluster),
		kafkav1.LabelComponentType:     "kafka",
		"app.kubernetes.io/name":       "kafka",
		"app.kubernetes.io/instance":   cluster,
		"app.kubernetes.io/part-of":    "strimzi-" + cluster,
		"app.kubernetes.io/managed-by": "strimzi-cluster-operator",
	}
}

// nodeLabels are on what belongs to one node of the cluster.
func nodeLabels(cluster string, n node) map[string]string {
	labels := clusterLabels(cluster)
	labels[kafkav1.LabelPoolName] = n.Pool.Name
	labels[kafkav1.LabelPodName] = n.podName()
	labels[kafkav1.LabelBrokerRole] = fmt.Sprint(n.isBroker())
	labels[kafkav1.LabelControllerRole] = fmt.Sprint(n.isController())
	return labels
}

// nodeSelector are the labels every node has, whatever its pool and roles.
func nodeSelector(cluster string) map[string]string {
	return map[string]string{
		kafkav1.LabelCluster: cluster,
		kafkav1.LabelKind:    "Kafka",
		kafkav1.LabelName:    kafkaComponentName(cluster),
	}
}

// merged returns base with more added; base wins.
func merged(base, more map[string]string) map[string]string {
	all := maps.Clone(more)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, base)
	return all
}
