// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/testing/expect"
)

// edit changes the workload as this field manager.
func (l *lab) edit(manager string, change func(*appsv1.Deployment)) {
	l.t.Helper()
	deployment := &appsv1.Deployment{}
	expect.NoError(l.t, l.admin.Get(l.t.Context(), client.ObjectKey{Namespace: l.namespace, Name: "mod-inventory"}, deployment))
	before := deployment.DeepCopy()
	change(deployment)
	expect.NoError(l.t, l.admin.Patch(l.t.Context(), deployment, client.StrategicMergeFrom(before), client.FieldOwner(manager)), "editing the workload")
}

// loading waits until the loads are running.
func (l *lab) loading() {
	l.t.Helper()
	l.until("loads that are on", func() bool { return len(l.foreign(contract.TestRunKind)) > 0 })
}

func TestReleaseKeepsOthersChanges(t *testing.T) {
	l := newLab(t, complete)
	l.install(inventory, byHelm)
	l.play()
	before := l.workload("Deployment")
	l.create(login(), smallExperiment(t, borrowing("Deployment", placed()), oneArm))
	l.loading()
	l.edit("kubectl-edit", func(d *appsv1.Deployment) {
		d.Labels["team"] = "prokopovych"
		d.Spec.Template.Spec.Containers[0].Env = append(d.Spec.Template.Spec.Containers[0].Env, corev1.EnvVar{Name: "FEATURE", Value: "on"})
		d.Spec.Template.Spec.Containers[1].Image = "example.org/sidecar:3.0.8"
	})
	l.untilPhase("small", v1alpha1.ExperimentComplete)
	l.settle()

	want := before.DeepCopy()
	mustSet(t, want, "prokopovych", "metadata", "labels", "team")
	containers, _, _ := unstructured.NestedSlice(want.Object, "spec", "template", "spec", "containers")
	first := containers[0].(map[string]any)
	first["env"] = append(first["env"].([]any), map[string]any{"name": "FEATURE", "value": "on"})
	containers[1].(map[string]any)["image"] = "example.org/sidecar:3.0.8"
	mustSet(t, want, containers, "spec", "template", "spec", "containers")
	after := l.workload("Deployment")
	want.SetManagedFields(after.GetManagedFields())
	if was, is := storedBytes(t, want), storedBytes(t, after); was != is {
		t.Errorf("released as\n%s\nwant\n%s", is, was)
	}
	for _, entry := range after.GetManagedFields() {
		if entry.Manager == "perflab" {
			t.Errorf("perflab still owns %s", entry.FieldsV1)
		}
	}
	reported := strings.Join(l.events.reported, "\n")
	expect.Contains(t, reported, []string{"Warning GivenBackChanged", "labels.team", "containers.mod-inventory.env.FEATURE", "containers.sidecar.image"}, "an event reports it")
}

func mustSet(t *testing.T, object *unstructured.Unstructured, value any, fields ...string) {
	t.Helper()
	expect.NoError(t, unstructured.SetNestedField(object.Object, value, fields...))
}

// selfHeal restores the state in Git, as Argo CD does.
func selfHeal(l *lab) {
	l.edit("argocd-controller", func(d *appsv1.Deployment) {
		for i, variable := range d.Spec.Template.Spec.Containers[0].Env {
			if variable.Name == "DB_MAXPOOLSIZE" {
				d.Spec.Template.Spec.Containers[0].Env[i].Value = "5"
			}
		}
	})
}

func withPool() v1alpha1.Module {
	return v1alpha1.Module{Env: []corev1.EnvVar{{Name: "DB_MAXPOOLSIZE", Value: "50"}}}
}

