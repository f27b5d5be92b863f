// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/expect"
)

// written are the objects that an experiment creates, one of each kind and name, as the operator
// first wrote them.
func written(t *testing.T, edits ...func(*v1alpha1.PerfExperiment)) []unstructured.Unstructured {
	t.Helper()
	l := newLabAlone(t, complete)
	withCollectors(l)
	var found []unstructured.Unstructured
	seen := map[string]bool{}
	l.line.before = func(verb string, object any) {
		made := l.fields(object)
		if verb != "apply" && verb != "create" || seen[describe(made)] {
			return
		}
		seen[describe(made)] = true
		found = append(found, *made)
	}
	l.create(login(), script(), smallExperiment(t, append([]func(*v1alpha1.PerfExperiment){writesAll}, edits...)...))
	l.untilPhase("small", v1alpha1.ExperimentComplete)
	return found
}

// fields are the fields of an object to write.
func (l *lab) fields(object any) *unstructured.Unstructured {
	l.t.Helper()
	if applied, is := object.(interface{ UnstructuredContent() map[string]any }); is {
		return (&unstructured.Unstructured{Object: applied.UnstructuredContent()}).DeepCopy()
	}
	typed := object.(client.Object)
	kind, err := l.admin.GroupVersionKindFor(typed)
	expect.NoError(l.t, err)
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	expect.NoError(l.t, err)
	made := &unstructured.Unstructured{Object: fields}
	made.SetGroupVersionKind(kind)
	return made
}

// asForeign is an object as a third party would have created it.
func (l *lab) asForeign(object unstructured.Unstructured) *unstructured.Unstructured {
	made := object.DeepCopy()
	made.SetNamespace(l.namespace)
	made.SetOwnerReferences(nil)
	made.SetLabels(map[string]string{"team": "shop"})
	made.SetAnnotations(nil)
	made.SetUID("")
	made.SetResourceVersion("")
	made.SetFinalizers(nil)
	unstructured.RemoveNestedField(made.Object, "status")
	if made.GetKind() == "Deployment" {
		for _, path := range []string{"spec.selector.matchLabels", "spec.template.metadata.labels"} {
			mustSet(l.t, made, map[string]any{"team": "shop"}, strings.Split(path, ".")...)
		}
	}
	return made
}

// storedBytes is an object as it is stored.
func (l *lab) storedBytes(object *unstructured.Unstructured) string {
	l.t.Helper()
	found := &unstructured.Unstructured{}
	found.SetGroupVersionKind(object.GroupVersionKind())
	if err := l.admin.Get(l.t.Context(), client.ObjectKeyFromObject(object), found); err != nil {
		return err.Error()
	}
	// The status is written by the kubelet and other operators.
	unstructured.RemoveNestedField(found.Object, "status")
	unstructured.RemoveNestedField(found.Object, "metadata", "managedFields")
	unstructured.RemoveNestedField(found.Object, "metadata", "resourceVersion")
	text, err := found.MarshalJSON()
	expect.NoError(l.t, err)
	return string(text)
}

// names reports whether a condition or a warning names the object as taken.
func (l *lab) names(object *unstructured.Unstructured) bool {
	l.t.Helper()
	status := l.experiment("small").Status
	conditions := status.Conditions
	if run := l.run(); run != nil {
		conditions = append(slices.Clone(conditions), run.Status.Conditions...)
	}
	quoted := object.GetKind() + ` "` + object.GetName() + `"`
	return slices.ContainsFunc(conditions, func(c metav1.Condition) bool {
		return c.Reason == v1alpha1.ReasonNameTaken && c.Status != metav1.ConditionTrue && strings.Contains(c.Message, quoted)
	}) || slices.ContainsFunc(status.Warnings, func(warning string) bool { return strings.Contains(warning, quoted) })
}

// A third-party object with one of the operator's names is neither changed nor deleted, whether it
// exists before the experiment or appears during a write.
func TestForeignObjectsStayUnchanged(t *testing.T) {
	for _, object := range sample(t, written(t)) {
		t.Run(object.GetKind()+" "+object.GetName(), func(t *testing.T) {
			t.Run("exists before", func(t *testing.T) {
				l := newLab(t, complete)
				withCollectors(l)
				l.create(login(), script())
				theirs := l.asForeign(object)
				l.create(theirs)
				l.expectUnchanged(theirs)
			})
			t.Run("appears later", func(t *testing.T) {
				l := newLab(t, complete)
				withCollectors(l)
				l.create(login(), script())
				theirs := l.asForeign(object)
				l.line.before = func(verb string, wanted any) {
					if verb != "apply" && verb != "create" || theirs.GetUID() != "" || describe(l.fields(wanted)) != describe(theirs) {
						return
					}
					if err := l.admin.Create(t.Context(), theirs); err != nil {
						t.Errorf("creating the object: %v", err)
					}
				}
				l.expectUnchanged(theirs)
			})
		})
	}
}

func (l *lab) expectUnchanged(theirs *unstructured.Unstructured) {
	l.t.Helper()
	l.create(smallExperiment(l.t, writesAll))
	before := ""
	l.until("a word about what is not ours", func() bool {
		if before == "" && theirs.GetUID() != "" {
			before = l.storedBytes(theirs)
		}
		return l.names(theirs)
	})
	if diff := cmp.Diff(before, l.storedBytes(theirs)); diff != "" {
		l.t.Errorf("it was changed (-before +after):\n%s", diff)
	}
	l.remove(l.experiment("small"))
	l.until("the end of the experiment", func() bool { return len(l.experiments()) == 0 })
	if diff := cmp.Diff(before, l.storedBytes(theirs)); diff != "" {
		l.t.Errorf("with the experiment it was changed (-before +after):\n%s", diff)
	}
}

// A Deployment that blocks a run with empty nodes is not one of our modules.
func TestReschedulingKeepsForeignDeployments(t *testing.T) {
	l := newLab(t, complete)
	l.create(login())
	theirs := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{"name": "small-gateway"},
		"spec": map[string]any{
			"selector": map[string]any{"matchLabels": map[string]any{"app": "shop"}},
			"template": map[string]any{
				"metadata": map[string]any{"labels": map[string]any{"app": "shop"}},
				"spec":     map[string]any{"containers": []any{map[string]any{"name": "shop", "image": "shop:1"}}},
			},
		},
	}}
	l.create(theirs)
	before := l.storedBytes(theirs)
	l.create(smallExperiment(t, oneArm, func(e *v1alpha1.PerfExperiment) { e.Spec.Reset = v1alpha1.ResetReschedule }))
	l.until("a word about what is not ours", func() bool { return l.names(theirs) })
	if diff := cmp.Diff(before, l.storedBytes(theirs)); diff != "" {
		t.Errorf("it was changed (-before +after):\n%s", diff)
	}
}

// The pods of a third-party Kafka with the same name do not delay the deletion of an experiment.
func TestDeletionIgnoresForeignKafkaPods(t *testing.T) {
	objects := written(t)
	l := newLab(t, complete)
	l.create(login())
	for _, object := range objects {
		if object.GetKind() == "Kafka" {
			l.create(l.asForeign(object))
		}
	}
	l.create(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "small-broker-0", Labels: map[string]string{"strimzi.io/cluster": "small"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "kafka", Image: "kafka:1"}}},
	})
	l.create(smallExperiment(t, oneArm))
	l.until("a word about what is not ours", func() bool {
		return strings.Contains(l.experiment("small").Status.WaitingFor, `Kafka "small"`)
	})
	l.remove(l.experiment("small"))
	l.until("the end of the experiment", func() bool { return len(l.experiments()) == 0 })
}
