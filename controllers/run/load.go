// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/load"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/results"
	"perflab.dev/perflab/payload"
)

// progressPause is the time between two reports of progress while loads are
// on. What a load does, its pods tell at once.
const progressPause = payload.ProgressEvery

// stepLoads puts the scenario's loads on as their timeline says and waits
// until all have ended.
func (r *Reconciler) stepLoads(ctx context.Context, s *scope) (outcome, error) {
	if s.status().Timings.LoadFinish != nil {
		return next(), nil
	}
	states := map[string]load.State{}
	for _, wanted := range s.run.Spec.Scenario.Loads {
		state, err := r.driveLoad(ctx, s, wanted)
		if err != nil {
			return outcome{}, err
		}
		states[wanted.Name] = state
		if state.Failure != "" {
			return next(), r.blameLoad(ctx, s, wanted, state)
		}
	}
	s.followTimeline(states)
	s.loading = load.Progress(s.run.Spec.Scenario.Loads, s.status().Loads, states, s.now)
	if !allEnded(states) {
		return waitFor(progressPause), nil
	}
	s.mark(&s.status().Timings.LoadFinish)
	return next(), nil
}

// blameLoad says why a run does not count one of whose loads has failed.
func (r *Reconciler) blameLoad(ctx context.Context, s *scope, wanted v1alpha1.Load, state load.State) error {
	words, err := r.lastWords(ctx, s, wanted)
	if err != nil {
		return err
	}
	reason := v1alpha1.ReasonLoadFailed
	if state.Stuck {
		reason = v1alpha1.ReasonLoadStuck
	}
	s.fault = &results.Fault{Reason: reason, Message: fmt.Sprintf("load %q: %s%s", wanted.Name, state.Failure, words)}
	return nil
}

func allEnded(states map[string]load.State) bool {
	for _, state := range states {
		if !state.Ended {
			return false
		}
	}
	return true
}

// driveLoad makes the load's TestRun once its time has been written down, and
// says where the load is.
func (r *Reconciler) driveLoad(ctx context.Context, s *scope, wanted v1alpha1.Load) (load.State, error) {
	status := s.load(wanted.Name)
	if status.CreateTime == nil {
		return load.State{Message: "not started"}, nil
	}
	observed, err := r.observeLoad(ctx, s, wanted, *status)
	if err != nil {
		return load.State{}, err
	}
	if observed.TestRun == nil {
		if err := r.createLoad(ctx, s, wanted); err != nil {
			return load.State{}, err
		}
	}
	state := load.Assess(observed, s.run.Spec.Deadlines)
	if status.StopTime != nil && state.Failure == "" {
		r.stopRunners(ctx, s.run, wanted, state.Running)
	}
	if state.Trouble != nil {
		s.tell(v1alpha1.ConditionLoadsComplete, *state.Trouble)
	}
	recordLoad(status, state, s.now)
	r.glance(ctx, s, wanted, observed.Pods, state.Running)
	if !state.Started {
		// Patience ends without a watch to tell us.
		s.alarm(s.now.Add(environment.Patience / 3))
	}
	if deadline, _ := load.Deadline(observed, state.Started, s.run.Spec.Deadlines); !state.Ended && !deadline.IsZero() {
		s.alarm(deadline)
	}
	return state, nil
}

func recordLoad(status *v1alpha1.LoadStatus, state load.State, now time.Time) {
	status.Stage = state.Stage
	if (state.Started || state.Ended) && status.StartTime == nil {
		// To the second, until the results tell exactly.
		status.StartTime = &metav1.Time{Time: now}
	}
	if state.Ended {
		status.Outcome = v1alpha1.LoadSucceeded
		status.FinishTime = &metav1.Time{Time: state.Finish}
	}
	if state.Failure != "" {
		status.Outcome = v1alpha1.LoadFailed
		status.Message = state.Failure
		status.ExitCode = state.ExitCode
	}
}

// createLoad makes the TestRun, unless a fresh look shows that the cache is
// behind and the run is already past its loads.
func (r *Reconciler) createLoad(ctx context.Context, s *scope, wanted v1alpha1.Load) error {
	fresh := &v1alpha1.PerfRun{}
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(s.run), fresh); err != nil {
		return fmt.Errorf("reading run %q afresh: %w", s.run.Name, err)
	}
	if fresh.ResourceVersion != s.run.ResourceVersion {
		return nil
	}
	testRun, err := load.TestRun(s.run, wanted, component.TargetURL(s.run), r.Settings)
	if err != nil {
		return err
	}
	return r.Cluster.Apply(ctx, testRun)
}

