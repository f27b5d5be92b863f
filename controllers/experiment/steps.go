// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/artifact"
	"perflab.dev/perflab/controllers/queue"
	"perflab.dev/perflab/internal/inference/analysis"
	"perflab.dev/perflab/internal/planning/analysisplan"
	"perflab.dev/perflab/internal/planning/plan"
	"perflab.dev/perflab/internal/planning/schedule"
	"perflab.dev/perflab/internal/runs/runfilter"
)

// step does one thing of a reconcile. It returns false if the experiment can't continue for now.
type step func(*Reconciler, context.Context, *scope) (goesOn bool, err error)

// steps of a reconcile, in order. The last one acts on the decision of the others.
var steps = []step{
	(*Reconciler).stepUnwritten,
	(*Reconciler).stepPlan,
	(*Reconciler).stepFollow,
	(*Reconciler).stepExtend,
	(*Reconciler).stepDecide,
	(*Reconciler).stepAnalyze,
	(*Reconciler).stepAct,
}

// runSteps runs the steps. An experiment that can't continue leaves the queue.
func (r *Reconciler) runSteps(ctx context.Context, s *scope) error {
	for _, step := range steps {
		goesOn, err := step(r, ctx, s)
		if err != nil {
			return err
		}
		if !goesOn {
			return r.queue.Leave(ctx, s.waiter())
		}
	}
	return nil
}

// stepUnwritten stops an experiment whose status the API server refuses.
func (r *Reconciler) stepUnwritten(_ context.Context, s *scope) (bool, error) {
	s.unwritten = refusedStatus(s.Experiment)
	return s.unwritten == "", nil
}

// stepPlan plans the experiment. After the first run, the plan depends only on the spec, and is
// computed once.
func (r *Reconciler) stepPlan(ctx context.Context, s *scope) (bool, error) {
	if known := r.designs.of(s.Experiment); known != nil && s.hasBegun() {
		s.use(known)
		return true, nil
	}
	system, err := r.system(ctx, s)
	if err != nil || system == nil {
		return false, err
	}
	if isValid, err := r.validate(ctx, s, system); err != nil || !isValid {
		return false, err
	}
	spec := &s.Experiment.Spec
	made := newDesign(s.Experiment, plan.From(spec, *system, r.seed(s.Experiment)), *system)
	if s.hasBegun() {
		r.designs.keep(s.Experiment, made)
	}
	s.use(made)
	return true, nil
}

// seed returns the seed that was recorded first.
func (r *Reconciler) seed(experiment *v1alpha1.PerfExperiment) int64 {
	if recorded := experiment.Status.Seed; recorded != nil && experiment.Spec.Design.Seed == nil {
		return *recorded
	}
	return plan.Seed(experiment)
}

// stepFollow ignores the runs of other plans.
func (r *Reconciler) stepFollow(_ context.Context, s *scope) (bool, error) {
	recorded := s.recordedHash()
	s.SpecChanged = recorded != "" && recorded != s.Plan.Hash
	followed := runfilter.Plan{Hash: recorded}
	if !s.SpecChanged {
		followed = runfilter.NewPlan(&s.Experiment.Spec, recorded)
	}
	own, ignored := runfilter.Following(s.Experiment, followed, s.Runs)
	s.Runs, s.ignored = own, append(s.ignored, ignored...)
	noteAttempts(&s.Experiment.Status, s.Runs)
	s.Question = analysisplan.New(&s.Experiment.Spec)
	s.Complete = analysis.CompleteBlocks(s.Plan.Arms, s.Experiment.Spec.Scenarios, s.Runs)
	return true, nil
}

// recordedHash is the hash of the plan that the runs follow. The first run may exist before the
// status shows it.
func (s *scope) recordedHash() string {
	if recorded := s.Experiment.Status.PlanHash; recorded != "" || len(s.Runs) == 0 {
		return recorded
	}
	for i := range s.Runs {
		if s.Runs[i].Spec.PlanHash == s.Plan.Hash {
			return s.Plan.Hash
		}
	}
	return s.Runs[0].Spec.PlanHash
}

