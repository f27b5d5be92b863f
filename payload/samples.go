// SPDX-License-Identifier: Apache-2.0

package payload

import (
	"cmp"
	"slices"
	"time"
)

// SamplesVersion is the only version of samples this package writes and reads.
const SamplesVersion = 1

// Samples are what a collector saw of the servers over a stretch of a run.
//
// They travel as the body of a frame like that of a payload, whose lines begin
// with "perflab-samples" instead: JSON (RFC 8259), compressed with gzip
// (RFC 1952), with the fields below. Other than payloads, each body in a log
// holds only what came after the one before, so that a log holds every sample
// once and a collector that is killed loses no more than it had not written:
// [ReadSamples] puts the bodies of a log together.
type Samples struct {
	Version int `json:"version"`
	// Run that was on.
	Run string `json:"run"`
	// Collector is the pod that took the samples; of several, joined by ",".
	Collector string `json:"collector"`
	// Start and End bound the stretch: UTC, whole milliseconds.
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
	// Final says that the collector ended as requested to.
	Final bool `json:"final"`
	// Rounds are the times at which the servers were asked, each with the
	// seconds until the next round was due.
	Rounds Points `json:"rounds,omitempty"`
	// Series are sorted by component, instance and resource.
	Series []SampleSeries `json:"series,omitempty"`
	// Containers are those that were seen, as they were last seen.
	Containers []Container `json:"containers,omitempty"`
	// Nodes are those that a collector ran on.
	Nodes []Node `json:"nodes,omitempty"`
	// Ends of containers that were not the pod's end.
	Ends []ContainerEnd `json:"ends,omitempty"`
	// Failures say who could not be asked, when, and why.
	Failures []Failure `json:"failures,omitempty"`
	// Statements are what PostgreSQL's servers spent their time on, by period.
	Statements []StatementPeriod `json:"statements,omitempty"`
	// Texts are the statements' texts, by ID.
	Texts map[string]string `json:"texts,omitempty"`
	// Notes say what can't be measured here at all, one sentence each.
	Notes []string `json:"notes,omitempty"`
}

// SampleSeries is one quantity of one instance over time.
type SampleSeries struct {
	// Component it is of: module/mod-users, postgres/primary, kafka.
	Component string `json:"component"`
	// Instance of the component: a pod and its container, joined by "/". Empty if the
	// component is one thing.
	Instance string `json:"instance,omitempty"`
	// Resource that is measured: cpu, memory, connections/active.
	Resource string `json:"resource"`
	// Unit of the values: cores, MiB, %, 1/s, s, 1.
	Unit string `json:"unit,omitempty"`
	// Reach is how many seconds before its time a point's value may be of, where
	// that is not just the time since the point before: the mean of a minute has 60.
	Reach  float64 `json:"reach,omitempty"`
	Points Points  `json:"points"`
}

// Container is a container of a component's pod with what it asked for. What
// is 0 was not asked for.
type Container struct {
	Component string `json:"component"`
	Instance  string `json:"instance"`
	// Node that the pod runs on.
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
	// CPUs that are online; 0 is not known.
	CPUs int `json:"cpus,omitempty"`
	// Neighbours are pods that were seen on the node and are no component's, by
	// name. They are of the collector's own namespace: it sees no other.
	Neighbours []string `json:"neighbours,omitempty"`
}

// ContainerEnd is a container that ended and was started again.
type ContainerEnd struct {
	Component string    `json:"component"`
	Instance  string    `json:"instance"`
	At        time.Time `json:"at"`
	// Reason as the kubelet tells it, for example OOMKilled.
	Reason   string `json:"reason,omitempty"`
	ExitCode int32  `json:"exitCode,omitempty"`
	// Count is more than 1 where it ended several times between two rounds.
	Count int32 `json:"count"`
}

// Failure is a source that did not answer.
type Failure struct {
	// Source that was asked: pods, metrics, postgres/primary, kafka.
	Source string `json:"source"`
	// Message it gave last.
	Message string `json:"message"`
	// At are the rounds in which it gave none.
	At Times `json:"at"`
}

// StatementPeriod is what one server of PostgreSQL spent its time on between
// two times.
type StatementPeriod struct {
	// Component of the server: postgres/primary.
	Component string    `json:"component"`
	From      time.Time `json:"from"`
	To        time.Time `json:"to"`
	// Milliseconds of all statements, the ones below among them.
	Milliseconds float64 `json:"milliseconds"`
	// Top are those that took most.
	Top []StatementTime `json:"top"`
}

// StatementTime is the time a statement took.
type StatementTime struct {
	ID           string  `json:"id"`
	Calls        int64   `json:"calls"`
	Milliseconds float64 `json:"milliseconds"`
	Rows         int64   `json:"rows"`
}

// NewSamples returns none, from start on.
func NewSamples(run, collector string, start time.Time) *Samples {
	start = millis(start)
	return &Samples{Version: SamplesVersion, Run: run, Collector: collector, Start: start, End: start}
}

// MergeSamples puts stretches of one run together: what follows each other and
// what several collectors saw. It fails with ErrNone without samples and with
// ErrMismatch for those of different runs.
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

// sort puts everything into its order, so that equal contents make equal bytes.
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
