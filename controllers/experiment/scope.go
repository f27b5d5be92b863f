// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/artifact"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/controllers/queue"
	"perflab.dev/perflab/controllers/retention"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/planning/schedule"
	"perflab.dev/perflab/internal/planning/validate"
	"perflab.dev/perflab/internal/runs/runfilter"
)

// scope is the state of one reconcile of an experiment. Steps write it, status.go turns it into the
// status.
type scope struct {
	// Subject is the experiment with its runs, plan and question.
	artifact.Subject
	// ignored are runs that only name the experiment. They are reported, and otherwise ignored.
	ignored []runfilter.Rejected
	// seen is the digest of the spec's generation and of all runs.
	seen string
	// spec is the outcome of the checks before the first run.
	spec specCheck
	// design follows from the spec.
	design *design
	// extent is how many blocks are planned, and decision what to do next. decided: this reconcile
	// has set both.
	extent   schedule.Extent
	decision schedule.Decision
	decided  bool
	// started is the run that this reconcile created.
	started *v1alpha1.PerfRun
	// blocker is the active run of another experiment.
	blocker string
	// place in the queue.
	place queue.Place
	// teardown is the progress of deleting the environment.
	teardown teardown
	// unwritten is why the API server refuses the status; empty: it does not.
	unwritten string
	// refusal is why the API server, or the owner of an object, refuses a write.
	refusal *environment.Readiness
}

// specCheck is the outcome of validating the spec and its system.
type specCheck struct {
	// isMade: the spec was validated in this reconcile. Faults stall the experiment; warnings
	// stop nothing.
	isMade   bool
	faults   field.ErrorList
	warnings validate.Warnings
	// isSystemMissing: the PerfSystem does not exist.
	isSystemMissing bool
}

// teardown is the progress of deleting an environment.
type teardown struct {
	// isActive: parts of the environment still exist.
	isActive bool
	// obstacle is what can't be deleted, and why; empty: nothing.
	obstacle string
}

// newScope copies the experiment: the original belongs to the cache, or is what the status is
// compared with.
func newScope(experiment *v1alpha1.PerfExperiment, now time.Time) *scope {
	return &scope{Subject: artifact.Subject{Experiment: experiment.DeepCopy(), Now: now}}
}

// hasBegun reports whether there is a first run, which may exist before the status shows it.
func (s *scope) hasBegun() bool { return len(s.Runs) > 0 || s.Experiment.Status.StartTime != nil }

// isStalled reports whether manual action is required.
func (s *scope) isStalled() bool {
	return len(s.spec.faults) > 0 || s.unwritten != "" || s.SpecChanged || s.decision.Action == schedule.GiveUp
}

// hasEnvironment reports whether there is an environment to delete, now or later.
func (s *scope) hasEnvironment() bool {
	return s.Experiment.Spec.Cleanup.Policy != v1alpha1.CleanupRetain && s.Experiment.Status.TornDown == nil
}

// environmentLeft is how long the environment of a complete experiment is to stay.
func (s *scope) environmentLeft() time.Duration {
	keep, completed := s.Experiment.Spec.Cleanup.TTLOrDefault(), s.Experiment.Status.CompletionTime
	if completed == nil {
		return keep
	}
	return keep - s.Now.Sub(completed.Time)
}

// waiter is the experiment as the queue sees it.
func (s *scope) waiter() queue.Waiter {
	waiter := queue.Waiter{
		Experiment: s.Experiment, Now: s.Now, Arms: s.Plan.Arms, Block: s.decision.Run.Block, Starts: !s.hasRunOf(s.decision.Run.Block),
	}
	if run := s.activeRun(); run != nil {
		waiter.Finished = run.Status.Timings.Finish
	}
	return waiter
}

func (s *scope) hasRunOf(block int32) bool {
	for i := range s.Runs {
		if s.Runs[i].Spec.Block == block {
			return true
		}
	}
	return false
}

// pruned is the experiment as the pruner sees it.
func (s *scope) pruned() retention.Subject {
	return retention.Subject{Experiment: s.Experiment, Runs: s.Runs, Now: s.Now, HasEnvironment: s.hasEnvironment()}
}

// refused records why the API server refuses the next write. It returns temporary errors as well,
// and all other errors.
func (s *scope) refused(err error) error {
	readiness, isRefused := component.RefusalReadiness(err)
	if !isRefused {
		return err
	}
	s.refusal = &readiness
	if readiness.Reason == v1alpha1.ReasonRetrying {
		return err
	}
	s.Requeue(component.RefusalRetryInterval)
	return nil
}
