// SPDX-License-Identifier: Apache-2.0

package kafkaadmin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"perflab.dev/perflab/internal/environment/kafka"
)

// TopicError means that Kafka rejects a topic.
type TopicError struct {
	Topic string
	// Code is Kafka's name for the error.
	Code string
	// Message has details; it may be empty.
	Message string
}

func (r *TopicError) Error() string {
	if r.Message == "" {
		return fmt.Sprintf("Kafka rejects topic %q: %s", r.Topic, r.Code)
	}
	return fmt.Sprintf("Kafka rejects topic %q: %s: %s", r.Topic, r.Code, r.Message)
}

// EnsureTopics creates the missing topics and returns those that exist, also if
// they differ from the wanted ones. It sends one request after the other and stops
// when the budget is used up; the next call creates the rest. The error is a
// *TopicError if Kafka rejects a topic.
func (a Admin) EnsureTopics(ctx context.Context, b Brokers, wanted []kafka.Topic, budget time.Duration) (map[string]kafka.TopicState, error) {
	client, err := a.connect(b)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	found, err := topics(ctx, client, b, wanted)
	if err != nil {
		return nil, err
	}
	missing := kafka.MissingTopics(wanted, found)
	if len(missing) == 0 {
		return found, nil
	}
	deadline := time.Now().Add(budget)
	for _, request := range kafka.Requests(missing) {
		fresh, err := create(ctx, client, request)
		if err != nil {
			return found, fmt.Errorf("creating topics in Kafka at %q: %w", b, err)
		}
		// The topics exist, but the metadata does not have them: the brokers are behind, and
		// more requests would not help.
		if !fresh || time.Now().After(deadline) {
			break
		}
	}
	return topics(ctx, client, b, wanted)
}

// Topics returns those of the wanted topics that exist.
func (a Admin) Topics(ctx context.Context, b Brokers, wanted []kafka.Topic) (map[string]kafka.TopicState, error) {
	client, err := a.connect(b)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	return topics(ctx, client, b, wanted)
}

// RaisePartitions adds partitions to topics that have fewer, and returns how many had.
func (a Admin) RaisePartitions(ctx context.Context, b Brokers, wanted []kafka.Topic, count int32) (changed int, err error) {
	client, err := a.connect(b)
	if err != nil {
		return 0, err
	}
	defer client.Close()
	found, err := topics(ctx, client, b, wanted)
	if err != nil {
		return 0, err
	}
	var fewer []string
	for _, topic := range wanted {
		if state, exists := found[topic.Name]; exists && state.Partitions < count {
			fewer = append(fewer, topic.Name)
		}
	}
	if len(fewer) == 0 {
		return 0, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 2*timeout)
	defer cancel()
	answers, err := kadm.NewClient(client).UpdatePartitions(ctx, int(count), fewer...)
	if err != nil {
		return 0, fmt.Errorf("adding partitions in Kafka at %q: %w", b, explain(err))
	}
	for _, answer := range answers.Sorted() {
		if answer.Err != nil {
			return 0, fmt.Errorf("adding partitions to topic %q in Kafka at %q: %w", answer.Topic, b, answer.Err)
		}
	}
	return len(fewer), nil
}

// ErrDeletionDisabled means that the brokers have delete.topic.enable: false.
var ErrDeletionDisabled error = kerr.TopicDeletionDisabled

