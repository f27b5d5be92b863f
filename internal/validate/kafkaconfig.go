// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"fmt"
	"strconv"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/prose"
)

const (
	minInSync     = "min.insync.replicas"
	defaultFactor = "default.replication.factor"
)

// replication names settings of brokers that say on how many brokers Kafka
// keeps its own topics, with the setting of how many of them have to be in sync.
var replication = []struct{ factor, inSync string }{
	{defaultFactor, ""},
	{"offsets.topic.replication.factor", ""},
	{"transaction.state.log.replication.factor", "transaction.state.log.min.isr"},
	{"share.coordinator.state.topic.replication.factor", "share.coordinator.state.topic.min.isr"},
}

// brokerConfigFindings judge counts in the brokers' configuration.
func brokerConfigFindings(kafka *v1alpha1.Kafka) []finding {
	at := func(key string) setting { return setting{"kafka", "config", key} }
	found := countFindings("kafka.config", kafka.Config, []string{"num.partitions", minInSync}, at)
	for _, keys := range replication {
		found = append(found, countFindings("kafka.config", kafka.Config, []string{keys.factor, keys.inSync}, at)...)
		found = append(found, factorFindings(kafka, keys.factor, keys.inSync, at)...)
	}
	if least, given := count(kafka.Config, minInSync); given && least > int(kafka.Brokers.Replicas) {
		found = append(found, wrong(kafka.Config[minInSync],
			fmt.Sprintf("kafka.config has %s: %d on %s: nothing could be written; write %d or less, or raise kafka.brokers.replicas",
				minInSync, least, prose.Counted(kafka.Brokers.Replicas, "broker"), kafka.Brokers.Replicas),
			at(minInSync), setting{"kafka", "brokers", "replicas"}))
	}
	return found
}

func factorFindings(kafka *v1alpha1.Kafka, factor, inSync string, at func(string) setting) []finding {
	brokers := int(kafka.Brokers.Replicas)
	copies, given := count(kafka.Config, factor)
	if given && copies > brokers {
		sentence := fmt.Sprintf("kafka.config has %s: %d on %s: write %d or less, or raise kafka.brokers.replicas", factor, copies, prose.Counted(brokers, "broker"), brokers)
		places := []setting{at(factor), {"kafka", "brokers", "replicas"}}
		if factor == defaultFactor {
			// Topics that say how many replicas they have are made all the same.
			return []finding{doubtful(sentence, places...)}
		}
		return []finding{wrong(kafka.Config[factor], sentence, places...)}
	}
	if !given {
		// Kafka's default, or what PerfLab writes for fewer brokers.
		copies = min(3, brokers)
	}
	least, given := count(kafka.Config, inSync)
	if !given || least <= copies {
		return nil
	}
	return []finding{wrong(kafka.Config[inSync],
		fmt.Sprintf("kafka.config has %s: %d, more than %s: %d: nothing could be written there; write %d or less", inSync, least, factor, copies, copies),
		at(inSync), at(factor))}
}

// topicConfigFindings: where more replicas have to be in sync than a topic has,
// Kafka refuses what is written to it with acks=all.
func topicConfigFindings(kafka *v1alpha1.Kafka) []finding {
	var found []finding
	for _, topics := range kafka.Topics {
		group := setting{"kafka", "topics", topics.Group}
		at := func(key string) setting { return below(group, "config", key) }
		found = append(found, countFindings(fmt.Sprintf("topic group %q", topics.Group), topics.Config, []string{minInSync}, at)...)
		where, place := "its config", at(minInSync)
		least, given := count(topics.Config, minInSync)
		if !given {
			where, place = "kafka.config", setting{"kafka", "config", minInSync}
			least, given = count(kafka.Config, minInSync)
		}
		replicas := max(1, int(topics.Replicas))
		if !given || least <= replicas || least > int(kafka.Brokers.Replicas) && where == "kafka.config" {
			continue
		}
		found = append(found, wrong(least,
			fmt.Sprintf("the topics of group %q have %s and %s: %d in %s: nothing could be written to them with acks=all; write %d or less, or raise the group's replicas",
				topics.Group, prose.Counted(replicas, "replica"), minInSync, least, where, replicas),
			below(group, "replicas"), place))
	}
	return found
}

// countFindings refuse what Kafka takes for no count.
func countFindings(who string, config map[string]string, keys []string, at func(string) setting) []finding {
	var found []finding
	for _, key := range keys {
		value, given := config[key]
		if number, err := strconv.Atoi(value); given && (err != nil || number < 1) {
			found = append(found, wrong(value, fmt.Sprintf("%s has %s: %q: write a whole number of 1 or more", who, key, value), at(key)))
		}
	}
	return found
}

// count is a setting's number; false where there is none.
func count(config map[string]string, key string) (int, bool) {
	number, err := strconv.Atoi(config[key])
	return number, err == nil && number > 0
}
