// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Kafka asks brokers.
type Kafka struct{}

// Partitions returns the number of partitions of each of these topics as the
// brokers have them. A topic the brokers don't have is absent. The bootstrap
// servers are a list with commas, as Strimzi writes it.
func (Kafka) Partitions(ctx context.Context, bootstrap string, topics []string) (map[string]int32, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	client, err := kgo.NewClient(kgo.SeedBrokers(strings.Split(bootstrap, ",")...), kgo.DialTimeout(timeout), kgo.RequestTimeoutOverhead(timeout))
	if err != nil {
		return nil, fmt.Errorf("connecting to Kafka at %q: %w", bootstrap, err)
	}
	defer client.Close()
	details, err := kadm.NewClient(client).ListTopics(ctx, topics...)
	if err != nil {
		return nil, fmt.Errorf("asking Kafka at %q for its topics: %w", bootstrap, err)
	}
	partitions := make(map[string]int32, len(details))
	for name, detail := range details {
		if detail.Err == nil {
			partitions[name] = int32(len(detail.Partitions))
		}
	}
	return partitions, nil
}
