// SPDX-License-Identifier: Apache-2.0

// Package schedule decides what an experiment does next from its plan and the observed
// attempts. It is pure: no client, no clock.
package schedule

import (
	"cmp"
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/plan"
)

// Attempt is one attempt at a planned run, as observed in the cluster.
type Attempt struct {
	Name     string
	Block    int32
	Arm      string
	Scenario string
	// Number of the attempt, from 1.
	Number int32
	Phase  v1alpha1.RunPhase
	// Cause is a deterministic reason for the failure: before the load started, or by the
	// script. It is empty if the failure may be random.
	Cause string
}

// Action is what to do next.
type Action string

const (
	// Start the run Decision.Run as attempt Decision.Attempt.
	Start Action = "Start"
	// Wait for the running attempt Decision.Active.
	Wait Action = "Wait"
	// Hold because the experiment is suspended.
	Hold Action = "Hold"
	// Finish because every planned run has a valid attempt.
	Finish Action = "Finish"
	// GiveUp because Decision.Run failed as often as allowed, or twice for the same cause.
	GiveUp Action = "GiveUp"
)

// Decision is what to do next, with the counts it depends on.
type Decision struct {
	Action  Action
	Run     plan.Run
	Attempt int32
	// Active is the name of the running attempt.
	Active string
	// SameCause: the attempts at Decision.Run failed for the same cause, so another would
	// fail as well.
	SameCause bool
	// Done is the number of planned runs with a valid attempt.
	Done int32
	// Invalid is the number of invalid attempts.
	Invalid int32
}

// Limits bound the attempts.
type Limits struct {
	// MaxAttempts is the limit of existing attempts at one run. Deleting an attempt allows
	// another.
	MaxAttempts int32
	// Suspend starts no further run.
	Suspend bool
	// Made counts the attempts by position in the plan, including deleted ones, so that
	// numbers are never reused.
	Made v1alpha1.Attempts
}

type slot struct {
	block         int32
	arm, scenario string
}

// Next decides. It always waits for a running attempt, and retries a run with invalid
// attempts before the next one, so that blocks stay together in time.
func Next(planned plan.Plan, seen []Attempt, limits Limits) Decision {
	attempts := attemptsBySlot(seen)
	decision := count(planned, seen, attempts)
	if decision.Active != "" {
		decision.Action = Wait
		return decision
	}
	for _, run := range planned.Runs {
		tried := attempts[slot{run.Block, run.Arm, run.Scenario}]
		if succeeded(tried) {
			continue
		}
		decision.Run = run
		decision.Attempt = max(lastNumber(tried), limits.Made.At(run.Position)) + 1
		decision.SameCause = haveSameCause(tried)
		decision.Action = next(decision, len(tried), limits)
		return decision
	}
	decision.Action = Finish
	return decision
}

// haveSameCause reports whether the last two attempts failed for the same cause.
func haveSameCause(attempts []Attempt) bool {
	if len(attempts) < 2 {
		return false
	}
	last := slices.SortedFunc(slices.Values(attempts), func(a, b Attempt) int { return cmp.Compare(b.Number, a.Number) })
	return last[0].Cause != "" && last[0].Cause == last[1].Cause
}

func next(decision Decision, tried int, limits Limits) Action {
	switch {
	case tried >= int(limits.MaxAttempts) || decision.SameCause:
		return GiveUp
	case limits.Suspend:
		return Hold
	default:
		return Start
	}
}

func attemptsBySlot(seen []Attempt) map[slot][]Attempt {
	attempts := make(map[slot][]Attempt, len(seen))
	for _, attempt := range seen {
		key := slot{attempt.Block, attempt.Arm, attempt.Scenario}
		attempts[key] = append(attempts[key], attempt)
	}
	return attempts
}

func count(planned plan.Plan, seen []Attempt, attempts map[slot][]Attempt) Decision {
	var decision Decision
	for _, attempt := range seen {
		switch {
		case attempt.Phase == v1alpha1.RunInvalid:
			decision.Invalid++
		case !attempt.Phase.IsFinal() && (decision.Active == "" || attempt.Name < decision.Active):
			decision.Active = attempt.Name
		}
	}
	for _, run := range planned.Runs {
		if succeeded(attempts[slot{run.Block, run.Arm, run.Scenario}]) {
			decision.Done++
		}
	}
	return decision
}

func succeeded(attempts []Attempt) bool {
	for _, attempt := range attempts {
		if attempt.Phase == v1alpha1.RunSucceeded {
			return true
		}
	}
	return false
}

func lastNumber(attempts []Attempt) int32 {
	var last int32
	for _, attempt := range attempts {
		last = max(last, attempt.Number)
	}
	return last
}
