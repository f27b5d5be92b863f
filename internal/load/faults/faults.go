// SPDX-License-Identifier: Apache-2.0

// Package faults decides when the faults of a scenario begin, and which pods they affect. It is
// pure: the same seed gives the same time and the same choice.
package faults

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/text/prose"
)

// Due returns when a fault of a run has to begin; false while the load that it counts from has not
// started. The runs of a block have one seed, and so the same delay.
func Due(fault v1alpha1.Fault, run *v1alpha1.PerfRunSpec, loads []v1alpha1.LoadStatus) (time.Time, bool) {
	var origin time.Time
	for _, load := range loads {
		isMeant := fault.Load == "" || fault.Load == load.Name
		if isMeant && load.StartTime != nil && (origin.IsZero() || load.StartTime.Time.Before(origin)) {
			origin = load.StartTime.Time
		}
	}
	return origin.Add(Delay(fault, run)), !origin.IsZero()
}

// Delay returns the time from the start of the fault's load to its begin.
func Delay(fault v1alpha1.Fault, run *v1alpha1.PerfRunSpec) time.Duration {
	within := fault.WithinOrDefault()
	if within <= 0 {
		return fault.After.Duration
	}
	return fault.After.Duration + time.Duration(random(fault, run).Int64N(int64(within)))
}

// When describes when a fault begins: 20s to 25s after load create starts.
func When(fault v1alpha1.Fault) string {
	of, at := "the loads start", formatSeconds(fault.After.Duration)
	if fault.Load != "" {
		of = "load " + fault.Load + " starts"
	}
	if within := fault.WithinOrDefault(); within > 0 {
		at += " to " + formatSeconds(fault.After.Duration+within)
	}
	return at + " after " + of
}

func formatSeconds(duration time.Duration) string { return prose.Duration(duration.Round(time.Second)) }

