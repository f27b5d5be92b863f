// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/text/decimal"
	"perflab.dev/perflab/payload"
)

// takesUsers is how many users each arm takes.
var takesUsers = map[string]int32{"as-is": 40, "slow": 20}

// withCapacity looks for the capacity by loads of 30 s with 6 levels.
func withCapacity(e *v1alpha1.PerfExperiment) {
	e.Spec.Design.Blocks = 3
	e.Spec.Analysis.Primary = nil
	e.Spec.Measurement.WarmUp = nil
	scenario := &e.Spec.Scenarios[0]
	scenario.Loads[0].Duration = &metav1.Duration{Duration: 30 * time.Second}
	scenario.Loads[0].CheckInCheckOut.Users = 160
	scenario.Capacity = &v1alpha1.Capacity{
		Min: 5, Settle: &metav1.Duration{},
		Objectives: []v1alpha1.Objective{{Metric: "cico/Check-In/p95", Max: "1s"}},
	}
}

// measureLevels makes k6 report check-ins that take a second when the users are those that the arm
// takes, and failed ones beyond.
func (l *lab) measureLevels() {
	l.outside.lasts = 30 * time.Second
	l.outside.forge = func(own *payload.Payload) {
		run := l.runNamed(own.Run)
		limit := takesUsers[run.Spec.Arm]
		start := own.Start
		forged := payload.New(own.Load, own.Run, own.Runner, start)
		for second := range 30 {
			users := run.Spec.Levels[min(second/5, len(run.Spec.Levels)-1)]
			for range 10 {
				outcome := payload.OK
				if users > limit {
					outcome = payload.Error
				}
				took := time.Second * time.Duration(users) / time.Duration(limit)
				forged.Record("Check-In", payload.OK, start.Add(time.Duration(second)*time.Second), took)
				forged.Record("Check-In", outcome, start.Add(time.Duration(second)*time.Second), took)
			}
		}
		forged.End, forged.Final = start.Add(30*time.Second), true
		*own = *forged
	}
}

func (l *lab) runNamed(name string) v1alpha1.PerfRun {
	l.t.Helper()
	runs := l.runs()
	return runs[slices.IndexFunc(runs, func(run v1alpha1.PerfRun) bool { return run.Name == name })]
}

// Levels of later runs surround the capacity that earlier runs of the arm found, and overload is no
// fault.
func TestCapacityIsFound(t *testing.T) {
	l := newLab(t, complete)
	l.measureLevels()
	l.create(login(), smallExperiment(t, withCapacity))
	done := l.untilPhase("small", v1alpha1.ExperimentComplete)
	for _, run := range l.runs() {
		levels, takes := run.Spec.Levels, takesUsers[run.Spec.Arm]
		if run.Status.Phase != v1alpha1.RunSucceeded || run.Status.Capacity == nil {
			t.Fatalf("run %s is %s: %s", run.Name, run.Status.Phase, run.Status.Message)
		}
		if isFirst := levels[0] == 5 && levels[5] == 160; isFirst != (run.Spec.Block == 1) || run.Status.Capacity.Coarse != isFirst || levels[0] >= takes || levels[5] <= takes {
			t.Errorf("run %s of block %d, whose arm takes %d, visits %v", run.Name, run.Spec.Block, takes, levels)
		}
		if len(run.Status.Warnings) > 0 {
			t.Errorf("run %s warns %q", run.Name, run.Status.Warnings)
		}
		expectNear(t, run.Name, run.Status.Capacity.Value, float64(takes))
	}
	if len(done.Status.Capacities) != 2 {
		t.Fatalf("capacities %+v", done.Status.Capacities)
	}
	for _, found := range done.Status.Capacities {
		expectNear(t, found.Arm, found.Value, float64(takesUsers[found.Arm]))
		if found.Runs != 2 || found.Coarse != 1 || found.Limiting != "cico/Check-In/p95" || found.LimitingRuns != 2 || found.Unit != "users" || found.Low == "" {
			t.Errorf("capacity %+v", found)
		}
	}
	l.verifyChain("small")
}

func expectNear(t *testing.T, of, number string, want float64) {
	t.Helper()
	if value, err := decimal.Parse(number); err != nil || value < 0.8*want || value > 1.25*want {
		t.Errorf("%s takes %q, want about %v", of, number, want)
	}
}
