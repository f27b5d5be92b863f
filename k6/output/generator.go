// SPDX-License-Identifier: AGPL-3.0-only

package output

import (
	"runtime"
	"syscall"
	"time"

	"perflab.dev/perflab/payload"
)

// cpuGauge watches what k6 itself uses, so that a load generator that could not
// keep up is told from a system that could not.
type cpuGauge struct {
	at   time.Time
	used time.Duration
}

// watch begins to measure from now on.
func (g *cpuGauge) watch(now time.Time) { g.at, g.used = now, cpuTime() }

// count adds what was used, and could have been, since the last time.
func (g *cpuGauge) count(now time.Time, into *payload.Payload) {
	before := *g
	g.watch(now)
	into.Count(payload.GeneratorCPU, into.End, (g.used - before.used).Seconds())
	into.Count(payload.GeneratorCPULimit, into.End, g.at.Sub(before.at).Seconds()*float64(runtime.GOMAXPROCS(0)))
}

// cpuTime is the CPU time of this process so far.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	// It fails only for a wrong argument.
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
