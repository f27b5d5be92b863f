// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load"
	"perflab.dev/perflab/internal/testing/expect"
)

var begin = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(n int) time.Time { return begin.Add(time.Duration(n) * time.Second) }

func stamp(n int) *metav1.Time { return &metav1.Time{Time: at(n)} }

// sight builds the observed state of a load with two runners.
type sight struct{ load.Observed }

func see(stage string) *sight {
	s := &sight{load.Observed{
		Load:    users(),
		Status:  v1alpha1.LoadStatus{Name: "cico", TestRun: "tr", CreateTime: stamp(0)},
		TestRun: object(stage),
		Jobs:    map[string]batchv1.Job{},
		Now:     at(10),
	}}
	s.Load.Parallelism = ptr.To[int32](2)
	if s.TestRun != nil {
		s.TestRun.SetCreationTimestamp(*stamp(0))
	}
	return s
}

func (s *sight) at(n int) *sight { s.Now = at(n); return s }

// transition sets the time of the first conditions.
func (s *sight) transition(n int) *sight {
	s.TestRun.Object["status"].(map[string]any)["conditions"] = []any{map[string]any{"type": "TestRunRunning", "lastTransitionTime": at(n).Format(time.RFC3339)}}
	return s
}

func (s *sight) started(n int) *sight { s.Status.StartTime = stamp(n); return s }

func (s *sight) stopped(n int) *sight { s.Status.StopTime = stamp(n); return s }

func (s *sight) pod(n int, state corev1.ContainerState) *sight {
	pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("tr-%d-x", n), Labels: map[string]string{batchv1.JobNameLabel: fmt.Sprintf("tr-%d", n)}}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "sidecar"}, {Name: "k6", State: state}}
	s.Pods = append(s.Pods, pod)
	return s
}

func (s *sight) runs(n int) *sight {
	return s.pod(n, corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: *stamp(0)}})
}

func (s *sight) ended(n int, exit int32, reason string, finish int) *sight {
	return s.pod(n, corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: exit, Reason: reason, FinishedAt: *stamp(finish)}})
}

func (s *sight) job(n int, failed int32) *sight {
	s.Jobs[fmt.Sprintf("tr-%d", n)] = batchv1.Job{Status: batchv1.JobStatus{Failed: failed}}
	return s
}

