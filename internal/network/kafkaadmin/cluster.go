// SPDX-License-Identifier: Apache-2.0

package kafkaadmin

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment/kafka"
)

// metadataTopic is the log in which KRaft keeps Kafka's metadata.
const metadataTopic = "__cluster_metadata"

// Describe queries the brokers for their version and mode. Only brokers with KRaft support the
// request for the quorum's state; others use ZooKeeper.
func (a Admin) Describe(ctx context.Context, b Brokers) (kafka.ClusterState, error) {
	client, err := a.connect(b)
	if err != nil {
		return kafka.ClusterState{}, err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, 2*timeout)
	defer cancel()
	versions, err := kadm.NewClient(client).ApiVersions(ctx)
	if err != nil {
		return kafka.ClusterState{}, fmt.Errorf("reading the versions of the brokers of Kafka at %q: %w", b, explain(err))
	}
	cluster := kafka.ClusterState{Brokers: int32(len(versions)), Mode: v1alpha1.KafkaModeZooKeeper, Guessed: true}
	for _, broker := range versions.Sorted() {
		if broker.Err != nil {
			return kafka.ClusterState{}, fmt.Errorf("reading the version of broker %d of Kafka at %q: %w", broker.NodeID, b, explain(broker.Err))
		}
		cluster.Version = release(broker.VersionGuess())
		if _, knows := broker.KeyMaxVersion(int16(kmsg.DescribeQuorum)); knows {
			cluster.Mode = v1alpha1.KafkaModeKRaft
		}
	}
	if cluster.Mode == v1alpha1.KafkaModeKRaft {
		if cluster.Controller, err = quorum(ctx, client); err != nil {
			return kafka.ClusterState{}, fmt.Errorf("reading the quorum of Kafka at %q: %w", b, err)
		}
		return cluster, nil
	}
	if cluster.Controller, err = zooKeeperController(ctx, client); err != nil {
		return kafka.ClusterState{}, fmt.Errorf("reading the controller of Kafka at %q: %w", b, err)
	}
	return cluster, nil
}

// noController is the node of an unknown controller.
const noController = -1

// zooKeeperController returns the broker that is the controller. Brokers with KRaft answer the same
// request with any broker.
func zooKeeperController(ctx context.Context, client *kgo.Client) (int32, error) {
	request := kmsg.NewPtrMetadataRequest()
	// No topics.
	request.Topics = []kmsg.MetadataRequestTopic{}
	response, err := request.RequestWith(ctx, client)
	if err != nil {
		return noController, explain(err)
	}
	return response.ControllerID, nil
}

// quorum returns the leader of the quorum. A login without the right to read it shows that it
// exists.
func quorum(ctx context.Context, client *kgo.Client) (leader int32, err error) {
	request := kmsg.NewPtrDescribeQuorumRequest()
	topic := kmsg.NewDescribeQuorumRequestTopic()
	topic.Topic = metadataTopic
	topic.Partitions = append(topic.Partitions, kmsg.NewDescribeQuorumRequestTopicPartition())
	request.Topics = append(request.Topics, topic)
	response, err := request.RequestWith(ctx, client)
	if err != nil {
		return noController, explain(err)
	}
	err = kerr.ErrorForCode(response.ErrorCode)
	switch {
	case errors.Is(err, kerr.ClusterAuthorizationFailed):
		return noController, nil
	case err != nil:
		return noController, err
	case len(response.Topics) == 0 || len(response.Topics[0].Partitions) == 0:
		return noController, nil
	}
	return response.Topics[0].Partitions[0].LeaderID, nil
}

// release returns the version in a guess like "v3.9", "between v3.8 and v3.9", "at least
// v4.1" or "not even v0.8.0".
func release(guess string) string {
	version, found := strings.CutPrefix(guess, "v")
	if !found || strings.Contains(version, " ") {
		return ""
	}
	return version
}
