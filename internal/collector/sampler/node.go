// SPDX-License-Identifier: Apache-2.0

package sampler

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"github.com/prometheus/procfs"

	"perflab.dev/perflab/internal/metric"
	"perflab.dev/perflab/payload"
)

// withoutPressure is the note where the kernel does not count how long tasks
// wait.
const withoutPressure = "the CPU pressure of the collector's node is not told: its kernel has no /proc/pressure/cpu (PSI)"

// node reads what the kernel tells of the node the collector runs on. A
// container sees the /proc/stat, /proc/loadavg and /proc/pressure of its node.
type node struct {
	id   string
	proc procfs.FS
	// before is what was counted at the round before.
	before nodeCounts
}

// nodeCounts are counters since the node's start.
type nodeCounts struct {
	at   time.Time
	cpus int
	// busy are the seconds of all CPUs together that were not idle.
	busy float64
	// waiting are the seconds in which some task waited for a CPU; nil where
	// the kernel does not count them.
	waiting *float64
	// load is how many tasks ran or wanted to, on average over the minute before.
	load float64
}

func newNode(id, proc string) (*node, error) {
	opened, err := procfs.NewFS(proc)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", proc, err)
	}
	return &node{id: id, proc: opened}, nil
}

func (n *node) name() string { return metric.Node }

func (n *node) sample(_ context.Context, now round) (record, error) {
	counts, err := n.count(now.at)
	if err != nil {
		return nil, err
	}
	before := n.before
	n.before = counts
	return func(into *payload.SampleRecorder) {
		into.Samples.SetNode(payload.Node{Name: n.id, CPUs: counts.cpus})
		if counts.waiting == nil {
			into.Samples.Note(withoutPressure)
		}
		n.record(into, before, counts)
	}, nil
}

// record writes down the load average, and the rates between two counts. The first
// has none before it, and busy time that shrank was that of a CPU that has been taken
// away.
func (n *node) record(into *payload.SampleRecorder, before, counts nodeCounts) {
	into.Record(metric.Node, n.id, metric.LoadAverage, metric.UnitCount, counts.at, counts.load)
	elapsed := counts.at.Sub(before.at).Seconds()
	if before.at.IsZero() || elapsed <= 0 {
		return
	}
	if busy := counts.busy - before.busy; busy >= 0 {
		into.Record(metric.Node, n.id, metric.CPU, metric.UnitCores, counts.at, busy/elapsed)
	}
	if counts.waiting != nil && before.waiting != nil {
		share := min(100, 100*(*counts.waiting-*before.waiting)/elapsed)
		into.Record(metric.Node, n.id, metric.CPUPressure, metric.UnitPercent, counts.at, share)
	}
}

func (n *node) count(at time.Time) (nodeCounts, error) {
	stat, err := n.proc.Stat()
	if err != nil {
		return nodeCounts{}, fmt.Errorf("reading /proc/stat: %w", err)
	}
	load, err := n.proc.LoadAvg()
	if err != nil {
		return nodeCounts{}, fmt.Errorf("reading /proc/loadavg: %w", err)
	}
	total := stat.CPUTotal
	counts := nodeCounts{
		at: at, cpus: len(stat.CPU), load: load.Load1,
		// What a hypervisor took for other machines was not the run's either.
		busy: total.User + total.Nice + total.System + total.IRQ + total.SoftIRQ + total.Steal,
	}
	pressure, err := n.proc.PSIStatsForResource("cpu")
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.EOPNOTSUPP):
		return counts, nil
	case err != nil:
		return nodeCounts{}, fmt.Errorf("reading /proc/pressure/cpu: %w", err)
	case pressure.Some != nil:
		waiting := (time.Duration(pressure.Some.Total) * time.Microsecond).Seconds()
		counts.waiting = &waiting
	}
	return counts, nil
}
