// SPDX-License-Identifier: Apache-2.0

package kafkaadmin

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Watcher queries the same brokers repeatedly over persistent connections.
type Watcher struct {
	brokers Brokers
	client  *kgo.Client
	admin   *kadm.Client
}

// Watch connects to brokers. The caller closes the Watcher.
func (a Admin) Watch(b Brokers) (*Watcher, error) {
	client, err := a.connect(b)
	if err != nil {
		return nil, err
	}
	return &Watcher{brokers: b, client: client, admin: kadm.NewClient(client)}, nil
}

// Close closes the connections.
func (w *Watcher) Close() { w.client.Close() }

// Disks returns the size of each broker's logs in bytes, by its node ID.
func (w *Watcher) Disks(ctx context.Context) (map[int32]int64, error) {
	all, err := w.admin.DescribeAllLogDirs(ctx, nil)
	var partly *kadm.ShardErrors
	if err != nil && !errors.As(err, &partly) {
		return nil, fmt.Errorf("reading the disk usage of Kafka at %q: %w", w.brokers, explain(err))
	}
	disks := map[int32]int64{}
	for id, directories := range all {
		if failed := directories.Error(); failed != nil {
			return nil, fmt.Errorf("reading the disk usage of broker %d of Kafka at %q: %w", id, w.brokers, failed)
		}
		disks[id] = directories.Size()
	}
	if err != nil {
		return disks, fmt.Errorf("reading the disk usage of Kafka at %q: %w", w.brokers, err)
	}
	return disks, nil
}

// Lags returns how many records each consumer group is behind. A group that can't be queried,
// for example while it is forming, is omitted.
func (w *Watcher) Lags(ctx context.Context) (map[string]int64, error) {
	groups, err := w.admin.Lag(ctx)
	var partly *kadm.ShardErrors
	if err != nil && !errors.As(err, &partly) {
		return nil, fmt.Errorf("reading the consumer lags of Kafka at %q: %w", w.brokers, explain(err))
	}
	lags := map[string]int64{}
	for name, group := range groups {
		if group.Error() != nil && !errors.Is(group.Error(), kerr.UnknownTopicOrPartition) {
			continue
		}
		lags[name] = group.Lag.Total()
	}
	return lags, nil
}

// Records returns how many records were ever written to the existing partitions,
// except Kafka's own.
func (w *Watcher) Records(ctx context.Context) (int64, error) {
	offsets, err := w.admin.ListEndOffsets(ctx)
	var partly *kadm.ShardErrors
	if err != nil && !errors.As(err, &partly) {
		return 0, fmt.Errorf("reading the end offsets of Kafka at %q: %w", w.brokers, explain(err))
	}
	var sum int64
	offsets.Each(func(partition kadm.ListedOffset) {
		if partition.Err == nil {
			sum += partition.Offset
		}
	})
	return sum, nil
}
