// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment/jvm"
	"perflab.dev/perflab/internal/environment/kafka"
	"perflab.dev/perflab/internal/text/prose"
)

// maxPartitions of one topic: Kafka creates fewer than 10,000 partitions in one request,
// and a topic needs one request.
const maxPartitions = 9999

func kafkaFindings(kafka *v1alpha1.Kafka, tenant string) []finding {
	if kafka == nil {
		return nil
	}
	found := topicFindings(kafka, tenant)
	found = append(found, topicConfigFindings(kafka)...)
	if kafka.Provider == v1alpha1.KafkaProviderExternal {
		return append(found, loginFindings(kafka.External)...)
	}
	found = append(found, modeFindings(kafka)...)
	found = append(found, brokerConfigFindings(kafka)...)
	found = append(found, nodeFindings("brokers", &kafka.Brokers)...)
	found = append(found, nodeFindings("controllers", kafka.Controllers)...)
	found = append(found, nodeFindings("zooKeeper", kafka.ZooKeeper)...)
	found = append(found, quorumFindings("controllers", kafka.Controllers)...)
	return append(found, quorumFindings("zooKeeper", kafka.ZooKeeper)...)
}

// loginFindings warns that PLAIN sends the password unencrypted.
func loginFindings(external *v1alpha1.ExternalKafka) []finding {
	if external == nil || external.TLS != nil || external.SASL == nil {
		return nil
	}
	sasl := external.SASL
	if sasl.MechanismOrDefault() != v1alpha1.SASLPlain || sasl.InsecurePlaintext {
		return nil
	}
	return []finding{wrong(string(sasl.Mechanism), kafka.PlaintextRefused,
		setting{"kafka", "external", "sasl", "mechanism"}, setting{"kafka", "external"})}
}

// modeFindings rejects ZooKeeper with Kafka 4.
func modeFindings(kafka *v1alpha1.Kafka) []finding {
	major, err := strconv.Atoi(strings.SplitN(kafka.Version, ".", 2)[0])
	if err != nil || major < 4 || kafka.Mode != v1alpha1.KafkaModeZooKeeper {
		return nil
	}
	return []finding{wrong(kafka.Version,
		fmt.Sprintf("Kafka %s has no ZooKeeper mode: write a version up to 3.9, for example 3.9.1, or mode: KRaft", kafka.Version),
		setting{"kafka", "version"}, setting{"kafka", "mode"})}
}

// quorumFindings warns of an even number of voters, which tolerates no more failures than
// one voter less.
func quorumFindings(role string, nodes *v1alpha1.KafkaNodes) []finding {
	if nodes == nil || nodes.Replicas%2 == 1 {
		return nil
	}
	return []finding{doubtful(
		fmt.Sprintf("%d nodes of kafka.%s tolerate no more failures than %d: write an odd number, for example %d", nodes.Replicas, role, nodes.Replicas-1, nodes.Replicas+1),
		setting{"kafka", role, "replicas"})}
}

func nodeFindings(role string, nodes *v1alpha1.KafkaNodes) []finding {
	if nodes == nil {
		return nil
	}
	who := "kafka." + role
	at := func(path ...string) setting { return append(setting{"kafka", role}, path...) }
	found := resourceFindings(who, nodes.Resources, at("resources"))
	found = append(found, storageFindings(who, nodes.Storage, at("storage", "size"))...)
	found = append(found, sizeFindings(who+".heap", nodes.Heap, at("heap"))...)
	found = append(found, nodeOptionFindings(who, nodes, at("jvmOptions"))...)
	limit := memoryLimit(nodes.Resources)
	if nodes.Heap != nil && limit != nil && nodes.Heap.Cmp(*limit) > 0 {
		found = append(found, wrong(nodes.Heap.String(),
			fmt.Sprintf("the heap of %s is %s, larger than its memory limit of %s: write a heap of half of the limit or less, or raise resources.limits.memory", who, nodes.Heap, limit),
			at("heap"), at("resources", "limits", "memory")))
	}
	return found
}

// nodeOptionFindings validates -XX options by name, as Strimzi writes them.
func nodeOptionFindings(who string, nodes *v1alpha1.KafkaNodes, at setting) []finding {
	var found []finding
	var options []javaOption
	for _, name := range slices.Sorted(maps.Keys(nodes.JVMOptions)) {
		value, place := nodes.JVMOptions[name], below(at, name)
		option := javaOption{text: xxOption(name, value), where: who + ".jvmOptions", at: place}
		switch {
		case strings.HasPrefix(name, "-") || strings.HasPrefix(name, "+"):
			found = append(found, wrong(name, fmt.Sprintf("%s.jvmOptions has %q: write the option's name alone, and true or false for a switch, for example UseG1GC: \"true\"", who, name), place))
		case jvm.SetsHeap(option.text):
			found = append(found, wrong(value, fmt.Sprintf("%s.jvmOptions has %s, which sets the heap: write heap instead", who, name), place))
		case strings.HasPrefix(name, "Unlock"):
			// The order in which Strimzi writes them is unknown.
			options = append([]javaOption{option}, options...)
		default:
			options = append(options, option)
		}
	}
	return append(found, java{who: who, options: options, machine: jvm.Machine{}}.startFindings()...)
}

func xxOption(name, value string) string {
	switch strings.ToLower(value) {
	case "true":
		return "-XX:+" + name
	case "false":
		return "-XX:-" + name
	default:
		return "-XX:" + name + "=" + value
	}
}

func partitionFindings(kafka *v1alpha1.Kafka, topics v1alpha1.TopicGroup) []finding {
	var found []finding
	if topics.Partitions > maxPartitions {
		found = append(found, wrong(topics.Partitions,
			fmt.Sprintf("the topics of group %q have %d partitions each, and Kafka does not create a topic with more than %d: write fewer", topics.Group, topics.Partitions, maxPartitions),
			setting{"kafka", "topics", topics.Group, "partitions"}))
	}
	// The number of external brokers is unknown.
	if kafka.Provider != v1alpha1.KafkaProviderExternal && topics.Replicas > kafka.Brokers.Replicas {
		found = append(found, wrong(topics.Replicas,
			fmt.Sprintf("the topics of group %q have %d replicas on %s: lower the group's replicas to %d, or raise kafka.brokers.replicas", topics.Group, topics.Replicas, prose.Counted(kafka.Brokers.Replicas, "broker"), kafka.Brokers.Replicas),
			setting{"kafka", "topics", topics.Group, "replicas"}, setting{"kafka", "brokers", "replicas"}))
	}
	return found
}