// stepExtend plans further blocks if the design requires them. It depends only on the runs, so that
// a restarted operator decides the same.
func (r *Reconciler) stepExtend(ctx context.Context, s *scope) (bool, error) {
	design := s.Experiment.Spec.DesignOrDefault()
	progress := schedule.Progress{Complete: s.Complete, Started: lastBlock(s.Runs)}
	if design.Target != nil && s.Complete >= max(design.Blocks, progress.Started) {
		full, err := r.artifacts.FullRuns(ctx, &s.Subject)
		if err != nil {
			return false, err
		}
		progress.Elapsed = analysis.Elapsed(s.Runs, s.Complete)
		if design.Target.Verdicts {
			progress.Verdicts = analysis.ComputeStanding(&s.Experiment.Spec, s.Plan.Arms, s.Plan.Seed, full, s.Complete)
		} else {
			progress.Precision = analysis.ComputePrecision(&s.Experiment.Spec, s.Plan.Arms, full, s.Complete)
		}
	}
	s.extent = schedule.Extend(design, progress)
	s.Plan.Grow(&s.Experiment.Spec, s.extent.Blocks)
	return true, nil
}

// lastBlock that has a run.
func lastBlock(runs []v1alpha1.PerfRun) int32 {
	var last int32
	for i := range runs {
		last = max(last, runs[i].Spec.Block)
	}
	return last
}

// stepDecide decides on the next action from the runs.
func (r *Reconciler) stepDecide(_ context.Context, s *scope) (bool, error) {
	s.decision = schedule.Next(s.Plan, attempts(s.Runs), schedule.Limits{
		MaxAttempts: s.Experiment.Spec.Validity.MaxAttempts,
		Suspend:     s.Experiment.Spec.Suspend,
		Made:        s.Experiment.Status.Attempts,
	})
	s.Final = s.decision.Action == schedule.Finish
	return true, nil
}

// stepAnalyze analyzes the runs when another one has finished.
func (r *Reconciler) stepAnalyze(ctx context.Context, s *scope) (bool, error) {
	err := r.artifacts.Reconcile(ctx, &s.Subject, artifact.Analysis)
	s.decided = err == nil
	return s.decided && !s.SpecChanged, err
}

// stepAct executes the decision.
func (r *Reconciler) stepAct(ctx context.Context, s *scope) (bool, error) {
	switch s.decision.Action {
	case schedule.Start:
		return true, r.start(ctx, s)
	case schedule.Wait:
		place, err := r.queue.Keep(ctx, s.waiter())
		s.takePlace(place)
		return true, err
	case schedule.Finish:
		return true, r.finish(ctx, s)
	default:
		return false, nil
	}
}

// takePlace notes the place in the queue.
func (s *scope) takePlace(place queue.Place) {
	s.place = place
	if place.After > 0 {
		s.Requeue(place.After)
	}
}

// finish releases what a complete experiment no longer needs. It returns one of two errors: the
// other one recurs.
func (r *Reconciler) finish(ctx context.Context, s *scope) error {
	cleanupErr := r.cleanUp(ctx, s)
	isCleaning := queue.Cleans(s.Experiment, s.Now)
	if cleanupErr != nil && isCleaning {
		return cleanupErr
	}
	place, err := r.queue.Finish(ctx, s.waiter(), s.teardown.isActive && isCleaning)
	s.takePlace(place)
	if err != nil {
		return err
	}
	if cleanupErr != nil {
		return cleanupErr
	}
	return r.prune(ctx, s)
}

// prune deletes the expired records of a settled experiment.
func (r *Reconciler) prune(ctx context.Context, s *scope) error {
	if settled := s.Experiment.Status.Settled; settled == "" || settled != s.seen {
		return nil
	}
	after, err := r.pruner.Prune(ctx, s.pruned())
	if after > 0 {
		s.Requeue(after)
	}
	return err
}
