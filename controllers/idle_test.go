// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/expect"
)

// settled is a complete experiment with nothing left to do for now.
func (l *lab) settled(edits ...func(*v1alpha1.PerfExperiment)) *v1alpha1.PerfExperiment {
	l.t.Helper()
	l.create(login(), smallExperiment(l.t, append(edits, oneArm)...))
	l.until("an experiment that has settled", func() bool { return l.experiment("small").Status.Settled != "" })
	return l.experiment("small")
}

// look reconciles the experiment with a restarted operator, and returns its reads and its number of
// writes.
func (l *lab) look() (result ctrl.Result, reads []string, writes int) {
	l.t.Helper()
	l.line.unread = func(what string) error {
		reads = append(reads, strings.Join(strings.Fields(what)[:2], " "))
		return nil
	}
	defer func() { l.line.unread = nil }()
	before := l.line.effects
	reconciler, _ := l.operator()
	result, err := reconciler.Reconcile(l.t.Context(), request(l.experiment("small")))
	expect.NoError(l.t, err)
	return result, reads, l.line.effects - before
}

// Hundreds of complete experiments must cost nothing: no request, and from the cache only the check that
// nothing has changed.
func TestCompleteExperimentCostsNothing(t *testing.T) {
	l := newLab(t, complete)
	l.settled()
	l.until("the end of the environment", func() bool { return l.experiment("small").Status.TornDown != nil })
	if left := l.environment(); len(left) != 0 {
		t.Errorf("it reports that its environment is deleted, and %v exists", left)
	}
	result, reads, writes := l.look()
	if diff := cmp.Diff([]string{"get *v1alpha1.PerfExperiment", "list *v1alpha1.PerfRunList"}, reads); diff != "" || writes != 0 || result != (ctrl.Result{}) {
		t.Errorf("%d writes, then %+v, reads (-want +got):\n%s", writes, result, diff)
	}
}

// It is reconciled when its environment expires.
func TestCompleteExperimentKeepsEnvironmentForTTL(t *testing.T) {
	l := newLab(t, complete)
	done := l.settled(func(e *v1alpha1.PerfExperiment) { e.Spec.Cleanup.TTL = &metav1.Duration{Duration: time.Hour} })
	if done.Status.TornDown != nil || len(l.environment()) == 0 {
		t.Fatalf("torn down at %v, within its time", done.Status.TornDown)
	}
	if result, _, writes := l.look(); writes != 0 || result.RequeueAfter <= 0 || result.RequeueAfter > time.Hour {
		t.Errorf("%d writes, and another reconcile after %s, want one within its hour", writes, result.RequeueAfter)
	}
	l.now = l.now.Add(time.Hour)
	l.until("the end of the environment", func() bool { return len(l.environment()) == 0 && l.experiment("small").Status.TornDown != nil })
}

func TestCompleteExperimentReactsToChanges(t *testing.T) {
	for name, c := range map[string]struct {
		edits []func(*v1alpha1.PerfExperiment)
		do    func(*lab)
		want  func(*lab) bool
	}{
		"more blocks": {
			do: func(l *lab) { l.ask(func(e *v1alpha1.PerfExperiment) { e.Spec.Design.Blocks = 2 }) },
			want: func(l *lab) bool {
				status := l.experiment("small").Status
				return status.Settled != "" && status.Progress == "2/2" && status.TornDown != nil
			},
		},
		"a run that is deleted": {
			do: func(l *lab) {
				expect.NoError(l.t, l.admin.Delete(l.t.Context(), l.run()))
			},
			want: func(l *lab) bool { return len(l.runs()) == 1 && l.experiment("small").Status.Settled != "" },
		},
		"another way to clean up": {
			edits: []func(*v1alpha1.PerfExperiment){func(e *v1alpha1.PerfExperiment) { e.Spec.Cleanup.Policy = v1alpha1.CleanupRetain }},
			do: func(l *lab) {
				l.ask(func(e *v1alpha1.PerfExperiment) { e.Spec.Cleanup.Policy = v1alpha1.CleanupDelete })
			},
			want: func(l *lab) bool { return len(l.environment()) == 0 },
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, complete)
			before := l.settled(c.edits...)
			if c.want(l) && name != "a run that is deleted" {
				t.Fatal("the expected state already exists")
			}
			c.do(l)
			l.until(name, func() bool { return c.want(l) && l.experiment("small").Status.Settled != before.Status.Settled })
		})
	}
}

// ask changes the experiment as a user does.
func (l *lab) ask(change func(*v1alpha1.PerfExperiment)) {
	l.t.Helper()
	experiment := l.experiment("small")
	change(experiment)
	expect.NoError(l.t, l.admin.Update(l.t.Context(), experiment))
}
