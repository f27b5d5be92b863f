// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/runs/evidence"
)

// The lab restarts the operator before each step of every test. Here it is also killed at each of
// its writes: before it takes effect and, at the retry, after it takes effect but before the
// operator gets the answer. The digests describe the remaining objects.
func TestKillAtEveryWriteLosesNothing(t *testing.T) {
	l := newLab(t, complete)
	l.line.fate = alternate(lost, unanswered)
	l.create(login(), smallExperiment(t, importUnderUsers))
	l.outside.held["cico"] = true
	made := map[string]types.UID{}
	l.until("a complete experiment", func() bool {
		l.countTestRuns(made)
		return l.experiment("small").Status.Phase == v1alpha1.ExperimentComplete
	})
	if runs := l.runs(); len(runs) != 2 || len(made) != 4 {
		t.Errorf("%d runs with %d loads were made, want 2 with 4", len(runs), len(made))
	}
	if status := l.experiment("small").Status; status.Runs.Invalid != 0 || status.Progress != "2/2" {
		t.Errorf("%d runs are invalid and %s done, want none and 2/2", status.Runs.Invalid, status.Progress)
	}
	l.settle()
	if result := l.verifyChain("small"); result.Followed[evidence.KindRawResults] != 2 {
		t.Errorf("followed are %v", result.Followed)
	}
}

// A cache may show a run as it was before its loads ended. Their TestRuns are deleted by then and
// must not be recreated.
func TestStaleCacheRepeatsNoLoad(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, oneArm))
	l.until("loads that are on", func() bool { return len(l.foreign(contract.TestRunKind)) > 0 })
	old := l.run()
	l.untilPhase("small", v1alpha1.ExperimentComplete)
	l.line.old = old
	l.pass()
	if testRuns := l.foreign(contract.TestRunKind); len(testRuns) != 0 {
		t.Errorf("%d TestRuns were made again", len(testRuns))
	}
	if phase := l.run().Status.Phase; phase != v1alpha1.RunSucceeded {
		t.Errorf("the run went back to %s", phase)
	}
}

// countTestRuns records the TestRuns and fails the test if one was created twice.
func (l *lab) countTestRuns(made map[string]types.UID) {
	l.t.Helper()
	for _, testRun := range l.foreign(contract.TestRunKind) {
		if uid, known := made[testRun.GetName()]; known && uid != testRun.GetUID() {
			l.t.Errorf("TestRun %s was made twice", testRun.GetName())
		}
		made[testRun.GetName()] = testRun.GetUID()
	}
}
