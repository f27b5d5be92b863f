// SPDX-License-Identifier: Apache-2.0

package importers

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"

	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/measure/observation"
	"perflab.dev/perflab/internal/text/prose"
)

// k6 reads the output of k6 run --out json, one point per line.
type k6 struct{}

func (k6) Name() string  { return "k6" }
func (k6) Tool() string  { return "k6" }
func (k6) Reads() string { return "the output of k6 run --out json=FILE" }

// k6Line is a line: the definition of a metric, or a point.
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

// k6Known matches k6's built-in metrics; only the points above are read.
var k6Known = regexp.MustCompile(`^(http_req.*|iteration.*|group_duration|dropped_iterations|checks|vus.*|data_(sent|received))$`)

// k6Points are the counted points: of groups and their requests or, without groups, of all
// requests.
type k6Points struct {
	groups, members, requests *tally
	iterations                int64
	// outside counts requests in setup() and teardown(), which are no load.
	outside int64
	unread  unread
}

func (k6) Read(from Source) (*Measured, error) {
	points := k6Points{groups: newTally(from), members: newTally(from), requests: newTally(from)}
	points.groups.path, points.members.path, points.members.part = k6Groups, k6Groups, requests
	if err := lines(from.In, func(number int, line []byte) error { return points.read(number, line) }); err != nil {
		return nil, err
	}
	made, err := points.measured(from)
	if err != nil {
		return nil, points.unread.explain(err)
	}
	made.Notes = append(made.Notes, points.notes()...)
	return made, nil
}

// k6Groups splits a path such as ::Search::First page into groups.
func k6Groups(path string) []string { return strings.Split(strings.TrimPrefix(path, "::"), "::") }

// isOutside reports whether this is the group of setup() or teardown(), or nested in it. A
// script's own group of that name is treated alike.
func isOutside(group string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(group, "::"), "::")
	return strings.HasPrefix(group, "::") && (first == "setup" || first == "teardown")
}

func (p *k6Points) read(number int, line []byte) error {
	if len(strings.TrimSpace(string(line))) == 0 {
		return nil
	}
	var read k6Line
	if err := json.Unmarshal(line, &read); err != nil {
		if number == 1 {
			return refuse("not k6's JSON output, where each line is a separate object: %v", err)
		}
		return refuse("invalid line of k6's JSON output (%v): if the file is truncated here, copy it again, or remove the line", err)
	}
	switch read.Type {
	case "Metric":
		return nil
	case "Point":
		return p.point(&read)
	}
	return refuse("the line has type %q, but k6's lines have type Metric or Point", shorten(read.Type))
}

func (p *k6Points) point(read *k6Line) error {
	if read.Metric != k6Group && read.Metric != k6Request && read.Metric != k6Iterations {
		if !k6Known.MatchString(read.Metric) {
			p.unread.add(read.Metric)
		}
		return nil
	}
	if read.Data.Value == nil {
		return refuse("the point of %s has no value", read.Metric)
	}
	tags := &read.Data.Tags
	switch {
	case read.Metric == k6Iterations:
		p.iterations += int64(*read.Data.Value)
		return nil
	case isOutside(tags.Group):
		p.outside++
		return nil
	case read.Metric == k6Group:
		return p.add(p.groups, read, sample{transaction: tags.Group, paused: true})
	}
	failed := tags.Expected == "false"
	if tags.Group != "" {
		if err := p.add(p.members, read, sample{transaction: tags.Group, failed: failed}); err != nil {
			return err
		}
	}
	return p.add(p.requests, read, sample{transaction: tags.Name, failed: failed})
}

// add adds a point, which k6 writes at the end of a duration in milliseconds.
func (p *k6Points) add(to *tally, read *k6Line, of sample) error {
	value := *read.Data.Value
	if math.Abs(value) > float64(longestSample.Milliseconds()) {
		return refuse("%g ms is longer than a week: check the unit", value)
	}
	of.took = time.Duration(math.Round(value * float64(time.Millisecond)))
	of.start = read.Data.Time.Add(-of.took)
	return to.add(of)
}

func (p *k6Points) measured(from Source) (*Measured, error) {
	made, err := p.transactions()
	if err != nil {
		return nil, err
	}
	if length := made.End.Sub(made.Start); p.iterations > 0 && length > 0 {
		made.Observations = append(made.Observations, observation.New(from.Load, metric.IterationsPerSecond, float64(p.iterations)/length.Seconds(), p.iterations))
	}
	made.Observations = sorted(made.Observations)
	return made, nil
}

// transactions returns the groups with their requests, or else all requests by name.
func (p *k6Points) transactions() (*Measured, error) {
	if p.groups.samples == 0 {
		return p.requests.measured()
	}
	// Requests per second, and their errors, are of all requests.
	p.groups.requests, p.groups.failed = p.requests.requests, p.requests.failed
	if p.requests.samples > 0 {
		p.groups.span(p.requests.start, p.requests.end)
	}
	made, err := p.groups.measured()
	if err != nil {
		return nil, err
	}
	made.withoutErrors()
	made.Notes = append(made.Notes, "k6 does not record whether a group succeeded, so only its requests have error shares")
	if err := made.inside(p.members); err != nil {
		return nil, err
	}
	if all := p.requests.requests; all > 0 {
		made.Observations = append(made.Observations, observation.New(p.groups.load, metric.Errors, 100*float64(p.requests.failed)/float64(all), all))
	}
	return made, nil
}

// inside adds the requests in groups.
func (m *Measured) inside(requests *tally) error {
	if len(requests.transactions) == 0 {
		return nil
	}
	requests.requests = 0 // Their rate is already that of all.
	found, err := requests.measured()
	if err != nil {
		return err
	}
	m.Observations = append(m.Observations, found.Observations...)
	if len(m.Observations) > mostObservations {
		return refuse("a run cannot hold all groups and their requests: select some groups with --only REGEXP")
	}
	return nil
}

func (p *k6Points) notes() []string {
	notes := p.unread.notes()
	if p.outside > 0 {
		notes = append(notes, fmt.Sprintf("%s of setup() and teardown() omitted: they are not part of the load", prose.Counted(p.outside, "point")))
	}
	return notes
}
