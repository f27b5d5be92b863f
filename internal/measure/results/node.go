// SPDX-License-Identifier: Apache-2.0

package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kind"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/text/decimal"
	"perflab.dev/perflab/internal/text/prose"
	"perflab.dev/perflab/payload"
)

const (
	// fullNode is the CPU use, in percent, from which a node is full. Below it a run finds a free
	// CPU, however much others use.
	fullNode = 80
	// highPressure is the CPU pressure, in percent of the time, from which waiting affects response
	// times.
	highPressure = 25
	// firstFigures is how long the use of a new pod may be unknown: the sources need two figures of
	// it.
	firstFigures = time.Minute
	// certain is the time for which the use of the run's pods must be known to attribute load to
	// others. A sample is late and covers the time before it, so the remainder of one or two
	// samples may be the pods' own work.
	certain = 45 * time.Second
	// busyBefore is the number of tasks per CPU in the minute before the loads that is allowed
	// without a warning. Starting modules need more than one.
	busyBefore = 2
	// maxNeighbours limits the pods named in a sentence.
	maxNeighbours = 3
)

// NodeUse is the use of the collector's node over a part of a run.
type NodeUse struct {
	Name string
	CPUs int
	// Shared means that pods of the run were on the node.
	Shared bool
	// BusyPercent is the use of the CPUs, OtherPercent that by other workloads, and PressurePercent
	// the share of the time in which some task waited for a CPU. NaN if unknown.
	BusyPercent, OtherPercent, PressurePercent float64
	// LoadBefore is the load average of the minute before the collector's first sample, which
	// precedes the loads. NaN if unknown.
	LoadBefore float64
	// Known is the time over which the use of the run's pods is known.
	Known time.Duration
	// Neighbours are pods of the run's namespace with unknown use.
	Neighbours []string
}

// FindNode returns the use of the collector's node; the last one if there were several. It returns
// false without data about the node.
func FindNode(samples *payload.Samples, window Window) (NodeUse, bool) {
	node, found := lastNode(samples, window)
	if !found || node.CPUs == 0 {
		return NodeUse{}, false
	}
	average := func(points payload.Points) float64 {
		if own := within(points, window); len(own) > 0 {
			return mean(own)
		}
		return math.NaN()
	}
	cpus := float64(node.CPUs)
	others, own := othersOn(samples, node.Name)
	before := math.NaN()
	if loads := nodePoints(samples, node.Name, metric.LoadAverage); len(loads) > 0 && loads[0].At.Before(window.From) {
		before = loads[0].Value
	}
	return NodeUse{
		Name: node.Name, CPUs: node.CPUs, Shared: isOnNode(samples, node.Name), Neighbours: node.Neighbours,
		BusyPercent:     100 * average(nodePoints(samples, node.Name, metric.CPU)) / cpus,
		OtherPercent:    100 * average(others) / cpus,
		LoadBefore:      before,
		Known:           span(own, within(others, window)),
		PressurePercent: average(nodePoints(samples, node.Name, metric.CPUPressure)),
	}, true
}

// IsFull reports whether threads waited for a CPU. Without the kernel's pressure metrics it
// reports whether no CPU was idle.
func (u NodeUse) IsFull() bool {
	return u.BusyPercent >= fullNode && (math.IsNaN(u.PressurePercent) || u.PressurePercent >= highPressure)
}

// CheckNode checks that the node had CPU left for the run's pods on it. If the run itself used it
// up, that is a warning: the run has measured a system at its limit. If others used more than
// allowed, the run has measured them.
func CheckNode(use NodeUse, validity v1alpha1.Validity) (fault *Fault, warning string) {
	limit := float64(validity.MaxOtherCPUPercentOrDefault())
	switch {
	case !use.Shared || !use.IsFull():
		return nil, ""
	case use.OtherPercent > limit && use.Known >= certain:
		return kind.Faultf(v1alpha1.ReasonNodeShared,
			"node %q had too little CPU left for the run: %s%s; wait for the other work to finish, move it to other nodes, or raise validity.maxOtherCPUPercent, which is %s",
			use.Name, use.shares(), use.known(), decimal.Format(limit)), ""
	default:
		return nil, fmt.Sprintf("node %q had no CPU left: %s%s; response times include waits for a CPU", use.Name, use.shares(), use.known())
	}
}

// CheckWaiting warns if the node was overloaded before the loads began.
func CheckWaiting(use NodeUse) (warning string) {
	if !use.Shared || !(use.LoadBefore > busyBefore*float64(use.CPUs)) {
		return ""
	}
	return fmt.Sprintf("node %q was busy before the loads started: a load average of %s on its %s over the minute before, from other work or starting modules; lengthen measurement.warmUp",
		use.Name, decimal.Format(math.Round(10*use.LoadBefore)/10), prose.Counted(use.CPUs, "CPU"))
}

