// SPDX-License-Identifier: Apache-2.0

package strimzi

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/test/emulators/strimzi/api"
)

// Ports of a ZooKeeper node.
const (
	portZooKeeper           = 2181
	portZooKeeperClustering = 2888
	portZooKeeperElection   = 3888
)

// roleZooKeeper is the role of the pool that represents the ensemble in the emulator. No
// KafkaNodePool can have it.
const roleZooKeeper = "zookeeper"

// zooKeeperNodes returns the nodes of the ensemble, numbered from 0.
func zooKeeperNodes(kafka *api.Kafka) []node {
	wanted := kafka.Spec.Zookeeper
	pool := impliedPool(kafka, componentZooKeeper, roleZooKeeper)
	pool.Spec.Replicas = wanted.Replicas
	pool.Spec.Storage = wanted.Storage
	pool.Spec.Resources = wanted.Resources
	// Never nil: the options of the Kafka do not apply to its ensemble.
	pool.Spec.JvmOptions = &api.JvmOptions{}
	if wanted.JvmOptions != nil {
		pool.Spec.JvmOptions = wanted.JvmOptions
	}
	pool.Spec.Template = &api.NodeTemplate{Pod: wanted.Template.Pod, KafkaContainer: wanted.Template.ZookeeperContainer}
	return assignNodes([]api.KafkaNodePool{pool})
}

// brokersOnZooKeeper returns the brokers of a cluster without node pools.
func brokersOnZooKeeper(kafka *api.Kafka) []node {
	wanted := kafka.Spec.Kafka
	pool := impliedPool(kafka, componentKafka, api.RoleBroker)
	pool.Spec.Replicas = wanted.Replicas
	pool.Spec.Storage = *wanted.Storage
	pool.Spec.Resources = wanted.Resources
	nodes := assignNodes([]api.KafkaNodePool{pool})
	for i := range nodes {
		nodes[i].ZooKeeper = fmt.Sprintf("%s.%s.svc:%d", zooKeeperClientServiceName(kafka.Name), kafka.Namespace, portZooKeeper)
	}
	return nodes
}

// impliedPool returns a pool without an object.
func impliedPool(kafka *api.Kafka, name, role string) api.KafkaNodePool {
	return api.KafkaNodePool{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: kafka.Namespace, Name: name,
			Labels: merged(map[string]string{api.LabelCluster: kafka.Name}, kafka.Labels),
		},
		Spec: api.KafkaNodePoolSpec{Roles: []string{role}},
	}
}

// zooKeeperSettings renders the zoo.cfg of one node. ZooKeeper counts servers from 1.
func zooKeeperSettings(kafka *api.Kafka, nodes []node, n node) (string, error) {
	user, err := properties(kafka.Spec.Zookeeper.Config)
	if err != nil {
		return "", fmt.Errorf("reading spec.zookeeper.config: %w", err)
	}
	all := map[string]string{"tickTime": "2000", "initLimit": "5", "syncLimit": "2", "autopurge.purgeInterval": "1"}
	maps.Copy(all, user)
	maps.Copy(all, map[string]string{
		"dataDir":                   zooKeeperDataDir(n),
		"clientPort":                fmt.Sprint(portZooKeeper),
		"admin.enableServer":        "false",
		"4lw.commands.whitelist":    "ruok,srvr",
		"quorumListenOnAllIPs":      "true", // Its own name may not resolve yet.
		"electionPortBindRetry":     "0",    // 0 retries forever, for the same reason.
		"cnxTimeout":                "5",
		"autopurge.snapRetainCount": "3",
	})
	for _, server := range nodes {
		all[fmt.Sprintf("server.%d", server.ID+1)] = fmt.Sprintf("%s.cluster.local:%d:%d",
			advertisedHost(kafka, server), portZooKeeperClustering, portZooKeeperElection)
	}
	var out strings.Builder
	for _, key := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&out, "%s=%s\n", key, all[key])
	}
	return out.String(), nil
}

func zooKeeperDataDir(n node) string { return poolDisks(n.Pool)[0].mountPath() + "/version" }

// zooKeeperServices returns the Services for the brokers and for the nodes of the ensemble.
func zooKeeperServices(kafka *api.Kafka) []*corev1.Service {
	clients := servicePort("tcp-clients", portZooKeeper)
	meta := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{
			Namespace: kafka.Namespace, Name: name,
			Labels: supportLabels(kafka, componentZooKeeper),
		}
	}
	selector := nodeSelector(kafka.Name, componentZooKeeper)
	return []*corev1.Service{
		{
			ObjectMeta: meta(zooKeeperClientServiceName(kafka.Name)),
			Spec:       corev1.ServiceSpec{Selector: selector, Ports: []corev1.ServicePort{clients}},
		},
		{
			ObjectMeta: meta(nodesServiceName(kafka.Name, componentZooKeeper)),
			Spec: corev1.ServiceSpec{
				ClusterIP: corev1.ClusterIPNone,
				Selector:  selector,
				Ports: []corev1.ServicePort{
					clients,
					servicePort("tcp-clustering", portZooKeeperClustering),
					servicePort("tcp-election", portZooKeeperElection),
				},
				PublishNotReadyAddresses: true,
			},
		},
	}
}
