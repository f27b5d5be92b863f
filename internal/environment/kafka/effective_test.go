// SPDX-License-Identifier: Apache-2.0

package kafka_test

import (
	"testing"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment/kafka"
	"perflab.dev/perflab/internal/testing/expect"
)

func TestDifferences(t *testing.T) {
	three := &v1alpha1.Kafka{Version: "4.3.1", Brokers: v1alpha1.KafkaNodes{Replicas: 3}}
	msk := external()
	msk.Version, msk.Mode = "3.8.1", v1alpha1.KafkaModeZooKeeper
	cases := map[string]struct {
		declared *v1alpha1.Kafka
		found    kafka.ClusterState
		want     []string
	}{
		"Same":        {declared: three, found: kafka.ClusterState{Mode: v1alpha1.KafkaModeKRaft, Brokers: 3, Version: "4.3.1"}},
		"NotDeclared": {declared: small(), found: kafka.ClusterState{Mode: v1alpha1.KafkaModeKRaft, Brokers: 1, Version: "4.3.1"}},
		"Everything": {
			declared: three, found: kafka.ClusterState{Mode: v1alpha1.KafkaModeZooKeeper, Brokers: 1, Version: "3.9.2"},
			want: []string{"Kafka runs with ZooKeeper, but KRaft is declared", "Kafka has 1 broker, but 3 are declared", "Kafka has version 3.9.2, but 4.3.1 is declared"},
		},
		"Guessed": {declared: msk, found: kafka.ClusterState{Mode: v1alpha1.KafkaModeZooKeeper, Brokers: 2, Version: "3.8", Guessed: true}},
		"Unknown": {declared: msk, found: kafka.ClusterState{Mode: v1alpha1.KafkaModeZooKeeper, Brokers: 2, Guessed: true}},
		"GuessedOther": {
			declared: msk, found: kafka.ClusterState{Mode: v1alpha1.KafkaModeKRaft, Brokers: 2, Version: "3.80", Guessed: true},
			want: []string{"Kafka runs with KRaft, but ZooKeeper is declared", "Kafka has version 3.80 (inferred from the requests that the brokers support), but 3.8.1 is declared"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			expect.Equal(t, tc.want, kafka.Differences(request(tc.declared), tc.found))
		})
	}
}

func TestEffectiveTopics(t *testing.T) {
	wanted := []kafka.Topic{
		{Name: "a", Partitions: 2, Replicas: 3, Group: "one"},
		{Name: "b", Partitions: 2, Replicas: 3, Group: "one"},
		{Name: "c", Partitions: 1, Replicas: 1, Group: "two"},
		{Name: "d", Partitions: 1, Replicas: 1, Group: "two"},
	}
	found := map[string]kafka.TopicState{
		"a": {Partitions: 2, Replicas: 3}, "b": {Partitions: 2, Replicas: 3},
		"c": {Partitions: 5, Replicas: 1},
	}
	want := []v1alpha1.EffectiveTopics{
		{Group: "one", Topics: 2, Partitions: 2, Replicas: 3, Source: "broker metadata"},
		{Group: "two", Topics: 1, Partitions: 5, Replicas: 1, Source: "broker metadata"},
	}
	expect.Equal(t, want, kafka.EffectiveTopics(wanted, found))
	differences := []string{`topic "c" has 5 partitions in Kafka, but 1 is declared`, `topic "d" is not in Kafka`}
	expect.Equal(t, differences, kafka.TopicDifferences(wanted, found))
	if got := kafka.TruncateDifferences([]string{"1", "2", "3", "4", "5"}); len(got) != 4 || got[3] != "and 2 more topics or topic settings" {
		t.Errorf("shortened to %q", got)
	}
}
