// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/measure/collector"
	"perflab.dev/perflab/internal/measure/results"
	"perflab.dev/perflab/internal/text/prose"
)

// gatherTime is how long what was measured may take to be kept, once the loads
// are over and the logs are read.
const gatherTime = 5 * time.Minute

// phase is a stretch of a run. Its steps are gone through in each pass until it
// is over.
type phase struct {
	// over says that the stretch lies behind the run.
	over func(v1alpha1.RunTimings) bool
	// limit is when waiting has an end, and the sentence to say so then.
	limit func(*scope) (deadline time.Time, missed string)
	steps []step
}

// step is one thing a run goes through.
type step struct {
	// condition speaks of what the step waits for.
	condition string
	do        func(context.Context, *scope) (outcome, error)
}

// phases are what a run goes through: it builds, loads, gathers and is kept. One that
// does not count is abandoned, and kept.
func (r *Reconciler) phases(s *scope) []phase {
	keep := phase{over: never, limit: noLimit, steps: r.keepSteps()}
	if s.fault != nil {
		return []phase{{over: finished, limit: noLimit, steps: r.abandonSteps()}, keep}
	}
	return []phase{
		{over: built, limit: buildLimit, steps: r.buildSteps()},
		{over: loaded, limit: loadLimit, steps: r.loadSteps()},
		{over: finished, limit: gatherLimit, steps: r.gatherSteps()},
		keep,
	}
}

func (r *Reconciler) buildSteps() []step {
	return []step{
		{"", r.stepBegin},
		{v1alpha1.ConditionScriptsAvailable, r.stepScripts},
		{v1alpha1.ConditionTargetReachable, r.stepOperators},
		r.ready(component.Images),
		{v1alpha1.ConditionTargetReachable, r.stepOutsideTarget},
		{v1alpha1.ConditionKafkaReady, r.stepStores},
		{v1alpha1.ConditionModulesReady, r.stepStop},
		{v1alpha1.ConditionDataRestored, r.stepRestore},
		r.ready(component.Modules),
		r.ready(component.Target),
		{v1alpha1.ConditionDataRestored, r.stepRestoreCall},
		{v1alpha1.ConditionImagesAvailable, r.stepPulled},
		{v1alpha1.ConditionModulesReady, r.stepProve},
	}
}

func (r *Reconciler) loadSteps() []step {
	return []step{
		{v1alpha1.ConditionLoadsComplete, r.stepCollector},
		// Again, for a script may have been edited while the environment came up.
		{v1alpha1.ConditionScriptsAvailable, r.stepScripts},
		// What ends under a load ends the run: hours of load that can't count help
		// nobody.
		{v1alpha1.ConditionModulesReady, r.stepRestarts},
		{v1alpha1.ConditionLoadsComplete, r.stepLoads},
	}
}

func (r *Reconciler) gatherSteps() []step {
	return []step{
		{v1alpha1.ConditionResultsKept, r.stepServers},
		{v1alpha1.ConditionResultsKept, r.stepCollect},
		{v1alpha1.ConditionModulesReady, r.stepProveAgain},
		{v1alpha1.ConditionModulesReady, r.stepRestarts},
		{v1alpha1.ConditionResultsKept, r.stepFinish},
	}
}

// keepSteps come when nothing about the run changes any more. An archive that is away is
// waited for without an end: nothing is lost meanwhile.
func (r *Reconciler) keepSteps() []step {
	return []step{
		{v1alpha1.ConditionArchived, r.stepArchive},
		{v1alpha1.ConditionResultsKept, r.stepEnd},
	}
}

func (r *Reconciler) abandonSteps() []step {
	return []step{
		{v1alpha1.ConditionResultsKept, r.stepSalvage},
		{v1alpha1.ConditionLoadsComplete, r.stepStopLoads},
		{v1alpha1.ConditionLoadsComplete, r.stepDismissCollector},
		{v1alpha1.ConditionModulesReady, r.stepRestarts},
		{v1alpha1.ConditionResultsKept, r.stepFinish},
	}
}

func never(v1alpha1.RunTimings) bool { return false }

func built(timings v1alpha1.RunTimings) bool { return timings.Ready != nil }

func loaded(timings v1alpha1.RunTimings) bool { return timings.LoadFinish != nil }

func finished(timings v1alpha1.RunTimings) bool { return timings.Finish != nil }

func noLimit(*scope) (time.Time, string) { return time.Time{}, "" }