func (u NodeUse) shares() string {
	whole := func(percent float64) string { return decimal.Format(math.Round(percent)) }
	text := fmt.Sprintf("its %s were %s %% busy", prose.Counted(u.CPUs, "CPU"), whole(u.BusyPercent))
	if !math.IsNaN(u.OtherPercent) {
		text += fmt.Sprintf(", %s %% with other work", whole(u.OtherPercent))
	}
	if !math.IsNaN(u.PressurePercent) {
		text += fmt.Sprintf(", and tasks waited for a CPU in %s %% of the time", whole(u.PressurePercent))
	}
	return text
}

// known lists the other pods that the collector observed.
func (u NodeUse) known() string {
	if len(u.Neighbours) == 0 {
		return ""
	}
	return fmt.Sprintf(" (other pods of the run's namespace: %s)", prose.EnumerateFirst(u.Neighbours, maxNeighbours))
}

// lastNode is the node with the latest figures in the window.
func lastNode(samples *payload.Samples, window Window) (payload.Node, bool) {
	var (
		found  payload.Node
		latest time.Time
	)
	for _, node := range samples.Nodes {
		points := within(nodePoints(samples, node.Name, metric.CPU), window)
		if len(points) > 0 && points[len(points)-1].At.After(latest) {
			found, latest = node, points[len(points)-1].At
		}
	}
	return found, !latest.IsZero()
}

func isOnNode(samples *payload.Samples, name string) bool {
	return slices.ContainsFunc(samples.Containers, func(c payload.Container) bool { return c.Node == name })
}

func nodePoints(samples *payload.Samples, name, resource string) payload.Points {
	for _, series := range samples.Series {
		if series.Component == metric.Node && series.Instance == name && series.Resource == resource {
			return series.Points
		}
	}
	return nil
}

// otherPoints are the cores that other workloads used on the collector's node, or on several nodes,
// one after the other.
func otherPoints(samples *payload.Samples) payload.Points {
	var points payload.Points
	for _, node := range samples.Nodes {
		others, _ := othersOn(samples, node.Name)
		points = append(points, others...)
	}
	slices.SortStableFunc(points, func(a, b payload.Point) int { return a.At.Compare(b.At) })
	return points
}

// othersOn returns the same for one node: its busy cores in the period of a figure of the run's own
// pods, minus that figure.
func othersOn(samples *payload.Samples, name string) (points, own payload.Points) {
	busy, pods := nodePoints(samples, name, metric.CPU), podsOn(samples, name)
	if len(pods) == 0 {
		return nil, nil
	}
	own = sumSeries(pods, false)
	for i, point := range own {
		if i == 0 || isNew(pods, point.At, own[0].At) {
			continue
		}
		if all, known := during(busy, own[i-1].At, point.At); known {
			points = append(points, payload.Point{At: point.At, Value: max(0, all-point.Value)})
		}
	}
	return points, own
}

// span is the time that the pods' own samples cover, up to the last of these points.
func span(own, points payload.Points) time.Duration {
	if len(points) == 0 {
		return 0
	}
	before := own[0].At
	for _, point := range own {
		if point.At.Before(points[0].At) {
			before = point.At
		}
	}
	return points[len(points)-1].At.Sub(before)
}

// podsOn returns the CPU series of the run's containers on a node.
func podsOn(samples *payload.Samples, name string) []payload.SampleSeries {
	on := map[string]bool{}
	for _, container := range samples.Containers {
		on[podName(container.Instance)] = container.Node == name
	}
	var found []payload.SampleSeries
	for _, series := range samples.Series {
		if series.Resource == metric.CPU && series.Component != metric.Node && on[podName(series.Instance)] {
			found = append(found, series)
		}
	}
	return found
}

// podName returns the pod of an instance.
func podName(instance string) string {
	pod, _, _ := strings.Cut(instance, "/")
	return pod
}

// isNew reports whether a pod that came after the first may have been running without a figure, so
// that its use would look like another's.
func isNew(pods []payload.SampleSeries, at, first time.Time) bool {
	return slices.ContainsFunc(pods, func(series payload.SampleSeries) bool {
		begin := series.Points[0].At
		return begin.After(first) && at.Before(begin) && begin.Sub(at) <= firstFigures
	})
}

// during returns the mean between two times, where each point covers the time since the previous
// one; false if most of that time is not covered.
func during(points payload.Points, from, to time.Time) (float64, bool) {
	var sum, covered float64
	first, _ := slices.BinarySearchFunc(points, from, func(p payload.Point, at time.Time) int { return cmp.Compare(p.At.UnixNano(), at.UnixNano()) })
	for i := max(first, 1); i < len(points) && points[i-1].At.Before(to); i++ {
		part := earlier(points[i].At, to).Sub(later(points[i-1].At, from)).Seconds()
		sum += part * points[i].Value
		covered += part
	}
	return sum / covered, covered > to.Sub(from).Seconds()/2
}
