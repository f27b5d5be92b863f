// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/expect"
)

// The manifest in Git, without the API server's defaults.
const declared = `
apiVersion: perflab.dev/v1alpha1
kind: PerfExperiment` + small

// sync applies the manifest server-side as Argo CD does.
func (l *lab) sync(manifest string) {
	l.t.Helper()
	object := &unstructured.Unstructured{}
	expect.NoError(l.t, yaml.Unmarshal([]byte(manifest), &object.Object))
	object.SetNamespace(l.namespace)
	expect.NoError(l.t, l.admin.Apply(l.t.Context(), client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("argocd-controller"), client.ForceOwnership), "applying the manifest")
}

// withDefaults is the live spec as a manifest, which a tool with server-side diff may apply.
func (l *lab) withDefaults() string {
	l.t.Helper()
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("PerfExperiment"))
	expect.NoError(l.t, l.admin.Get(l.t.Context(), client.ObjectKey{Namespace: l.namespace, Name: "small"}, live))
	written, err := yaml.Marshal(map[string]any{
		"apiVersion": live.GetAPIVersion(), "kind": live.GetKind(),
		"metadata": map[string]any{"name": live.GetName()}, "spec": live.Object["spec"],
	})
	expect.NoError(l.t, err)
	return string(written)
}

func (l *lab) runUIDs() map[types.UID]string {
	l.t.Helper()
	uids := map[types.UID]string{}
	for _, run := range l.runs() {
		uids[run.UID] = run.Name
	}
	return uids
}

// Before every step of a lab the operator is restarted; here the manifest is also applied again and
// again, and restored while a run is active and after the end.
func TestSyncNeverRestartsExperiment(t *testing.T) {
	l := newLab(t, complete)
	l.create(login())
	l.sync(declared)
	l.untilRun(v1alpha1.RunLoading)
	planned := l.experiment("small").Status.PlanHash
	generation := l.experiment("small").Generation
	begun := l.runUIDs()
	if planned == "" || len(begun) != 1 {
		t.Fatalf("plan %q with runs %v before the first sync", planned, begun)
	}
	syncs := 0
	l.eachRound = func() {
		if len(l.experiments()) == 0 {
			return
		}
		syncs++
		if syncs%2 == 0 {
			l.sync(l.withDefaults())
		}
		l.sync(declared)
	}
	done := l.untilPhase("small", v1alpha1.ExperimentComplete)
	if syncs < 3 {
		t.Fatalf("only %d syncs while the experiment was on", syncs)
	}
	l.checkUndisturbed(done, planned, generation, begun)
	over := l.runUIDs()

	l.sync(declared)
	l.settle()
	l.checkUndisturbed(l.experiment("small"), planned, generation, over)
	if len(l.runUIDs()) != len(over) {
		t.Errorf("runs %v after a sync of the complete experiment, want %v", l.runUIDs(), over)
	}
}

// Self-heal reverts a manual change: the runs stay and the experiment continues.
func TestSelfHealRestoresSpec(t *testing.T) {
	l := newLab(t, complete)
	l.create(login())
	l.sync(declared)
	l.untilRun(v1alpha1.RunLoading)
	begun, planned := l.runUIDs(), l.experiment("small").Status.PlanHash
	l.mustChange("small", func(e *v1alpha1.PerfExperiment) { e.Spec.Design.Seed = ptr.To[int64](8) })
	l.untilPhase("small", v1alpha1.ExperimentStalled)
	l.sync(declared)
	done := l.untilPhase("small", v1alpha1.ExperimentComplete)
	l.checkUndisturbed(done, planned, 0, begun)
}

// Pruning deletes the experiment with its runs and its environment.
func TestPruningDeletesEverything(t *testing.T) {
	l := newLab(t, complete)
	l.create(login())
	l.sync(declared)
	l.untilRun(v1alpha1.RunLoading)
	l.remove(l.experiment("small"))
	l.until("the end of the experiment", func() bool { return len(l.experiments()) == 0 })
	if left := l.environment(); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// checkUndisturbed: the plan and the runs are the same, and no run was repeated. A generation of 0 is
// not compared.
func (l *lab) checkUndisturbed(experiment *v1alpha1.PerfExperiment, planned string, generation int64, begun map[types.UID]string) {
	l.t.Helper()
	status := experiment.Status
	if status.PlanHash != planned || status.Progress != "2/2" || status.Runs.Invalid != 0 {
		l.t.Errorf("plan %s, progress %s, %d invalid; want %s, 2/2 and none", status.PlanHash, status.Progress, status.Runs.Invalid, planned)
	}
	if generation != 0 && experiment.Generation != generation {
		l.t.Errorf("generation %d, want %d: a sync changed the spec", experiment.Generation, generation)
	}
	now := l.runUIDs()
	for uid, name := range begun {
		if now[uid] != name {
			l.t.Errorf("run %s was deleted or recreated", name)
		}
	}
	if len(now) != 2 {
		l.t.Errorf("%d runs, want 2: %v", len(now), now)
	}
}
