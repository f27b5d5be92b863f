// SPDX-License-Identifier: AGPL-3.0-only

package output

import (
	"runtime"
	"syscall"
	"time"

	"perflab.dev/perflab/payload"
)

// cpuGauge measures k6's own CPU time, to detect a saturated load generator.
type cpuGauge struct {
	at   time.Time
	used time.Duration
}

// watch starts a measurement.
func (g *cpuGauge) watch(now time.Time) { g.at, g.used = now, cpuTime() }

// count adds the used and the available CPU time since the last call.
func (g *cpuGauge) count(now time.Time, into *payload.Payload) {
	before := *g
	g.watch(now)
	into.Count(payload.GeneratorCPU, into.End, (g.used - before.used).Seconds())
	into.Count(payload.GeneratorCPULimit, into.End, g.at.Sub(before.at).Seconds()*float64(runtime.GOMAXPROCS(0)))
}

// cpuTime returns the CPU time of this process so far.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	// It fails only for a wrong argument.
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