// followTimeline decides which loads start and which are told to end. Both are
// written down before they are acted on: the status write is refused if this
// pass saw an old run, so no load is started twice, and a runner that ends is
// known to have been told to.
func (s *scope) followTimeline(states map[string]load.State) {
	for _, action := range load.Timeline(s.run.Spec.Scenario.Loads, s.status().Loads, states, s.now) {
		status := s.load(action.Load.Name)
		switch {
		case action.Start:
			status.CreateTime = &metav1.Time{Time: s.now}
		case action.Stop:
			status.StopTime = &metav1.Time{Time: s.now}
		case !action.At.IsZero():
			s.alarm(action.At)
		}
	}
}

// stopRunners tells the runners that are still on to end. One that does not
// answer is asked again by the next pass, until the load's grace is over.
func (r *Reconciler) stopRunners(ctx context.Context, run *v1alpha1.PerfRun, wanted v1alpha1.Load, numbers []int32) {
	testRun := naming.TestRun(run, wanted.Name)
	for _, n := range numbers {
		address := naming.ServiceURL(naming.RunnerService(testRun, n), run.Namespace, load.RunnerPort)
		if err := r.Runners.StopRunner(ctx, address); err != nil {
			log.FromContext(ctx).Info("A runner can't be told to end yet", "load", wanted.Name, "runner", n, "error", err.Error())
		}
	}
}

func (r *Reconciler) observeLoad(ctx context.Context, s *scope, wanted v1alpha1.Load, status v1alpha1.LoadStatus) (load.Observed, error) {
	observed := load.Observed{Load: wanted, Status: status, Now: s.now, Jobs: map[string]batchv1.Job{}}
	testRun, err := r.Cluster.Get(ctx, contract.TestRunKind, client.ObjectKey{Namespace: s.run.Namespace, Name: status.TestRun})
	if err != nil {
		return observed, err
	}
	if testRun != nil && !metav1.IsControlledBy(testRun, s.run) {
		// Somebody else's, and so are its runners.
		return observed, nil
	}
	observed.TestRun = testRun
	labels := map[string]string{contract.LabelTestRun: status.TestRun}
	made, err := r.jobsOf(ctx, s.run.Namespace, labels, observed.Jobs)
	if err != nil {
		return observed, fmt.Errorf("load %q: %w", wanted.Name, err)
	}
	if observed.Pods, err = r.Cluster.Pods(ctx, s.run.Namespace, client.MatchingLabels(labels)); err != nil {
		return observed, fmt.Errorf("load %q: %w", wanted.Name, err)
	}
	observed.Events = r.EventsOf(ctx, observed.Pods, s.now)
	observed.Refused = r.RefusedPods(ctx, observed.Pods, s.now, made...)
	return observed, nil
}

var jobKind = batchv1.SchemeGroupVersion.WithKind("Job")

// jobsOf puts the Jobs with these labels under their names.
func (r *Reconciler) jobsOf(ctx context.Context, namespace string, labels map[string]string, jobs map[string]batchv1.Job) (made []metav1.Object, err error) {
	found, err := r.Cluster.List(ctx, jobKind, namespace, labels)
	if err != nil {
		return nil, err
	}
	for i := range found {
		job := batchv1.Job{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(found[i].Object, &job); err != nil {
			return nil, fmt.Errorf("reading Job %q: %w", found[i].GetName(), err)
		}
		jobs[job.Name] = job
		made = append(made, &job)
	}
	return made, nil
}

// stepStopLoads takes away the loads of a run that does not count, so that
// they can't disturb the next one. Loads that are over stay, with their logs,
// for people to look at.
func (r *Reconciler) stepStopLoads(ctx context.Context, s *scope) (outcome, error) {
	waiting := false
	for _, wanted := range s.run.Spec.Scenario.Loads {
		status := s.load(wanted.Name)
		if status.CreateTime == nil {
			continue
		}
		observed, err := r.observeLoad(ctx, s, wanted, *status)
		if err != nil {
			return outcome{}, err
		}
		// A starter that still knocks at a runner which is gone does no harm, and
		// taking it away would take the runner's log.
		runners := slices.DeleteFunc(slices.Clone(observed.Pods), func(pod corev1.Pod) bool { return pod.Labels[contract.LabelRunner] == "" })
		if !load.Active(runners) && (observed.TestRun == nil || status.Outcome != "") {
			continue
		}
		waiting = true
		if observed.TestRun == nil {
			continue
		}
		if err := r.Cluster.Delete(ctx, s.run, observed.TestRun); err != nil {
			return outcome{}, err
		}
	}
	if waiting {
		return waitFor(progressPause), nil
	}
	return next(), nil
}
