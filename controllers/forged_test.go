// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/kafka"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/objects"
)

// forge creates a run like the first one of experiment small, with edits, whose status claims
// success.
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

func orphan(r *v1alpha1.PerfRun) { r.OwnerReferences = nil }

func TestForgedRunsAreExcludedAndReported(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t))
	l.untilRun(v1alpha1.RunLoading)
	forgeries := map[string]func(*v1alpha1.PerfRun){
		"forged-orphan": orphan,
		"forged-plan":   func(r *v1alpha1.PerfRun) { r.Spec.PlanHash = "0123456789abcdef" },
		"forged-place":  func(r *v1alpha1.PerfRun) { r.Spec.Block = 90 },
		"forged-record": func(r *v1alpha1.PerfRun) { elsewhere(r) },
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
			t.Errorf("%s is not reported: %q", name, l.experiment("small").Status.Warnings)
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
		t.Errorf("a deleted run is still reported: %q", l.experiment("small").Status.Warnings)
	}
}

// A forged run with the name of a planned one is reported, and checked from time to time until it is
// deleted.
func TestForgedRunWithPlannedName(t *testing.T) {
	for name, edit := range map[string]func(*v1alpha1.PerfRun){
		"without an owner": orphan,
		"another plan":     func(r *v1alpha1.PerfRun) { r.Spec.PlanHash = "0123456789abcdef" },
		"a record":         func(r *v1alpha1.PerfRun) { elsewhere(r) },
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
			l.settle()
			l.removeAllRuns(func(r *v1alpha1.PerfRun) bool { return r.Name != first.Name })
			made := l.experiment("small").Status.Attempts
			forged := l.forge(naming.Long.Run("small", 1, second, first.Spec.Scenario.Name, made[len(made)-1]+1), func(r *v1alpha1.PerfRun) { r.Spec.Arm = second }, edit)
			l.settle()
			l.expect(l.experiment("small").Status.Conditions, v1alpha1.ConditionReconciling, metav1.ConditionTrue, v1alpha1.ReasonNameTaken, `PerfRun "`+forged.Name+`" already exists`)
			reconciler, _ := l.operator()
			if result, err := reconciler.Reconcile(t.Context(), request(l.experiment("small"))); err != nil || result.RequeueAfter != component.RefusalRetryInterval {
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

// A run without its label continues, and the status reports the consequence.
func TestRunWithoutLabel(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t))
	run := l.untilRun(v1alpha1.RunLoading)
	run.Labels = nil
	l.update(run)
	l.settle()
	reported := strings.Join(l.experiment("small").Status.Warnings, "; ")
	if want := "is part of the experiment, but perflab does not list it: kubectl label perfrun " + run.Name + " -n " + l.namespace + " --overwrite perflab.dev/experiment=small"; !strings.Contains(reported, want) {
		t.Errorf("warnings %q, want %q", reported, want)
	}
	if current := l.experiment("small").Status.Current; current == nil || current.Run != run.Name {
		t.Errorf("the current run is %+v, want %s", current, run.Name)
	}
	run = l.run()
	run.Labels = naming.RunLabels(run)
	l.update(run)
	done := l.untilPhase("small", v1alpha1.ExperimentComplete)
	if reported := strings.Join(done.Status.Warnings, "; "); strings.Contains(reported, "label") {
		t.Errorf("once it has its label: %q", reported)
	}
}

// Runs without an operator block no other runs and build nothing.
func TestForgedRunDoesNotBlockQueue(t *testing.T) {
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

// A ConfigMap that claims to be the experiment's ledger of topics is ignored, whether it existed
// before the first run, is a second one, or is the real one with other brokers: the login would be
// sent to them, and their topics deleted.
func TestForgedLedgersAreIgnored(t *testing.T) {
	const theirs = "b-1.theirs.msk.example.org:9096"
	forged := func(l *lab, name string) *corev1.ConfigMap {
		of := l.experiment("small")
		return &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{
				Name: name, Labels: naming.ComponentLabels(of.Name, environment.ComponentTopic), Finalizers: []string{v1alpha1.Finalizer},
				OwnerReferences: []metav1.OwnerReference{naming.Owner("PerfExperiment", of)},
			},
			Data: map[string]string{"prefix": "", "brokers.json": `{"bootstrapServers":["` + theirs + `"],"sasl":{"credentialsSecret":{"name":"msk-login"}}}`},
		}
	}
	for name, test := range map[string]struct {
		before, after func(*lab)
		reported      bool
	}{
		"under the ledger's name": {before: func(l *lab) { l.create(forged(l, ledgerName(l))) }},
		"next to the ledger":      {after: func(l *lab) { l.create(forged(l, "small-topics-0123456789")) }, reported: true},
		"in the ledger": {after: func(l *lab) {
			ledger := l.configMap(ledgerName(l))
			ledger.Data = forged(l, ledger.Name).Data
			expect.NoError(l.t, l.admin.Update(l.t.Context(), ledger))
		}, reported: true},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, complete)
			l.outside.withoutStrimzi = true
			l.brokers.forbidden = theirs
			l.brokers.put("theirs", kafka.TopicState{Partitions: 1, Replicas: 1})
			l.create(login())
			l.create(mskSecrets()...)
			l.create(smallExperiment(t, oneArm, msk))
			if test.before != nil {
				test.before(l)
			}
			l.untilRun(v1alpha1.RunSucceeded)
			if test.after != nil {
				test.after(l)
			}
			l.now = time.Now()
			l.remove(l.experiment("small"))
			l.until("the end of the experiment", func() bool { return len(l.experiments()) == 0 })
			if !slices.Contains(l.brokers.names(), "theirs") {
				t.Error("topics of others were deleted")
			}
			reported := slices.ContainsFunc(l.events.reported, func(event string) bool { return strings.Contains(event, "TopicsLeft") })
			expect.Equal(t, test.reported, reported, "an event reports that topics remain")
		})
	}
}

// ledgerName is the name of experiment small's ledger.
func ledgerName(l *lab) string {
	of := l.experiment("small")
	return naming.Long.TopicLedger(of.Name, of.Spec.System.Kafka.External)
}