// DeleteTopics deletes the topics that are ours and returns how many still exist.
func (a Admin) DeleteTopics(ctx context.Context, b Brokers, ours func(name string) bool) (left int, err error) {
	client, err := a.connect(b)
	if err != nil {
		return 0, err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	admin := kadm.NewClient(client)
	details, err := admin.ListTopics(ctx)
	if err != nil {
		return 0, fmt.Errorf("listing the topics of Kafka at %q: %w", b, explain(err))
	}
	names := slices.DeleteFunc(details.Names(), func(name string) bool { return !ours(name) })
	const batchSize = 500
	for names := range slices.Chunk(names, batchSize) {
		answers, err := admin.DeleteTopics(ctx, names...)
		if err != nil {
			return 0, fmt.Errorf("deleting topics in Kafka at %q: %w", b, explain(err))
		}
		for _, answer := range answers.Sorted() {
			if answer.Err != nil && answer.Err != kerr.UnknownTopicOrPartition { //nolint:errorlint // kadm returns kerr's own values.
				return 0, fmt.Errorf("deleting topic %q in Kafka at %q: %w", answer.Topic, b, answer.Err)
			}
		}
	}
	return len(names), nil
}

// topics queries a broker for these topics. It bypasses kgo's cache, which does not have
// recently created topics.
func topics(ctx context.Context, client *kgo.Client, b Brokers, wanted []kafka.Topic) (map[string]kafka.TopicState, error) {
	found := make(map[string]kafka.TopicState, len(wanted))
	if len(wanted) == 0 {
		return found, nil
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	request := kmsg.NewPtrMetadataRequest()
	for _, topic := range wanted {
		entry := kmsg.NewMetadataRequestTopic()
		entry.Topic = kmsg.StringPtr(topic.Name)
		request.Topics = append(request.Topics, entry)
	}
	response, err := request.RequestWith(ctx, client)
	if err != nil {
		return nil, fmt.Errorf("listing the topics of Kafka at %q: %w", b, explain(err))
	}
	for _, topic := range response.Topics {
		err := kerr.ErrorForCode(topic.ErrorCode)
		switch {
		case err == nil, errors.Is(err, kerr.LeaderNotAvailable):
			found[*topic.Topic] = newTopicState(topic)
		case errors.Is(err, kerr.UnknownTopicOrPartition):
		default:
			return nil, fmt.Errorf("reading topic %q of Kafka at %q: %w", *topic.Topic, b, err)
		}
	}
	return found, nil
}

func newTopicState(topic kmsg.MetadataResponseTopic) kafka.TopicState {
	state := kafka.TopicState{Partitions: int32(len(topic.Partitions))}
	for i, partition := range topic.Partitions {
		replicas := int32(len(partition.Replicas))
		if i == 0 || replicas < state.Replicas {
			state.Replicas = replicas
		}
		if partition.Leader < 0 || partition.ErrorCode != 0 {
			state.Leaderless++
		}
	}
	return state
}

// create creates topics in one request and reports whether any are new. An existing topic is
// no error: the response to an earlier request may have been lost.
func create(ctx context.Context, client *kgo.Client, topics []kafka.Topic) (fresh bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*timeout)
	defer cancel()
	request := kmsg.NewPtrCreateTopicsRequest()
	request.TimeoutMillis = int32(timeout.Milliseconds())
	for _, topic := range topics {
		entry := kmsg.NewCreateTopicsRequestTopic()
		entry.Topic = topic.Name
		entry.NumPartitions = topic.Partitions
		entry.ReplicationFactor = int16(topic.Replicas)
		for key, value := range topic.Config {
			setting := kmsg.NewCreateTopicsRequestTopicConfig()
			setting.Name, setting.Value = key, kmsg.StringPtr(value)
			entry.Configs = append(entry.Configs, setting)
		}
		request.Topics = append(request.Topics, entry)
	}
	response, err := request.RequestWith(ctx, client)
	if err != nil {
		return false, explain(err)
	}
	for _, topic := range response.Topics {
		fresh = fresh || topic.ErrorCode == 0
	}
	return fresh, newTopicError(response)
}

// newTopicError returns the first error that a retry would not fix.
func newTopicError(response *kmsg.CreateTopicsResponse) error {
	for _, topic := range response.Topics {
		err := kerr.ErrorForCode(topic.ErrorCode)
		if err == nil || err == kerr.TopicAlreadyExists || kerr.IsRetriable(err) { //nolint:errorlint // ErrorForCode returns kerr's own values.
			continue
		}
		refusal := &TopicError{Topic: topic.Topic, Code: kerr.TypedErrorForCode(topic.ErrorCode).Message}
		if topic.ErrorMessage != nil {
			refusal.Message = *topic.ErrorMessage
		}
		return refusal
	}
	return nil
}
