// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/testing/expect"
)

func TestSuspendFinishesRunAndStartsNoOther(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t))
	l.untilRun(v1alpha1.RunLoading)
	l.mustChange("small", func(e *v1alpha1.PerfExperiment) { e.Spec.Suspend = true })
	suspended := l.untilPhase("small", v1alpha1.ExperimentSuspended)
	l.expect(suspended.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionUnknown, v1alpha1.ReasonSuspended)
	if suspended.Status.Progress != "1/2" || len(l.runs()) != 1 || len(suspended.Status.Results) == 0 {
		t.Errorf("progress %s with %d runs and %d results, want 1/2 with 1 and some", suspended.Status.Progress, len(l.runs()), len(suspended.Status.Results))
	}
	l.mustChange("small", func(e *v1alpha1.PerfExperiment) { e.Spec.Suspend = false })
	l.untilPhase("small", v1alpha1.ExperimentComplete)
}

func TestMoreBlocksReopenExperiment(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, oneArm))
	l.untilPhase("small", v1alpha1.ExperimentComplete)
	l.mustChange("small", func(e *v1alpha1.PerfExperiment) { e.Spec.Design.Blocks = 2 })
	l.untilPhase("small", v1alpha1.ExperimentRunning)
	done := l.untilPhase("small", v1alpha1.ExperimentComplete)
	if done.Status.Progress != "2/2" || done.Status.Results[0].Runs != 2 || done.Status.Results[0].StandardDeviation == "" {
		t.Errorf("progress %s, first result %+v, want 2/2 with two runs behind it", done.Status.Progress, done.Status.Results[0])
	}
}

func TestUsersRunUntilImportEnds(t *testing.T) {
	l := newLab(t, complete)
	l.outside.held["cico"] = true
	l.create(login(), smallExperiment(t, oneArm, importUnderUsers))
	done := l.untilPhase("small", v1alpha1.ExperimentComplete)
	if reported := l.runners.names(); len(reported) != 1 || !strings.HasPrefix(reported[0], "http://10.9.") {
		t.Errorf("runners %v were stopped, want the users' one at the address of its pod", reported)
	}
	stopped := l.run().Status.Loads[0]
	if stopped.Name != "cico" || stopped.StopTime == nil || stopped.Outcome != v1alpha1.LoadSucceeded {
		t.Errorf("the users' load is %+v, want it stopped and succeeded", stopped)
	}
	if !slices.ContainsFunc(done.Status.Results, func(r v1alpha1.Result) bool { return r.Metric == "create/records" && r.Mean == "500" }) {
		t.Errorf("results %v, want 500 records of create", done.Status.Results)
	}
}

func TestStoppingRunnerIsRetried(t *testing.T) {
	l := newLab(t, complete)
	l.outside.held["cico"] = true
	// Of two runners the second is slow to answer; meanwhile the first ends.
	l.runners.silent = func(call int) bool { return call%2 == 0 && call < 10 }
	l.create(login(), smallExperiment(t, oneArm, importUnderUsers, func(e *v1alpha1.PerfExperiment) {
		e.Spec.Scenarios[0].Loads[0].Parallelism = ptr.To[int32](2)
	}))
	done := l.untilPhase("small", v1alpha1.ExperimentComplete)
	if done.Status.Runs.Invalid != 0 || len(l.runners.names()) != 2 {
		t.Errorf("%d runs are invalid and runners %v were stopped, want none and both: %v", done.Status.Runs.Invalid, l.runners.names(), done.Status.InvalidRuns)
	}
}

func TestLoadsFollowTimeline(t *testing.T) {
	l := newLab(t, complete)
	l.outside.held["cico"] = true
	l.create(login(), smallExperiment(t, oneArm, importUnderUsers, func(e *v1alpha1.PerfExperiment) {
		e.Spec.Scenarios[0].Loads[1].StartAfter = &metav1.Duration{Duration: time.Minute}
	}))
	l.until("an import that is on", func() bool { return len(l.listTestRuns(importing)) > 0 })
	begun, made := l.run().Status.Loads[0].StartTime, l.run().Status.Loads[1].CreateTime
	if begun == nil || made == nil {
		t.Fatalf("the import was created at %v, before the run recorded it; users started at %v", made, begun)
	}
	if delay := made.Sub(begun.Time); delay < time.Minute || delay > time.Minute+10*time.Second {
		t.Errorf("the import started %s after the users, want it soon after a minute", delay)
	}
	l.untilPhase("small", v1alpha1.ExperimentComplete)
}