func TestSelfHealIsReportedNotReverted(t *testing.T) {
	l := newLab(t, complete)
	l.install(inventory, byArgoCD)
	l.create(login(), smallExperiment(t, borrowing("Deployment", withPool()), oneArm))
	l.until("an adopted workload", func() bool { return l.workload("Deployment").GetAnnotations()[v1alpha1.AnnotationBorrowedBy] != "" })
	selfHeal(l)
	applied := count(l.line.journal, "apply Deployment mod-inventory")
	l.settle()
	condition := meta.FindStatusCondition(l.experiment("small").Status.Conditions, v1alpha1.ConditionModulesReady)
	if condition == nil || condition.Reason != v1alpha1.ReasonWorkloadContested ||
		!strings.Contains(condition.Message, "argocd-controller has changed spec.template.spec.containers.mod-inventory.env.DB_MAXPOOLSIZE.value of Deployment \"mod-inventory\"") {
		t.Errorf("the condition is %+v", condition)
	}
	if again := count(l.line.journal, "apply Deployment mod-inventory"); again != applied {
		t.Errorf("the workload was changed %d times more", again-applied)
	}
}

func TestWorkloadChangeUnderLoadInvalidatesRun(t *testing.T) {
	l := newLab(t, complete)
	l.install(inventory, byArgoCD)
	l.create(login(), smallExperiment(t, borrowing("Deployment", withPool()), oneArm))
	l.loading()
	selfHeal(l)
	run := l.untilRun(v1alpha1.RunInvalid)
	if fault := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionValid); fault.Reason != v1alpha1.ReasonWorkloadContested {
		t.Errorf("the run is invalid because of %s: %s", fault.Reason, fault.Message)
	}
	l.untilPhase("small", v1alpha1.ExperimentComplete)
}

func count(lines []string, line string) int {
	return len(slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return l != line }))
}

// Each of these waits with a condition and leaves the workload unchanged.
func TestRefusedAdoptionLeavesWorkloadUnchanged(t *testing.T) {
	cases := map[string]struct {
		text          string
		module        v1alpha1.Module
		edit          func(*v1alpha1.PerfExperiment)
		reason, wants string
	}{
		"it is missing": {
			text: strings.ReplaceAll(inventory, "mod-inventory", "mod-users"), reason: v1alpha1.ReasonWorkloadMissing,
			wants: `Deployment "mod-inventory" not found in namespace`,
		},
		"its container is missing": {
			text: inventory, reason: v1alpha1.ReasonWorkloadMissing, wants: `has no container "jvm", only mod-inventory, sidecar`,
			edit: func(e *v1alpha1.PerfExperiment) { e.Spec.System.Modules[0].WorkloadRef.Container = "jvm" },
		},
		"it is paused": {
			text: strings.Replace(inventory, "  revisionHistoryLimit", "  paused: true\n  revisionHistoryLimit", 1), reason: v1alpha1.ReasonWorkloadRefused,
			wants: `Deployment "mod-inventory" is paused`,
		},
		"a variable comes from a Secret": {
			text: inventory, reason: v1alpha1.ReasonWorkloadRefused, wants: `variable DB_PASSWORD of container "mod-inventory"`,
			module: v1alpha1.Module{Env: []corev1.EnvVar{{Name: "DB_PASSWORD", Value: "plain"}}},
		},
		"another experiment has it": {
			text: strings.Replace(inventory, "  annotations: {", "  annotations: {perflab.dev/borrowed-by: lab/other, ", 1), reason: v1alpha1.ReasonWorkloadTaken,
			wants: `experiment lab/other has adopted Deployment "mod-inventory"`,
		},
		"its original does not fit": {
			text:   strings.Replace(inventory, "  annotations: {", "  annotations: {long: \""+strings.Repeat("x", 130<<10)+"\", ", 1),
			reason: v1alpha1.ReasonWorkloadRefused, wants: "is too large to be adopted",
		},
		"the declaration is refused": {
			text: inventory, reason: v1alpha1.ReasonRefused, wants: "must be less than or equal to memory limit",
			module: v1alpha1.Module{Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{"memory": quantity("100Mi")}}},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, complete)
			l.install(c.text, byHelm)
			edits := []func(*v1alpha1.PerfExperiment){borrowing("Deployment", c.module), oneArm}
			if c.edit != nil {
				edits = append(edits, c.edit)
			}
			l.create(login(), smallExperiment(t, edits...))
			l.until("a sentence", func() bool {
				condition := meta.FindStatusCondition(l.experiment("small").Status.Conditions, v1alpha1.ConditionModulesReady)
				return condition != nil && condition.Reason == c.reason && strings.Contains(condition.Message, c.wants)
			})
			if written := count(l.line.journal, "apply Deployment mod-inventory"); written != 0 {
				t.Errorf("the workload was written %d times", written)
			}
		})
	}
}

