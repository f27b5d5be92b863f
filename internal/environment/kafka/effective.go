// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"fmt"
	"strings"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/text/prose"
)

// topicSource is the source of the topics' state.
const topicSource = "broker metadata"

// ClusterState is what brokers report about themselves.
type ClusterState struct {
	// Mode of their metadata.
	Mode v1alpha1.KafkaMode
	// Brokers is their number.
	Brokers int32
	// Controller is the node of the active controller, -1 if unknown.
	Controller int32
	// Version of the brokers; empty if unknown.
	Version string
	// Guessed: the version is inferred from the supported requests and has no patch number,
	// because brokers do not report it.
	Guessed bool
}

// ShownVersion returns the version, marked if it is guessed.
func (c ClusterState) ShownVersion() string {
	if c.Version == "" || !c.Guessed {
		return c.Version
	}
	return c.Version + " (inferred from the requests that the brokers support)"
}

// Differences returns the differences between the brokers and the declaration, one sentence
// each.
func Differences(req environment.Request, found ClusterState) []string {
	declared := req.System.Kafka
	var differences []string
	if mode := declaredMode(declared); found.Mode != mode {
		differences = append(differences, fmt.Sprintf("Kafka runs with %s, but %s is declared", found.Mode, mode))
	}
	if !IsExternal(declared) && found.Brokers != declared.Brokers.Replicas {
		differences = append(differences, fmt.Sprintf("Kafka has %s, but %d %s declared",
			prose.Counted(found.Brokers, "broker"), declared.Brokers.Replicas, prose.Verb(declared.Brokers.Replicas, "is", "are")))
	}
	if !sameVersion(declared.Version, found) {
		differences = append(differences, fmt.Sprintf("Kafka has version %s, but %s is declared", found.ShownVersion(), declared.Version))
	}
	return differences
}

func declaredMode(declared *v1alpha1.Kafka) v1alpha1.KafkaMode {
	if declared.Mode == "" {
		return v1alpha1.KafkaModeKRaft
	}
	return declared.Mode
}

// sameVersion reports whether versions match; an undeclared or unknown version does.
func sameVersion(declared string, found ClusterState) bool {
	if declared == "" || found.Version == "" || declared == found.Version {
		return true
	}
	return found.Guessed && strings.HasPrefix(declared, found.Version+".")
}

// TopicDifferences returns the differences between the topics and the declaration, one
// sentence each.
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

// EffectiveTopics returns the effective topic groups. A group with a deviating topic has
// that topic's state.
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

// TruncateDifferences limits differences to the length of a message.
func TruncateDifferences(differences []string) []string {
	const maxShown = 3
	if len(differences) <= maxShown {
		return differences
	}
	return append(differences[:maxShown:maxShown], fmt.Sprintf("and %d more topics or topic settings", len(differences)-maxShown))
}