func TestAssess(t *testing.T) {
	const taken = "waiting for k6-operator to reconcile the TestRun"
	for name, test := range map[string]struct {
		seen *sight
		want load.State
	}{
		"not seen by k6-operator": {see(""), load.State{Message: taken}},
		"no pods yet":             {see("created"), load.State{Stage: "created", Message: "starting: 0 of 2 runners are up"}},
		"one runner is up":        {see("created").runs(1), load.State{Stage: "created", Running: []int32{1}, Message: "starting: 1 of 2 runners is up"}},
		"running":                 {see("started").started(5).runs(1).runs(2), load.State{Stage: "started", Started: true, Running: []int32{1, 2}, Message: "running"}},
		"one has ended": {
			see("started").started(5).ended(1, 0, "Completed", 95).runs(2).at(96),
			load.State{Stage: "started", Started: true, Running: []int32{2}, Finish: at(95), Message: "running"},
		},
		"both have ended, the stage lags behind": {
			see("started").started(5).ended(1, 0, "Completed", 96).ended(2, 0, "Completed", 95).at(96),
			load.State{Stage: "started", Started: true, Ended: true, Finish: at(96), Message: "ended"},
		},
		"finished says nothing about success": {
			see("finished").started(5).ended(1, 0, "Completed", 95).ended(2, 107, "Error", 6).at(96),
			load.State{Stage: "finished", Started: true, Finish: at(95), Failure: "k6 of runner tr-2 ended with exit code 107: the script threw an exception", ExitCode: 107},
		},
		"told to end": {
			see("started").started(5).stopped(50).ended(1, 103, "Error", 51).ended(2, 103, "Error", 52).at(53),
			load.State{Stage: "started", Started: true, Ended: true, Finish: at(52), Message: "ended"},
		},
		"stopped without a request of the operator": {
			see("started").started(5).ended(1, 103, "Error", 51).runs(2).at(53),
			load.State{Stage: "started", Started: true, Failure: "k6 of runner tr-1 ended with exit code 103: it was stopped through its REST API", ExitCode: 103},
		},
		"told to end, but its script failed": {
			see("started").started(5).stopped(50).ended(1, 108, "Error", 51).runs(2).at(53),
			load.State{Stage: "started", Started: true, Failure: "k6 of runner tr-1 ended with exit code 108: the script aborted the test", ExitCode: 108},
		},
		"out of memory": {
			see("started").started(5).ended(1, 137, "OOMKilled", 51).runs(2).at(53),
			load.State{Stage: "started", Started: true, Failure: "k6 of runner tr-1 ended with exit code 137: it ran out of memory; raise the load's resources.limits.memory", ExitCode: 137},
		},
		"an undocumented exit code": {
			see("started").started(5).ended(1, 42, "Error", 51).at(53),
			load.State{Stage: "started", Started: true, Failure: "k6 of runner tr-1 ended with exit code 42: k6 does not document this exit code", ExitCode: 42},
		},
		"the pod is gone and its Job has failed": {
			see("started").started(5).job(1, 1).runs(2),
			load.State{Stage: "started", Started: true, Failure: "the pod of runner tr-1 was deleted, along with its results"},
		},
		"the pod is not there yet": {see("created").job(1, 0).job(2, 0), load.State{Stage: "created", Message: "starting: 0 of 2 runners are up"}},
		"k6-operator refused":      {see("error"), load.State{Stage: "error", Failure: "k6-operator refused the TestRun (stage error)"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := load.Assess(test.seen.Observed, v1alpha1.Deadlines{})
			if got.Failure != "" {
				// The progress before the failure does not matter.
				got.Message = ""
			}
			expect.Equal(t, test.want, got, "state")
		})
	}
}

// starter returns the Job that k6-operator releases the runners with.
func (s *sight) starter() *sight {
	s.Jobs["tr-starter"] = batchv1.Job{}
	return s
}

func (s *sight) event(n int, message string) *sight {
	s.Pods[n-1].UID = types.UID(fmt.Sprint(n))
	s.Pods[n-1].Spec.Containers = []corev1.Container{{Name: "k6", LivenessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{
		HTTPGet: &corev1.HTTPGetAction{Path: "/v1/status", Port: intstr.FromInt32(6565)},
	}}}}
	s.Events = append(s.Events, corev1.Event{
		Type: corev1.EventTypeWarning, Reason: "Unhealthy", Message: message,
		InvolvedObject: corev1.ObjectReference{UID: s.Pods[n-1].UID},
	})
	return s
}

