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

// collectTimeout bounds how long storing the results may take after the loads.
const collectTimeout = 5 * time.Minute

// phase is a part of a run. Each reconcile executes its steps until it is done.
type phase struct {
	// isDone reports whether the run has completed the phase.
	isDone func(v1alpha1.RunTimings) bool
	// limit is the deadline of the phase, and the message when it is missed.
	limit func(*scope) (deadline time.Time, missed string)
	steps []step
}

// step is one thing that a run does or waits for.
type step struct {
	// condition reports what the step waits for.
	condition string
	do        func(context.Context, *scope) (outcome, error)
}

// phases of a run: build, load, collect, archive. An invalid run stops its loads, and is
// archived.
func (r *Reconciler) phases(s *scope) []phase {
	keep := phase{isDone: never, limit: noLimit, steps: r.archiveSteps()}
	if s.fault != nil {
		return []phase{{isDone: finished, limit: noLimit, steps: r.invalidSteps()}, keep}
	}
	return []phase{
		{isDone: built, limit: buildLimit, steps: r.buildSteps()},
		{isDone: loaded, limit: loadLimit, steps: r.loadSteps()},
		{isDone: finished, limit: collectLimit, steps: r.collectSteps()},
		keep,
	}
}

func (r *Reconciler) buildSteps() []step {
	return []step{
		{"", r.stepBegin},
		{v1alpha1.ConditionScriptsAvailable, r.stepScripts},
		{v1alpha1.ConditionTargetReachable, r.stepOperators},
		r.provisionStep(component.Images),
		{v1alpha1.ConditionTargetReachable, r.stepExternalTarget},
		{v1alpha1.ConditionKafkaReady, r.stepStores},
		{v1alpha1.ConditionModulesReady, r.stepStop},
		{v1alpha1.ConditionDataRestored, r.stepRestore},
		r.provisionStep(component.Modules),
		r.provisionStep(component.Target),
		{v1alpha1.ConditionDataRestored, r.stepRestoreCall},
		{v1alpha1.ConditionImagesAvailable, r.stepImagesPulled},
		{v1alpha1.ConditionModulesReady, r.stepVerify},
	}
}

func (r *Reconciler) loadSteps() []step {
	return []step{
		{v1alpha1.ConditionLoadsComplete, r.stepCollector},
		// Again: a script may have been edited while the environment was provisioned.
		{v1alpha1.ConditionScriptsAvailable, r.stepScripts},
		// A restart during the load ends the run early: it is invalid anyway.
		{v1alpha1.ConditionModulesReady, r.stepRestarts},
		{v1alpha1.ConditionLoadsComplete, r.stepFaults},
		{v1alpha1.ConditionLoadsComplete, r.stepLoads},
	}
}

func (r *Reconciler) collectSteps() []step {
	return []step{
		{v1alpha1.ConditionResultsKept, r.stepServers},
		{v1alpha1.ConditionResultsKept, r.stepCollect},
		{v1alpha1.ConditionModulesReady, r.stepVerifyAfterLoad},
		{v1alpha1.ConditionModulesReady, r.stepRestarts},
		{v1alpha1.ConditionResultsKept, r.stepFinish},
	}
}

// archiveSteps follow when the run no longer changes. They wait without a deadline: for the end of
// faults, which would disturb later runs, and for an unavailable archive, because no data is lost.
func (r *Reconciler) archiveSteps() []step {
	return []step{
		{v1alpha1.ConditionLoadsComplete, r.stepFaultsGone},
		{v1alpha1.ConditionArchived, r.stepArchive},
		{v1alpha1.ConditionResultsKept, r.stepEnd},
	}
}

func (r *Reconciler) invalidSteps() []step {
	return []step{
		{v1alpha1.ConditionResultsKept, r.stepSalvage},
		{v1alpha1.ConditionLoadsComplete, r.stepStopLoads},
		{v1alpha1.ConditionLoadsComplete, r.stepEndCollector},
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
	return since.Add(limit), fmt.Sprintf("the loads did not start within %s", limit)
}

func collectLimit(s *scope) (time.Time, string) {
	limit := collectTimeout + collector.CatchUpTime(s.run)
	return s.status().Timings.LoadFinish.Add(limit), fmt.Sprintf("the results could not be stored within %s", limit)
}

// runSteps executes the steps until one is not done or finds a fault. The fault is written
// first; the next reconcile executes the steps of an invalid run.
func (r *Reconciler) runSteps(ctx context.Context, s *scope) (ctrl.Result, error) {
	hadFault := s.fault != nil
	if r.enforceLongestTurn(s) {
		return r.result(s, next()), nil
	}
	for _, phase := range r.phases(s) {
		if phase.isDone(s.status().Timings) {
			continue
		}
		s.limit = phase.limit
		for _, step := range phase.steps {
			outcome, err := step.do(ctx, s)
			if err != nil {
				outcome, err = s.handleRefusal(step.condition, err)
			}
			if err != nil {
				return ctrl.Result{}, err
			}
			if isNew := s.fault != nil && !hadFault; isNew || !outcome.done {
				return r.result(s, outcome), nil
			}
		}
	}
	return ctrl.Result{}, nil
}

// enforceLongestTurn makes a run invalid that takes longer than the operator allows, and
// reports whether it did.
func (r *Reconciler) enforceLongestTurn(s *scope) bool {
	begun := s.status().Timings.ProvisionStart
	if r.LongestTurn <= 0 || s.fault != nil || begun == nil || finished(s.status().Timings) {
		return false
	}
	end := begun.Add(r.LongestTurn)
	if s.now.Before(end) {
		s.requeueAt(end)
		return false
	}
	s.fault = &results.Fault{
		Reason:  v1alpha1.ReasonDeadline,
		Message: fmt.Sprintf("the run took longer than %s, the limit of this operator's --longest-turn", prose.Duration(r.LongestTurn)),
	}
	return true
}

// notReady waits, or makes the run invalid when the deadline of the phase has passed or waiting
// cannot help.
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
		s.requeueAt(deadline)
		return wait()
	}
	s.fault = &results.Fault{
		Reason:  v1alpha1.ReasonDeadline,
		Message: fmt.Sprintf("%s; last status of %s: %s", missed, what, readiness.Message),
	}
	return next()
}

// componentError is an error of a component.
type componentError struct {
	component component.Component
	error
}

func (t componentError) Unwrap() error { return t.error }

// handleRefusal reports why a step cannot continue, and retries until the deadline of the
// phase. Temporary errors of the API server are returned for backoff, once they are reported.
func (s *scope) handleRefusal(condition string, err error) (outcome, error) {
	readiness, known := component.RefusalReadiness(err)
	if !known {
		return outcome{}, err
	}
	if known := (componentError{}); errors.As(err, &known) {
		condition = known.component.Describe().Condition
	}
	label := ""
	if refusal := kube.AsRefusal(err); refusal != nil {
		label = refusal.Component
	}
	of := component.FindComponent(label, condition)
	s.setReadiness(of.Condition, readiness)
	if s.fault != nil {
		s.blocked = readiness.Message
		return waitFor(component.RefusalRetryInterval), nil
	}
	waiting := s.notReady(of.Name, readiness)
	if readiness.Reason == v1alpha1.ReasonRetrying && s.fault == nil {
		return outcome{}, err
	}
	waiting.after = component.RefusalRetryInterval
	return waiting, nil
}