// If a user removes the finalizer, the workload is still released.
func TestWorkloadOfVanishedExperimentIsReleased(t *testing.T) {
	l := newLab(t, complete)
	l.install(inventory, byHelm)
	l.play()
	before := storedBytes(t, l.workload("Deployment"))
	l.create(login(), smallExperiment(t, borrowing("Deployment", placed()), oneArm))
	l.loading()
	vanished := l.vanish("small")
	l.lookAt(vanished)
	if after := storedBytes(t, l.workload("Deployment")); after != before {
		t.Errorf("the workload is\n%s\nwant\n%s", after, before)
	}
}

// vanish deletes an experiment and removes its finalizer, as a user can.
func (l *lab) vanish(name string) client.ObjectKey {
	l.t.Helper()
	vanishing := l.experiment(name)
	vanishing.Finalizers = nil
	l.update(vanishing)
	l.remove(vanishing)
	l.collectGarbage()
	return client.ObjectKeyFromObject(vanishing)
}

// lookAt reconciles an experiment three times.
func (l *lab) lookAt(key client.ObjectKey) {
	l.t.Helper()
	for range 3 {
		reconciler, _ := l.operator()
		if _, err := reconciler.Reconcile(l.t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
			l.t.Fatal(err)
		}
	}
}

func TestAdoptedHeapIsVerified(t *testing.T) {
	l := newLab(t, complete)
	l.outside.moduleLog = started
	l.install(inventory, byHelm)
	l.create(login(), smallExperiment(t, borrowing("Deployment", v1alpha1.Module{}), oneArm, heapOf66Percent))
	l.loading()
	var options string
	for _, item := range firstContainer(t, l.workload("Deployment"))["env"].([]any) {
		if variable := item.(map[string]any); variable["name"] == "JAVA_OPTIONS" {
			options = variable["value"].(string)
		}
	}
	if options != "-Xlog:gc+init:stdout -XX:+UseG1GC -Dfile.encoding=UTF-8 -XX:MaxRAMPercentage=66.0" {
		t.Errorf("JAVA_OPTIONS is %q", options)
	}
	l.untilPhase("small", v1alpha1.ExperimentComplete)
	found := l.run().Status.Effective.Modules[0]
	if found.Heap == nil || found.Heap.String() != "676Mi" || len(found.Pods) != 2 {
		t.Errorf("effective is %+v, want a heap of 676Mi in 2 pods", found)
	}
}

func TestAutoscalerIsReported(t *testing.T) {
	l := newLab(t, complete)
	l.install(inventory, byHelm)
	l.create(login(), smallExperiment(t, borrowing("Deployment", placed()), oneArm))
	l.until("an adopted workload", func() bool { return l.workload("Deployment").GetAnnotations()[v1alpha1.AnnotationBorrowedBy] != "" })
	scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 7}}
	err := l.admin.SubResource("scale").Update(t.Context(), l.workload("Deployment"), client.WithSubResourceBody(scale), client.FieldOwner("kube-controller-manager"))
	expect.NoError(t, err)
	l.settle()
	condition := meta.FindStatusCondition(l.experiment("small").Status.Conditions, v1alpha1.ConditionModulesReady)
	if condition == nil || !strings.Contains(condition.Message, "kube-controller-manager (scale) has changed spec.replicas of Deployment") {
		t.Errorf("the condition is %+v", condition)
	}
	l.remove(l.experiment("small"))
	l.until("the end of the experiment", func() bool { return len(l.experiments()) == 0 })
	if replicas, _, _ := unstructured.NestedInt64(l.workload("Deployment").Object, "spec", "replicas"); replicas != 7 {
		t.Errorf("the workload was released with %d replicas, want the autoscaler's 7", replicas)
	}
}