func TestAssessExplainsKilledRunner(t *testing.T) {
	for name, test := range map[string]struct {
		seen *sight
		want string
	}{
		"memory": {see("started").started(5).ended(1, 137, "OOMKilled", 51), "it ran out of memory; raise the load's resources.limits.memory"},
		"its probe": {
			see("started").started(5).ended(1, 137, "Error", 51).event(1, `Liveness probe failed: Get "http://10.0.0.1:6565/v1/status": context deadline exceeded`),
			"the kubelet killed it because its liveness probe (GET :6565/v1/status) times out; give the load more CPU (resources) or more runners (parallelism)",
		},
		"unknown cause": {see("started").started(5).ended(1, 137, "Error", 51), "SIGKILL ended it, but not for lack of memory: the kubelet does not report OOMKilled"},
	} {
		t.Run(name, func(t *testing.T) {
			got := load.Assess(test.seen.Observed, v1alpha1.Deadlines{}).Failure
			if want := "k6 of runner tr-1 ended with exit code 137: " + test.want; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestAssessReportsSilentK6Operator(t *testing.T) {
	up := func() *sight { return see("created").job(1, 0).job(2, 0).runs(1).runs(2) }
	for name, test := range map[string]struct {
		seen *sight
		at   int
		says string
	}{
		"taken up in time":                        {see(""), 15, ""},
		"never taken up":                          {see(""), 16, "it has no status"},
		"gone after its first word":               {see("initialized"), 26, "it has no Jobs"},
		"still at it":                             {see("initialized"), 25, ""},
		"back after a minute":                     {see("initialized").transition(60), 85, ""},
		"gone again":                              {see("initialized").transition(60), 86, "it has no Jobs"},
		"gone before it starts the runners":       {up(), 26, "its runners are ready but not started"},
		"the starter is at it":                    {up().starter(), 60, ""},
		"the runners are not up, which is theirs": {see("created").job(1, 0).job(2, 0).runs(1), 60, ""},
	} {
		t.Run(name, func(t *testing.T) {
			test.seen.TestRun.SetName("tr")
			test.seen.TestRun.SetNamespace("lab")
			trouble := load.Assess(test.seen.at(test.at).Observed, v1alpha1.Deadlines{}).Trouble
			if (trouble != nil) != (test.says != "") {
				t.Fatalf("after %d s: %+v, want it to say %q", test.at, trouble, test.says)
			}
			if trouble != nil && (trouble.Reason != v1alpha1.ReasonOperatorSilent || !strings.Contains(trouble.Message, `no operator reconciles TestRun "tr": `+test.says)) {
				t.Errorf("after %d s: %+v, want it to say %q", test.at, trouble, test.says)
			}
		})
	}
}

func TestAssessReportsRefusedRunners(t *testing.T) {
	seen := see("created").job(1, 0)
	seen.Refused = "exceeded quota: lab"
	state := load.Assess(seen.Observed, v1alpha1.Deadlines{})
	if state.Trouble == nil || state.Trouble.Reason != v1alpha1.ReasonRefused || state.Message != "the cluster refuses the pods of the runners: exceeded quota: lab" {
		t.Errorf("got %+v", state)
	}
}

func TestAssessOfPodsThatNeverRan(t *testing.T) {
	seen := see("created")
	seen.pod(1, corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}})
	if state := load.Assess(seen.Observed, v1alpha1.Deadlines{}); !strings.Contains(state.Message, "can't be pulled") || state.Failure != "" {
		t.Errorf("with a pod in trouble: %+v, want its trouble as the message", state)
	}
	if state := load.Assess(seen.at(40).Observed, v1alpha1.Deadlines{}); !state.Stuck || !strings.Contains(state.Failure, "it can't start: tr-1-x: image") {
		t.Errorf("with an image that stays missing: %+v, want the wait to end before its deadline", state)
	}
	seen.Pods[0].Status.ContainerStatuses = nil
	seen.Pods[0].Status.Phase, seen.Pods[0].Status.Message = corev1.PodFailed, "The node was low on memory."
	if state := load.Assess(seen.Observed, v1alpha1.Deadlines{}); !strings.Contains(state.Failure, "The node was low on memory.") {
		t.Errorf("with an evicted pod: %+v, want it failed for that reason", state)
	}
}

func TestAssessAppliesDeadlines(t *testing.T) {
	deadlines := v1alpha1.Deadlines{LoadStart: seconds(120), Load: seconds(3600)}
	gone := see("created")
	gone.TestRun = nil
	until := see("started").started(5).runs(1).runs(2)
	until.Load.Duration, until.Load.Until = nil, "create"
	for name, test := range map[string]struct {
		seen    *sight
		limit   int
		stuck   bool
		failure string
	}{
		"a TestRun that is not there": {gone, 120, true, "the load did not start within 2m0s; last seen: waiting for k6-operator"},
		"stuck in created":            {see("created").job(1, 0).runs(1), 120, true, "the load did not start within 2m0s; last seen: starting: 1 of 2 runners is up"},
		"no Jobs, ever":               {see("created"), 120, true, `the load did not start within 2m0s; last seen: no operator reconciles TestRun "": it has no Jobs`},
		"a load with a duration":      {see("started").started(5).runs(1).runs(2), 5 + 90 + 60, false, "the load had not finished 2m30s after its start"},
		"a load until another ends":   {until, 5 + 3600 + 60, false, "the load had not finished 1h1m0s after its start"},
		"a load that was told to end": {see("started").started(5).stopped(50).runs(1).runs(2), 50 + 60, false, "the load did not end within 1m0s of the request to stop"},
	} {
		t.Run(name, func(t *testing.T) {
			if state := load.Assess(test.seen.at(test.limit-1).Observed, deadlines); state.Failure != "" {
				t.Errorf("a second too early: %s", state.Failure)
			}
			state := load.Assess(test.seen.at(test.limit).Observed, deadlines)
			if !strings.HasPrefix(state.Failure, test.failure) || state.Stuck != test.stuck {
				t.Errorf("failure %q, stuck %t, want %q, %t", state.Failure, state.Stuck, test.failure, test.stuck)
			}
			if deadline, _ := load.Deadline(test.seen.Observed, state.Started, deadlines); !deadline.Equal(at(test.limit)) {
				t.Errorf("deadline %s, want %s", deadline, at(test.limit))
			}
		})
	}
}

func TestDeadlineOfUncreatedLoadIsZero(t *testing.T) {
	if deadline, _ := load.Deadline(load.Observed{Load: users(), Now: at(0)}, false, v1alpha1.Deadlines{}); !deadline.IsZero() {
		t.Errorf("deadline %s, want none", deadline)
	}
}

func object(stage string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"stage": stage}}}
}

