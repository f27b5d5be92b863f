// SPDX-License-Identifier: Apache-2.0

package strimzi

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// dialTimeout bounds one connection to the brokers, so that a cluster that does not
// answer does not block others.
const dialTimeout = 10 * time.Second

// Brokers queries the brokers of a cluster.
type Brokers struct {
	// Seeds replaces the bootstrap address of a cluster inside Kubernetes, for tests
	// whose brokers run elsewhere. Nil means the address itself.
	Seeds func(bootstrap string) []string
}

// connect opens a client; the caller closes it.
func (b Brokers) connect(bootstrap string) (*kgo.Client, error) {
	seeds := []string{bootstrap}
	if b.Seeds != nil {
		seeds = b.Seeds(bootstrap)
	}
	conn, err := kgo.NewClient(
		kgo.SeedBrokers(seeds...),
		kgo.ClientID("strimzi-emulator"),
		kgo.RetryTimeout(dialTimeout),
		kgo.DialTimeout(2*time.Second),
	)
	if err != nil {
		return nil, fmt.Errorf("connecting to Kafka at %s: %w", bootstrap, err)
	}
	return conn, nil
}

// Serving returns the id of the cluster when all brokers with the given ids are
// registered and unfenced, and otherwise an error with what is missing.
func (b Brokers) Serving(ctx context.Context, bootstrap string, ids []int32) (clusterID string, err error) {
	conn, err := b.connect(bootstrap)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	metadata, err := kadm.NewClient(conn).BrokerMetadata(ctx)
	if err != nil {
		return "", fmt.Errorf("brokers at %s to answer: %w", bootstrap, err)
	}
	serving := metadata.Brokers.NodeIDs()
	for _, id := range ids {
		if !slices.Contains(serving, id) {
			return "", fmt.Errorf("broker %d to be registered; registered: %v", id, serving)
		}
	}
	return metadata.Cluster, nil
}
