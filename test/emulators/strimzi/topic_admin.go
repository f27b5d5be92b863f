// SPDX-License-Identifier: Apache-2.0

package strimzi

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"perflab.dev/perflab/test/emulators/strimzi/api"
)

// requestTimeoutMillis is how long Kafka may take to carry out a request.
const requestTimeoutMillis = 10_000

// topicAdmin does the topic operator's work in Kafka. Each method is one
// request for a whole batch; what goes wrong with a single topic comes back as
// its refusal, what goes wrong with the request as an error.
type topicAdmin struct{ conn *kgo.Client }

// describe looks the topics up by name.
func (a topicAdmin) describe(ctx context.Context, names []string) (map[string]existing, error) {
	if len(names) == 0 {
		return nil, nil
	}
	details, err := kadm.NewClient(a.conn).ListTopicsWithInternal(ctx, names...)
	if err != nil {
		return nil, fmt.Errorf("describing topics: %w", err)
	}
	found := map[string]existing{}
	for name, detail := range details {
		if errors.Is(detail.Err, kerr.UnknownTopicOrPartition) {
			continue
		}
		if detail.Err != nil {
			return nil, fmt.Errorf("describing topic %q: %w", name, detail.Err)
		}
		topic := existing{ID: topicID(detail.ID)}
		for _, partition := range detail.Partitions.Sorted() {
			topic.Replicas = append(topic.Replicas, len(partition.Replicas))
		}
		found[name] = topic
	}
	return found, nil
}

// create sends one CreateTopics for all topics and returns the ids of those
// made. A topic that exists after all, made a moment ago and not yet known to
// every broker, is neither made nor refused: it has to be looked at again.
func (a topicAdmin) create(ctx context.Context, topics []*api.KafkaTopic) (map[string]string, map[string]refusal, error) {
	ids, refused := map[string]string{}, map[string]refusal{}
	if len(topics) == 0 {
		return ids, refused, nil
	}
	req := kmsg.NewPtrCreateTopicsRequest()
	req.TimeoutMillis = requestTimeoutMillis
	for _, topic := range topics {
		wish, err := creation(topic)
		if err != nil {
			return nil, nil, err
		}
		req.Topics = append(req.Topics, wish)
	}
	resp, err := req.RequestWith(ctx, a.conn)
	if err != nil {
		return nil, nil, fmt.Errorf("creating %d topics: %w", len(topics), err)
	}
	for _, answer := range resp.Topics {
		switch answer.ErrorCode {
		case 0:
			ids[answer.Topic] = topicID(answer.TopicID)
		case kerr.TopicAlreadyExists.Code:
			// Left for the next look.
		default:
			refused[answer.Topic] = kafkaError(answer.ErrorCode, answer.ErrorMessage)
		}
	}
	return ids, refused, nil
}

// topicID is an id as Java prints it.
func topicID(id [16]byte) string { return base64.RawURLEncoding.EncodeToString(id[:]) }

func creation(topic *api.KafkaTopic) (kmsg.CreateTopicsRequestTopic, error) {
	wish := kmsg.NewCreateTopicsRequestTopic()
	wish.Topic = topicName(topic)
	wish.NumPartitions = wantedPartitions(topic)
	wish.ReplicationFactor = wantedReplicas(topic)
	config, err := properties(topic.Spec.Config)
	if err != nil {
		return wish, fmt.Errorf("reading the config of KafkaTopic %q: %w", topic.Name, err)
	}
	for key, value := range config {
		wish.Configs = append(wish.Configs, kmsg.CreateTopicsRequestTopicConfig{Name: key, Value: &value})
	}
	return wish, nil
}

// grow sends one CreatePartitions for all topics; sizes are totals by topic name.
func (a topicAdmin) grow(ctx context.Context, sizes map[string]int32) (map[string]refusal, error) {
	refused := map[string]refusal{}
	if len(sizes) == 0 {
		return refused, nil
	}
	req := kmsg.NewPtrCreatePartitionsRequest()
	req.TimeoutMillis = requestTimeoutMillis
	for name, size := range sizes {
		wish := kmsg.NewCreatePartitionsRequestTopic()
		wish.Topic, wish.Count = name, size
		req.Topics = append(req.Topics, wish)
	}
	resp, err := req.RequestWith(ctx, a.conn)
	if err != nil {
		return nil, fmt.Errorf("adding partitions to %d topics: %w", len(sizes), err)
	}
	for _, answer := range resp.Topics {
		if answer.ErrorCode != 0 {
			refused[answer.Topic] = kafkaError(answer.ErrorCode, answer.ErrorMessage)
		}
	}
	return refused, nil
}

