// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"fmt"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/text/prose"
)

const (
	// MaxPartitions is how many partitions a topic can have: Kafka's
	// controller writes a new topic as one batch of records, 10,000 at most,
	// of which one is the topic itself (KAFKA-14996).
	MaxPartitions = 9_999
	// maxRequestPartitions is how many partitions are asked for in one request.
	// Kafka refuses one with more than 10,000 as a whole (KAFKA-17870), and
	// small requests let others in between.
	maxRequestPartitions = 2_000
	// maxRequestTopics is how many topics are asked for in one request.
	maxRequestTopics = 250
)

// Requests cuts topics into lists that are each fit for one request. A topic
// with more partitions than a request should have goes alone.
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

// TopicState is a topic as the brokers have it.
type TopicState struct {
	Partitions int32
	// Replicas of the partition that has the fewest.
	Replicas int32
	// Leaderless counts partitions that nobody serves yet.
	Leaderless int32
}

// MissingTopics are those that the brokers don't have.
func MissingTopics(wanted []Topic, found map[string]TopicState) []Topic {
	var missing []Topic
	for _, topic := range wanted {
		if _, there := found[topic.Name]; !there {
			missing = append(missing, topic)
		}
	}
	return missing
}

// AssessTopics says whether the brokers have every topic as it is wanted.
func AssessTopics(wanted []Topic, found map[string]TopicState) environment.Readiness {
	if len(wanted) == 0 {
		return environment.Readiness{Ready: true, Reason: v1alpha1.ReasonNotDeclared, Message: "the system declares no topics"}
	}
	created, served := 0, 0
	for _, topic := range wanted {
		if topic.Partitions > MaxPartitions {
			return environment.NotReady(v1alpha1.ReasonRefused, fmt.Sprintf(
				"topic group %q asks for %d partitions in one topic, and Kafka makes no topic with more than %d: spread them over more topics",
				topic.Group, topic.Partitions, MaxPartitions))
		}
		state, there := found[topic.Name]
		if !there {
			continue
		}
		if difference := state.Differs(topic); difference != "" {
			return environment.NotReady(v1alpha1.ReasonRefused, difference+
				": it was changed, or created by something else; delete it, so that it is created as declared")
		}
		created++
		if state.Leaderless == 0 {
			served++
		}
	}
	switch {
	case created < len(wanted):
		return environment.NotReady(v1alpha1.ReasonTopicsNotReady, prose.Partly(created, len(wanted), "topic")+" made")
	case served < len(wanted):
		return environment.NotReady(v1alpha1.ReasonTopicsNotReady, prose.Partly(served, len(wanted), "topic")+" led by a broker")
	default:
		return environment.Ready(prose.Partly(created, len(wanted), "topic") + " made")
	}
}

// Differs says in what the brokers' topic is not the wanted one; empty when it
// is.
func (s TopicState) Differs(wanted Topic) string {
	switch {
	case s.Partitions != wanted.Partitions:
		return fmt.Sprintf("topic %q has %s in Kafka, %d %s declared",
			wanted.Name, prose.Counted(s.Partitions, "partition"), wanted.Partitions, prose.Verb(wanted.Partitions, "is", "are"))
	case s.Replicas != wanted.Replicas:
		return fmt.Sprintf("topic %q has %s in Kafka, %d %s declared",
			wanted.Name, prose.Counted(s.Replicas, "replica"), wanted.Replicas, prose.Verb(wanted.Replicas, "is", "are"))
	default:
		return ""
	}
}
