// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"fmt"
	"strings"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/text/prose"
)

// topicSource says who tells of topics.
const topicSource = "broker metadata"

// ClusterState is what brokers tell about themselves.
type ClusterState struct {
	// Mode is where they keep their metadata.
	Mode v1alpha1.KafkaMode
	// Brokers is how many there are.
	Brokers int32
	// Version is the release they run. Empty: it is not known.
	Version string
	// Guessed: the version follows from the requests the brokers know and has
	// no patch number. They do not tell it themselves.
	Guessed bool
}

// ShownVersion is the version with what it is worth.
func (c ClusterState) ShownVersion() string {
	if c.Version == "" || !c.Guessed {
		return c.Version
	}
	return c.Version + " (guessed from the requests the brokers know)"
}

// Differences says, one sentence each, in what the brokers are not the
// declared ones.
func Differences(req environment.Request, found ClusterState) []string {
	declared := req.System.Kafka
	var differences []string
	if mode := declaredMode(declared); found.Mode != mode {
		differences = append(differences, fmt.Sprintf("Kafka runs with %s, %s is declared", found.Mode, mode))
	}
	if !IsExternal(declared) && found.Brokers != declared.Brokers.Replicas {
		differences = append(differences, fmt.Sprintf("Kafka has %s, %d %s declared",
			prose.Counted(found.Brokers, "broker"), declared.Brokers.Replicas, prose.Verb(declared.Brokers.Replicas, "is", "are")))
	}
	if !sameVersion(declared.Version, found) {
		differences = append(differences, fmt.Sprintf("Kafka has version %s, %s is declared", found.ShownVersion(), declared.Version))
	}
	return differences
}

func declaredMode(declared *v1alpha1.Kafka) v1alpha1.KafkaMode {
	if declared.Mode == "" {
		return v1alpha1.KafkaModeKRaft
	}
	return declared.Mode
}

// sameVersion gives a version that is not declared, or not known, the benefit
// of the doubt.
func sameVersion(declared string, found ClusterState) bool {
	if declared == "" || found.Version == "" || declared == found.Version {
		return true
	}
	return found.Guessed && strings.HasPrefix(declared, found.Version+".")
}

// TopicDifferences says, one sentence each, which topics are not in Kafka as
// declared.
func TopicDifferences(wanted []Topic, found map[string]TopicState) []string {
	var differences []string
	for _, topic := range wanted {
		state, there := found[topic.Name]
		if !there {
			differences = append(differences, fmt.Sprintf("topic %q is not in Kafka", topic.Name))
			continue
		}
		if difference := state.Differs(topic); difference != "" {
			differences = append(differences, difference)
		}
	}
	return differences
}

// EffectiveTopics is what the groups of topics are in Kafka. A group with a
// topic that is not as declared is shown as that topic is.
func EffectiveTopics(wanted []Topic, found map[string]TopicState) []v1alpha1.EffectiveTopics {
	var groups []v1alpha1.EffectiveTopics
	for _, topic := range wanted {
		if len(groups) == 0 || groups[len(groups)-1].Group != topic.Group {
			groups = append(groups, v1alpha1.EffectiveTopics{
				Group: topic.Group, Partitions: topic.Partitions, Replicas: topic.Replicas, Source: topicSource,
			})
		}
		group := &groups[len(groups)-1]
		state, there := found[topic.Name]
		if there {
			group.Topics++
		}
		if there && state.Differs(topic) != "" {
			group.Partitions, group.Replicas = state.Partitions, state.Replicas
		}
	}
	return groups
}

// TruncateDifferences cuts differences to what fits into a message.
func TruncateDifferences(differences []string) []string {
	const maxShown = 3
	if len(differences) <= maxShown {
		return differences
	}
	return append(differences[:maxShown:maxShown], fmt.Sprintf("and %d more topics or settings of topics", len(differences)-maxShown))
}
