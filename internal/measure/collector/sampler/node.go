// SPDX-License-Identifier: Apache-2.0

package sampler

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"regexp"
	"slices"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
	"github.com/prometheus/procfs/blockdevice"

	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/payload"
)

// withoutPressure is the note if the kernel does not count the time that tasks wait.
const withoutPressure = "the CPU pressure of the collector's node is not measured: its kernel has no /proc/pressure/cpu (PSI)"

// node reads the kernel's metrics of the collector's node. A container sees the /proc/stat,
// /proc/loadavg, /proc/meminfo, /proc/diskstats and /proc/pressure of its node.
type node struct {
	id    string
	proc  procfs.FS
	disks blockdevice.FS
	speed *speedometer
	// before are the counters of the previous round.
	before nodeCounts
}

// nodeCounts are counters since the node's start.
type nodeCounts struct {
	at   time.Time
	cpus int
	// busy is the time that all CPUs together were not idle, in seconds.
	busy float64
	// waiting is the time in which some task waited for a CPU, in seconds; nil if the kernel does
	// not count it.
	waiting *float64
	// load is the average number of running or runnable tasks over the last minute.
	load float64
	// speed of a CPU, in million steps of the speedometer per second.
	speed float64
	// memory that is neither free nor reclaimable, in MiB; NaN if unknown.
	memory float64
	// disks is the sum of all disks; nil if the kernel does not report it.
	disks *diskBytes
}

type diskBytes struct{ read, written float64 }

func newNode(id, proc, sys string) (*node, error) {
	opened, err := procfs.NewFS(proc)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", proc, err)
	}
	disks, err := blockdevice.NewFS(proc, sys)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", sys, err)
	}
	return &node{id: id, proc: opened, disks: disks, speed: newSpeedometer()}, nil
}

func (n *node) name() string { return metric.Node }

func (n *node) sample(_ context.Context, now round) (recordFunc, error) {
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

// record records the load average and the CPU's speed, and the rates between two counts. The first
// count has no rates, and a smaller busy time means a removed CPU.
func (n *node) record(into *payload.SampleRecorder, before, counts nodeCounts) {
	into.Record(metric.Node, n.id, metric.LoadAverage, metric.UnitCount, counts.at, counts.load)
	into.Record(metric.Node, n.id, metric.CPUSpeed, metric.UnitCount, counts.at, counts.speed)
	if !math.IsNaN(counts.memory) {
		into.Record(metric.Node, n.id, metric.Memory, metric.UnitMebibytes, counts.at, counts.memory)
	}
	elapsed := counts.at.Sub(before.at).Seconds()
	if before.at.IsZero() || elapsed <= 0 {
		return
	}
	if busy := counts.busy - before.busy; busy >= 0 {
		into.Record(metric.Node, n.id, metric.CPU, metric.UnitCores, counts.at, busy/elapsed)
	}
	if counts.disks != nil && before.disks != nil {
		rate := func(resource string, now, then float64) {
			// A smaller count means a removed disk.
			if now >= then {
				into.Record(metric.Node, n.id, resource, metric.UnitBytesPerSec, counts.at, (now-then)/elapsed)
			}
		}
		rate(metric.DiskRead, counts.disks.read, before.disks.read)
		rate(metric.DiskWritten, counts.disks.written, before.disks.written)
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
	speed, err := n.speed.speed()
	if err != nil {
		return nodeCounts{}, err
	}
	total := stat.CPUTotal
	counts := nodeCounts{
		at: at, cpus: len(stat.CPU), load: load.Load1, speed: speed, memory: n.memory(), disks: n.diskBytes(),
		// Time that the hypervisor gave to other machines was not the run's either.
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

func (n *node) memory() float64 {
	const mebibyte = 1 << 20
	memory, err := n.proc.Meminfo()
	if err != nil || memory.MemTotalBytes == nil || memory.MemAvailableBytes == nil {
		return math.NaN()
	}
	return float64(*memory.MemTotalBytes-min(*memory.MemAvailableBytes, *memory.MemTotalBytes)) / mebibyte
}

// noDisk matches devices on top of others, whose bytes would count twice, or in memory.
var noDisk = regexp.MustCompile(`^(dm-|md|loop|ram|zram)`)

// diskBytes adds up whole disks, without their partitions.
func (n *node) diskBytes() *diskBytes {
	const sector = 512
	devices, err := n.disks.SysBlockDevices()
	if err != nil {
		return nil
	}
	stats, err := n.disks.ProcDiskstats()
	if err != nil {
		return nil
	}
	sum := &diskBytes{}
	for _, one := range stats {
		if slices.Contains(devices, one.DeviceName) && !noDisk.MatchString(one.DeviceName) {
			sum.read += sector * float64(one.ReadSectors)
			sum.written += sector * float64(one.WriteSectors)
		}
	}
	return sum
}
