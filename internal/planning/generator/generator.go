// SPDX-License-Identifier: Apache-2.0

// Package generator compares what k6 needs for a load with what its runners may use. It is pure.
package generator

import (
	"fmt"
	"strings"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kind"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/text/digits"
	"perflab.dev/perflab/internal/text/prose"
)

const (
	// runnerBytes is the memory of k6 without users (test/bench/k6).
	runnerBytes = 72 << 20
	// mostBusy is the share of its CPUs above which k6 is saturated.
	mostBusy = 0.8
)

// Need is what a level requires of a load's runners in total.
type Need struct {
	Users       int64 `json:"users"`
	Runners     int32 `json:"runners"`
	MemoryBytes int64 `json:"memoryBytes"`
	// MemoryLimitBytes is the runners' limit; 0 without a limit.
	MemoryLimitBytes int64 `json:"memoryLimitBytes,omitempty"`
	// Cores if the system responds at once; 0 if that is unknown.
	Cores float64 `json:"cores,omitempty"`
	// CoreLimit is the runners' limit; 0 without a limit.
	CoreLimit float64 `json:"coreLimit,omitempty"`
}

// AtLevel returns the need of a level; false if it is unknown.
func AtLevel(load v1alpha1.Load, level int32, configMaps kind.ConfigMaps) (Need, bool) {
	stepped, is := kinds.ForLoad(load).(kind.Stepped)
	if !is {
		return Need{}, false
	}
	effort, known := stepped.Effort(level, configMaps)
	runners := load.ParallelismOrDefault()
	limits := load.Resources.Limits
	return Need{
		Users: effort.Users, Runners: runners, Cores: effort.Cores,
		MemoryBytes:      int64(runners)*runnerBytes + effort.Users*effort.UserBytes,
		MemoryLimitBytes: int64(runners) * limits.Memory().Value(),
		CoreLimit:        float64(runners) * limits.Cpu().AsApproximateFloat64(),
	}, known
}

// String describes the need.
func (n Need) String() string {
	text := fmt.Sprintf("%s %s about %s of memory", prose.Counted(n.Users, "user"), prose.Verb(n.Users, "needs", "need"), mebibytes(n.MemoryBytes))
	if n.Cores > 0 {
		text += fmt.Sprintf(" and about %s", cores(n.Cores))
	}
	var limits []string
	if n.MemoryLimitBytes > 0 {
		limits = append(limits, mebibytes(n.MemoryLimitBytes))
	}
	if n.CoreLimit > 0 {
		limits = append(limits, cores(n.CoreLimit))
	}
	if len(limits) == 0 {
		return text
	}
	return text + fmt.Sprintf("; %s may use %s", n.runners(), strings.Join(limits, " and "))
}

func (n Need) runners() string {
	if n.Runners == 1 {
		return "the k6 runner"
	}
	return fmt.Sprintf("the %d k6 runners", n.Runners)
}

// Excesses returns the exceeded limits of the runners, with the setting to raise.
func (n Need) Excesses() []string {
	var all []string
	if n.MemoryLimitBytes > 0 && n.MemoryBytes > n.MemoryLimitBytes {
		all = append(all, fmt.Sprintf("%s may use %s of memory, and %s %s about %s: k6 may be killed; raise resources.limits.memory or parallelism",
			n.runners(), mebibytes(n.MemoryLimitBytes), prose.Counted(n.Users, "user"), prose.Verb(n.Users, "needs", "need"), mebibytes(n.MemoryBytes)))
	}
	if n.CoreLimit > 0 && n.Cores > mostBusy*n.CoreLimit {
		all = append(all, fmt.Sprintf("%s may use %s, and %s %s about %s: a run above %.0f %% of the limit is invalid; raise resources.limits.cpu or parallelism",
			n.runners(), cores(n.CoreLimit), prose.Counted(n.Users, "user"), prose.Verb(n.Users, "needs", "need"), cores(n.Cores), 100*mostBusy))
	}
	return all
}

func mebibytes(bytes int64) string { return fmt.Sprintf("%d MiB", bytes>>20) }

func cores(number float64) string {
	if text := digits.Exact(digits.Round(number, 2)); text != "1" {
		return text + " cores"
	}
	return "1 core"
}
