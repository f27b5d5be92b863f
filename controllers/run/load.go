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
	"perflab.dev/perflab/internal/load/faults"
	"perflab.dev/perflab/internal/measure/results"
	"perflab.dev/perflab/payload"
)

// loadPollInterval is how often progress is reported while loads run. Watches report what
// happens to the pods.
const loadPollInterval = payload.ProgressEvery

// +kubebuilder:rbac:groups=k6.io,resources=testruns,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch

// stepLoads starts and stops the loads by the scenario's timeline and waits until all have
// ended.
func (r *Reconciler) stepLoads(ctx context.Context, s *scope) (outcome, error) {
	if s.status().Timings.LoadFinish != nil {
		return next(), nil
	}
	states := map[string]load.State{}
	for _, wanted := range s.run.Spec.Scenario.Loads {
		state, err := r.reconcileLoad(ctx, s, wanted)
		if err != nil {
			return outcome{}, err
		}
		states[wanted.Name] = state
		if state.Failure != "" {
			return next(), r.failLoad(ctx, s, wanted, state)
		}
	}
	s.applyTimeline(states)
	s.loadMessage = load.Progress(s.run, states, s.now)
	if fault := faults.Progress(s.status().Faults, s.now); fault != "" {
		s.loadMessage += "; " + fault
	}
	if !allEnded(states) {
		return waitFor(loadPollInterval), nil
	}
	s.stamp(&s.status().Timings.LoadFinish)
	return next(), nil
}

// failLoad makes the run invalid because of a failed load.
func (r *Reconciler) failLoad(ctx context.Context, s *scope, wanted v1alpha1.Load, state load.State) error {
	words, err := r.lastLogLine(ctx, s, wanted)
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

// reconcileLoad creates the load's TestRun once its start is recorded, and returns the state of
// the load.
func (r *Reconciler) reconcileLoad(ctx context.Context, s *scope, wanted v1alpha1.Load) (load.State, error) {
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
		s.setReadiness(v1alpha1.ConditionLoadsComplete, *state.Trouble)
	}
	recordLoad(status, state, s.now)
	r.updateProgress(ctx, s, wanted, observed.Pods, state.Running)
	if !state.Started {
		// No watch reports that a grace period is over.
		s.requeueAt(s.now.Add(environment.SilenceThreshold / 3))
	}
	if deadline, _ := load.Deadline(observed, state.Started, s.run.Spec.Deadlines); !state.Ended && !deadline.IsZero() {
		s.requeueAt(deadline)
	}
	return state, nil
}

func recordLoad(status *v1alpha1.LoadStatus, state load.State, now time.Time) {
	status.Stage = state.Stage
	if (state.Started || state.Ended) && status.StartTime == nil {
		// To the second. The results have the exact time.
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

// createLoad creates the TestRun, unless the run in the API server is newer than the cached
// one: it may be past its loads.
func (r *Reconciler) createLoad(ctx context.Context, s *scope, wanted v1alpha1.Load) error {
	fresh := &v1alpha1.PerfRun{}
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(s.run), fresh); err != nil {
		return fmt.Errorf("reading run %q: %w", s.run.Name, err)
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

// applyTimeline records which loads start and stop now. They start and stop in a later
// reconcile: a stale run fails to write its status, so no load starts twice, and a runner that
// ends is known to have been stopped.
func (s *scope) applyTimeline(states map[string]load.State) {
	for _, action := range load.Timeline(s.run.Spec.Scenario.Loads, s.status().Loads, states, s.now) {
		status := s.load(action.Load.Name)
		switch {
		case action.Start:
			status.CreateTime = &metav1.Time{Time: s.now}
		case action.Stop:
			status.StopTime = &metav1.Time{Time: s.now}
		case !action.At.IsZero():
			s.requeueAt(action.At)
		}
	}
}

// stopRunners stops running runners by the addresses of their pods: anyone may create a Service
// of a runner's name. The next reconcile retries until the load's grace period is over.
func (r *Reconciler) stopRunners(ctx context.Context, observed load.Observed, numbers []int32) {
	for _, n := range numbers {
		if err := r.Runners.StopRunner(ctx, load.RunnerURL(observed, n)); err != nil {
			log.FromContext(ctx).Info("Failed to stop a runner", "load", observed.Load.Name, "runner", n, "error", err.Error())
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
	jobs, err := r.loadJobs(ctx, testRun)
	if err != nil {
		return observed, fmt.Errorf("load %q: %w", wanted.Name, err)
	}
	var made []metav1.Object
	for i := range jobs {
		observed.Jobs[jobs[i].Name] = jobs[i]
		made = append(made, &jobs[i])
	}
	observed.Pods = loadLineage(testRun, jobs).Pods(pods)
	observed.Events = r.PodEvents(ctx, observed.Pods, s.now)
	observed.Refused = r.PodRefusal(ctx, observed.Pods, s.now, made...)
	return observed, nil
}

// testRun reads a TestRun of the run. It returns nil if there is none or someone else created
// it; its runners are then not the run's.
func (r *Reconciler) testRun(ctx context.Context, run *v1alpha1.PerfRun, name string) (*unstructured.Unstructured, error) {
	testRun, err := r.Cluster.Get(ctx, contract.TestRunKind, client.ObjectKey{Namespace: run.Namespace, Name: name})
	if err != nil || testRun == nil || !metav1.IsControlledBy(testRun, run) {
		return nil, err
	}
	return testRun, nil
}

var jobKind = batchv1.SchemeGroupVersion.WithKind("Job")

// loadJobs returns the Jobs that k6-operator created for a TestRun.
func (r *Reconciler) loadJobs(ctx context.Context, testRun *unstructured.Unstructured) ([]batchv1.Job, error) {
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

// loadLineage is a TestRun and its Jobs, one of which controls each of its pods.
func loadLineage(testRun *unstructured.Unstructured, jobs []batchv1.Job) component.Lineage {
	lineage := component.Lineage{}
	if testRun != nil {
		lineage[testRun.GetUID()] = true
	}
	for i := range jobs {
		lineage[jobs[i].UID] = true
	}
	return lineage
}

// stepStopLoads deletes the running loads of an invalid run, so that they cannot disturb the
// next one. Finished loads stay, with their logs, for troubleshooting.
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
		runners, err := r.activeRunners(ctx, s.run, observed)
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
		return waitFor(loadPollInterval), nil
	}
	return next(), nil
}

// activeRunners returns the runners of a load that may still run. Starters are harmless, and their
// deletion would delete the runners' logs. Once the TestRun is gone, its pods cannot be
// distinguished from others, so all with its labels that a Job controls count.
func (r *Reconciler) activeRunners(ctx context.Context, run *v1alpha1.PerfRun, observed load.Observed) ([]corev1.Pod, error) {
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
