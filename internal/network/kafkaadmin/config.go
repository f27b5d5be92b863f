// SPDX-License-Identifier: Apache-2.0

package kafkaadmin

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"perflab.dev/perflab/internal/environment/kafka"
)

// ConfigDifferences describes, in one sentence each, the declared settings from which topics
// differ.
func (a Admin) ConfigDifferences(ctx context.Context, b Brokers, wanted []kafka.Topic) ([]string, error) {
	request := kmsg.NewPtrDescribeConfigsRequest()
	declared := map[string]kafka.Topic{}
	for _, topic := range wanted {
		if len(topic.Config) == 0 {
			continue
		}
		declared[topic.Name] = topic
		resource := kmsg.NewDescribeConfigsRequestResource()
		resource.ResourceType, resource.ResourceName = kmsg.ConfigResourceTypeTopic, topic.Name
		for key := range topic.Config {
			resource.ConfigNames = append(resource.ConfigNames, key)
		}
		request.Resources = append(request.Resources, resource)
	}
	if len(declared) == 0 {
		return nil, nil
	}
	client, err := a.connect(b)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, 2*timeout)
	defer cancel()
	var differences []string
	for _, shard := range client.RequestSharded(ctx, request) {
		if shard.Err != nil {
			return nil, fmt.Errorf("reading the topics' settings of Kafka at %q: %w", b, explain(shard.Err))
		}
		for _, resource := range shard.Resp.(*kmsg.DescribeConfigsResponse).Resources {
			if err := kerr.ErrorForCode(resource.ErrorCode); err != nil {
				return nil, fmt.Errorf("reading the settings of topic %q of Kafka at %q: %w", resource.ResourceName, b, err)
			}
			differences = append(differences, configDifferences(declared[resource.ResourceName], resource)...)
		}
	}
	return differences, nil
}

func configDifferences(topic kafka.Topic, resource kmsg.DescribeConfigsResponseResource) []string {
	found := map[string]string{}
	for _, setting := range resource.Configs {
		if setting.Value != nil {
			found[setting.Name] = *setting.Value
		}
	}
	var differences []string
	for _, key := range slices.Sorted(maps.Keys(topic.Config)) {
		if wanted := topic.Config[key]; found[key] != wanted {
			differences = append(differences, fmt.Sprintf("topic %q has %s set to %q in Kafka, but %q is declared", topic.Name, key, found[key], wanted))
		}
	}
	return differences
}
