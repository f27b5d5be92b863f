// SPDX-License-Identifier: Apache-2.0

package sampler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/network/kafkaadmin"
	"perflab.dev/perflab/payload"
)

const (
	// maxAnswerShare is the share of time that brokers may spend on responses: thousands of
	// partitions take long to describe, and sampling must not become the load.
	maxAnswerShare = 0.1
	// maxPause is the maximum time between requests.
	maxPause = time.Minute
)

// brokers samples Kafka.
type brokers struct {
	admin   kafkaadmin.Admin
	brokers kafkaadmin.Brokers
	watcher *kafkaadmin.Watcher
	// next is the time of the next query.
	next time.Time
	// written is the sum of the partitions' ends at a time.
	written   int64
	writtenAt time.Time
	// behind are the groups that have ever been behind.
	behind map[string]bool
}

func (b *brokers) name() string { return metric.Kafka }

func (b *brokers) sample(ctx context.Context, now round) (recordFunc, error) {
	if now.at.Before(b.next) {
		return nil, nil
	}
	connects := b.watcher == nil
	if connects {
		watcher, err := b.admin.Watch(b.brokers)
		if err != nil {
			return nil, err
		}
		b.watcher, b.behind = watcher, map[string]bool{}
	}
	begin := time.Now()
	disks, disksErr := b.watcher.Disks(ctx)
	lags, lagsErr := b.watcher.Lags(ctx)
	written, writtenErr := b.watcher.Records(ctx)
	if !connects {
		// The first query connects to each broker, which takes longer than a response.
		b.next = now.at.Add(min(maxPause, time.Duration(float64(time.Since(begin))/maxAnswerShare)))
	}
	return func(into *payload.SampleRecorder) {
		for id, bytes := range disks {
			into.Record(fmt.Sprintf("%s%d", metric.Broker, id), "", metric.Disk, metric.UnitMebibytes, now.at, float64(bytes)/(1<<20))
		}
		if lagsErr == nil {
			b.recordLags(into, now.at, lags)
		}
		if writtenErr == nil {
			b.recordWritten(into, now.at, written)
		}
	}, errors.Join(disksErr, lagsErr, writtenErr)
}

// recordLags records the groups' lags. Groups that were never behind do not change the sum.
func (b *brokers) recordLags(into *payload.SampleRecorder, at time.Time, lags map[string]int64) {
	var sum int64
	for group, lag := range lags {
		sum += lag
		b.behind[group] = b.behind[group] || lag > 0
		if b.behind[group] {
			into.Record(metric.KafkaLag, group, "", metric.UnitCount, at, float64(lag))
		}
	}
	into.Record(metric.Kafka, "", metric.ConsumerLag, metric.UnitCount, at, float64(sum))
}

// recordWritten records the number of records since the last response. A smaller sum means deleted
// topics.
func (b *brokers) recordWritten(into *payload.SampleRecorder, at time.Time, written int64) {
	before, since := b.written, b.writtenAt
	b.written, b.writtenAt = written, at
	if since.IsZero() || written < before {
		return
	}
	into.Record(metric.Kafka, "", metric.RecordsIn, metric.UnitPerSecond, at, float64(written-before)/at.Sub(since).Seconds())
}