func TestScriptChangedFindsChangedFiles(t *testing.T) {
	before := map[string]string{"main.js": "a", "lib.js": "b"}
	many := map[string]string{"main.js": "a"}
	for n := range 100 {
		many[fmt.Sprintf("lib-%d.js", n)] = "b"
	}
	lastOfMany := map[string]string{"main.js": "a"}
	for name, text := range many {
		lastOfMany[name] = text
	}
	lastOfMany["lib-99.js"] = "c"
	for name, test := range map[string]struct {
		before, now map[string]string
		says        string
	}{
		"the same":          {before, before, ""},
		"another script":    {before, map[string]string{"main.js": "c", "lib.js": "b"}, "main.js has sha256 "},
		"another import":    {before, map[string]string{"main.js": "a", "lib.js": "c"}, "lib.js has sha256 "},
		"an import is gone": {before, map[string]string{"main.js": "a"}, "lib.js is gone"},
		"an import is new":  {map[string]string{"main.js": "a"}, before, "lib.js is new"},
		"as many as can't be told, the last of them": {many, lastOfMany, "has sha256 "},
	} {
		said := load.ScriptChanged("main.js", load.NewScriptStatus("main.js", test.before), load.NewScriptStatus("main.js", test.now))
		if (said == "") != (test.says == "") || !strings.Contains(said, test.says) {
			t.Errorf("%s: %q, want %q", name, said, test.says)
		}
	}
}

func TestScriptTextsAreBounded(t *testing.T) {
	texts, leftOut := load.ScriptTexts("search", "main.js", map[string]string{
		"a-data.csv": strings.Repeat("x", 300<<10), "main.js": "script", "lib.js": "import",
	})
	if len(texts) != 2 || texts["search.main.js"] != "script" || texts["search.lib.js"] != "import" || !slices.Equal(leftOut, []string{"search.a-data.csv"}) {
		t.Errorf("kept %d texts, left out %q", len(texts), leftOut)
	}
}
