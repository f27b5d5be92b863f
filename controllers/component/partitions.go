// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment/kafka"
	"perflab.dev/perflab/internal/network/kafkaadmin"
)

// RaisePartitions adds partitions to the topics of a group, and reports whether all of them had
// fewer.
func (k kafkaCluster) RaisePartitions(ctx context.Context, p *Scope, fault v1alpha1.PartitionsFault) (all bool, err error) {
	brokers, err := k.respondingBrokers(ctx, p)
	if err != nil {
		return false, err
	}
	topics := groupTopics(p, fault.Group)
	changed, err := p.Kafka.RaisePartitions(ctx, brokers, topics, fault.Count)
	return changed == len(topics), err
}

// ArePartitionsLed reports whether the topics of a group have the partitions of a fault, and brokers
// lead all of them.
func (k kafkaCluster) ArePartitionsLed(ctx context.Context, p *Scope, fault v1alpha1.PartitionsFault) (bool, error) {
	brokers, err := k.respondingBrokers(ctx, p)
	if err != nil {
		return false, err
	}
	wanted := kafka.WithPartitions(groupTopics(p, fault.Group), fault.Group, fault.Count)
	found, err := p.Kafka.Topics(ctx, brokers, wanted)
	return kafka.AssessTopics(wanted, found).Ready, err
}

// DeleteGroup deletes the topics of a group, and returns how many are left.
func (k kafkaCluster) DeleteGroup(ctx context.Context, p *Scope, group string) (left int, err error) {
	brokers, err := k.respondingBrokers(ctx, p)
	if err != nil {
		return 0, err
	}
	own := map[string]bool{}
	for _, topic := range groupTopics(p, group) {
		own[topic.Name] = true
	}
	return p.Kafka.DeleteTopics(ctx, brokers, func(name string) bool { return own[name] })
}

func groupTopics(p *Scope, group string) []kafka.Topic {
	return slices.DeleteFunc(kafka.Topics(p.Request()), func(topic kafka.Topic) bool { return topic.Group != group })
}

func (k kafkaCluster) respondingBrokers(ctx context.Context, p *Scope) (kafkaadmin.Brokers, error) {
	brokers, problem, err := k.brokers(ctx, p)
	if err == nil && problem != nil {
		err = errors.New(problem.Message)
	}
	if err != nil {
		return brokers, fmt.Errorf("finding Kafka's brokers: %w", err)
	}
	return brokers, nil
}

// topicsAfterLoad are the topics that a run has after its faults.
func topicsAfterLoad(p *Scope) []kafka.Topic {
	topics := kafka.Topics(p.Request())
	for _, fault := range p.Run.Spec.Scenario.Faults {
		if status := p.Run.Status.Fault(fault.Name); fault.Partitions != nil && status != nil && status.Begin != nil {
			topics = kafka.WithPartitions(topics, fault.Partitions.Group, fault.Partitions.Count)
		}
	}
	return topics
}
