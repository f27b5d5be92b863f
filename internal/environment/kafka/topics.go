// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/folio"
	"perflab.dev/perflab/internal/naming"
)

// Topic is a wanted topic.
type Topic struct {
	// Name in Kafka, with the ENV prefix.
	Name string
	// Partitions and Replicas are at least 1.
	Partitions, Replicas int32
	// Config holds the topic's settings.
	Config map[string]string
	// Group that declares the topic.
	Group string
}

// Topics returns the declared topics in the order of their declaration.
func Topics(req environment.Request) []Topic {
	env := Env(req)
	declared := layout(req)
	topics := make([]Topic, 0, len(declared))
	for _, topic := range declared {
		topics = append(topics, Topic{
			Name:       env + "." + topic.Name,
			Partitions: topic.Partitions,
			Replicas:   topic.Replicas,
			Config:     topic.Config,
			Group:      topic.group,
		})
	}
	return topics
}

// WithPartitions returns the topics with another number of partitions in a group.
func WithPartitions(topics []Topic, group string, partitions int32) []Topic {
	changed := slices.Clone(topics)
	for i := range changed {
		if changed[i].Group == group {
			changed[i].Partitions = partitions
		}
	}
	return changed
}

// CountTopics returns the number of topics that a group declares, without building their names.
func CountTopics(group v1alpha1.TopicGroup) int {
	if group.Preset == nil && group.Count != nil {
		return int(*group.Count)
	}
	return len(TopicNames(group, ""))
}

// TopicNames returns the topic names of a group, without ENV. Presets without a tenant use that of
// the target.
func TopicNames(group v1alpha1.TopicGroup, tenant string) []string {
	switch {
	case group.Preset != nil:
		return presetNames(*group.Preset, tenant)
	case group.Count != nil:
		numbered := make([]string, 0, *group.Count)
		for n := int32(1); n <= *group.Count; n++ {
			numbered = append(numbered, fmt.Sprintf("%s-%d", group.Prefix, n))
		}
		return numbered
	default:
		return group.Names
	}
}

func presetNames(preset v1alpha1.TopicPreset, tenant string) []string {
	tenants := preset.Tenants
	if len(tenants) == 0 {
		tenants = []string{tenant}
	}
	if preset.Collection != "" {
		tenants = []string{preset.Collection}
	}
	var names []string
	for _, tenant := range tenants {
		switch preset.Name {
		case v1alpha1.PresetDataImport:
			names = append(names, folio.DataImportTopics(tenant)...)
		case v1alpha1.PresetDomain:
			names = append(names, folio.DomainTopics(tenant)...)
		case v1alpha1.PresetPubSub:
			names = append(names, folio.PubSubTopics(tenant, preset.Version)...)
		}
	}
	return names
}

// Env returns the prefix of the run's topics, which is the ENV of its modules. It derives
// from the layout of the topics: partitions can only grow, so an arm with another layout
// has its own topics. External brokers may serve experiments of the same name in other
// clusters, so there it derives from the experiment's identity as well.
func Env(req environment.Request) string {
	digest := req.Names.Prefix(environment.Fingerprint(layout(req)))
	if kafka := req.System.Kafka; kafka != nil && IsExternal(kafka) {
		return externalPrefix(req.Names, req.Experiment, req.Owner.UID) + digest
	}
	return req.Experiment + "-" + digest
}

// IsOtherLayout reports whether a topic in brokers that were built for the experiment belongs to
// a layout other than the run's, and thus to other arms.
func IsOtherLayout(req environment.Request, topic string) bool {
	return hasLayout(topic, req.Experiment+"-") && !strings.HasPrefix(topic, Env(req)+".")
}

// externalPrefix distinguishes the topics of an experiment from those of others of its
// name.
func externalPrefix(names naming.Scheme, experiment string, uid types.UID) string {
	return experiment + "-" + names.Prefix(naming.Hash(uid)) + "-"
}

// declaredTopic is one declared topic, without the ENV prefix. Its exported fields
// determine the layout's fingerprint.
type declaredTopic struct {
	Name       string
	Partitions int32
	Replicas   int32
	Config     map[string]string
	group      string
}

// layout lists the declared topics in order. Of duplicates the first counts.
func layout(req environment.Request) []declaredTopic {
	if req.System.Kafka == nil {
		return nil
	}
	seen := map[string]bool{}
	var topics []declaredTopic
	for _, group := range req.System.Kafka.Topics {
		for _, name := range TopicNames(group, cmp.Or(req.System.Target.Tenant, v1alpha1.DefaultTenant)) {
			if seen[name] {
				continue
			}
			seen[name] = true
			topics = append(topics, declaredTopic{
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

// normalized treats nil and empty settings as equal.
func normalized(config map[string]string) map[string]string {
	if len(config) == 0 {
		return nil
	}
	return config
}
