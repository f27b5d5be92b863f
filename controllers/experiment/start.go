// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/kube"
	kubecache "perflab.dev/perflab/internal/kube/cache"
	"perflab.dev/perflab/internal/load"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/planning/levels"
	"perflab.dev/perflab/internal/planning/schedule"
	"perflab.dev/perflab/internal/runs/runfilter"
)

func attempts(runs []v1alpha1.PerfRun) []schedule.Attempt {
	seen := make([]schedule.Attempt, 0, len(runs))
	for i := range runs {
		spec := &runs[i].Spec
		seen = append(seen, schedule.Attempt{
			Name: runs[i].Name, Block: spec.Block, Arm: spec.Arm, Scenario: spec.Scenario.Name,
			Number: spec.Attempt, Phase: runs[i].Status.Phase, Cause: permanentCause(&runs[i]),
		})
	}
	return seen
}

// permanentCause describes a failure that a retry would repeat, in words that are the same for each
// attempt: the declaration can't be built, differs from the running system, or a script fails.
func permanentCause(run *v1alpha1.PerfRun) string {
	fault := component.RecordedFault(run)
	scripts := slices.ContainsFunc(run.Status.Loads, func(status v1alpha1.LoadStatus) bool { return load.ScriptFailed(status.ExitCode) })
	if fault == nil || run.Status.Timings.Ready != nil && !scripts {
		return ""
	}
	cause := fault.Reason + ": " + fault.Message
	for _, status := range run.Status.Loads {
		cause = strings.ReplaceAll(cause, status.TestRun, status.Name)
	}
	return strings.ReplaceAll(cause, run.Name, "")
}

// start creates the next run once it is the experiment's turn. If the run can't be created, the
// experiment blocks no other one.
func (r *Reconciler) start(ctx context.Context, s *scope) error {
	place, isNext, err := r.queue.Take(ctx, s.waiter())
	s.takePlace(place)
	if err != nil || !isNext {
		return err
	}
	err = r.startRun(ctx, s)
	if s.refusal == nil && kube.AsRefusal(err) == nil {
		return err
	}
	hasYielded, yieldErr := r.queue.Yield(ctx, s.waiter())
	if hasYielded {
		s.place.Status = nil
	}
	return errors.Join(err, yieldErr)
}

// startRun creates the next run. Its name follows from its position in the plan, so that a
// reconcile with an outdated cache creates nothing twice.
func (r *Reconciler) startRun(ctx context.Context, s *scope) error {
	unlock := r.starts.lock(s.Experiment.Namespace)
	defer unlock()
	blocker, err := r.otherRun(ctx, s.Experiment)
	if err != nil {
		return err
	}
	if blocker != "" {
		s.blocker = blocker
		s.Requeue(component.BlockedPause)
		return nil
	}
	if missed, err := r.isMissed(ctx, s); missed || err != nil {
		s.Requeue(time.Second)
		return err
	}
	if err := r.checkAccount(ctx, s.Experiment); err != nil {
		return err
	}
	run := newRun(s)
	err = r.Cluster.Create(ctx, run)
	if apierrors.IsAlreadyExists(err) {
		return r.checkTaken(ctx, s, run)
	}
	if err != nil {
		return err
	}
	s.started = run
	return nil
}

// checkAccount finds a ServiceAccount that is missing or has no permissions before there is a run:
// the run would wait for it until its deadline and block others.
func (r *Reconciler) checkAccount(ctx context.Context, experiment *v1alpha1.PerfExperiment) error {
	if r.Accounts == nil {
		return nil
	}
	return r.Cluster.DryRunCreate(ctx, component.EmptyConfigMap(experiment, naming.Report(experiment.Name)))
}

// isMissed reports whether the last run at the same position exists, though the cache lacks it. The
// next one has another name, so its creation would not fail, and both would run.
func (r *Reconciler) isMissed(ctx context.Context, s *scope) (bool, error) {
	last := s.decision.Attempt - 1
	name := s.runName(last)
	if last == 0 || slices.ContainsFunc(s.Runs, func(run v1alpha1.PerfRun) bool { return run.Name == name }) {
		return false, nil
	}
	before := &v1alpha1.PerfRun{}
	err := r.Live.Get(ctx, client.ObjectKey{Namespace: s.Experiment.Namespace, Name: name}, before)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("reading run %q: %w", name, err)
	}
	return err == nil && metav1.IsControlledBy(before, s.Experiment), nil
}

