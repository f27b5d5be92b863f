// SPDX-License-Identifier: Apache-2.0

package schedule_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/plan"
	"perflab.dev/perflab/internal/planning/schedule"
)

func twoRuns() plan.Plan {
	return plan.Plan{Runs: []plan.Run{
		{Block: 1, Position: 1, Arm: "a", Scenario: "s"},
		{Block: 1, Position: 2, Arm: "b", Scenario: "s"},
	}}
}

func attempt(arm string, number int32, phase v1alpha1.RunPhase) schedule.Attempt {
	return schedule.Attempt{Name: fmt.Sprintf("%s-%d", arm, number), Block: 1, Arm: arm, Scenario: "s", Number: number, Phase: phase}
}

// caused returns an attempt that failed for a cause.
func caused(arm string, number int32, cause string) schedule.Attempt {
	failed := attempt(arm, number, v1alpha1.RunInvalid)
	failed.Cause = cause
	return failed
}

func TestAdvance(t *testing.T) {
	limits := schedule.Limits{MaxAttempts: 2}
	suspended := schedule.Limits{MaxAttempts: 2, Suspend: true}
	cases := map[string]struct {
		reason  string
		seen    []schedule.Attempt
		limits  schedule.Limits
		action  schedule.Action
		arm     string
		attempt int32
		active  string
		done    int32
		invalid int32
		alike   bool
	}{
		"nothing yet": {
			reason: "starts at the first position",
			limits: limits, action: schedule.Start, arm: "a", attempt: 1,
		},
		"one is on": {
			reason: "one run at a time",
			seen:   []schedule.Attempt{attempt("a", 1, v1alpha1.RunLoading)},
			limits: limits, action: schedule.Wait, active: "a-1",
		},
		"one has no phase yet": {
			reason: "a new run is active",
			seen:   []schedule.Attempt{attempt("a", 1, "")},
			limits: limits, action: schedule.Wait, active: "a-1",
		},
		"one is on while suspended": {
			reason: "suspend lets the active run finish",
			seen:   []schedule.Attempt{attempt("a", 1, v1alpha1.RunLoading)},
			limits: suspended, action: schedule.Wait, active: "a-1",
		},
		"first done": {
			reason: "continues at the next position",
			seen:   []schedule.Attempt{attempt("a", 1, v1alpha1.RunSucceeded)},
			limits: limits, action: schedule.Start, arm: "b", attempt: 1, done: 1,
		},
		"first invalid": {
			reason: "repeats an invalid run before the next position",
			seen:   []schedule.Attempt{attempt("a", 1, v1alpha1.RunInvalid)},
			limits: limits, action: schedule.Start, arm: "a", attempt: 2, invalid: 1,
		},
		"first deleted": {
			reason: "does not reuse the number of a deleted run",
			limits: schedule.Limits{MaxAttempts: 2, Made: []int32{1}}, action: schedule.Start, arm: "a", attempt: 2,
		},
		"deleted as often as it may be tried": {
			reason: "deleting the failed run retries it",
			limits: schedule.Limits{MaxAttempts: 2, Made: []int32{2}}, action: schedule.Start, arm: "a", attempt: 3,
		},
		"another one deleted": {
			reason: "attempts are counted for each position",
			seen:   []schedule.Attempt{attempt("a", 1, v1alpha1.RunSucceeded)},
			limits: schedule.Limits{MaxAttempts: 2, Made: []int32{2}}, action: schedule.Start, arm: "b", attempt: 1, done: 1,
		},
		"invalid too often": {
			reason: "attempts are limited",
			seen:   []schedule.Attempt{attempt("a", 1, v1alpha1.RunInvalid), attempt("a", 2, v1alpha1.RunInvalid)},
			limits: limits, action: schedule.GiveUp, arm: "a", attempt: 3, invalid: 2,
		},
		"invalid twice in one way": {
			reason: "a deterministic failure is not tried a third time",
			seen:   []schedule.Attempt{caused("a", 1, "heap"), caused("a", 2, "heap")},
			limits: schedule.Limits{MaxAttempts: 3}, action: schedule.GiveUp, arm: "a", attempt: 3, invalid: 2, alike: true,
		},
		"invalid twice in two ways": {
			seen:   []schedule.Attempt{caused("a", 1, "heap"), caused("a", 2, "image")},
			limits: schedule.Limits{MaxAttempts: 3}, action: schedule.Start, arm: "a", attempt: 3, invalid: 2,
		},
		"invalid twice by chance": {
			reason: "the failure may be random",
			seen:   []schedule.Attempt{attempt("a", 1, v1alpha1.RunInvalid), attempt("a", 2, v1alpha1.RunInvalid)},
			limits: schedule.Limits{MaxAttempts: 3}, action: schedule.Start, arm: "a", attempt: 3, invalid: 2,
		},
		"suspended": {
			reason: "suspend starts nothing",
			seen:   []schedule.Attempt{attempt("a", 1, v1alpha1.RunSucceeded)},
			limits: suspended, action: schedule.Hold, arm: "b", attempt: 1, done: 1,
		},
		"all done": {
			reason: "an invalid attempt before a valid one does not matter",
			seen: []schedule.Attempt{
				attempt("b", 1, v1alpha1.RunSucceeded), attempt("a", 1, v1alpha1.RunInvalid), attempt("a", 2, v1alpha1.RunSucceeded),
			},
			limits: suspended, action: schedule.Finish, done: 2, invalid: 1,
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			got := schedule.Next(twoRuns(), test.seen, test.limits)
			want := schedule.Decision{Action: test.action, Attempt: test.attempt, Active: test.active, Done: test.done, Invalid: test.invalid, SameCause: test.alike}
			want.Run = got.Run
			if got != want || got.Run.Arm != test.arm {
				t.Errorf("%s: got %+v, want %+v with arm %q", test.reason, got, want, test.arm)
			}
		})
	}
}

