// SPDX-License-Identifier: Apache-2.0

package sampler

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"perflab.dev/perflab/internal/network/kafkaadmin"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/loopback"
	"perflab.dev/perflab/internal/testing/servers"
)

func produce(t *testing.T, client *kgo.Client, topic string, records int) {
	t.Helper()
	for range records {
		expect.NoError(t, client.ProduceSync(t.Context(), &kgo.Record{Topic: topic, Value: make([]byte, 1000)}).FirstErr())
	}
}

func TestKafkaSource(t *testing.T) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(2))
	expect.NoError(t, err)
	defer cluster.Close()
	checkBrokers(t, cluster.ListenAddrs())
}

func TestKafkaSourceWithRealBroker(t *testing.T) { checkBrokers(t, []string{servers.Kafka(t)}) }

// checkBrokers samples brokers before and after writing records that a consumer group has not read.
func checkBrokers(t *testing.T, addresses []string) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(addresses...), kgo.ProducerBatchCompression(kgo.NoCompression()))
	expect.NoError(t, err)
	defer client.Close()
	if _, err := kadm.NewClient(client).CreateTopic(t.Context(), 3, 1, nil, "events"); err != nil {
		t.Fatal(err)
	}
	produce(t, client, "events", 10)
	commit(t, client, "behind", "events")
	commit(t, client, "idle", "events")
	asked := &brokers{admin: kafkaadmin.Admin{Egress: loopback.Rules()}, brokers: kafkaadmin.Brokers{Servers: addresses}}
	begin := time.Now()
	if first := sampleSource(t, asked, round{at: begin}); value(t, first, "kafka", "consumerLag") != 0 {
		t.Error("groups are behind before anything was written")
	}
	produce(t, client, "events", 30)
	commit(t, client, "idle", "events")
	asked.next = time.Time{}
	samples := sampleSource(t, asked, round{at: begin.Add(10 * time.Second)})
	if got := value(t, samples, "kafka", "consumerLag"); got != 30 {
		t.Errorf("groups are %g records behind, want 30", got)
	}
	if got := value(t, samples, "kafka", "recordsIn"); got != 3 {
		t.Errorf("%g records came in each second, want 3", got)
	}
	for _, series := range samples.Series {
		if series.Component == "kafka/consumerLag" && series.Instance != "behind" {
			t.Errorf("group %q was never behind", series.Instance)
		}
	}
	var disk float64
	for _, series := range samples.Series {
		if series.Resource == "disk" {
			disk += series.Points[0].Value
		}
	}
	if disk < 0.03 {
		t.Errorf("40 records of 1,000 bytes take %g MiB of the brokers' disks", disk)
	}
}

// commit sets a group's offset to the end of a topic.
func commit(t *testing.T, client *kgo.Client, group, topic string) {
	t.Helper()
	admin := kadm.NewClient(client)
	ends, err := admin.ListEndOffsets(t.Context(), topic)
	expect.NoError(t, err)
	if _, err := admin.CommitOffsets(t.Context(), group, ends.Offsets()); err != nil {
		t.Fatal(err)
	}
}

// Slow brokers are queried less often.
func TestKafkaSourcePausesBetweenSlowRequests(t *testing.T) {
	now := time.Now()
	asked := &brokers{next: now.Add(time.Minute)}
	if write, err := asked.sample(context.Background(), round{at: now}); write != nil || err != nil {
		t.Errorf("brokers were asked: %v", err)
	}
}
