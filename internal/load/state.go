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

// Grace is how long a load may take to stop after it should have ended.
const Grace = time.Minute

// Observed is the state of one load in the cluster.
type Observed struct {
	Load v1alpha1.Load
	// Status is the recorded status of the load.
	Status v1alpha1.LoadStatus
	// TestRun is nil if it does not exist.
	TestRun *unstructured.Unstructured
	// Jobs and Pods are the runners', by name.
	Jobs map[string]batchv1.Job
	Pods []corev1.Pod
	// Events of pods that have not been ready for a while, or have failed.
	Events []corev1.Event
	// Refused is the API server's reason to reject the runners' pods, if any.
	Refused string
	Now     time.Time
}

// State is the assessed state of a load.
type State struct {
	// Stage of the TestRun.
	Stage string
	// Started: k6-operator has released the runners.
	Started bool
	// Ended: every runner has finished as planned.
	Ended bool
	// Running are the numbers, from 1, of running runners.
	Running []int32
	// Finish is when the last runner ended; zero if not all have.
	Finish time.Time
	// Failure is the reason why the load did not, or can no longer, end as planned.
	Failure string
	// ExitCode of the failed runner, if any.
	ExitCode int32
	// Stuck: the failure is a start that missed its deadline.
	Stuck bool
	// Message describes the progress.
	Message string
	// Trouble is why the load does not start, if known.
	Trouble *environment.Readiness
}

// Assess returns the state of a load. A TestRun's stage "finished" does not mean success
// and a stuck stage has no time-out, so the runners' pods and our deadlines decide.
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
		// Before the start, the pods decide.
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

// runner is the state of one k6 process.
type runner struct {
	running bool
	ended   bool
	finish  time.Time
	failure string
	// exitCode of a failure, if k6 has ended.
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

// RunnerURL returns the URL of the REST API of runner n, from 1; empty while its pod has no
// address.
func RunnerURL(observed Observed, n int32) string {
	pod := findPod(observed.Pods, naming.RunnerJob(observed.Status.TestRun, n))
	if pod == nil || pod.Status.PodIP == "" {
		return ""
	}
	return "http://" + net.JoinHostPort(pod.Status.PodIP, strconv.Itoa(RunnerPort))
}

// withoutPod distinguishes a runner whose pod does not exist yet from one whose pod, with
// its log, was deleted.
func withoutPod(jobs map[string]batchv1.Job, name string) runner {
	job, found := jobs[name]
	if found && job.Status.Failed+job.Status.Succeeded > 0 {
		return runner{failure: fmt.Sprintf("the pod of runner %s was deleted, along with its results", name)}
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

// withDeadline turns an exceeded deadline into a failure.
func withDeadline(state State, observed Observed, deadlines v1alpha1.Deadlines) State {
	if state.Ended || state.Failure != "" {
		return state
	}
	if state.outlastsDeadline(observed) {
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

// Deadline returns when a load without progress fails, with a message. It is zero for a
// load that was not created.
func Deadline(observed Observed, started bool, deadlines v1alpha1.Deadlines) (time.Time, string) {
	status := observed.Status
	switch {
	case status.StopTime != nil:
		return status.StopTime.Add(Grace), fmt.Sprintf("the load did not end within %s of the request to stop", Grace)
	case started && status.StartTime != nil:
		length := Length(observed.Load, deadlines)
		return status.StartTime.Add(length + Grace), fmt.Sprintf("the load had not finished %s after its start", length+Grace)
	case status.CreateTime != nil:
		limit := deadlines.LoadStartOrDefault()
		return status.CreateTime.Add(limit), fmt.Sprintf("the load did not start within %s", limit)
	default:
		return time.Time{}, ""
	}
}