// Choose returns this many pods for a fault to affect, chosen at random from candidates; all of them
// if there are fewer.
func Choose(fault v1alpha1.Fault, run *v1alpha1.PerfRunSpec, candidates []corev1.Pod, count int32) []v1alpha1.FaultTarget {
	sorted := slices.SortedFunc(slices.Values(candidates), func(a, b corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	random(fault, run).Shuffle(len(sorted), func(i, j int) { sorted[i], sorted[j] = sorted[j], sorted[i] })
	var targets []v1alpha1.FaultTarget
	for _, pod := range sorted[:min(len(sorted), int(count))] {
		targets = append(targets, v1alpha1.FaultTarget{Pod: pod.Name, UID: pod.UID, Node: pod.Spec.NodeName})
	}
	return targets
}

// MaxTargets is how many pods a fault may kill: the status records all of them.
const MaxTargets = 64

// AddNeighbors adds the pods that run on the nodes of the targets.
func AddNeighbors(targets []v1alpha1.FaultTarget, pods []corev1.Pod) []v1alpha1.FaultTarget {
	nodes, known := map[string]bool{}, map[types.UID]bool{}
	for _, target := range targets {
		nodes[target.Node], known[target.UID] = true, true
	}
	all := slices.Clone(targets)
	for _, pod := range pods {
		if nodes[pod.Spec.NodeName] && !known[pod.UID] {
			known[pod.UID] = true
			all = append(all, v1alpha1.FaultTarget{Pod: pod.Name, UID: pod.UID, Node: pod.Spec.NodeName})
		}
	}
	return all
}

// random is seeded by the block, the scenario and the fault.
func random(fault v1alpha1.Fault, run *v1alpha1.PerfRunSpec) *rand.Rand {
	of := fnv.New64a()
	of.Write([]byte(run.Scenario.Name + "/" + fault.Name))
	return rand.New(rand.NewPCG(uint64(run.Seed), of.Sum64()))
}

// Begin records the start of a fault, and with it the end of its observation.
func Begin(status *v1alpha1.RunFault, fault v1alpha1.Fault, now time.Time) {
	begin, end := metav1.NewMicroTime(now), metav1.NewMicroTime(now.Add(fault.ObserveOrDefault()))
	status.Begin, status.End = &begin, &end
}

// Progress describes the next or the current fault; empty if all are over.
func Progress(statuses []v1alpha1.RunFault, now time.Time) string {
	for _, status := range statuses {
		switch {
		case now.Before(status.Due.Time):
			return fmt.Sprintf("fault %s in %s", status.Name, formatSeconds(status.Due.Sub(now)))
		case status.Begin == nil:
			return fmt.Sprintf("fault %s is due", status.Name)
		case now.Before(status.End.Time):
			return fmt.Sprintf("fault %s began %s ago", status.Name, formatSeconds(now.Sub(status.Begin.Time)))
		}
	}
	return ""
}

// settle is the time after an observation in which restarts during it may still be noticed.
const settle = 5 * time.Second

// lasts reports whether a fault changes a component until the end of the run, so that restarts
// follow from it even after its observation.
func lasts(fault v1alpha1.Fault) bool {
	restart := fault.Restart
	return restart != nil && (restart.NewImage() != "" || restart.Memory != nil || restart.Kafka != nil && restart.Kafka.Version != "")
}

// AllowRestarts returns how many restarts follow from faults, given the number of all restarts so
// far. A fault under observation accounts for those that no other one does, and that came after its
// begin; one that lasts, also later.
func AllowRestarts(declared []v1alpha1.Fault, statuses []v1alpha1.RunFault, all int32, now time.Time) int32 {
	var allowed int32
	for i := range statuses {
		allowed += statuses[i].Restarts
	}
	for i := range statuses {
		fault := &statuses[i]
		if fault.Begin == nil {
			fault.EarlierRestarts = all - allowed
			continue
		}
		isLasting := slices.ContainsFunc(declared, func(one v1alpha1.Fault) bool { return one.Name == fault.Name && lasts(one) })
		if others := all - allowed - fault.EarlierRestarts; others > 0 && (isLasting || now.Before(fault.End.Add(settle))) {
			fault.Restarts += others
			allowed += others
		}
	}
	return allowed
}

// maxReplacements of a fault are recorded.
const maxReplacements = 64

// TrackReplacements records the pods that appear while a fault is observed, given all current pods,
// and returns how many of the recorded ones have disappeared. Known are the pods from before.
func TrackReplacements(statuses []v1alpha1.RunFault, known *v1alpha1.EffectiveSystem, present []corev1.Pod, now time.Time) (gone int32) {
	recorded, there := uids(known), map[types.UID]bool{}
	for _, pod := range present {
		there[pod.UID] = true
	}
	for _, status := range statuses {
		for _, replacement := range status.Replacements {
			recorded[replacement.UID] = true
			if !there[replacement.UID] {
				gone++
			}
		}
	}
	for i := range statuses {
		fault := &statuses[i]
		if fault.End == nil || !now.Before(fault.End.Add(settle)) {
			continue
		}
		for _, pod := range present {
			if !recorded[pod.UID] && len(fault.Replacements) < maxReplacements {
				recorded[pod.UID] = true
				fault.Replacements = append(fault.Replacements, v1alpha1.FaultTarget{Pod: pod.Name, UID: pod.UID, Node: pod.Spec.NodeName})
			}
		}
	}
	return gone
}

// uids of the pods of a system.
func uids(system *v1alpha1.EffectiveSystem) map[types.UID]bool {
	all := map[types.UID]bool{}
	pods := slices.Concat(system.KafkaPods, system.PostgresPods)
	for _, module := range system.Modules {
		pods = append(pods, module.Pods...)
	}
	for _, pod := range pods {
		all[pod.UID] = true
	}
	return all
}

// StrikesPostgres reports whether a fault of a scenario may change the roles of PostgreSQL's
// instances.
func StrikesPostgres(scenario *v1alpha1.Scenario) bool {
	return slices.ContainsFunc(scenario.Faults, func(fault v1alpha1.Fault) bool {
		switch {
		case fault.Kill != nil:
			return fault.Kill.Postgres != "" || fault.Kill.WholeNode
		case fault.Restart != nil:
			return fault.Restart.Postgres != nil
		case fault.Partitions != nil:
			return false
		}
		// A switchover does, and the targets of a custom resource are unknown.
		return true
	})
}
