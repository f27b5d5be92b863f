// SPDX-License-Identifier: Apache-2.0

package kafkaadmin_test

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment/kafka"
	"perflab.dev/perflab/internal/network/egress"
	"perflab.dev/perflab/internal/network/kafkaadmin"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/loopback"
)

var admin = kafkaadmin.Admin{Egress: loopback.Rules()}

func start(t *testing.T, options ...kfake.Opt) (*kfake.Cluster, kafkaadmin.Brokers) {
	t.Helper()
	cluster, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(3)}, options...)...)
	expect.NoError(t, err)
	t.Cleanup(cluster.Close)
	return cluster, kafkaadmin.Brokers{Servers: cluster.ListenAddrs()}
}

// count counts the requests of a kind that the brokers receive.
func count(cluster *kfake.Cluster, key kmsg.Key) *int {
	seen := new(int)
	cluster.ControlKey(int16(key), func(kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		*seen++
		return nil, nil, false
	})
	return seen
}

func numbered(topics int, partitions int32) []kafka.Topic {
	wanted := make([]kafka.Topic, 0, topics)
	for n := range topics {
		wanted = append(wanted, kafka.Topic{Name: fmt.Sprintf("demo-123456.t-%d", n), Partitions: partitions, Replicas: 3})
	}
	return wanted
}

func TestEnsureTopicsBatchesRequests(t *testing.T) {
	cluster, brokers := start(t)
	requests := count(cluster, kmsg.CreateTopics)
	wanted := numbered(600, 8)
	found, err := admin.EnsureTopics(t.Context(), brokers, wanted, time.Minute)
	expect.NoError(t, err)
	if readiness := kafka.AssessTopics(wanted, found); !readiness.Ready {
		t.Errorf("not ready: %s", readiness.Message)
	}
	if *requests != 3 {
		t.Errorf("%d requests, want 3 of at most 250 topics and 2,000 partitions", *requests)
	}
	// A second call changes nothing.
	if _, err := admin.EnsureTopics(t.Context(), brokers, wanted, time.Minute); err != nil || *requests != 3 {
		t.Errorf("again: %d requests, %v", *requests, err)
	}
}

func TestRaisePartitions(t *testing.T) {
	cluster, brokers := start(t)
	requests := count(cluster, kmsg.CreatePartitions)
	wanted := numbered(3, 1)
	_, err := admin.EnsureTopics(t.Context(), brokers, wanted, time.Minute)
	expect.NoError(t, err)
	for _, want := range []int{2, 0} {
		changed, err := admin.RaisePartitions(t.Context(), brokers, wanted[:2], 4)
		expect.NoError(t, err)
		expect.Equal(t, want, changed, "changed topics")
	}
	expect.Equal(t, 1, *requests, "requests")
	found, err := admin.Topics(t.Context(), brokers, wanted)
	expect.NoError(t, err)
	for i, want := range []int32{4, 4, 1} {
		expect.Equal(t, want, found[wanted[i].Name].Partitions, "partitions of topic %d", i)
	}
}

func TestEnsureTopicsStopsAtBudget(t *testing.T) {
	cluster, brokers := start(t)
	requests := count(cluster, kmsg.CreateTopics)
	wanted := numbered(600, 1)
	for pass, want := range []string{"250 of 600 topics are created", "500 of 600 topics are created", "600 of 600 topics are created"} {
		found, err := admin.EnsureTopics(t.Context(), brokers, wanted, 0)
		expect.NoError(t, err)
		if got := kafka.AssessTopics(wanted, found).Message; got != want || *requests != pass+1 {
			t.Errorf("pass %d: %q after %d requests, want %q", pass, got, *requests, want)
		}
	}
}

