// SPDX-License-Identifier: Apache-2.0

package load

import (
	"fmt"
	"net"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/text/prose"
)

// Grace is how long a load may take to wind down after it should have ended.
const Grace = time.Minute

// Observed is what the cluster shows of one load.
type Observed struct {
	Load v1alpha1.Load
	// Status is what the run remembers of the load.
	Status v1alpha1.LoadStatus
	// TestRun is nil when it is not there.
	TestRun *unstructured.Unstructured
	// Jobs and Pods are the runners', by name.
	Jobs map[string]batchv1.Job
	Pods []corev1.Pod
	// Events are those about pods that have not been ready for a while, or have
	// failed.
	Events []corev1.Event
	// Refused says why the API server takes no pods of the runners' Jobs, if it
	// does not.
	Refused string
	Now     time.Time
}

// State is where a load is.
type State struct {
	// Stage of the TestRun.
	Stage string
	// Started says that k6-operator has released the runners.
	Started bool
	// Ended says that every runner is over, as planned.
	Ended bool
	// Running are the numbers, from 1, of the runners whose k6 runs.
	Running []int32
	// Finish is when the last runner ended; zero before.
	Finish time.Time
	// Failure says why the load did not, or can no longer, end as planned.
	Failure string
	// ExitCode is that of the runner that failed, if one did.
	ExitCode int32
	// Stuck says that Failure is a start that did not happen in time.
	Stuck bool
	// Message says what the load is doing or waiting for.
	Message string
	// Trouble says why the load does not start, where that is known.
	Trouble *environment.Readiness
}

// Assess says where a load is. A TestRun's stage "finished" says nothing about
// success and a stuck stage has no time-out of its own, so the runners' pods
// and our deadlines decide.
func Assess(observed Observed, deadlines v1alpha1.Deadlines) State {
	state := State{Message: "waiting for k6-operator to reconcile the TestRun"}
	stage := contract.TestRun{Object: observed.TestRun}.Stage()
	if stage == "" {
		state.trouble(observed)
		return withDeadline(state, observed, deadlines)
	}
	state.Stage = string(stage)
	switch stage {
	case contract.StageError:
		state.Failure = "k6-operator refused the TestRun (stage error)"
		return state
	case contract.StageStarted, contract.StageStopped, contract.StageFinished:
		state.Started = true
	default:
		// Before the start there is nothing to say that the pods don't.
	}
	readRunners(&state, observed)
	if !state.Started && state.Failure == "" {
		state.trouble(observed)
	}
	return withDeadline(state, observed, deadlines)
}

func readRunners(state *State, observed Observed) {
	total := observed.Load.ParallelismOrDefault()
	ended := int32(0)
	for n := int32(1); n <= total; n++ {
		runner := observe(observed, n)
		switch {
		case runner.failure != "":
			state.Failure, state.ExitCode = runner.failure, runner.exitCode
			return
		case runner.ended:
			ended++
			if runner.finish.After(state.Finish) {
				state.Finish = runner.finish
			}
		case runner.running:
			state.Running = append(state.Running, n)
		}
	}
	state.Ended = ended == total
	switch {
	case state.Ended:
		state.Message = "ended"
	case state.Started:
		state.Message = "running"
	default:
		state.Message = "starting: " + prose.Partly(int32(len(state.Running))+ended, total, "runner") + " up"
	}
}

// runner is what the cluster shows of one k6 process.
type runner struct {
	running bool
	ended   bool
	finish  time.Time
	failure string
	// exitCode goes with failure, where k6 has ended.
	exitCode int32
}

func observe(observed Observed, n int32) runner {
	name := naming.RunnerJob(observed.Status.TestRun, n)
	pod := findPod(observed.Pods, name)
	if pod == nil {
		return withoutPod(observed.Jobs, name)
	}
	for _, status := range pod.Status.ContainerStatuses {
		if status.Name != contract.RunnerContainer {
			continue
		}
		if end := status.State.Terminated; end != nil {
			return atEnd(name, end, observed.Status.StopTime != nil, environment.ProbeFailure(*pod, observed.Events))
		}
		return runner{running: status.State.Running != nil}
	}
	if pod.Status.Phase == corev1.PodFailed {
		return runner{failure: fmt.Sprintf("runner %s failed before k6 ran: %s", name, pod.Status.Message)}
	}
	return runner{}
}

// RunnerURL is where the k6 of runner n, from 1, serves its REST API: the address of its
// pod, empty while that has none.
func RunnerURL(observed Observed, n int32) string {
	pod := findPod(observed.Pods, naming.RunnerJob(observed.Status.TestRun, n))
	if pod == nil || pod.Status.PodIP == "" {
		return ""
	}
	return "http://" + net.JoinHostPort(pod.Status.PodIP, strconv.Itoa(RunnerPort))
}

// withoutPod tells a runner that has no pod yet from one whose pod, and log
// with it, is gone.
func withoutPod(jobs map[string]batchv1.Job, name string) runner {
	job, found := jobs[name]
	if found && job.Status.Failed+job.Status.Succeeded > 0 {
		return runner{failure: fmt.Sprintf("the pod of runner %s is gone, and its results with it", name)}
	}
	return runner{}
}

func atEnd(name string, end *corev1.ContainerStateTerminated, stopped bool, probe string) runner {
	if end.ExitCode == exitSuccess || (stopped && end.ExitCode == exitStoppedByREST) {
		return runner{ended: true, finish: end.FinishedAt.Time}
	}
	return runner{
		failure:  fmt.Sprintf("k6 of runner %s ended with exit code %d: %s", name, end.ExitCode, meaning(end, probe)),
		exitCode: end.ExitCode,
	}
}

func findPod(pods []corev1.Pod, job string) *corev1.Pod {
	for i := range pods {
		if pods[i].Labels[batchv1.JobNameLabel] == job {
			return &pods[i]
		}
	}
	return nil
}

// withDeadline turns a wait that took too long into a failure.
func withDeadline(state State, observed Observed, deadlines v1alpha1.Deadlines) State {
	if state.Ended || state.Failure != "" {
		return state
	}
	if state.hopeless(observed) {
		state.Stuck = true
		state.Failure = "it can't start: " + state.Trouble.Message
		return state
	}
	deadline, what := Deadline(observed, state.Started, deadlines)
	if deadline.IsZero() || observed.Now.Before(deadline) {
		return state
	}
	state.Stuck = !state.Started
	state.Failure = fmt.Sprintf("%s; last seen: %s", what, state.Message)
	return state
}

// Deadline is when a load that has not gone on by then has failed, with the
// sentence to say so. It is zero for a load that was not created.
func Deadline(observed Observed, started bool, deadlines v1alpha1.Deadlines) (time.Time, string) {
	status := observed.Status
	switch {
	case status.StopTime != nil:
		return status.StopTime.Add(Grace), fmt.Sprintf("the load did not end within %s of the request to stop", Grace)
	case started && status.StartTime != nil:
		length := Length(observed.Load, deadlines)
		return status.StartTime.Add(length + Grace), fmt.Sprintf("the load was not over %s after its start", length+Grace)
	case status.CreateTime != nil:
		limit := deadlines.LoadStartOrDefault()
		return status.CreateTime.Add(limit), fmt.Sprintf("the load did not start within %s", limit)
	default:
		return time.Time{}, ""
	}
}