func TestSecondExperimentWaitsForFirst(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, oneArm))
	l.settle()
	l.create(smallExperiment(t, oneArm, func(e *v1alpha1.PerfExperiment) { e.Name = "another" }))
	l.settle()
	waiting := l.experiment("another")
	if waiting.Status.Phase != v1alpha1.ExperimentPending || !strings.Contains(waiting.Status.WaitingFor, l.run().Name) {
		t.Errorf("the second experiment is %s and waits for %q, want it Pending for run %s", waiting.Status.Phase, waiting.Status.WaitingFor, l.run().Name)
	}
	l.untilPhase("another", v1alpha1.ExperimentComplete)
}

func TestDeletionDeletesEnvironment(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, oneArm))
	l.untilRun(v1alpha1.RunLoading)
	before := len(l.line.journal)
	l.remove(l.experiment("small"))
	l.settle()
	deleting := l.experiment("small")
	l.expect(deleting.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionUnknown, v1alpha1.ReasonDeleting)
	l.until("the end of the experiment", func() bool { return len(l.experiments()) == 0 })
	if left := l.environment(); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	for _, written := range l.line.journal[before:] {
		if strings.HasPrefix(written, "apply") {
			t.Errorf("while it was being deleted the environment was built up again: %s", written)
		}
	}
}

func TestDeletionBeforeFirstRun(t *testing.T) {
	l := newLab(t, complete)
	l.create(smallExperiment(t, func(e *v1alpha1.PerfExperiment) { e.Spec.Suspend = true }))
	l.settle()
	l.remove(l.experiment("small"))
	l.settle()
	if left := l.experiments(); len(left) != 0 {
		t.Errorf("the experiment still exists, waiting for %q", left[0].Status.WaitingFor)
	}
}

// The tests' API server has no webhook.
func TestChangedSpecStallsExperiment(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t))
	l.settle()
	expect.NoError(t, l.change("small", func(e *v1alpha1.PerfExperiment) { e.Spec.Arms[1].Name = "other" }), "changing an arm")
	l.untilPhase("small", v1alpha1.ExperimentStalled)
	l.expect(l.experiment("small").Status.Conditions, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonSpecChanged, "restore it")
	l.untilRun(v1alpha1.RunSucceeded)
	l.settle()
	if runs := len(l.runs()); runs != 1 {
		t.Errorf("%d runs, want the one that was on and no further one", runs)
	}
}

func TestCredentialsAreNeverShown(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, oneArm))
	kinds := append(slices.Clone(environmentKinds), contract.TestRunKind,
		v1alpha1.GroupVersion.WithKind("PerfExperiment"), v1alpha1.GroupVersion.WithKind("PerfRun"), corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	seen := 0
	l.until("a complete experiment", func() bool {
		for _, kind := range kinds {
			for _, object := range l.foreign(kind) {
				seen++
				written, err := json.Marshal(object.Object)
				expect.NoError(t, err)
				if strings.Contains(string(written), password) {
					t.Errorf("%s %s shows the password", object.GetKind(), object.GetName())
				}
			}
		}
		return l.experiment("small").Status.Phase == v1alpha1.ExperimentComplete
	})
	if reported := strings.Join(l.events.reported, "\n"); strings.Contains(reported, password) || seen == 0 || reported == "" {
		t.Errorf("%d objects and these events were looked at:\n%s", seen, reported)
	}
}

// listTestRuns returns the TestRuns of a load.
func (l *lab) listTestRuns(load string) []unstructured.Unstructured {
	l.t.Helper()
	return slices.DeleteFunc(l.foreign(contract.TestRunKind), func(testRun unstructured.Unstructured) bool {
		return testRun.GetLabels()[v1alpha1.LabelLoad] != load
	})
}
