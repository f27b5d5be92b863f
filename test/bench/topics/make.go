// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"perflab.dev/perflab/internal/environment/kafka"
	"perflab.dev/perflab/internal/network/kafkaadmin"
	"perflab.dev/perflab/internal/testing/loopback"
)

// Settings of the operator's batches: the time budget of a reconcile for creating topics, and
// the delay before the next.
const (
	budget = 3 * time.Second
	pause  = time.Second
)

// topics returns as many topics and partitions as the KRaft cluster has in FOLIO's comparison
// of KRaft with ZooKeeper. The partitions per topic are not published. Here they are those of
// FOLIO's modules: 50 for domain events of inventory, 10 for circulation and users, 2 for data
// import, 1 for the rest.
func topics() []kafka.Topic {
	var wanted []kafka.Topic
	for _, group := range []struct {
		name              string
		count, partitions int
	}{{"inventory", 180, 50}, {"circulation", 120, 10}, {"data-import", 535, 2}, {"pub-sub", 639, 1}} {
		for n := range group.count {
			wanted = append(wanted, kafka.Topic{
				Name: fmt.Sprintf("bench.%s.%d", group.name, n), Partitions: int32(group.partitions), Replicas: 1, Group: group.name,
			})
		}
	}
	return wanted
}

// maker creates topics and returns when the broker serves all of them.
type maker func(ctx context.Context, address string, wanted []kafka.Topic, heard *calls) (passes int, err error)

// inBatches creates topics as the operator does, with its delays.
func inBatches(ctx context.Context, address string, wanted []kafka.Topic, heard *calls) (int, error) {
	admin := kafkaadmin.Admin{Egress: loopback.Rules(), Hooks: []kgo.Hook{heard}}
	for pass := 1; ; pass++ {
		found, err := admin.EnsureTopics(ctx, kafkaadmin.Brokers{Servers: []string{address}}, wanted, budget)
		if err != nil {
			return pass, err
		}
		readiness := kafka.AssessTopics(wanted, found)
		if readiness.Ready {
			return pass, nil
		}
		fmt.Println(readiness.Message)
		time.Sleep(pause)
	}
}

// oneByOne creates one topic after the other over one connection.
func oneByOne(ctx context.Context, address string, wanted []kafka.Topic, heard *calls) (int, error) {
	client, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.WithHooks(heard))
	if err != nil {
		return 0, err
	}
	defer client.Close()
	admin := kadm.NewClient(client)
	for i, topic := range wanted {
		if _, err := admin.CreateTopic(ctx, topic.Partitions, int16(topic.Replicas), nil, topic.Name); err != nil {
			return 0, fmt.Errorf("topic %q: %w", topic.Name, err)
		}
		if (i+1)%400 == 0 {
			fmt.Printf("topics: %d of %d are created\n", i+1, len(wanted))
		}
	}
	asking := kafkaadmin.Admin{Egress: loopback.Rules(), Hooks: []kgo.Hook{heard}}
	for {
		found, err := asking.Topics(ctx, kafkaadmin.Brokers{Servers: []string{address}}, wanted)
		if err != nil {
			return 0, err
		}
		if kafka.AssessTopics(wanted, found).Ready {
			return 1, nil
		}
		time.Sleep(pause)
	}
}

// calls counts requests.
type calls struct {
	mutex  sync.Mutex
	counts map[int16]int
}

var _ kgo.HookBrokerWrite = (*calls)(nil)

// OnBrokerWrite counts each request that is written.
func (c *calls) OnBrokerWrite(_ kgo.BrokerMetadata, key int16, _ int, _, _ time.Duration, err error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.counts == nil {
		c.counts = map[int16]int{}
	}
	if err == nil {
		c.counts[key]++
	}
}

func (c *calls) creating() int { return c.counts[int16(kmsg.CreateTopics)] }

func (c *calls) all() int {
	sum := 0
	for _, count := range c.counts {
		sum += count
	}
	return sum
}
