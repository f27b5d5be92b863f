// SPDX-License-Identifier: Apache-2.0

package payload

import (
	"cmp"
	"slices"
	"time"
)

// SamplesVersion is the only version of samples this package writes and reads.
const SamplesVersion = 1

// Samples are the measurements of the servers by a collector, during a part of a run.
//
// They are logged as the body of a frame like that of a payload, but with lines that start with
// "perflab-samples". The body is JSON (RFC 8259), compressed with gzip (RFC 1952), with the
// fields below. Unlike payloads, each body in a log holds only the samples since the previous
// one. A log therefore holds every sample once, and a collector that is killed loses only the
// samples that it has not written. [ReadSamples] merges the bodies of a log.
type Samples struct {
	Version int `json:"version"`
	// Run is the name of the run.
	Run string `json:"run"`
	// Collector is the pod that took the samples. Several pods are joined by ",".
	Collector string `json:"collector"`
	// Start and End bound the samples: UTC, whole milliseconds.
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
	// Final is true if the collector ended on request.
	Final bool `json:"final"`
	// Rounds are the times at which the collector queried the servers, each with the seconds
	// until the next round was due.
	Rounds Points `json:"rounds,omitempty"`
	// Series are sorted by component, instance and resource.
	Series []SampleSeries `json:"series,omitempty"`
	// Containers are the observed containers, as last observed.
	Containers []Container `json:"containers,omitempty"`
	// Nodes are the nodes that a collector ran on.
	Nodes []Node `json:"nodes,omitempty"`
	// Ends are the ends of containers that did not end their pods.
	Ends []ContainerEnd `json:"ends,omitempty"`
	// Failures are the sources that did not respond, with times and messages.
	Failures []Failure `json:"failures,omitempty"`
	// Statements are the statements that took the time of PostgreSQL's servers, by period.
	Statements []StatementPeriod `json:"statements,omitempty"`
	// Texts are the statements' texts, by ID.
	Texts map[string]string `json:"texts,omitempty"`
	// Notes describe what cannot be measured in this environment, one sentence each.
	Notes []string `json:"notes,omitempty"`
}

// SampleSeries is one quantity of one instance over time.
type SampleSeries struct {
	// Component is the measured component: module/mod-users, postgres/primary, kafka.
	Component string `json:"component"`
	// Instance is the instance of the component: a pod and its container, joined by "/". It is
	// empty if the component has no separate instances.
	Instance string `json:"instance,omitempty"`
	// Resource is the measured resource: cpu, memory, connections/active.
	Resource string `json:"resource"`
	// Unit is the unit of the values: cores, MiB, %, 1/s, s, 1.
	Unit string `json:"unit,omitempty"`
	// Reach is the longest time before a point, in seconds, for which its value counts. It is 0
	// if that is the time since the previous point. The mean of a minute has 60.
	Reach  float64 `json:"reach,omitempty"`
	Points Points  `json:"points"`
}

// Container is a container of a component's pod, with its requests and limits. A value of 0 means
// that none was set.
type Container struct {
	Component string `json:"component"`
	Instance  string `json:"instance"`
	// Node is the node that the pod runs on.
	Node string `json:"node,omitempty"`
	// CPURequest and CPULimit are in cores.
	CPURequest float64 `json:"cpuRequest,omitempty"`
	CPULimit   float64 `json:"cpuLimit,omitempty"`
	// MemoryRequest and MemoryLimit are in MiB.
	MemoryRequest float64 `json:"memoryRequest,omitempty"`
	MemoryLimit   float64 `json:"memoryLimit,omitempty"`
}

// Node is a node that a collector ran on.
type Node struct {
	Name string `json:"name"`
	// CPUs is the number of online CPUs, or 0 if unknown.
	CPUs int `json:"cpus,omitempty"`
	// Neighbours are the names of the observed pods on the node that do not belong to a
	// component. They are in the collector's own namespace, because it cannot read others.
	Neighbours []string `json:"neighbours,omitempty"`
}

