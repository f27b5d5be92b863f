//go:build e2e

// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
)

// TestCapacitySample checks that each run visits four levels, and measures their objectives
// and throughput. A gateway with half of the CPU reaches a lower throughput. docs/examples,
// which has more time, shows that it takes half of the load.
func TestCapacitySample(t *testing.T) {
	complete, done := runSample(t, "capacity.yaml", shorten, func(e *v1alpha1.PerfExperiment) {
		capacity := e.Spec.Scenarios[0].Capacity
		capacity.Levels, capacity.Step, capacity.Settle = ptr.To[int32](4), &metav1.Duration{Duration: 8 * time.Second}, &metav1.Duration{Duration: 2 * time.Second}
		e.Spec.Reset = v1alpha1.ResetNone
	})
	highest := map[string]float64{}
	for _, run := range done {
		found := run.Status.Capacity
		if found == nil || len(found.Levels) != 4 {
			t.Fatalf("run %s: capacity %+v", run.Name, found)
		}
		t.Logf("%s: %s %s, limited by %s", run.Spec.Arm, found.Side, found.Value, found.Limiting)
		first, last := rateOf(t, found.Levels[0]), rateOf(t, found.Levels[3])
		if found.Levels[0].Level != 4 || found.Levels[3].Level != 200 || first <= 0 || last < 2*first {
			t.Errorf("run %s: %v searches a second with %d users, and %v with %d", run.Name, first, found.Levels[0].Level, last, found.Levels[3].Level)
		}
		highest[run.Spec.Arm] = last
	}
	if highest["half"] > 0.8*highest["full"] {
		t.Errorf("searches a second of 200 users: %v, want clearly less with half of the CPU", highest)
	}
	if len(complete.Status.Capacities) != 2 {
		t.Errorf("capacities %+v", complete.Status.Capacities)
	}
}

// rateOf returns the iterations per second at a level.
func rateOf(t *testing.T, level v1alpha1.CapacityLevel) float64 {
	t.Helper()
	for _, observed := range level.Observations {
		if observed.Metric == "search/iterationsPerSecond" {
			return decimal(t, observed.Value)
		}
	}
	return 0
}
