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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/load"
	"perflab.dev/perflab/internal/measure/results"
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
		r.stopRunners(ctx, observed, state.Running)
	}
	if state.Trouble != nil {
		s.tell(v1alpha1.ConditionLoadsComplete, *state.Trouble)
	}
	recordLoad(status, state, s.now)
	r.glance(ctx, s, wanted, observed.Pods, state.Running)
	if !state.Started {
		// Patience ends without a watch to tell us.
		s.alarm(s.now.Add(environment.SilenceThreshold / 3))
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

// stopRunners tells the runners that are still on to end, by the addresses of their pods: a
// Service of a runner's name may be anybody's and lead anywhere. One that does not answer is
// asked again by the next pass, until the load's grace is over.
func (r *Reconciler) stopRunners(ctx context.Context, observed load.Observed, numbers []int32) {
	for _, n := range numbers {
		if err := r.Runners.StopRunner(ctx, load.RunnerURL(observed, n)); err != nil {
			log.FromContext(ctx).Info("A runner cannot be stopped yet", "load", observed.Load.Name, "runner", n, "error", err.Error())
		}
	}
}

func (r *Reconciler) observeLoad(ctx context.Context, s *scope, wanted v1alpha1.Load, status v1alpha1.LoadStatus) (load.Observed, error) {
	observed := load.Observed{Load: wanted, Status: status, Now: s.now, Jobs: map[string]batchv1.Job{}}
	testRun, err := r.testRun(ctx, s.run, status.TestRun)
	if err != nil {
		return observed, err
	}
	observed.TestRun = testRun
	pods, err := r.Cluster.Pods(ctx, s.run.Namespace, client.MatchingLabels{contract.LabelTestRun: status.TestRun})
	if err != nil {
		return observed, fmt.Errorf("load %q: %w", wanted.Name, err)
	}
	jobs, err := r.jobsOf(ctx, testRun)
	if err != nil {
		return observed, fmt.Errorf("load %q: %w", wanted.Name, err)
	}
	var made []metav1.Object
	for i := range jobs {
		observed.Jobs[jobs[i].Name] = jobs[i]
		made = append(made, &jobs[i])
	}
	observed.Pods = lineageOf(testRun, jobs).Pods(pods)
	observed.Events = r.EventsOf(ctx, observed.Pods, s.now)
	observed.Refused = r.RefusedPods(ctx, observed.Pods, s.now, made...)
	return observed, nil
}

// testRun reads a TestRun of the run's; nil: there is none, or it is somebody else's, and
// so are its runners.
func (r *Reconciler) testRun(ctx context.Context, run *v1alpha1.PerfRun, name string) (*unstructured.Unstructured, error) {
	testRun, err := r.Cluster.Get(ctx, contract.TestRunKind, client.ObjectKey{Namespace: run.Namespace, Name: name})
	if err != nil || testRun == nil || !metav1.IsControlledBy(testRun, run) {
		return nil, err
	}
	return testRun, nil
}

var jobKind = batchv1.SchemeGroupVersion.WithKind("Job")

// jobsOf are the Jobs that k6-operator has made for a TestRun.
func (r *Reconciler) jobsOf(ctx context.Context, testRun *unstructured.Unstructured) ([]batchv1.Job, error) {
	if testRun == nil {
		return nil, nil
	}
	found, err := r.Cluster.ListOwned(ctx, testRun, jobKind, map[string]string{contract.LabelTestRun: testRun.GetName()})
	if err != nil {
		return nil, err
	}
	jobs := make([]batchv1.Job, len(found))
	for i := range found {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(found[i].Object, &jobs[i]); err != nil {
			return nil, fmt.Errorf("reading Job %q: %w", found[i].GetName(), err)
		}
	}
	return jobs, nil
}

// lineageOf are a TestRun and its Jobs, one of which controls each of its pods.
func lineageOf(testRun *unstructured.Unstructured, jobs []batchv1.Job) component.Lineage {
	lineage := component.Lineage{}
	if testRun != nil {
		lineage[testRun.GetUID()] = true
	}
	for i := range jobs {
		lineage[jobs[i].UID] = true
	}
	return lineage
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
		runners, err := r.left(ctx, s.run, observed)
		if err != nil {
			return outcome{}, err
		}
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

// left are the runners of a load that may still be on. A starter that still knocks at a
// runner which is gone does no harm, and taking it away would take the runner's log. Once
// the TestRun is gone nothing tells whose its pods were, so all that some Job controls are
// waited for.
func (r *Reconciler) left(ctx context.Context, run *v1alpha1.PerfRun, observed load.Observed) ([]corev1.Pod, error) {
	if observed.TestRun != nil {
		return slices.DeleteFunc(slices.Clone(observed.Pods), func(pod corev1.Pod) bool { return pod.Labels[contract.LabelRunner] == "" }), nil
	}
	name := observed.Status.TestRun
	foreign, err := r.Cluster.Get(ctx, contract.TestRunKind, client.ObjectKey{Namespace: run.Namespace, Name: name})
	if err != nil || foreign != nil {
		return nil, err
	}
	pods, err := r.Cluster.Pods(ctx, run.Namespace, runnerLabels(name))
	return slices.DeleteFunc(pods, func(pod corev1.Pod) bool {
		owner := metav1.GetControllerOfNoCopy(&pod)
		return owner == nil || owner.Kind != jobKind.Kind
	}), err
}
