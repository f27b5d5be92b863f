// SPDX-License-Identifier: Apache-2.0

package payload

import (
	"math"
	"slices"
	"strings"
	"time"
)

// maxText bounds a statement's text, a failure's message and a note, in bytes.
const maxText = 1000

// SampleRecorder fills Samples.
type SampleRecorder struct {
	// Samples that were recorded so far.
	Samples *Samples
	index   seriesIndex
}

// NewSampleRecorder records from start on.
func NewSampleRecorder(run, collector string, start time.Time) *SampleRecorder {
	samples := NewSamples(run, collector, start)
	return &SampleRecorder{Samples: samples, index: newSeriesIndex(samples)}
}

// Record adds the value of a resource at a time. What is no number was not
// measured.
func (r *SampleRecorder) Record(component, instance, resource, unit string, at time.Time, value float64) {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return
	}
	series := r.index.get(component, instance, resource, unit)
	series.Points = append(series.Points, Point{At: millis(at), Value: value})
	r.Samples.End = later(r.Samples.End, millis(at))
}

// Add adds the points of a series, with its reach. What is no number was not measured.
func (r *SampleRecorder) Add(series SampleSeries) {
	for _, point := range series.Points {
		r.Record(series.Component, series.Instance, series.Resource, series.Unit, point.At, point.Value)
	}
	into := r.index.get(series.Component, series.Instance, series.Resource, series.Unit)
	into.Reach = max(into.Reach, series.Reach)
}

// Round notes that the servers are asked now, and again after the interval.
func (r *SampleRecorder) Round(at time.Time, interval time.Duration) {
	r.Samples.Rounds = append(r.Samples.Rounds, Point{At: millis(at), Value: interval.Seconds()})
	r.Samples.End = later(r.Samples.End, millis(at))
}

// Fail notes that a source did not answer in the round at this time.
func (s *Samples) Fail(source, message string, at time.Time) {
	index := slices.IndexFunc(s.Failures, func(f Failure) bool { return f.Source == source })
	if index < 0 {
		s.Failures = append(s.Failures, Failure{Source: source})
		index = len(s.Failures) - 1
	}
	s.Failures[index].Message = shortened(message)
	s.Failures[index].At = append(s.Failures[index].At, millis(at))
}

// SetContainer notes a container as it is now.
func (s *Samples) SetContainer(container Container) {
	at := slices.IndexFunc(s.Containers, func(c Container) bool {
		return c.Component == container.Component && c.Instance == container.Instance
	})
	if at < 0 {
		s.Containers = append(s.Containers, container)
		return
	}
	s.Containers[at] = container
}

// maxNeighbours of a node are kept.
const maxNeighbours = 16

// SetNode notes a node, and adds to the neighbours that were known there.
func (s *Samples) SetNode(node Node) {
	at := slices.IndexFunc(s.Nodes, func(n Node) bool { return n.Name == node.Name })
	if at < 0 {
		s.Nodes = append(s.Nodes, Node{Name: node.Name})
		at = len(s.Nodes) - 1
	}
	s.Nodes[at].add(node)
}

// add adds what else was seen of a node.
func (n *Node) add(seen Node) {
	n.Name, n.CPUs = seen.Name, max(n.CPUs, seen.CPUs)
	both := slices.Concat(n.Neighbours, seen.Neighbours)
	slices.Sort(both)
	both = slices.Compact(both)
	n.Neighbours = both[:min(len(both), maxNeighbours)]
}

// SetText notes the text of a statement.
func (s *Samples) SetText(id, text string) {
	if s.Texts == nil {
		s.Texts = map[string]string{}
	}
	s.Texts[id] = shortened(text)
}

// maxNotes of a log are read: a collector writes some tens.
const maxNotes = 10_000

// Note says, once, what can't be measured.
func (s *Samples) Note(note string) {
	if note = shortened(note); !slices.Contains(s.Notes, note) {
		s.Notes = append(s.Notes, note)
	}
}

// shortened cuts a text to what is kept of it, not within a letter.
func shortened(text string) string { return cut(text, maxText, "") }

// cut returns a text of at most so many bytes, with an end that tells that it is one.
func cut(text string, limit int, end string) string {
	if len(text) <= limit {
		return text
	}
	end = "…" + end
	return strings.ToValidUTF8(text[:limit-len(end)], "") + end
}

func joined(names []string) string { return strings.Join(names, ",") }

// seriesIndex finds the series of Samples by what they are of.
type seriesIndex struct {
	samples *Samples
	at      map[[3]string]int
}

func newSeriesIndex(samples *Samples) seriesIndex {
	return seriesIndex{samples: samples, at: map[[3]string]int{}}
}

// get returns the series, made on first use. It is valid until the next call.
func (i seriesIndex) get(component, instance, resource, unit string) *SampleSeries {
	key := [3]string{component, instance, resource}
	at, found := i.at[key]
	if !found {
		at = len(i.samples.Series)
		i.at[key] = at
		i.samples.Series = append(i.samples.Series, SampleSeries{Component: component, Instance: instance, Resource: resource, Unit: unit})
	}
	return &i.samples.Series[at]
}
