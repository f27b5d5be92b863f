// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"
)

// request is a kind of request: a verb and its resource.
type request struct{ verb, resource string }

func (r request) String() string { return r.verb + " " + r.resource }

// writes reports whether the request changes something. Events, which are for users, are
// counted separately.
func (r request) writes() bool {
	return slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, r.verb)
}

// requests counts requests by kind.
type requests map[request]int

func (r requests) total() int {
	sum := 0
	for _, count := range r {
		sum += count
	}
	return sum
}

func (r requests) written() int {
	sum := 0
	for kind, count := range r {
		if kind.writes() {
			sum += count
		}
	}
	return sum
}

// fill is the verb of a list of all namespaces, which is a page of a cache. A reconcile lists
// in one namespace.
const fill = "fill"

// reads returns the number of requests for which the API server reads. These are all requests
// except writes, watches, which stay open, and the lists that fill a cache before a watch.
func (r requests) reads() int {
	sum := 0
	for kind, count := range r {
		if !kind.writes() && kind.verb != "watch" && kind.verb != fill {
			sum += count
		}
	}
	return sum
}

// sorted returns the kinds, the most frequent first.
func (r requests) sorted() []request {
	return slices.SortedFunc(maps.Keys(r), func(a, b request) int {
		return cmp.Or(cmp.Compare(r[b], r[a]), cmp.Compare(a.String(), b.String()))
	})
}

// auditEvent has the relevant fields of a line of an audit log.
type auditEvent struct {
	Stage     string `json:"stage"`
	Verb      string `json:"verb"`
	ObjectRef *struct {
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
		Namespace   string `json:"namespace"`
	} `json:"objectRef"`
	RequestReceivedTimestamp time.Time `json:"requestReceivedTimestamp"`
	StageTimestamp           time.Time `json:"stageTimestamp"`
}

// took returns the time that the API server took for the request, in milliseconds.
func (e auditEvent) took() float64 {
	return float64(e.StageTimestamp.Sub(e.RequestReceivedTimestamp).Microseconds()) / 1000
}

// namespace returns the namespace of the request, or an empty string.
func (e auditEvent) namespace() string {
	if e.ObjectRef == nil {
		return ""
	}
	return e.ObjectRef.Namespace
}

// counts returns the kind of an event, and whether to count it. A request can have two events,
// of which one is counted. Watches are counted at their start, because they may never end.
func (e auditEvent) counts() (request, bool) {
	wanted := "ResponseComplete"
	if e.Verb == "watch" {
		wanted = "ResponseStarted"
	}
	if e.Stage != wanted {
		return request{}, false
	}
	if e.ObjectRef == nil {
		return request{e.Verb, "discovery"}, true
	}
	resource := e.ObjectRef.Resource
	if e.ObjectRef.Subresource != "" {
		resource += "/" + e.ObjectRef.Subresource
	}
	if e.Verb == "list" && e.namespace() == "" {
		return request{fill, resource}, true
	}
	return request{e.Verb, resource}, true
}

// readAudit reads the events from an offset of the log, and returns the offset of its end.
// An incomplete line is left for the next read.
func readAudit(log io.ReadSeeker, from int64, each func(auditEvent)) (end int64, err error) {
	if _, err := log.Seek(from, io.SeekStart); err != nil {
		return from, err
	}
	lines := bufio.NewReader(log)
	for end = from; ; {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return end, nil
		}
		if err != nil {
			return from, err
		}
		end += int64(len(line))
		event := auditEvent{}
		if err := json.Unmarshal(line, &event); err != nil {
			return from, fmt.Errorf("reading the audit log: %w", err)
		}
		each(event)
	}
}

// countRequests counts the operator's requests from an offset of the log.
func (c *cluster) countRequests(from int64) (found requests, end int64, err error) {
	found = requests{}
	log, err := os.Open(c.audit)
	if errors.Is(err, os.ErrNotExist) {
		return found, 0, nil
	}
	if err != nil {
		return nil, from, err
	}
	defer func() { _ = log.Close() }()
	end, err = readAudit(log, from, func(event auditEvent) {
		if kind, counts := event.counts(); counts {
			found[kind]++
		}
	})
	return found, end, err
}

// audited reads all of the operator's requests so far.
func (c *cluster) audited(each func(auditEvent)) error {
	log, err := os.Open(c.audit)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	_, err = readAudit(log, 0, each)
	return err
}