// remove sends one DeleteTopics. A topic that is not there is gone already.
func (a topicAdmin) remove(ctx context.Context, names []string) (map[string]refusal, error) {
	refused := map[string]refusal{}
	if len(names) == 0 {
		return refused, nil
	}
	answers, err := kadm.NewClient(a.conn).DeleteTopics(ctx, names...)
	if err != nil {
		return nil, fmt.Errorf("deleting %d topics: %w", len(names), err)
	}
	for name, answer := range answers {
		if answer.Err != nil && !errors.Is(answer.Err, kerr.UnknownTopicOrPartition) {
			refused[name] = refusalOf(answer.Err, answer.ErrMessage)
		}
	}
	return refused, nil
}

// configure makes the settings of each topic those of its object: what differs
// is set, what was set before and is no longer wished goes back to the default.
func (a topicAdmin) configure(ctx context.Context, topics []*api.KafkaTopic) (map[string]refusal, error) {
	refused := map[string]refusal{}
	if len(topics) == 0 {
		return refused, nil
	}
	admin := kadm.NewClient(a.conn)
	names := make([]string, len(topics))
	for i, topic := range topics {
		names[i] = topicName(topic)
	}
	described, err := admin.DescribeTopicConfigs(ctx, names...)
	if err != nil {
		return nil, fmt.Errorf("describing the settings of %d topics: %w", len(topics), err)
	}
	for _, topic := range topics {
		now, err := described.On(topicName(topic), nil)
		if err != nil {
			return nil, fmt.Errorf("describing the settings of topic %q: %w", topicName(topic), err)
		}
		alterations, err := alterationsFor(topic, now.Configs)
		if err != nil {
			return nil, err
		}
		if len(alterations) == 0 {
			continue
		}
		answers, err := admin.AlterTopicConfigs(ctx, alterations, topicName(topic))
		if err != nil {
			return nil, fmt.Errorf("changing the settings of topic %q: %w", topicName(topic), err)
		}
		for _, answer := range answers {
			if answer.Err != nil {
				refused[answer.Name] = refusalOf(answer.Err, answer.ErrMessage)
			}
		}
	}
	return refused, nil
}

func alterationsFor(topic *api.KafkaTopic, now []kadm.Config) ([]kadm.AlterConfig, error) {
	wanted, err := properties(topic.Spec.Config)
	if err != nil {
		return nil, fmt.Errorf("reading the config of KafkaTopic %q: %w", topic.Name, err)
	}
	var alterations []kadm.AlterConfig
	current := map[string]string{}
	for _, config := range now {
		if config.Source != kmsg.ConfigSourceDynamicTopicConfig || config.Value == nil {
			continue
		}
		current[config.Key] = *config.Value
		if _, keep := wanted[config.Key]; !keep {
			alterations = append(alterations, kadm.AlterConfig{Op: kadm.DeleteConfig, Name: config.Key})
		}
	}
	for key, value := range wanted {
		if before, set := current[key]; !set || before != value {
			alterations = append(alterations, kadm.AlterConfig{Op: kadm.SetConfig, Name: key, Value: &value})
		}
	}
	return alterations, nil
}

// kafkaError words a refusal by Kafka as Java's client does: class and message.
func kafkaError(code int16, message *string) refusal {
	text := ""
	if message != nil {
		text = *message
	}
	return refusalOf(kerr.ErrorForCode(code), text)
}

func refusalOf(err error, message string) refusal {
	class := "UnknownServerException"
	if known, isKafka := errors.AsType[*kerr.Error](err); isKafka {
		class = javaClass(known.Message)
		if message == "" {
			message = known.Description
		}
	}
	return refusal{reasonKafkaError, fmt.Sprintf("org.apache.kafka.common.errors.%s: %s", class, message)}
}

// javaClass turns a protocol error name into its exception: INVALID_REPLICATION_FACTOR
// is InvalidReplicationFactorException, TOPIC_ALREADY_EXISTS is TopicExistsException.
func javaClass(name string) string {
	if name == kerr.TopicAlreadyExists.Message {
		return "TopicExistsException"
	}
	if name == kerr.InvalidConfig.Message {
		return "InvalidConfigurationException"
	}
	var class strings.Builder
	for word := range strings.SplitSeq(strings.ToLower(name), "_") {
		if word == "" {
			continue
		}
		class.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return class.String() + "Exception"
}
