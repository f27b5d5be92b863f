// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment/kafka"
	"perflab.dev/perflab/internal/environment/kafkasettings"
	"perflab.dev/perflab/internal/text/prose"
)

const (
	minInSync     = "min.insync.replicas"
	defaultFactor = "default.replication.factor"
	deletion      = "delete.topic.enable"
)

// replication lists the broker settings for the replication factors of Kafka's internal
// topics, with the related in-sync settings.
var replication = []struct{ factor, inSync string }{
	{defaultFactor, ""},
	{"offsets.topic.replication.factor", ""},
	{"transaction.state.log.replication.factor", "transaction.state.log.min.isr"},
	{"share.coordinator.state.topic.replication.factor", "share.coordinator.state.topic.min.isr"},
}

// brokerConfigFindings validates counts in the brokers' configuration.
func brokerConfigFindings(kafka *v1alpha1.Kafka) []finding {
	at := func(key string) setting { return setting{"kafka", "config", key} }
	found := settingFindings("kafka.config", kafkasettings.Broker, kafka.Config, at)
	if kafka.Config[deletion] == "false" {
		found = append(found, doubtful(fmt.Sprintf("kafka.config has %s: false, so the topics of other arms stay on the brokers: remove it if arms differ in topics", deletion), at(deletion)))
	}
	for _, keys := range replication {
		found = append(found, factorFindings(kafka, keys.factor, keys.inSync, at)...)
	}
	if least, given := count(kafka.Config, minInSync); given && least > int(kafka.Brokers.Replicas) {
		found = append(found, wrong(kafka.Config[minInSync],
			fmt.Sprintf("kafka.config has %s: %d on %s, so Kafka would reject all writes: set %d or less, or raise kafka.brokers.replicas",
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
			// Topics with a declared replication factor are still created.
			return []finding{doubtful(sentence, places...)}
		}
		return []finding{wrong(kafka.Config[factor], sentence, places...)}
	}
	if !given {
		// Kafka's default, or PerfLab's for fewer brokers.
		copies = min(3, brokers)
	}
	least, given := count(kafka.Config, inSync)
	if !given || least <= copies {
		return nil
	}
	return []finding{wrong(kafka.Config[inSync],
		fmt.Sprintf("kafka.config has %s: %d, more than %s: %d, so Kafka would reject writes to these topics: set %d or less", inSync, least, factor, copies, copies),
		at(inSync), at(factor))}
}

// topicConfigFindings checks min.insync.replicas: if it exceeds a topic's replicas, Kafka
// rejects writes with acks=all.
func topicConfigFindings(kafka *v1alpha1.Kafka) []finding {
	var found []finding
	for _, topics := range kafka.Topics {
		group := setting{"kafka", "topics", topics.Group}
		at := func(key string) setting { return below(group, "config", key) }
		found = append(found, settingFindings(fmt.Sprintf("topic group %q", topics.Group), kafkasettings.Topic, topics.Config, at)...)
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
			fmt.Sprintf("the topics of group %q have %s and %s: %d in %s, so Kafka would reject writes with acks=all: set %d or less, or raise the group's replicas",
				topics.Group, prose.Counted(replicas, "replica"), minInSync, least, where, replicas),
			below(group, "replicas"), place))
	}
	return found
}

// settingFindings validates settings one by one, by name and value.
func settingFindings(who string, scope kafkasettings.Scope, config map[string]string, at func(string) setting) []finding {
	var found []finding
	for _, name := range slices.Sorted(maps.Keys(config)) {
		value := config[name]
		switch err := kafkasettings.Check(scope, name, value); {
		case scope == kafkasettings.Broker && kafka.IsIgnored(name):
			found = append(found, doubtful(fmt.Sprintf("%s has %s, which Strimzi sets itself and ignores here: remove it", who, name), at(name)))
		case err != nil:
			found = append(found, wrong(value, fmt.Sprintf("%s has %s: %q: %v", who, name, value, err), at(name)))
		case !kafkasettings.IsKnown(scope, name):
			found = append(found, unknownSettingFindings(who, scope, name, at(name))...)
		}
	}
	return found
}

// unknownSettingFindings reports unknown settings. Brokers ignore them, as they may be a
// plugin's. Kafka rejects topics with them; later releases may have more.
func unknownSettingFindings(who string, scope kafkasettings.Scope, name string, at setting) []finding {
	meant := kafkasettings.Suggest(scope, name)
	switch {
	case meant != "" && scope == kafkasettings.Topic:
		return []finding{wrong(name, fmt.Sprintf("%s has %q, which is not a topic setting: write %s", who, name, meant), at)}
	case meant != "":
		return []finding{doubtful(fmt.Sprintf("%s has %q, which is not a broker setting: write %s, or ignore this if a plugin reads it", who, name, meant), at)}
	case scope == kafkasettings.Topic:
		return []finding{doubtful(fmt.Sprintf("%s has %q, which Kafka 3.9 to 4.3 rejects: remove it, unless your Kafka supports it", who, name), at)}
	default:
		return nil
	}
}

// count parses a setting's number; false if there is none.
func count(config map[string]string, key string) (int, bool) {
	number, err := strconv.Atoi(config[key])
	return number, err == nil && number > 0
}
