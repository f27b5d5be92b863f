// SPDX-License-Identifier: Apache-2.0

package payload

import (
	"math"
	"slices"
	"strings"
	"time"
)

// maxText is the maximum size of a statement's text, a failure's message and a note, in bytes.
const maxText = 1000

// SampleRecorder records samples.
type SampleRecorder struct {
	// Samples are the samples recorded so far.
	Samples *Samples
	index   seriesIndex
}

// NewSampleRecorder returns a recorder of samples that start at start.
func NewSampleRecorder(run, collector string, start time.Time) *SampleRecorder {
	samples := NewSamples(run, collector, start)
	return &SampleRecorder{Samples: samples, index: newSeriesIndex(samples)}
}

// Record adds the value of a resource at a time. NaN and infinities mean that nothing was
// measured.
func (r *SampleRecorder) Record(component, instance, resource, unit string, at time.Time, value float64) {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return
	}
	series := r.index.get(component, instance, resource, unit)
	series.Points = append(series.Points, Point{At: millis(at), Value: value})
	r.Samples.End = later(r.Samples.End, millis(at))
}

// Add adds the points of a series, with its reach. It ignores NaN and infinities, like Record.
func (r *SampleRecorder) Add(series SampleSeries) {
	for _, point := range series.Points {
		r.Record(series.Component, series.Instance, series.Resource, series.Unit, point.At, point.Value)
	}
	into := r.index.get(series.Component, series.Instance, series.Resource, series.Unit)
	into.Reach = max(into.Reach, series.Reach)
}

// Round records that the collector queries the servers now, and again after the interval.
func (r *SampleRecorder) Round(at time.Time, interval time.Duration) {
	r.Samples.Rounds = append(r.Samples.Rounds, Point{At: millis(at), Value: interval.Seconds()})
	r.Samples.End = later(r.Samples.End, millis(at))
}

// Fail records that a source did not respond in the round at this time.
func (s *Samples) Fail(source, message string, at time.Time) {
	index := slices.IndexFunc(s.Failures, func(f Failure) bool { return f.Source == source })
	if index < 0 {
		s.Failures = append(s.Failures, Failure{Source: source})
		index = len(s.Failures) - 1
	}
	s.Failures[index].Message = shortened(message)
	s.Failures[index].At = append(s.Failures[index].At, millis(at))
}

// SetContainer records the current state of a container.
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

// maxNeighbours is the maximum number of neighbors of a node that are kept.
const maxNeighbours = 16

// SetNode records a node, and adds its neighbors to those already recorded.
func (s *Samples) SetNode(node Node) {
	at := slices.IndexFunc(s.Nodes, func(n Node) bool { return n.Name == node.Name })
	if at < 0 {
		s.Nodes = append(s.Nodes, Node{Name: node.Name})
		at = len(s.Nodes) - 1
	}
	s.Nodes[at].add(node)
}

// add adds further observations of a node.
func (n *Node) add(seen Node) {
	n.Name, n.CPUs = seen.Name, max(n.CPUs, seen.CPUs)
	both := slices.Concat(n.Neighbours, seen.Neighbours)
	slices.Sort(both)
	both = slices.Compact(both)
	n.Neighbours = both[:min(len(both), maxNeighbours)]
}

// SetText records the text of a statement.
func (s *Samples) SetText(id, text string) {
	if s.Texts == nil {
		s.Texts = map[string]string{}
	}
	s.Texts[id] = shortened(text)
}

// maxNotes is the maximum number of notes that are read from a body. A collector writes some
// tens.
const maxNotes = 10_000

// Note records what cannot be measured, and ignores a repeated note.
func (s *Samples) Note(note string) {
	if note = shortened(note); !slices.Contains(s.Notes, note) {
		s.Notes = append(s.Notes, note)
	}
}

// shortened truncates a text to maxText bytes, without splitting a character.
func shortened(text string) string { return cut(text, maxText, "") }

// cut returns a text of at most limit bytes. It marks a truncated text with an ellipsis and end.
func cut(text string, limit int, end string) string {
	if len(text) <= limit {
		return text
	}
	end = "…" + end
	return strings.ToValidUTF8(text[:limit-len(end)], "") + end
}

func joined(names []string) string { return strings.Join(names, ",") }

// seriesIndex finds the series of Samples by component, instance and resource.
type seriesIndex struct {
	samples *Samples
	at      map[[3]string]int
}

func newSeriesIndex(samples *Samples) seriesIndex {
	return seriesIndex{samples: samples, at: map[[3]string]int{}}
}

// get returns the series, and creates it on first use. The result is valid until the next call.
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