// The operator was killed between its request and Kafka's response.
func TestEnsureTopicsWithStaleMetadata(t *testing.T) {
	cluster, brokers := start(t)
	wanted := numbered(2, 1)
	if _, err := admin.EnsureTopics(t.Context(), brokers, wanted, 0); err != nil {
		t.Fatal(err)
	}
	hidden := true
	cluster.ControlKey(int16(kmsg.Metadata), func(request kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		asked := request.(*kmsg.MetadataRequest)
		if !hidden || len(asked.Topics) == 0 {
			return nil, nil, false
		}
		hidden = false
		answer := asked.ResponseKind().(*kmsg.MetadataResponse)
		for _, topic := range asked.Topics {
			unknown := kmsg.NewMetadataResponseTopic()
			unknown.Topic, unknown.ErrorCode = topic.Topic, kerr.UnknownTopicOrPartition.Code
			answer.Topics = append(answer.Topics, unknown)
		}
		return answer, nil, true
	})
	found, err := admin.EnsureTopics(t.Context(), brokers, wanted, 0)
	if err != nil || hidden || len(found) != 2 {
		t.Errorf("found %d topics, %v", len(found), err)
	}
}

func TestEnsureTopicsReturnsTopicError(t *testing.T) {
	_, brokers := start(t)
	_, err := admin.EnsureTopics(t.Context(), brokers, []kafka.Topic{{Name: "much", Partitions: 1, Replicas: 9}}, 0)
	var refusal *kafkaadmin.TopicError
	if !errors.As(err, &refusal) || refusal.Topic != "much" || refusal.Code != "INVALID_REPLICATION_FACTOR" {
		t.Errorf("gave %v, want a refusal of the replication factor", err)
	}
}

func TestTopicsReturnsExistingTopics(t *testing.T) {
	_, brokers := start(t, kfake.SeedTopics(1, "one"), kfake.SeedTopics(12, "twelve"), kfake.AllowAutoTopicCreation())
	wanted := []kafka.Topic{{Name: "one"}, {Name: "twelve"}, {Name: "none"}}
	for range 2 {
		// A query must not create a topic.
		got, err := admin.Topics(t.Context(), brokers, wanted)
		expect.NoError(t, err)
		want := map[string]kafka.TopicState{"one": {Partitions: 1, Replicas: 3}, "twelve": {Partitions: 12, Replicas: 3}}
		expect.Equal(t, want, got)
	}
}

func TestConfigDifferences(t *testing.T) {
	_, brokers := start(t)
	wanted := []kafka.Topic{
		{Name: "a", Partitions: 1, Replicas: 1, Config: map[string]string{"retention.ms": "1000", "cleanup.policy": "compact"}},
		{Name: "b", Partitions: 1, Replicas: 1},
	}
	if _, err := admin.EnsureTopics(t.Context(), brokers, wanted, 0); err != nil {
		t.Fatal(err)
	}
	if differences, err := admin.ConfigDifferences(t.Context(), brokers, wanted); err != nil || len(differences) != 0 {
		t.Errorf("differences %q, %v", differences, err)
	}
	wanted[0].Config = map[string]string{"retention.ms": "2000", "cleanup.policy": "compact"}
	want := []string{`topic "a" has retention.ms set to "1000" in Kafka, but "2000" is declared`}
	if differences, err := admin.ConfigDifferences(t.Context(), brokers, wanted); err != nil || !slices.Equal(differences, want) {
		t.Errorf("differences %q, %v; want %q", differences, err, want)
	}
}

func TestDeleteTopicsKeepsOthers(t *testing.T) {
	_, brokers := start(t, kfake.SeedTopics(1, "theirs"))
	wanted := numbered(600, 1)
	if _, err := admin.EnsureTopics(t.Context(), brokers, wanted, time.Minute); err != nil {
		t.Fatal(err)
	}
	ours := func(name string) bool { return strings.HasPrefix(name, "demo-") }
	for _, want := range []int{600, 0} {
		left, err := admin.DeleteTopics(t.Context(), brokers, ours)
		if err != nil || left != want {
			t.Errorf("%d left, %v; want %d", left, err, want)
		}
	}
	found, err := admin.Topics(t.Context(), brokers, append(wanted, kafka.Topic{Name: "theirs"}))
	if _, there := found["theirs"]; err != nil || len(found) != 1 || !there {
		t.Errorf("left are %v, %v", found, err)
	}
}

