// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/testing/objects"
)

// forge makes a run like the first one of experiment small, with edits, which
// claims to have succeeded.
func (l *lab) forge(name string, edits ...func(*v1alpha1.PerfRun)) *v1alpha1.PerfRun {
	l.t.Helper()
	of := l.experiment("small")
	forged := objects.Run(of, name, edits...)
	l.create(forged)
	forged.Status.Phase = v1alpha1.RunSucceeded
	l.updateStatus(forged)
	return forged
}

func (l *lab) warns(of, words string) bool {
	l.t.Helper()
	return slices.ContainsFunc(l.experiment(of).Status.Warnings, func(warning string) bool { return strings.Contains(warning, words) })
}

func nobodys(r *v1alpha1.PerfRun) { r.OwnerReferences = nil }

func TestForgedRunsAreLeftOutAndNamed(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t))
	l.untilRun(v1alpha1.RunLoading)
	forgeries := map[string]func(*v1alpha1.PerfRun){
		"forged-nobodys": nobodys,
		"forged-plan":    func(r *v1alpha1.PerfRun) { r.Spec.PlanHash = "0123456789abcdef" },
		"forged-place":   func(r *v1alpha1.PerfRun) { r.Spec.Block = 90 },
		"forged-record":  func(r *v1alpha1.PerfRun) { elsewhere(r) },
	}
	for name, edit := range forgeries {
		l.forge(name, edit)
	}
	l.settle()
	if status := l.experiment("small").Status; status.Progress != "0/2" {
		t.Errorf("progress is %s, and no run has ended", status.Progress)
	}
	status := l.untilPhase("small", v1alpha1.ExperimentComplete).Status
	if status.Progress != "2/2" || status.Runs.Invalid != 0 {
		t.Errorf("progress %s, %d invalid", status.Progress, status.Runs.Invalid)
	}
	page := l.configMap(status.Report).Data["report.md"]
	for name := range forgeries {
		if !l.warns("small", `left out: PerfRun "`+name+`"`) {
			t.Errorf("nobody is told of %s: %q", name, l.experiment("small").Status.Warnings)
		}
		if strings.Contains(page, "| "+name) {
			t.Errorf("%s is in the report", name)
		}
	}
	if runs := len(l.runs()); runs != 2+len(forgeries) {
		t.Errorf("%d runs, want two and what was forged", runs)
	}
	for _, run := range l.runs() {
		if strings.HasPrefix(run.Name, "forged") {
			l.remove(&run)
		}
	}
	l.settle()
	if l.warns("small", "left out") {
		t.Errorf("what is gone is still told of: %q", l.experiment("small").Status.Warnings)
	}
}

// A run that is in the way of a planned one is told of, and looked for now and
// then until it is gone.
func TestAForgedRunInTheWay(t *testing.T) {
	for name, edit := range map[string]func(*v1alpha1.PerfRun){
		"nobody's":     nobodys,
		"another plan": func(r *v1alpha1.PerfRun) { r.Spec.PlanHash = "0123456789abcdef" },
		"a record":     func(r *v1alpha1.PerfRun) { elsewhere(r) },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, complete)
			l.create(login(), smallExperiment(t))
			first := l.untilRun(v1alpha1.RunSucceeded)
			second := ""
			for _, arm := range l.experiment("small").Spec.Arms {
				if arm.Name != first.Spec.Arm {
					second = arm.Name
				}
			}
			l.removeAllRuns(func(r *v1alpha1.PerfRun) bool { return r.Name != first.Name })
			forged := l.forge(naming.Long.Run("small", 1, second, first.Spec.Scenario.Name, 1), func(r *v1alpha1.PerfRun) { r.Spec.Arm = second }, edit)
			l.settle()
			l.expect(l.experiment("small").Status.Conditions, v1alpha1.ConditionReconciling, metav1.ConditionTrue, v1alpha1.ReasonNameTaken, `PerfRun "`+forged.Name+`" is there already`)
			reconciler, _ := l.operator()
			if result, err := reconciler.Reconcile(t.Context(), request(l.experiment("small"))); err != nil || result.RequeueAfter != component.RefusedPause {
				t.Errorf("looked for after %s: %v", result.RequeueAfter, err)
			}
			l.remove(forged)
			l.untilPhase("small", v1alpha1.ExperimentComplete)
		})
	}
}

func (l *lab) removeAllRuns(wanted func(*v1alpha1.PerfRun) bool) {
	l.t.Helper()
	for _, run := range l.runs() {
		if wanted(&run) {
			l.remove(&run)
		}
	}
}

// A run that has lost its label goes on, and people are told what does not see it.
func TestARunWithoutItsLabel(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t))
	run := l.untilRun(v1alpha1.RunLoading)
	run.Labels = nil
	l.update(run)
	l.settle()
	told := strings.Join(l.experiment("small").Status.Warnings, "; ")
	if want := "counts, but perflab does not list it: kubectl label perfrun " + run.Name + " -n " + l.namespace + " --overwrite perflab.dev/experiment=small"; !strings.Contains(told, want) {
		t.Errorf("warnings %q, want %q", told, want)
	}
	if current := l.experiment("small").Status.Current; current == nil || current.Run != run.Name {
		t.Errorf("the current run is %+v, want %s", current, run.Name)
	}
	run = l.run()
	run.Labels = naming.RunLabels(run)
	l.update(run)
	done := l.untilPhase("small", v1alpha1.ExperimentComplete)
	if told := strings.Join(done.Status.Warnings, "; "); strings.Contains(told, "label") {
		t.Errorf("once it has its label: %q", told)
	}
}

// What nobody does, nobody waits for, and nobody builds.
func TestAForgedRunHoldsNobodyUp(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t))
	for name, of := range map[string]string{"forged-1": "small", "forged-2": "nobody"} {
		forged := &v1alpha1.PerfRun{Spec: v1alpha1.PerfRunSpec{
			Experiment: of, Block: 1, Position: 1, Attempt: 1, Arm: "evil",
			System: l.experiment("small").Spec.System, Scenario: l.experiment("small").Spec.Scenarios[0],
		}}
		forged.Name = name
		forged.Labels = naming.RunLabels(forged)
		l.create(forged)
	}
	l.untilPhase("small", v1alpha1.ExperimentComplete)
	for _, run := range l.runs() {
		if strings.HasPrefix(run.Name, "forged") && run.Status.Phase != "" {
			t.Errorf("%s was done: %s", run.Name, run.Status.Phase)
		}
	}
}
