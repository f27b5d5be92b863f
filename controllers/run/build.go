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
	"perflab.dev/perflab/internal/measure/results"
)

const (
	// missingKindPause is the time between two looks for kinds that are not
	// installed: there is nothing to watch yet.
	missingKindPause = 10 * time.Second
	// writtenPause lets the status of a pass be written before the next one acts
	// on it.
	writtenPause = time.Second
)

// stepBegin starts the clock of the run.
func (r *Reconciler) stepBegin(_ context.Context, s *scope) (outcome, error) {
	s.mark(&s.status().Timings.ProvisionStart)
	deadline, _ := s.limit(s)
	s.alarm(deadline)
	// Patience ends without a watch to tell us.
	s.alarm(s.now.Add(environment.SilenceThreshold / 3))
	return next(), nil
}

// stepOperators makes sure that every operator the run needs is installed, before
// anything is built.
func (r *Reconciler) stepOperators(_ context.Context, s *scope) (outcome, error) {
	for _, part := range component.All {
		for _, needed := range part.Needs(s.request()) {
			_, served, err := r.Cluster.Serves(needed.Kind)
			if err != nil {
				return outcome{}, err
			}
			if !served {
				missing := environment.NotReady(v1alpha1.ReasonOperatorMissing, fmt.Sprintf(
					"the cluster does not serve %s: install %s", needed.Kind, needed.Name))
				s.tell(part.About().Condition, missing)
				return s.notReady(needed.Name, missing).within(missingKindPause), nil
			}
		}
	}
	return next(), nil
}

// ready is the step that builds a component and waits until it is ready.
func (r *Reconciler) ready(part component.Component) step {
	return step{part.About().Condition, func(ctx context.Context, s *scope) (outcome, error) {
		progress, err := part.Provision(ctx, r.seenBy(s))
		if err != nil {
			return outcome{}, err
		}
		return s.settle(part, progress), nil
	}}
}

// settle tells how far a part is, and waits until it is ready. Pulls that are on
// hold nothing up yet.
func (s *scope) settle(part component.Component, progress component.Progress) outcome {
	s.tell(part.About().Condition, progress.Readiness)
	if progress.Ready || progress.Reason == v1alpha1.ReasonPulling {
		return next()
	}
	return s.notReady(part.About().Name, progress.Readiness).within(progress.After)
}

// stepPulled waits for the images of loads and collector, which were pulled
// while the environment came up: a load that has begun waits for its runner's.
func (r *Reconciler) stepPulled(_ context.Context, s *scope) (outcome, error) {
	images := s.readiness[v1alpha1.ConditionImagesAvailable]
	if images.Ready {
		return next(), nil
	}
	return s.notReady(component.Images.Name, images), nil
}

// stepOutsideTarget asks a target that is not part of the system right away:
// nothing we build will make it answer.
func (r *Reconciler) stepOutsideTarget(ctx context.Context, s *scope) (outcome, error) {
	if s.run.Spec.System.Target.URL == "" {
		return next(), nil
	}
	return r.ready(component.Target).do(ctx, s)
}

// stepStores builds what modules connect to, side by side: what keeps one of them
// from being built keeps nobody from hearing of the others.
func (r *Reconciler) stepStores(ctx context.Context, s *scope) (outcome, error) {
	waiting := next()
	for _, store := range component.Stores {
		progress, err := store.Provision(ctx, r.seenBy(s))
		var stored outcome
		if err == nil {
			stored = s.settle(store, progress)
		} else {
			stored, err = s.cannot(store.About().Condition, err)
		}
		if err != nil {
			return outcome{}, troubleOf{store, err}
		}
		if s.fault != nil {
			return next(), nil
		}
		if waiting.done {
			waiting = stored
		}
	}
	if waiting.done {
		s.mark(&s.status().Timings.Provisioned)
	}
	return waiting, nil
}

// stepStop takes the modules of the run before down where data is brought back:
// they would write while it comes, or hold on to what was there before. It is
// done once per run: those that come up afterwards are the run's own.
func (r *Reconciler) stepStop(ctx context.Context, s *scope) (outcome, error) {
	timings := &s.status().Timings
	if s.run.Spec.Restore == nil || timings.Stopped != nil {
		return next(), nil
	}
	gone, err := component.Modules.Stop(ctx, r.seenBy(s))
	if err != nil {
		return outcome{}, err
	}
	if !gone {
		return s.settle(component.Modules, component.Progress{
			Readiness: environment.NotReady(v1alpha1.ReasonRestoring, "the modules of the run before are being taken down"),
		}), nil
	}
	s.mark(&timings.Stopped)
	return waitFor(writtenPause), nil
}

// stepRestore brings data back while no module is up.
func (r *Reconciler) stepRestore(ctx context.Context, s *scope) (outcome, error) {
	if restore.NeedsModules(s.run.Spec.Restore) {
		return next(), nil
	}
	return r.bringBack(ctx, s)
}

// stepRestoreCall brings data back by a module that is up.
func (r *Reconciler) stepRestoreCall(ctx context.Context, s *scope) (outcome, error) {
	if !restore.NeedsModules(s.run.Spec.Restore) {
		return next(), nil
	}
	return r.bringBack(ctx, s)
}

func (r *Reconciler) bringBack(ctx context.Context, s *scope) (outcome, error) {
	timings := &s.status().Timings
	if s.run.Spec.Restore == nil || timings.Restored != nil {
		return next(), nil
	}
	progress, err := component.Data.Provision(ctx, r.seenBy(s))
	if err != nil {
		return outcome{}, err
	}
	switch {
	case progress.Ready:
		s.mark(&timings.Restored)
	case progress.Reason == v1alpha1.ReasonRestoreFailed:
		s.tell(v1alpha1.ConditionDataRestored, progress.Readiness)
		s.fault = &results.Fault{Reason: progress.Reason, Message: "the data could not be brought back: " + progress.Message}
		return next(), nil
	}
	return s.settle(component.Data, progress), nil
}
