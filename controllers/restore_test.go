// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/naming"
)

func restoring(hook v1alpha1.Restore) func(*v1alpha1.PerfExperiment) {
	return func(e *v1alpha1.PerfExperiment) {
		e.Spec.Reset, e.Spec.Restore = v1alpha1.ResetRestoreData, &hook
		e.Spec.Design.Blocks = 2
	}
}

func script() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "data"}, Data: map[string]string{"restore.sql": "TRUNCATE items;"}}
}

var bySQL = v1alpha1.Restore{SQL: &v1alpha1.RestoreSQL{ConfigMap: v1alpha1.ConfigMapKey{Name: "data", Key: "restore.sql"}, Image: "psql:1"}}

// Each run restores its data once, while no module of the previous run is up, even if the operator is
// killed at every write.
func TestDataIsRestoredBeforeEachRun(t *testing.T) {
	hooks := map[string]v1alpha1.Restore{
		"sql":  bySQL,
		"job":  {Job: &v1alpha1.RestoreJob{Image: "loader:1", Command: []string{"load"}}},
		"http": {HTTP: &v1alpha1.RestoreHTTP{Path: "/admin/restore"}},
	}
	for name, hook := range hooks {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, complete)
			l.line.fate = alternate(unanswered, passes)
			l.create(login(), script(), smallExperiment(t, oneArm, restoring(hook)))
			seen := map[types.UID]bool{}
			l.until("a complete experiment", func() bool {
				for _, pod := range l.pods(naming.ComponentLabels("small", environment.ComponentModule)) {
					seen[pod.UID] = true
				}
				return l.experiment("small").Status.Phase == v1alpha1.ExperimentComplete
			})
			if runs := l.runs(); len(runs) != 2 || len(l.restored) != 2 || len(seen) != 2 {
				t.Fatalf("%d runs, data brought back by %q, %d pods of the module; want 2 of each", len(runs), l.restored, len(seen))
			}
			for _, run := range l.runs() {
				l.expect(run.Status.Conditions, v1alpha1.ConditionDataRestored, metav1.ConditionTrue, v1alpha1.ReasonReady)
				timings := run.Status.Timings
				if timings.Stopped == nil || timings.Restored == nil || timings.Restored.Before(timings.Stopped) || timings.Ready.Before(timings.Restored) {
					t.Errorf("run %s: timings %+v", run.Name, timings)
				}
			}
		})
	}
}

func TestFailedRestoreInvalidatesRun(t *testing.T) {
	l := newLab(t, complete)
	l.outside.restores = 3
	l.create(login(), script(), smallExperiment(t, oneArm, restoring(bySQL)))
	run := l.untilRun(v1alpha1.RunInvalid)
	l.expect(run.Status.Conditions, v1alpha1.ConditionValid, metav1.ConditionFalse, v1alpha1.ReasonRestoreFailed,
		"a statement failed", "exit code 3", "kubectl logs -n "+l.namespace+" job/"+naming.Restore(run.Name))
}

func TestMissingRestoreScriptIsReported(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, oneArm, restoring(bySQL)))
	named := func() bool {
		return l.run() != nil && l.run().Status.Message == `ConfigMap "data" with the script of restore.sql not found: create it in namespace "`+l.namespace+`"`
	}
	l.until("a message about the script", named)
	jobs := &batchv1.JobList{}
	if l.list(jobs); len(jobs.Items) != 0 {
		t.Errorf("%d Jobs wait for a missing script", len(jobs.Items))
	}
	l.create(script())
	l.untilPhase("small", v1alpha1.ExperimentComplete)
}