// checkTaken reads the existing run with the name of a wanted one: an earlier reconcile created it,
// and the cache lacks it, or it does not belong to the experiment.
func (r *Reconciler) checkTaken(ctx context.Context, s *scope, wanted *v1alpha1.PerfRun) error {
	current := &v1alpha1.PerfRun{}
	err := r.Cluster.Client.Get(ctx, client.ObjectKeyFromObject(wanted), current)
	if apierrors.IsNotFound(err) {
		s.Requeue(time.Second)
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading run %q: %w", wanted.Name, err)
	}
	if err := r.Cluster.CheckOwner(current, wanted); err != nil {
		return err
	}
	followed := runfilter.NewPlan(&s.Experiment.Spec, s.Plan.Hash)
	if why := runfilter.RejectionReason(s.Experiment, followed, current); why != "" {
		s.taken(fmt.Sprintf("PerfRun %q already exists and %s; PerfLab does not change it: delete it if you don't need it, or rename the experiment", current.Name, why))
		return nil
	}
	s.Requeue(time.Second)
	return nil
}

// taken reports that another object has the name of the next run.
func (s *scope) taken(message string) {
	trouble := environment.NotReady(v1alpha1.ReasonNameTaken, message)
	s.refusal = &trouble
	s.Requeue(component.RefusalRetryInterval)
}

// otherRun is the active run of another experiment in the same namespace. Concurrent runs would
// disturb each other. The cache may lack a new run, so it reads from the API server as well.
func (r *Reconciler) otherRun(ctx context.Context, experiment *v1alpha1.PerfExperiment) (string, error) {
	for _, reader := range []client.Reader{r.Cluster.Client, r.Live} {
		runs, err := kubecache.ListActiveRuns(ctx, reader, experiment.Namespace)
		if err != nil {
			return "", err
		}
		for i := range runs {
			run := &runs[i]
			if run.Spec.Experiment == experiment.Name || run.DeletionTimestamp != nil {
				continue
			}
			if underway, err := r.IsUnderway(ctx, run); underway || err != nil {
				return run.Name, err
			}
		}
	}
	return "", nil
}

// scheme of the names of the runs so far, and of the next one.
func (s *scope) scheme() naming.Scheme {
	if len(s.Runs) == 0 {
		return naming.Long
	}
	return naming.RunScheme(&s.Runs[0])
}

// runName is the name of an attempt at the next run.
func (s *scope) runName(attempt int32) string {
	next := s.decision.Run
	return s.scheme().Run(s.Experiment.Name, next.Block, next.Arm, next.Scenario, attempt)
}

func newRun(s *scope) *v1alpha1.PerfRun {
	next, spec := s.decision.Run, &s.Experiment.Spec
	run := &v1alpha1.PerfRun{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       s.Experiment.Namespace,
			Name:            s.runName(s.decision.Attempt),
			OwnerReferences: []metav1.OwnerReference{naming.Owner("PerfExperiment", s.Experiment)},
		},
		Spec: v1alpha1.PerfRunSpec{
			Experiment:  s.Experiment.Name,
			PlanHash:    s.Plan.Hash,
			Block:       next.Block,
			Position:    next.Position,
			Attempt:     s.decision.Attempt,
			Arm:         next.Arm,
			Seed:        s.Plan.Seed + int64(next.Block),
			Measurement: spec.Measurement,
			Reset:       spec.Reset,
			Restore:     spec.Restore,
			KeepWarm:    spec.KeepWarm,
			Cost:        spec.Cost,
			Validity:    spec.Validity,
			Deadlines:   spec.Deadlines,

			ServiceAccountName: spec.ServiceAccountName,
		},
	}
	if arm, planned := arms.Named(s.Plan.Arms, next.Arm); planned {
		run.Spec.System = *arm.System.DeepCopy()
	}
	for _, scenario := range spec.Scenarios {
		if scenario.Name == next.Scenario {
			scenario.DeepCopyInto(&run.Spec.Scenario)
		}
	}
	run.Spec.Levels = levels.Next(&run.Spec, s.Runs)
	run.Labels = naming.RunLabels(run)
	return run
}
