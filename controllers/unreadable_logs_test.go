// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/expect"
)

// unreadLogs makes the logs of pods with this text in their names unreadable.
func (l *lab) unreadLogs(word string) {
	l.logs.unread = func(pod string) error {
		if !strings.Contains(pod, word) {
			return nil
		}
		l.line.cut = true
		return fmt.Errorf("the node of %s does not answer: %w", pod, errCut)
	}
}

// passTenSeconds advances the clock for an operator that does not become idle.
func (l *lab) passTenSeconds(done func() bool) {
	l.t.Helper()
	for range 100 {
		l.pass()
		if done() {
			return
		}
		l.play()
		l.now = l.now.Add(10 * time.Second)
	}
}

// A node that is briefly unavailable does not invalidate a run of hours.
func TestUnreadLogIsRetried(t *testing.T) {
	for name, word := range map[string]string{"a runner's": "-cico-", "the collector's": "-collector"} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, complete)
			withCollectors(l)
			l.create(login(), smallExperiment(t, oneArm))
			l.underLoad()
			l.unreadLogs(word)
			reported := ""
			l.eachPass = func() {
				if kept := meta.FindStatusCondition(l.run().Status.Conditions, v1alpha1.ConditionResultsKept); kept != nil && kept.Reason == v1alpha1.ReasonRetrying {
					reported = kept.Message
				}
			}
			l.passTenSeconds(func() bool { return reported != "" })
			if !strings.Contains(reported, "does not answer") {
				t.Fatalf("reported: %q:\n%s", reported, l.describe())
			}
			l.logs.unread, l.eachPass = nil, nil
			done := l.untilPhase("small", v1alpha1.ExperimentComplete)
			if runs := l.runs(); len(runs) != 1 || done.Status.Runs.Invalid != 0 || runs[0].Status.Servers == nil {
				t.Errorf("%d runs, %d invalid, servers %v, want one that counts, with its servers", len(runs), done.Status.Runs.Invalid, runs[0].Status.Servers)
			}
		})
	}
}

// All logs of a reconcile share its time limit, because others wait for it.
func TestLogsOfRunShareReconcile(t *testing.T) {
	l := newLab(t, complete)
	withCollectors(l)
	l.create(login(), smallExperiment(t, oneArm, func(e *v1alpha1.PerfExperiment) {
		e.Spec.Scenarios[0].Loads[0].Parallelism = ptr.To[int32](3)
	}))
	l.untilRun(v1alpha1.RunSucceeded)
	turns := map[time.Time]int{}
	for _, until := range l.logs.until {
		turns[until]++
	}
	if most := slices.Max(slices.Collect(maps.Values(turns))); most < 3 {
		t.Errorf("reconciles: %v, want one in which three runners' logs are read", turns)
	}
}

// Logs that are unreadable for minutes make the run invalid, with the reason.
func TestUnreadableLogInvalidatesRun(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, oneArm, func(e *v1alpha1.PerfExperiment) { e.Spec.Validity.MaxAttempts = 1 }))
	l.underLoad()
	l.unreadLogs("-cico-")
	l.passTenSeconds(func() bool { return l.run().Status.Phase == v1alpha1.RunInvalid })
	message := l.run().Status.Message
	expect.Contains(t, message, []string{"could not be stored within 5m0s", "does not answer"})
}
