// SPDX-License-Identifier: Apache-2.0

package strimzi

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/test/emulators/strimzi/api"
)

// Reasons of a Ready=False topic.
const (
	reasonNotSupported     = "NotSupported"
	reasonKafkaError       = "KafkaError"
	reasonResourceConflict = "ResourceConflict"
)

// defaultBatchSize is the number of topics in one request, STRIMZI_MAX_BATCH_SIZE.
const defaultBatchSize = 100

// brokerDefault asks Kafka for its own default of partitions or replicas.
const brokerDefault = -1

// refusal is why a topic is not as wished.
type refusal struct {
	Reason  string
	Message string
}

// existing is a topic as Kafka has it. The zero value means that there is none.
type existing struct {
	ID string
	// Replicas holds the number of replicas of each partition.
	Replicas []int
}

func (e existing) found() bool { return len(e.Replicas) > 0 }

// change is what has to be done for one topic. The zero value means nothing.
type change struct {
	Create bool
	// GrowTo is the wanted number of partitions, 0 for no growth.
	GrowTo int32
	Refuse *refusal
}

// changeFor decides what brings a topic where its object wants it.
func changeFor(topic *api.KafkaTopic, now existing) change {
	if topic.Status.TopicName != "" && topic.Status.TopicName != topicName(topic) {
		return change{Refuse: &refusal{reasonNotSupported, "Changing spec.topicName is not supported"}}
	}
	if !now.found() {
		return change{Create: true}
	}
	partitions, replicas := wantedPartitions(topic), wantedReplicas(topic)
	if partitions != brokerDefault && int(partitions) < len(now.Replicas) {
		return change{Refuse: &refusal{reasonNotSupported, "Decreasing partitions not supported"}}
	}
	if different := partitionsNotWith(now, replicas); len(different) > 0 {
		return change{Refuse: &refusal{reasonNotSupported, fmt.Sprintf(
			"Replication factor change not supported, but required for partitions [%s]",
			joinedWith(", ", different))}}
	}
	if int(partitions) > len(now.Replicas) {
		return change{GrowTo: partitions}
	}
	return change{}
}

func partitionsNotWith(now existing, replicas int16) []int {
	if replicas == brokerDefault {
		return nil
	}
	var different []int
	for partition, count := range now.Replicas {
		if count != int(replicas) {
			different = append(different, partition)
		}
	}
	return different
}

func joinedWith(separator string, numbers []int) string {
	parts := make([]string, len(numbers))
	for i, number := range numbers {
		parts[i] = strconv.Itoa(number)
	}
	return strings.Join(parts, separator)
}

// conflicts tells which topics name a Kafka topic that an older object manages.
func conflicts(topics []api.KafkaTopic) map[string]refusal {
	byAge := slices.SortedFunc(slices.Values(topics), func(a, b api.KafkaTopic) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	oldest := map[string]string{}
	refused := map[string]refusal{}
	for i := range byAge {
		topic := &byAge[i]
		first, taken := oldest[topicName(topic)]
		if !taken {
			oldest[topicName(topic)] = topic.Name
			continue
		}
		refused[topic.Name] = refusal{
			reasonResourceConflict,
			fmt.Sprintf("Managed by Ref{namespace='%s', name='%s'}", topic.Namespace, first),
		}
	}
	return refused
}

// isNew tells whether the object has something the operator has not answered yet.
func isNew(topic *api.KafkaTopic) bool {
	return topic.DeletionTimestamp != nil ||
		len(topic.Status.Conditions) == 0 ||
		topic.Status.ObservedGeneration != topic.Generation ||
		isManaged(topic) == hasCondition(topic, api.ConditionUnmanaged) ||
		isPaused(topic) != hasCondition(topic, api.ConditionReconciliationPaused)
}

func topicName(topic *api.KafkaTopic) string {
	return cmp.Or(topic.Spec.TopicName, topic.Name)
}

func wantedPartitions(topic *api.KafkaTopic) int32 {
	if topic.Spec.Partitions == nil {
		return brokerDefault
	}
	return *topic.Spec.Partitions
}

func wantedReplicas(topic *api.KafkaTopic) int16 {
	if topic.Spec.Replicas == nil {
		return brokerDefault
	}
	return int16(*topic.Spec.Replicas)
}

func isManaged(topic *api.KafkaTopic) bool {
	return topic.Annotations[api.AnnotationManaged] != "false"
}

func isPaused(topic *api.KafkaTopic) bool {
	return topic.Annotations[api.AnnotationPause] == "true"
}

func hasCondition(topic *api.KafkaTopic, kind string) bool {
	return slices.ContainsFunc(topic.Status.Conditions, func(c api.Condition) bool { return c.Type == kind })
}

func ready() api.Condition { return condition(api.ConditionReady, "", "") }

// notReady is a topic's own way to fail: Ready=False, not NotReady=True.
func notReady(why refusal) api.Condition {
	return api.Condition{
		Type: api.ConditionReady, Status: metav1.ConditionFalse,
		Reason: why.Reason, Message: why.Message,
	}
}

// batchSize is the number of topics per request that the cluster asks for.
func batchSize(kafka *api.Kafka) int {
	for _, env := range kafka.Spec.EntityOperator.Template.TopicOperatorContainer.Env {
		if env.Name != "STRIMZI_MAX_BATCH_SIZE" {
			continue
		}
		if size, err := strconv.Atoi(env.Value); err == nil && size > 0 {
			return size
		}
	}
	return defaultBatchSize
}