func buildLimit(s *scope) (time.Time, string) {
	limit := s.run.Spec.Deadlines.EnvironmentOrDefault()
	return s.status().Timings.ProvisionStart.Add(limit), fmt.Sprintf("the environment was not ready within %s", limit)
}

func loadLimit(s *scope) (time.Time, string) {
	limit := s.run.Spec.Deadlines.LoadStartOrDefault()
	since := s.status().Timings.Ready.Time
	for _, load := range s.status().Loads {
		if load.CreateTime != nil && load.CreateTime.After(since) {
			since = load.CreateTime.Time
		}
	}
	return since.Add(limit), fmt.Sprintf("the loads could not be put on within %s", limit)
}

func gatherLimit(s *scope) (time.Time, string) {
	limit := gatherTime + collector.CatchUpOf(s.run)
	return s.status().Timings.LoadFinish.Add(limit), fmt.Sprintf("what was measured could not be kept within %s", limit)
}

// runSteps goes through the steps until one is not done or finds a fault: the
// fault is written down first, the pass after that goes through other steps.
func (r *Reconciler) runSteps(ctx context.Context, s *scope) (ctrl.Result, error) {
	known := s.fault != nil
	if r.limitTurn(s) {
		return r.result(s, next()), nil
	}
	for _, phase := range r.phases(s) {
		if phase.over(s.status().Timings) {
			continue
		}
		s.limit = phase.limit
		for _, step := range phase.steps {
			outcome, err := step.do(ctx, s)
			if err != nil {
				outcome, err = s.cannot(step.condition, err)
			}
			if err != nil {
				return ctrl.Result{}, err
			}
			if found := s.fault != nil && !known; found || !outcome.done {
				return r.result(s, outcome), nil
			}
		}
	}
	return ctrl.Result{}, nil
}

// limitTurn gives up a run that keeps others waiting for longer than the operator allows,
// and reports whether it did.
func (r *Reconciler) limitTurn(s *scope) bool {
	begun := s.status().Timings.ProvisionStart
	if r.LongestTurn <= 0 || s.fault != nil || begun == nil || finished(s.status().Timings) {
		return false
	}
	end := begun.Add(r.LongestTurn)
	if s.now.Before(end) {
		s.alarm(end)
		return false
	}
	s.fault = &results.Fault{
		Reason:  v1alpha1.ReasonDeadline,
		Message: fmt.Sprintf("the run took longer than %s, which is as long as this operator's --longest-turn lets any run take", prose.Duration(r.LongestTurn)),
	}
	return true
}

// notReady waits, or gives the run up when the phase has had its time, or when
// more of it would change nothing.
func (s *scope) notReady(what string, readiness environment.Readiness) outcome {
	if readiness.Final {
		s.fault = &results.Fault{Reason: readiness.Reason, Message: readiness.Message}
		return next()
	}
	deadline, missed := s.limit(s)
	if deadline.IsZero() {
		return wait()
	}
	if s.now.Before(deadline) {
		s.alarm(deadline)
		return wait()
	}
	s.fault = &results.Fault{
		Reason:  v1alpha1.ReasonDeadline,
		Message: fmt.Sprintf("%s; last seen of %s: %s", missed, what, readiness.Message),
	}
	return next()
}

// troubleOf says which component an error is about.
type troubleOf struct {
	part component.Component
	error
}

func (t troubleOf) Unwrap() error { return t.error }

// cannot tells why a step can't go on, and waits with it until the phase has had
// its time. What the API server can't do for now is left to the back-off of
// failed passes, once it has been told.
func (s *scope) cannot(condition string, err error) (outcome, error) {
	readiness, known := component.RefusalOf(err)
	if !known {
		return outcome{}, err
	}
	if known := (troubleOf{}); errors.As(err, &known) {
		condition = known.part.About().Condition
	}
	label := ""
	if refusal := kube.AsRefusal(err); refusal != nil {
		label = refusal.Component
	}
	of := component.PartOf(label, condition)
	s.tell(of.Condition, readiness)
	if s.fault != nil {
		s.held = readiness.Message
		return waitFor(component.RefusedPause), nil
	}
	waiting := s.notReady(of.Name, readiness)
	if readiness.Reason == v1alpha1.ReasonRetrying && s.fault == nil {
		return outcome{}, err
	}
	waiting.after = component.RefusedPause
	return waiting, nil
}
