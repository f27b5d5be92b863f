// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"fmt"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/text/prose"
)

const (
	// MaxPartitions is the limit of a topic's partitions: Kafka's controller writes a new
	// topic as one batch of at most 10,000 records, including one for the topic itself
	// (KAFKA-14996).
	MaxPartitions = 9_999
	// maxRequestPartitions is the number of partitions per request. Kafka rejects requests
	// for more than 10,000 (KAFKA-17870), and small requests let other clients in between.
	maxRequestPartitions = 2_000
	// maxRequestTopics is the number of topics per request.
	maxRequestTopics = 250
)

// Requests groups topics into requests. A topic above the limit of partitions has its own
// request.
func Requests(topics []Topic) [][]Topic {
	var requests [][]Topic
	begin, partitions := 0, int32(0)
	for i, topic := range topics {
		full := i-begin == maxRequestTopics || partitions+topic.Partitions > maxRequestPartitions
		if full && i > begin {
			requests = append(requests, topics[begin:i])
			begin, partitions = i, 0
		}
		partitions += topic.Partitions
	}
	if begin < len(topics) {
		requests = append(requests, topics[begin:])
	}
	return requests
}

// TopicState is the actual state of a topic.
type TopicState struct {
	Partitions int32
	// Replicas of the partition with the fewest.
	Replicas int32
	// Leaderless counts partitions without a leader.
	Leaderless int32
}

// MissingTopics returns the topics that do not exist.
func MissingTopics(wanted []Topic, found map[string]TopicState) []Topic {
	var missing []Topic
	for _, topic := range wanted {
		if _, there := found[topic.Name]; !there {
			missing = append(missing, topic)
		}
	}
	return missing
}

// AssessTopics reports whether all topics are as declared.
func AssessTopics(wanted []Topic, found map[string]TopicState) environment.Readiness {
	if len(wanted) == 0 {
		return environment.Readiness{Ready: true, Reason: v1alpha1.ReasonNotDeclared, Message: "the system declares no topics"}
	}
	created, served := 0, 0
	for _, topic := range wanted {
		if topic.Partitions > MaxPartitions {
			return environment.NotReady(v1alpha1.ReasonRefused, fmt.Sprintf(
				"topic group %q declares %d partitions in one topic, but Kafka allows at most %d: spread them over more topics",
				topic.Group, topic.Partitions, MaxPartitions))
		}
		state, there := found[topic.Name]
		if !there {
			continue
		}
		if difference := state.Differs(topic); difference != "" {
			return environment.NotReady(v1alpha1.ReasonRefused, difference+
				": something else changed or created it; delete it, so that PerfLab creates it as declared")
		}
		created++
		if state.Leaderless == 0 {
			served++
		}
	}
	switch {
	case created < len(wanted):
		return environment.NotReady(v1alpha1.ReasonTopicsNotReady, prose.Partly(created, len(wanted), "topic")+" created")
	case served < len(wanted):
		return environment.NotReady(v1alpha1.ReasonTopicsNotReady, prose.Partly(served, len(wanted), "topic")+" led by a broker")
	default:
		return environment.Ready(prose.Partly(created, len(wanted), "topic") + " created")
	}
}

// Differs describes how the actual topic differs from the wanted one; empty if it does not.
func (s TopicState) Differs(wanted Topic) string {
	switch {
	case s.Partitions != wanted.Partitions:
		return fmt.Sprintf("topic %q has %s in Kafka, but %d %s declared",
			wanted.Name, prose.Counted(s.Partitions, "partition"), wanted.Partitions, prose.Verb(wanted.Partitions, "is", "are"))
	case s.Replicas != wanted.Replicas:
		return fmt.Sprintf("topic %q has %s in Kafka, but %d %s declared",
			wanted.Name, prose.Counted(s.Replicas, "replica"), wanted.Replicas, prose.Verb(wanted.Replicas, "is", "are"))
	default:
		return ""
	}
}