// ContainerEnd is the end of a container that was restarted.
type ContainerEnd struct {
	Component string    `json:"component"`
	Instance  string    `json:"instance"`
	At        time.Time `json:"at"`
	// Reason is the reason that the kubelet reports, for example OOMKilled.
	Reason   string `json:"reason,omitempty"`
	ExitCode int32  `json:"exitCode,omitempty"`
	// Count is more than 1 if the container ended several times between two rounds.
	Count int32 `json:"count"`
}

// Failure is a source that did not respond.
type Failure struct {
	// Source is the queried source: pods, metrics, postgres/primary, kafka.
	Source string `json:"source"`
	// Message is the last error message of the source.
	Message string `json:"message"`
	// At are the rounds in which the source did not respond.
	At Times `json:"at"`
}

// StatementPeriod is the time that one PostgreSQL server spent on statements between two times.
type StatementPeriod struct {
	// Component is the component of the server: postgres/primary.
	Component string    `json:"component"`
	From      time.Time `json:"from"`
	To        time.Time `json:"to"`
	// Milliseconds is the time of all statements, including those in Top.
	Milliseconds float64 `json:"milliseconds"`
	// Top are the statements that took the most time.
	Top []StatementTime `json:"top"`
}

// StatementTime is the time a statement took.
type StatementTime struct {
	ID           string  `json:"id"`
	Calls        int64   `json:"calls"`
	Milliseconds float64 `json:"milliseconds"`
	Rows         int64   `json:"rows"`
}

// NewSamples returns empty samples that start at start.
func NewSamples(run, collector string, start time.Time) *Samples {
	start = millis(start)
	return &Samples{Version: SamplesVersion, Run: run, Collector: collector, Start: start, End: start}
}

// MergeSamples merges samples of one run, which may follow each other or be of several
// collectors. It fails with ErrNone without samples, and with ErrMismatch if they are of
// different runs.
func MergeSamples(parts ...*Samples) (*Samples, error) {
	if len(parts) == 0 {
		return nil, ErrNone
	}
	parts = slices.SortedStableFunc(slices.Values(parts), func(a, b *Samples) int { return a.End.Compare(b.End) })
	sum := NewSamples(parts[0].Run, "", parts[0].Start)
	merge := newSampleMerge(sum)
	var collectors []string
	for _, part := range parts {
		if part.Run != sum.Run {
			return nil, ErrMismatch
		}
		collectors = append(collectors, part.Collector)
		sum.Start, sum.End = earlier(sum.Start, part.Start), later(sum.End, part.End)
		sum.Final = part.Final
		sum.Rounds = append(sum.Rounds, part.Rounds...)
		merge.add(part)
	}
	slices.Sort(collectors)
	sum.Collector = joined(slices.Compact(collectors))
	sum.sort()
	return sum, nil
}

// sort sorts all lists, so that equal contents result in equal bytes.
func (s *Samples) sort() {
	s.Rounds = s.Rounds.sorted()
	for i := range s.Series {
		s.Series[i].Points = s.Series[i].Points.sorted()
	}
	slices.SortFunc(s.Series, func(a, b SampleSeries) int {
		return cmp.Or(cmp.Compare(a.Component, b.Component), cmp.Compare(a.Instance, b.Instance), cmp.Compare(a.Resource, b.Resource))
	})
	slices.SortFunc(s.Containers, func(a, b Container) int {
		return cmp.Or(cmp.Compare(a.Component, b.Component), cmp.Compare(a.Instance, b.Instance))
	})
	slices.SortFunc(s.Nodes, func(a, b Node) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(s.Ends, func(a, b ContainerEnd) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Component, b.Component), cmp.Compare(a.Instance, b.Instance))
	})
	slices.SortFunc(s.Failures, func(a, b Failure) int { return cmp.Compare(a.Source, b.Source) })
	for i := range s.Failures {
		slices.SortFunc(s.Failures[i].At, time.Time.Compare)
		s.Failures[i].At = slices.Compact(s.Failures[i].At)
	}
	slices.SortStableFunc(s.Statements, func(a, b StatementPeriod) int {
		return cmp.Or(a.From.Compare(b.From), cmp.Compare(a.Component, b.Component))
	})
	slices.Sort(s.Notes)
}
