// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"fmt"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/naming"
)

// topic is one declared topic, without the prefix that makes its name in Kafka.
type topic struct {
	Name       string
	Partitions int32
	Replicas   int32
	Config     map[string]string
	// group is where it was declared.
	group string
}

// layout lists the declared topics in the order of their declaration. A name
// that is declared twice counts where it is declared first.
func layout(kafka *v1alpha1.Kafka) []topic {
	if kafka == nil {
		return nil
	}
	seen := map[string]bool{}
	var topics []topic
	for _, group := range kafka.Topics {
		for _, name := range names(group) {
			if seen[name] {
				continue
			}
			seen[name] = true
			topics = append(topics, topic{
				Name:       name,
				Partitions: max(1, group.Partitions),
				Replicas:   max(1, group.Replicas),
				Config:     normalized(group.Config),
				group:      group.Group,
			})
		}
	}
	return topics
}

// normalized makes no settings and an empty list of them the same.
func normalized(config map[string]string) map[string]string {
	if len(config) == 0 {
		return nil
	}
	return config
}

func names(group v1alpha1.TopicGroup) []string {
	if group.Count == nil {
		return group.Names
	}
	numbered := make([]string, 0, *group.Count)
	for n := int32(1); n <= *group.Count; n++ {
		numbered = append(numbered, fmt.Sprintf("%s-%d", group.Prefix, n))
	}
	return numbered
}

// Env is the prefix of the run's topics and the ENV of its modules. It follows
// from the layout of the topics: partitions can only grow, so an arm with
// another layout has topics of its own.
func Env(req environment.Request) string {
	return req.Experiment + "-" + layoutFingerprint(req)[:6]
}

func layoutFingerprint(req environment.Request) string {
	return environment.Fingerprint(layout(req.System.Kafka))
}

func physicalName(env, name string) string { return env + "." + name }

// PhysicalTopics are the names in Kafka of each group's topics, in the order
// of their declaration.
func PhysicalTopics(req environment.Request) map[string][]string {
	env := Env(req)
	groups := map[string][]string{}
	for _, topic := range layout(req.System.Kafka) {
		groups[topic.group] = append(groups[topic.group], physicalName(env, topic.Name))
	}
	return groups
}

// Topics returns a KafkaTopic for every declared topic.
func Topics(req environment.Request, apiVersion string) []environment.Intent {
	env, fingerprint := Env(req), layoutFingerprint(req)
	var intents []environment.Intent
	for _, topic := range layout(req.System.Kafka) {
		intents = append(intents, buildTopic(req, apiVersion, fingerprint, physicalName(env, topic.Name), topic))
	}
	return intents
}

func buildTopic(req environment.Request, apiVersion, fingerprint, physical string, topic topic) environment.Intent {
	spec := map[string]any{
		"topicName":  physical,
		"partitions": int64(topic.Partitions),
		"replicas":   int64(topic.Replicas),
	}
	if len(topic.Config) > 0 {
		config := map[string]any{}
		for key, value := range topic.Config {
			config[key] = typed(value)
		}
		spec["config"] = config
	}
	intent := req.Intent(contract.KafkaTopicKind(apiVersion), topicObject(req, physical), environment.ComponentTopic, fingerprint)
	environment.AddLabel(intent, contract.LabelStrimziCluster, req.KafkaName())
	intent.Object["spec"] = spec
	return intent
}

// topicObject is the name of the KafkaTopic for a topic in Kafka. Topics of
// different layouts live side by side while one is taken down.
func topicObject(req environment.Request, physical string) string {
	return naming.KafkaTopic(req.Experiment, physical)
}