func TestDescribe(t *testing.T) {
	cases := map[string]struct {
		// quorum is the error code of the response; nil: the brokers do not
		// support the request.
		quorum *kerr.Error
		known  bool
		want   v1alpha1.KafkaMode
		fails  bool
		// controller is the leader of the quorum.
		controller int32
	}{
		"ZooKeeper": {want: v1alpha1.KafkaModeZooKeeper},
		"KRaft":     {known: true, want: v1alpha1.KafkaModeKRaft, controller: 7},
		"Forbidden": {known: true, quorum: kerr.ClusterAuthorizationFailed, want: v1alpha1.KafkaModeKRaft, controller: -1},
		"NoQuorum":  {known: true, quorum: kerr.UnknownServerError, fails: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			cluster, brokers := start(t)
			if tc.known {
				controlQuorum(cluster, tc.quorum)
			}
			got, err := admin.Describe(t.Context(), brokers)
			if tc.fails {
				if err == nil {
					t.Errorf("gave %+v without a quorum", got)
				}
				return
			}
			if err != nil || got.Mode != tc.want || got.Brokers != 3 || got.Controller != tc.controller && tc.known {
				t.Errorf("gave %+v, %v; want 3 brokers with %s and controller %d", got, err, tc.want, tc.controller)
			}
			if !tc.known && (got.Controller < 0 || got.Controller > 2) {
				t.Errorf("the controller is %d, not one of the brokers", got.Controller)
			}
		})
	}
}

// controlQuorum makes the brokers support requests for a quorum, and respond to
// them.
func controlQuorum(cluster *kfake.Cluster, answer *kerr.Error) {
	cluster.ControlKey(int16(kmsg.ApiVersions), func(request kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		response := request.(*kmsg.ApiVersionsRequest).ResponseKind().(*kmsg.ApiVersionsResponse)
		for key, version := range map[kmsg.Key]int16{kmsg.ApiVersions: 3, kmsg.Metadata: 9, kmsg.DescribeQuorum: 1} {
			entry := kmsg.NewApiVersionsResponseApiKey()
			entry.ApiKey, entry.MaxVersion = int16(key), version
			response.ApiKeys = append(response.ApiKeys, entry)
		}
		return response, nil, true
	})
	cluster.ControlKey(int16(kmsg.DescribeQuorum), func(request kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		response := request.(*kmsg.DescribeQuorumRequest).ResponseKind().(*kmsg.DescribeQuorumResponse)
		if answer != nil {
			response.ErrorCode = answer.Code
			return response, nil, true
		}
		topic := kmsg.NewDescribeQuorumResponseTopic()
		partition := kmsg.NewDescribeQuorumResponseTopicPartition()
		partition.LeaderID = 7
		topic.Partitions = append(topic.Partitions, partition)
		response.Topics = append(response.Topics, topic)
		return response, nil, true
	})
}

func TestUnreachableBrokers(t *testing.T) {
	// A port that accepts connections and never responds.
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	expect.NoError(t, err)
	t.Cleanup(func() { _ = silent.Close() })
	for what, address := range map[string]string{"a closed port": "127.0.0.1:1", "a silent one": silent.Addr().String()} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			begun := time.Now()
			_, err := admin.EnsureTopics(t.Context(), kafkaadmin.Brokers{Servers: []string{address}}, numbered(1, 1), 0)
			if took := time.Since(begun); err == nil || !strings.Contains(err.Error(), address) || took > 12*time.Second {
				t.Errorf("gave %v after %s, want an error that names it after about 5s", err, took)
			}
		})
	}
}

// Brokers describe further addresses. The operator does not connect to those that its rules
// deny.
func TestAdvertisedAddressesFollowEgressRules(t *testing.T) {
	cluster, brokers := start(t)
	brokers.Servers = cluster.ListenAddrs()[:1]
	for what, allow := range map[string][]string{"the brokers themselves": nil, "those that they tell of": brokers.Servers} {
		rules, err := egress.New(egress.Lists{Allow: allow})
		expect.NoError(t, err)
		begun := time.Now()
		_, err = kafkaadmin.Admin{Egress: rules}.Describe(t.Context(), brokers)
		if took := time.Since(begun); !egress.IsDenied(err) || took > 12*time.Second {
			t.Errorf("%s: %v after %s, want them denied", what, err, took)
		}
	}
}
