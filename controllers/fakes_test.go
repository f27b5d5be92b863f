// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
)

// The fakes below stand in for what the operator asks over the network: no
// pod runs behind the API server of a test.

// fakeTarget answers unless it is told not to.
type fakeTarget struct{ err error }

func (f *fakeTarget) Reach(context.Context, string) error { return f.err }

// fakeBrokers know the partitions of topics.
type fakeBrokers map[string]int32

func (f fakeBrokers) Partitions(_ context.Context, _ string, topics []string) (map[string]int32, error) {
	found := map[string]int32{}
	for _, topic := range topics {
		if partitions, ok := f[topic]; ok {
			found[topic] = partitions
		}
	}
	return found, nil
}

// fakeRunners note by address who was told to end.
type fakeRunners struct {
	stopped map[string]bool
	calls   int
	err     error
}

func (f *fakeRunners) StopRunner(_ context.Context, address string) error {
	f.calls++
	if f.err != nil {
		return f.err
	}
	f.stopped[address] = true
	return nil
}

// fakeLogs are the logs of pods, by name.
type fakeLogs map[string][]byte

var errNoLog = errors.New("the pod has no log")

func (f fakeLogs) Log(_ context.Context, _, pod, _ string) (io.ReadCloser, error) {
	log, found := f[pod]
	if !found {
		return nil, errNoLog
	}
	return io.NopCloser(bytes.NewReader(log)), nil
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
