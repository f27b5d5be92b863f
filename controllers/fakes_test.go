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

	"k8s.io/apimachinery/pkg/runtime"

	"perflab.dev/perflab/internal/contract"
)

// The fakes below stand in for what the operator asks over the network: no
// pod runs behind the API server of a test.

// fakeTarget answers unless it is told not to.
type fakeTarget struct{ err error }

func (f *fakeTarget) Reach(context.Context, string) error { return f.err }

// fakeBrokers know the partitions of topics.
type fakeBrokers struct{ shelf[int32] }

func (f *fakeBrokers) Partitions(_ context.Context, _ string, topics []string) (map[string]int32, error) {
	found := map[string]int32{}
	for _, topic := range topics {
		if partitions, ok := f.get(topic); ok {
			found[topic] = partitions
		}
	}
	return found, nil
}

// fakeDatabases know the metrics of PostgreSQL's instances by URL. Every server
// that is already there listens, except those that are closed.
type fakeDatabases struct {
	shelf[contract.PostgresMetrics]
	closed shelf[bool]
}

func (f *fakeDatabases) Metrics(_ context.Context, url string) (contract.PostgresMetrics, error) {
	metrics, found := f.get(url)
	if !found {
		return metrics, fmt.Errorf("GET %s: nobody is there", url)
	}
	return metrics, nil
}

func (f *fakeDatabases) Listens(_ context.Context, address string) error {
	if closed, _ := f.closed.get(address); closed {
		return errors.New("connection refused")
	}
	return nil
}

// fakeRunners are k6's REST APIs by address: true for one that was told to
// end. One whose k6 is over does not answer any more, nor do those that are
// asked in a call that is silent, counted from 1.
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
type fakeLogs struct{ shelf[[]byte] }

var errNoLog = errors.New("the pod has no log")

func (f *fakeLogs) Log(_ context.Context, _, pod, _ string) (io.ReadCloser, error) {
	log, found := f.get(pod)
	if !found {
		return nil, errNoLog
	}
	return io.NopCloser(bytes.NewReader(log)), nil
}

// shelf is what a test puts down by name for the operator to find, which may
// run beside it.
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

func (s *shelf[V]) clear() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	clear(s.items)
}

// fakeEvents note what people are told.
type fakeEvents struct {
	mutex sync.Mutex
	told  []string
}

func (f *fakeEvents) Eventf(_, _ runtime.Object, kind, reason, _, note string, arguments ...any) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.told = append(f.told, fmt.Sprintf("%s %s: %s", kind, reason, fmt.Sprintf(note, arguments...)))
}
