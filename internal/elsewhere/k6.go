// SPDX-License-Identifier: Apache-2.0

package elsewhere

import (
	"encoding/json"
	"math"
	"strings"
	"time"

	"perflab.dev/perflab/internal/metric"
	"perflab.dev/perflab/internal/observation"
)

// k6 reads the points that k6 run --out json writes, one a line.
type k6 struct{}

func (k6) Name() string  { return "k6" }
func (k6) Tool() string  { return "k6" }
func (k6) Reads() string { return "the lines of k6 run --out json=FILE" }

// k6Line is a line: what a metric is, or a point of it.
type k6Line struct {
	Type   string `json:"type"`
	Metric string `json:"metric"`
	Data   struct {
		Time  time.Time `json:"time"`
		Value *float64  `json:"value"`
		Tags  struct {
			Group    string `json:"group"`
			Name     string `json:"name"`
			Expected string `json:"expected_response"`
		} `json:"tags"`
	} `json:"data"`
}

// Names of k6's metrics.
const (
	k6Group, k6Request, k6Iterations = "group_duration", "http_req_duration", "iterations"
)

// k6Points are those that count: of groups and, where there are none, of requests.
type k6Points struct {
	groups, requests *tally
	iterations       int64
}

func (k6) Read(from Source) (*Measured, error) {
	points := k6Points{groups: newTally(from), requests: newTally(from)}
	if err := lines(from.In, func(number int, line []byte) error { return points.read(number, line) }); err != nil {
		return nil, err
	}
	return points.measured(from)
}

func (p *k6Points) read(number int, line []byte) error {
	if len(strings.TrimSpace(string(line))) == 0 {
		return nil
	}
	var read k6Line
	if err := json.Unmarshal(line, &read); err != nil {
		if number == 1 {
			return refuse("it is none of k6's lines, each of which is an object of its own (%v): is the file a summary? Then read it with --from k6-summary", err)
		}
		return refuse("it is no whole line of k6's: %v", err)
	}
	switch read.Type {
	case "Metric":
		return nil
	case "Point":
		return p.point(&read)
	}
	return refuse("its type is %q, and k6's lines are of type Metric or Point: is the file a summary? Then read it with --from k6-summary", said(read.Type))
}

func (p *k6Points) point(read *k6Line) error {
	if read.Metric != k6Group && read.Metric != k6Request && read.Metric != k6Iterations {
		return nil
	}
	if read.Data.Value == nil {
		return refuse("the point of %s has no value", read.Metric)
	}
	value, tags := *read.Data.Value, &read.Data.Tags
	switch read.Metric {
	case k6Iterations:
		p.iterations += int64(value)
		return nil
	case k6Group:
		return p.add(p.groups, read, strings.TrimPrefix(tags.Group, "::"), false)
	}
	return p.add(p.requests, read, tags.Name, tags.Expected == "false")
}

// add a point, which k6 writes at the end of what took so many milliseconds.
func (p *k6Points) add(to *tally, read *k6Line, name string, failed bool) error {
	value := *read.Data.Value
	if math.Abs(value) > float64(longestSample.Milliseconds()) {
		return refuse("%g ms is longer than a week: is that in another unit?", value)
	}
	took := time.Duration(math.Round(value * float64(time.Millisecond)))
	return to.add(sample{transaction: strings.ReplaceAll(name, "::", "/"), start: read.Data.Time.Add(-took), took: took, failed: failed})
}

func (p *k6Points) measured(from Source) (*Measured, error) {
	chosen := p.requests
	if p.groups.samples > 0 {
		chosen = p.groups
		// Requests per second, and their errors, are of requests.
		chosen.requests, chosen.failed = p.requests.requests, p.requests.failed
		if p.requests.samples > 0 {
			chosen.span(p.requests.start, p.requests.end)
		}
	}
	made, err := chosen.measured()
	if err != nil {
		return nil, err
	}
	if length := made.End.Sub(made.Start); p.iterations > 0 && length > 0 {
		made.Observations = append(made.Observations, observation.Of(from.Load, metric.IterationsPerSecond, float64(p.iterations)/length.Seconds(), p.iterations))
	}
	if chosen == p.groups {
		made.withoutErrors()
		made.Notes = append(made.Notes, "transactions are k6's groups, of which it does not tell whether what was inside of them worked: there are no shares of errors of them")
		if p.requests.requests > 0 {
			made.Observations = append(made.Observations, observation.Of(from.Load, metric.Errors, 100*float64(p.requests.failed)/float64(p.requests.requests), p.requests.requests))
		}
	}
	made.Observations = sorted(made.Observations)
	return made, nil
}
