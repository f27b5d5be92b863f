// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/restore"
	"perflab.dev/perflab/internal/load/faults"
	"perflab.dev/perflab/internal/measure/results"
)

const (
	// missingKindRetryInterval is how often missing kinds are looked up: there is nothing to
	// watch.
	missingKindRetryInterval = 10 * time.Second
	// statusWriteDelay lets the status be written before the next reconcile acts on it.
	statusWriteDelay = time.Second
)

// stepBegin records the start of the run.
func (r *Reconciler) stepBegin(_ context.Context, s *scope) (outcome, error) {
	s.stamp(&s.status().Timings.ProvisionStart)
	deadline, _ := s.limit(s)
	s.requeueAt(deadline)
	// No watch reports that a grace period is over.
	s.requeueAt(s.now.Add(environment.SilenceThreshold / 3))
	return next(), nil
}

// stepOperators checks that the required operators are installed, before anything is built.
func (r *Reconciler) stepOperators(_ context.Context, s *scope) (outcome, error) {
	for _, part := range component.All {
		for _, needed := range part.RequiredOperators(r.NewRequest(s.run, s.experiment)) {
			if taken, err := r.checkOperator(s, part.Describe().Condition, needed); err != nil || !taken.done {
				return taken, err
			}
		}
	}
	for _, declared := range s.run.Spec.Scenario.Faults {
		kind, isResource := faults.Kind(declared)
		if !isResource {
			continue
		}
		needed := component.Operator{Kind: kind, Name: fmt.Sprintf("the operator of fault %q", declared.Name)}
		if taken, err := r.checkOperator(s, v1alpha1.ConditionLoadsComplete, needed); err != nil || !taken.done {
			return taken, err
		}
	}
	return next(), nil
}

// checkOperator waits until the cluster serves the kind of an operator.
func (r *Reconciler) checkOperator(s *scope, condition string, needed component.Operator) (outcome, error) {
	_, served, err := r.Cluster.Serves(needed.Kind)
	if err != nil || served {
		return next(), err
	}
	missing := environment.NotReady(v1alpha1.ReasonOperatorMissing, fmt.Sprintf("the cluster does not serve %s: install %s", needed.Kind, needed.Name))
	s.setReadiness(condition, missing)
	return s.notReady(needed.Name, missing).pollAfter(missingKindRetryInterval), nil
}

// provisionStep is the step that provisions a component and waits until it is ready.
func (r *Reconciler) provisionStep(part component.Component) step {
	return step{part.Describe().Condition, func(ctx context.Context, s *scope) (outcome, error) {
		progress, err := part.Provision(ctx, r.newScope(s))
		if err != nil {
			return outcome{}, err
		}
		return s.reportProgress(part, progress), nil
	}}
}

// reportProgress reports the readiness of a component and waits until it is ready. It does not
// wait for image pulls: stepImagesPulled does.
func (s *scope) reportProgress(part component.Component, progress component.Progress) outcome {
	s.setReadiness(part.Describe().Condition, progress.Readiness)
	if progress.Ready || progress.Reason == v1alpha1.ReasonPulling {
		return next()
	}
	return s.notReady(part.Describe().Name, progress.Readiness).pollAfter(progress.RequeueAfter)
}

// stepImagesPulled waits for the images of loads and collector, which are pulled while the
// environment is provisioned: a started load has a deadline for its runners.
func (r *Reconciler) stepImagesPulled(_ context.Context, s *scope) (outcome, error) {
	images := s.readiness[v1alpha1.ConditionImagesAvailable]
	if images.Ready {
		return next(), nil
	}
	return s.notReady(component.Images.Name, images), nil
}

// stepExternalTarget first checks a target that is not part of the system: nothing that the run
// builds makes it respond.
func (r *Reconciler) stepExternalTarget(ctx context.Context, s *scope) (outcome, error) {
	if s.run.Spec.System.Target.URL == "" {
		return next(), nil
	}
	return r.provisionStep(component.Target).do(ctx, s)
}

// stepStores provisions the servers that modules connect to, concurrently. An error of one does
// not keep the others from being provisioned and reported.
func (r *Reconciler) stepStores(ctx context.Context, s *scope) (outcome, error) {
	waiting := next()
	for _, store := range component.Stores {
		progress, err := store.Provision(ctx, r.newScope(s))
		var stored outcome
		if err == nil {
			stored = s.reportProgress(store, progress)
		} else {
			stored, err = s.handleRefusal(store.Describe().Condition, err)
		}
		if err != nil {
			return outcome{}, componentError{store, err}
		}
		if s.fault != nil {
			return next(), nil
		}
		if waiting.done {
			waiting = stored
		}
	}
	if waiting.done {
		s.stamp(&s.status().Timings.Provisioned)
	}
	return waiting, nil
}

// stepStop deletes the modules of the previous run before a restore, which they could disturb
// by writes or open connections. It runs once per run: later modules are the run's own.
func (r *Reconciler) stepStop(ctx context.Context, s *scope) (outcome, error) {
	timings := &s.status().Timings
	if s.run.Spec.Restore == nil || timings.Stopped != nil {
		return next(), nil
	}
	gone, err := component.Modules.Stop(ctx, r.newScope(s))
	if err != nil {
		return outcome{}, err
	}
	if !gone {
		return s.reportProgress(component.Modules, component.Progress{
			Readiness: environment.NotReady(v1alpha1.ReasonRestoring, "waiting for the modules of the previous run to be deleted"),
		}), nil
	}
	s.stamp(&timings.Stopped)
	return waitFor(statusWriteDelay), nil
}

// stepRestore restores data while no module runs.
func (r *Reconciler) stepRestore(ctx context.Context, s *scope) (outcome, error) {
	if restore.NeedsModules(s.run.Spec.Restore) {
		return next(), nil
	}
	return r.restoreData(ctx, s)
}

// stepRestoreCall restores data through a running module.
func (r *Reconciler) stepRestoreCall(ctx context.Context, s *scope) (outcome, error) {
	if !restore.NeedsModules(s.run.Spec.Restore) {
		return next(), nil
	}
	return r.restoreData(ctx, s)
}

func (r *Reconciler) restoreData(ctx context.Context, s *scope) (outcome, error) {
	timings := &s.status().Timings
	if s.run.Spec.Restore == nil || timings.Restored != nil {
		return next(), nil
	}
	progress, err := component.Data.Provision(ctx, r.newScope(s))
	if err != nil {
		return outcome{}, err
	}
	switch {
	case progress.Ready:
		s.stamp(&timings.Restored)
	case progress.Reason == v1alpha1.ReasonRestoreFailed:
		s.setReadiness(v1alpha1.ConditionDataRestored, progress.Readiness)
		s.fault = &results.Fault{Reason: progress.Reason, Message: "the restore failed: " + progress.Message}
		return next(), nil
	}
	return s.reportProgress(component.Data, progress), nil
}
