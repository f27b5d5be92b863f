// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"maps"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/podspec"
	"perflab.dev/perflab/internal/text/prose"
)

// Suffixes of Strimzi's component names.
const (
	componentBrokers   = "kafka"
	componentZooKeeper = "zookeeper"
)

// Containers of a node in Strimzi's template. The second exists with rack awareness or
// external listeners.
var (
	brokerContainers    = []string{"kafkaContainer", "initContainer"}
	zooKeeperContainers = []string{"zookeeperContainer"}
)

// podsNamed returns the labels of a component's pods.
func podsNamed(cluster, component string) map[string]string {
	return map[string]string{
		contract.LabelStrimziCluster: cluster,
		contract.LabelStrimziName:    cluster + "-" + component,
	}
}

// podsInPool returns the labels of a pool's pods.
func podsInPool(cluster, pool string) map[string]string {
	return map[string]string{
		contract.LabelStrimziCluster: cluster,
		contract.LabelStrimziPool:    pool,
	}
}

// group is a declared node group.
type group struct {
	// title of one node in messages.
	title    string
	replicas int32
	// pods are the labels of the group's pods.
	pods map[string]string
	// pool is the name of the KafkaNodePool, empty if there is none.
	pool string
}

// groups returns the declared node groups, brokers first.
func groups(req environment.Request) []group {
	kafka, cluster := req.System.Kafka, req.KafkaName()
	if kafka.Mode == v1alpha1.KafkaModeZooKeeper {
		return []group{
			{title: "broker", replicas: kafka.Brokers.Replicas, pods: podsNamed(cluster, componentBrokers)},
			{title: "ZooKeeper node", replicas: zooKeeper(kafka).Replicas, pods: podsNamed(cluster, componentZooKeeper)},
		}
	}
	pooled := func(title, pool string, replicas int32) group {
		return group{title: title, replicas: replicas, pods: podsInPool(cluster, pool), pool: pool}
	}
	if kafka.Controllers == nil {
		return []group{pooled("node", req.Names.BrokerPool(cluster), kafka.Brokers.Replicas)}
	}
	return []group{
		pooled("broker", req.Names.BrokerPool(cluster), kafka.Brokers.Replicas),
		pooled("controller", req.Names.ControllerPool(cluster), kafka.Controllers.Replicas),
	}
}

// BrokerLabels are the labels of the pods that are brokers.
func BrokerLabels(req environment.Request) map[string]string { return groups(req)[0].pods }

// ControllerLabels are the labels of the pods that may be the active controller. In ZooKeeper mode
// those are the brokers.
func ControllerLabels(req environment.Request) map[string]string {
	all := groups(req)
	if req.System.Kafka.Mode == v1alpha1.KafkaModeZooKeeper {
		return all[0].pods
	}
	return all[len(all)-1].pods
}

// described summarizes the cluster's nodes.
func described(req environment.Request) string {
	var parts []string
	for _, group := range groups(req) {
		parts = append(parts, prose.Counted(group.replicas, group.title))
	}
	if len(parts) == 1 {
		return parts[0] + " with the roles broker and controller"
	}
	return strings.Join(parts, " and ")
}

func buildPools(req environment.Request, apiVersion string) []environment.Intent {
	kafka := req.System.Kafka
	brokers := req.Names.BrokerPool(req.KafkaName())
	if kafka.Controllers == nil {
		return []environment.Intent{buildPool(req, apiVersion, brokers, kafka.Brokers, "controller", "broker")}
	}
	return []environment.Intent{
		buildPool(req, apiVersion, brokers, kafka.Brokers, "broker"),
		buildPool(req, apiVersion, req.Names.ControllerPool(req.KafkaName()), *kafka.Controllers, "controller"),
	}
}

func buildPool(req environment.Request, apiVersion, name string, nodes v1alpha1.KafkaNodes, roles ...any) environment.Intent {
	disk := volume(nodes.Storage)
	disk["id"] = int64(0)
	disk["kraftMetadata"] = "shared"
	spec := map[string]any{
		"roles":   roles,
		"storage": map[string]any{"type": "jbod", "volumes": []any{disk}},
	}
	addNodes(spec, nodes, podsInPool(req.KafkaName(), name))
	if spec["template"] != nil {
		// restrict makes the pods conform to the restricted Pod Security Standard.
		// Strimzi's default is baseline, and it reports rejected pods only in its log.
		restrict(spec, nodes.Storage != nil, brokerContainers...)
	}
	pool := req.Intent(contract.KafkaNodePoolKind(apiVersion), name, environment.ComponentKafka, req.KafkaShape())
	environment.AddLabel(pool, contract.LabelStrimziCluster, req.KafkaName())
	pool.Object["spec"] = spec
	return pool
}

// addNodes adds the fields that pools, spec.kafka and spec.zookeeper share. labels are
// those of the nodes' pods.
func addNodes(spec map[string]any, nodes v1alpha1.KafkaNodes, labels map[string]string) {
	spec["replicas"] = int64(nodes.Replicas)
	podspec.AddResources(spec, nodes.Resources)
	if options := jvmOptions(nodes); len(options) > 0 {
		spec["jvmOptions"] = options
	}
	if placed := placement(nodes.Placement, labels); len(placed) > 0 {
		addToTemplate(spec, "pod", placed)
	}
}

// restrict makes the pods conform to the restricted Pod Security Standard. Strimzi's default is
// baseline, and it reports rejected pods only in its log.
func restrict(spec map[string]any, persistent bool, containers ...string) {
	pod := podspec.SecurityContext()
	if persistent {
		// This context replaces Strimzi's default, which sets it.
		pod.FSGroup = new(int64)
	}
	addToTemplate(spec, "pod", map[string]any{"securityContext": environment.Fields(pod)})
	for _, container := range containers {
		addToTemplate(spec, container, map[string]any{
			"securityContext": environment.Fields(podspec.ContainerSecurityContext()),
		})
	}
}

// addToTemplate merges fields into the template of these objects.
func addToTemplate(spec map[string]any, object string, more map[string]any) {
	maps.Copy(child(child(spec, "template"), object), more)
}

// child returns the map under a key, and creates it if necessary.
func child(parent map[string]any, key string) map[string]any {
	found, _ := parent[key].(map[string]any)
	if found == nil {
		found = map[string]any{}
		parent[key] = found
	}
	return found
}

func volume(storage *v1alpha1.Storage) map[string]any {
	if storage == nil {
		return map[string]any{"type": "ephemeral"}
	}
	volume := map[string]any{
		"type": "persistent-claim",
		"size": storage.Size.String(),
		// The next Kafka of this name must start empty.
		"deleteClaim": true,
	}
	if storage.Class != "" {
		volume["class"] = storage.Class
	}
	return volume
}

func jvmOptions(nodes v1alpha1.KafkaNodes) map[string]any {
	options := map[string]any{}
	if nodes.Heap != nil {
		size := heapSize(*nodes.Heap)
		options["-Xms"], options["-Xmx"] = size, size
	}
	if len(nodes.JVMOptions) > 0 {
		further := map[string]any{}
		for name, value := range nodes.JVMOptions {
			further[name] = value
		}
		options["-XX"] = further
	}
	return options
}

// heapSize formats a size for Strimzi: a whole number of bytes or MiB.
func heapSize(size resource.Quantity) string {
	const mebibyte = 1 << 20
	bytes := size.Value()
	if bytes%mebibyte == 0 {
		return strconv.FormatInt(bytes/mebibyte, 10) + "m"
	}
	return strconv.FormatInt(bytes, 10)
}