// TestSimulation simulates whole experiments with runs that fail at random.
func TestSimulation(t *testing.T) {
	spec := &v1alpha1.PerfExperimentSpec{
		Arms:      []v1alpha1.Arm{{Name: "a", Baseline: true}, {Name: "b"}, {Name: "c"}},
		Scenarios: []v1alpha1.Scenario{{Name: "s"}, {Name: "t"}},
		Design:    v1alpha1.Design{Blocks: 6},
	}
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 0))
		planned := plan.From(spec, v1alpha1.System{}, int64(seed))
		limits := schedule.Limits{MaxAttempts: 3}
		var seen []schedule.Attempt
		for step := 0; ; step++ {
			if step > 3*len(planned.Runs) {
				t.Fatalf("seed %d: no end after %d steps", seed, step)
			}
			decision := schedule.Next(planned, seen, limits)
			if decision.Action == schedule.Finish {
				if decision.Done != int32(len(planned.Runs)) {
					t.Errorf("seed %d: finished with %d of %d runs", seed, decision.Done, len(planned.Runs))
				}
				break
			}
			if decision.Action == schedule.GiveUp {
				if decision.Attempt != limits.MaxAttempts+1 {
					t.Errorf("seed %d: gave up before attempt %d", seed, decision.Attempt)
				}
				break
			}
			phase := v1alpha1.RunSucceeded
			if random.IntN(5) == 0 {
				phase = v1alpha1.RunInvalid
			}
			for _, earlier := range seen {
				if earlier.Arm == decision.Run.Arm && earlier.Scenario == decision.Run.Scenario &&
					earlier.Block == decision.Run.Block && earlier.Phase == v1alpha1.RunSucceeded {
					t.Fatalf("seed %d: %+v is done twice", seed, decision.Run)
				}
			}
			seen = append(seen, schedule.Attempt{
				Name: fmt.Sprint(step), Block: decision.Run.Block, Arm: decision.Run.Arm,
				Scenario: decision.Run.Scenario, Number: decision.Attempt, Phase: phase,
			})
		}
	}
}
