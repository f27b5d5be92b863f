// SPDX-License-Identifier: Apache-2.0

package strimzi

import (
	"fmt"
	"maps"
	"strings"

	"perflab.dev/perflab/test/emulators/strimzi/api"
)

// Components of a cluster. The Pods of one are rolled together.
const (
	componentKafka     = "kafka"
	componentZooKeeper = "zookeeper"
)

// Names of the objects of one cluster.
func componentName(cluster, component string) string   { return cluster + "-" + component }
func bootstrapServiceName(cluster string) string       { return cluster + "-kafka-bootstrap" }
func zooKeeperClientServiceName(cluster string) string { return cluster + "-zookeeper-client" }

// nodesServiceName returns the name of the headless Service that gives each node of a component
// a name.
func nodesServiceName(cluster, component string) string {
	if component == componentZooKeeper {
		return cluster + "-zookeeper-nodes"
	}
	return cluster + "-kafka-brokers"
}

// clusterLabels returns the labels of every object of one component of a cluster.
func clusterLabels(cluster, component string) map[string]string {
	return map[string]string{
		api.LabelCluster:               cluster,
		api.LabelKind:                  "Kafka",
		api.LabelName:                  componentName(cluster, component),
		api.LabelComponentType:         component,
		"app.kubernetes.io/name":       component,
		"app.kubernetes.io/instance":   cluster,
		"app.kubernetes.io/part-of":    "strimzi-" + cluster,
		"app.kubernetes.io/managed-by": "strimzi-cluster-operator",
	}
}

// supportLabels returns the labels of the objects that the nodes of a component need: also those
// of the Kafka itself.
func supportLabels(kafka *api.Kafka, component string) map[string]string {
	return merged(clusterLabels(kafka.Name, component), inheritedLabels(kafka.Labels))
}

// configLabels returns the labels of the ConfigMap of one node of the cluster.
func configLabels(cluster string, n node) map[string]string {
	labels := clusterLabels(cluster, n.component())
	labels[api.LabelPodName] = n.podName()
	if !n.isZooKeeper() {
		labels[api.LabelPoolName] = n.Pool.Name
	}
	return labels
}

// nodeLabels returns the labels of the Pod and the claims of one node of the cluster.
func nodeLabels(cluster string, n node) map[string]string {
	labels := configLabels(cluster, n)
	if n.isZooKeeper() {
		return labels
	}
	labels[api.LabelBrokerRole] = fmt.Sprint(n.isBroker())
	labels[api.LabelControllerRole] = fmt.Sprint(n.isController())
	return labels
}

// podLabels returns the labels of the Pod of a node, including those of its pool.
func podLabels(cluster string, n node) map[string]string {
	own := merged(nodeLabels(cluster, n), map[string]string{
		api.LabelController:     "strimzipodset",
		api.LabelControllerName: n.podSetName(),
	})
	return merged(own, inheritedLabels(n.Pool.Labels))
}

// inheritedLabels returns the labels of an object that its children get: all but Kubernetes'
// recommended ones.
func inheritedLabels(labels map[string]string) map[string]string {
	all := maps.Clone(labels)
	maps.DeleteFunc(all, func(key, _ string) bool {
		return strings.HasPrefix(key, "app.kubernetes.io/") && key != "app.kubernetes.io/part-of"
	})
	return all
}

// podSetSelector returns the labels of the Pods of one StrimziPodSet.
func podSetSelector(cluster string, n node) map[string]string {
	selector := nodeSelector(cluster, n.component())
	if !n.isZooKeeper() {
		selector[api.LabelPoolName] = n.Pool.Name
	}
	return selector
}

// nodeSelector returns the labels of every node of a component, in any pool and role.
func nodeSelector(cluster, component string) map[string]string {
	return map[string]string{
		api.LabelCluster: cluster,
		api.LabelKind:    "Kafka",
		api.LabelName:    componentName(cluster, component),
	}
}

// merged returns base plus the labels of more. base takes precedence.
func merged(base, more map[string]string) map[string]string {
	all := maps.Clone(more)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, base)
	return all
}
