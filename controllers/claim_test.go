// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/experiment"
	"perflab.dev/perflab/controllers/run"
)

// at is a restarted operator of a namespace.
func (l *lab) at(home string) (*experiment.Reconciler, *run.Reconciler) {
	before := l.home
	defer func() { l.home = before }()
	l.home = home
	return l.operator()
}

// An experiment belongs to the operator that claimed it first. Another operator with an overlapping
// scope does nothing and reports that.
func TestSecondOperatorIgnoresClaimedExperiment(t *testing.T) {
	l := newLab(t, complete)
	l.home = "perflab-system"
	l.create(login(), smallExperiment(t))
	l.untilRun(v1alpha1.RunLoading)
	if held := l.experiment("small").Annotations[v1alpha1.AnnotationOperator]; held != "perflab-system" {
		t.Fatalf("it is %q's", held)
	}
	experiments, runs := l.at("team-a")
	written, said := len(l.line.journal), len(l.events.reported)
	for range 3 {
		if result, err := experiments.Reconcile(t.Context(), request(l.experiment("small"))); err != nil || result.RequeueAfter != 0 {
			t.Errorf("the second requeues after %s: %v", result.RequeueAfter, err)
		}
		if _, err := runs.Reconcile(t.Context(), request(l.run())); err != nil {
			t.Error(err)
		}
	}
	if len(l.line.journal) != written {
		t.Errorf("the second wrote %q", l.line.journal[written:])
	}
	reported := l.events.reported[said:]
	if len(reported) != 1 || !strings.Contains(reported[0], `he operator in namespace "perflab-system" manages this experiment, so the one in "team-a" ignores it`) ||
		!strings.Contains(reported[0], "kubectl annotate perfexperiment small -n "+l.namespace+" perflab.dev/operator-") {
		t.Errorf("events %q, want one with advice", reported)
	}
	l.untilPhase("small", v1alpha1.ExperimentComplete)
}

// A user can pass on the first operator's experiment.
func TestExperimentIsHandedOver(t *testing.T) {
	l := newLab(t, complete)
	l.home = "perflab-system"
	l.create(login(), smallExperiment(t))
	l.untilRun(v1alpha1.RunSucceeded)
	l.home = "team-a"
	before := len(l.line.journal)
	l.settle()
	if len(l.line.journal) != before {
		t.Errorf("before it is handed on, the second wrote %q", l.line.journal[before:])
	}
	l.mustChange("small", func(e *v1alpha1.PerfExperiment) { delete(e.Annotations, v1alpha1.AnnotationOperator) })
	l.untilPhase("small", v1alpha1.ExperimentComplete)
	if held := l.experiment("small").Annotations[v1alpha1.AnnotationOperator]; held != "team-a" {
		t.Errorf("it is %q's", held)
	}
}

// If two operators see a new experiment at once, one gets it.
func TestFirstClaimWins(t *testing.T) {
	l := newLab(t, complete)
	l.create(smallExperiment(t))
	unclaimed := l.experiment("small")
	l.home = "perflab-system"
	claim, _ := l.operator()
	late, _ := l.at("team-a")
	if _, err := claim.Reconcile(t.Context(), request(unclaimed)); err != nil {
		t.Fatal(err)
	}
	mine := unclaimed.DeepCopy()
	late.Claim(mine)
	if err := late.Cluster.PatchIfUnchanged(t.Context(), mine, unclaimed); !apierrors.IsConflict(err) {
		t.Errorf("the second claim returned %v, want a conflict", err)
	}
	if held := l.experiment("small").Annotations[v1alpha1.AnnotationOperator]; held != "perflab-system" {
		t.Errorf("it is %q's", held)
	}
}
