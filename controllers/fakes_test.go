// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment/kafka"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/network/kafkaadmin"
)

// The fakes below replace servers that the operator calls over the network: no pods run in these
// tests.

// fakeTarget answers unless it has an error.
type fakeTarget struct{ err error }

func (f *fakeTarget) Reach(context.Context, string) error { return f.err }

// fakeBrokers have topics by name.
type fakeBrokers struct {
	shelf[kafka.TopicState]
	// state is the state of their cluster.
	state kafka.ClusterState
	// atOnce is how many topics are created in one call; 0: all.
	atOnce int
	// err is the error of all calls.
	err error
	// config is the error for the topics' settings.
	config []string
	// asked are the brokers that were called last.
	asked kafkaadmin.Brokers
	// losesResponse: the next request for more partitions fails after the first topic.
	losesResponse bool
	// forbidden is a server that must not be contacted.
	forbidden string
}

// ask records the called brokers.
func (f *fakeBrokers) ask(brokers kafkaadmin.Brokers) {
	f.asked = brokers
	if f.forbidden != "" && slices.Contains(brokers.Servers, f.forbidden) {
		panic("contacted " + f.forbidden)
	}
}

func (f *fakeBrokers) Describe(_ context.Context, brokers kafkaadmin.Brokers) (kafka.ClusterState, error) {
	f.ask(brokers)
	return f.state, f.err
}

func (f *fakeBrokers) Topics(_ context.Context, brokers kafkaadmin.Brokers, wanted []kafka.Topic) (map[string]kafka.TopicState, error) {
	f.ask(brokers)
	found := map[string]kafka.TopicState{}
	for _, topic := range wanted {
		if state, there := f.get(topic.Name); there {
			found[topic.Name] = state
		}
	}
	return found, f.err
}

func (f *fakeBrokers) EnsureTopics(ctx context.Context, brokers kafkaadmin.Brokers, wanted []kafka.Topic, _ time.Duration) (map[string]kafka.TopicState, error) {
	if f.err != nil {
		return nil, f.err
	}
	found, _ := f.Topics(ctx, brokers, wanted)
	missing := kafka.MissingTopics(wanted, found)
	if f.atOnce > 0 && len(missing) > f.atOnce {
		missing = missing[:f.atOnce]
	}
	for _, topic := range missing {
		f.put(topic.Name, kafka.TopicState{Partitions: topic.Partitions, Replicas: topic.Replicas})
	}
	return f.Topics(ctx, brokers, wanted)
}

func (f *fakeBrokers) RaisePartitions(_ context.Context, brokers kafkaadmin.Brokers, topics []kafka.Topic, count int32) (changed int, err error) {
	f.ask(brokers)
	for _, topic := range topics {
		if state, there := f.get(topic.Name); f.err == nil && there && state.Partitions < count {
			state.Partitions = count
			f.put(topic.Name, state)
			changed++
		}
		if f.losesResponse {
			f.losesResponse = false
			return 0, errors.New("connection reset by peer")
		}
	}
	return changed, f.err
}

func (f *fakeBrokers) ConfigDifferences(context.Context, kafkaadmin.Brokers, []kafka.Topic) ([]string, error) {
	return f.config, f.err
}

func (f *fakeBrokers) DeleteTopics(_ context.Context, brokers kafkaadmin.Brokers, ours func(string) bool) (int, error) {
	f.ask(brokers)
	if f.err != nil {
		return 0, f.err
	}
	names := slices.DeleteFunc(f.names(), func(name string) bool { return !ours(name) })
	for _, name := range names {
		f.drop(name)
	}
	return len(names), nil
}

// fakeDatabases have the metrics of PostgreSQL's instances by URL. Every external server listens,
// except those that are closed.
type fakeDatabases struct {
	shelf[contract.PostgresMetrics]
	closed shelf[bool]
	// asked are the URLs that were queried for metrics.
	asked shelf[bool]
	// forgets: there are no metrics.
	forgets bool
}

func (f *fakeDatabases) Metrics(_ context.Context, url string) (contract.PostgresMetrics, error) {
	f.asked.put(url, true)
	metrics, found := f.get(url)
	if !found || f.forgets {
		return contract.PostgresMetrics{}, fmt.Errorf("GET %s: connection refused", url)
	}
	return metrics, nil
}

func (f *fakeDatabases) Listens(_ context.Context, address string) error {
	if closed, _ := f.closed.get(address); closed {
		return errors.New("connection refused")
	}
	return nil
}

// fakeRunners are k6's REST APIs by address: true for one that was stopped. One whose k6 has ended
// does not answer, nor does any in a call that is silent, counted from 1.
type fakeRunners struct {
	shelf[bool]
	over   shelf[bool]
	silent func(call int) bool
	calls  int
}

func (f *fakeRunners) StopRunner(_ context.Context, address string) error {
	f.calls++
	if over, _ := f.over.get(address); over || f.silent != nil && f.silent(f.calls) {
		return errCut
	}
	f.put(address, true)
	return nil
}

// fakeLogs are the logs of pods, by name.
type fakeLogs struct {
	shelf[[]byte]
	// unread is the error of reading a pod's log for now; nil: all can be read.
	unread func(pod string) error
	// until are the deadlines of reading logs.
	until []time.Time
}

var errNoLog = errors.New("the pod has no log")

func (f *fakeLogs) Log(ctx context.Context, _, pod, _ string) (io.ReadCloser, error) {
	if until, bounded := ctx.Deadline(); bounded {
		f.until = append(f.until, until)
	}
	if f.unread != nil {
		if err := f.unread(pod); err != nil {
			return nil, &kube.LogUnavailable{Err: err}
		}
	}
	log, found := f.get(pod)
	if !found {
		return nil, errNoLog
	}
	return io.NopCloser(bytes.NewReader(log)), nil
}

func (f *fakeLogs) Recent(ctx context.Context, namespace, pod, container string, _ time.Duration) (io.ReadCloser, error) {
	return f.Log(ctx, namespace, pod, container)
}

// shelf holds objects of a test by name for an operator that may run concurrently.
type shelf[V any] struct {
	mutex sync.Mutex
	items map[string]V
}

func (s *shelf[V]) put(name string, item V) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.items == nil {
		s.items = map[string]V{}
	}
	s.items[name] = item
}

func (s *shelf[V]) get(name string) (V, bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	item, found := s.items[name]
	return item, found
}

func (s *shelf[V]) names() []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return slices.Sorted(maps.Keys(s.items))
}

func (s *shelf[V]) drop(name string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	delete(s.items, name)
}

func (s *shelf[V]) clear() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	clear(s.items)
}

// fakeEvents record events.
type fakeEvents struct {
	mutex    sync.Mutex
	reported []string
}

func (f *fakeEvents) Eventf(_, _ runtime.Object, kind, reason, _, note string, arguments ...any) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.reported = append(f.reported, fmt.Sprintf("%s %s: %s", kind, reason, fmt.Sprintf(note, arguments...)))
}
