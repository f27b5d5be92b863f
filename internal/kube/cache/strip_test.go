// SPDX-License-Identifier: Apache-2.0

package cache_test

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/kube/cache"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/testing/expect"
)

// Anyone who may create workloads can set our labels on them, and a megabyte of a spec takes
// fifty when decoded: six such objects would crash the operator.
func TestStripTransformBoundsLabeledObjects(t *testing.T) {
	const most = 20 << 10
	many := make([]any, 10_000)
	for i := range many {
		many[i] = map[string]any{"operator": "Exists"}
	}
	template := map[string]any{"spec": map[string]any{"tolerations": many}}
	numbered := map[string]string{v1alpha1.LabelExperiment: "x"}
	numbers := map[string]any{}
	for i := range 10_000 {
		numbered[fmt.Sprint("l", i)], numbers[fmt.Sprint("n", i)] = "", int64(i)
	}
	ours := map[string]string{v1alpha1.LabelExperiment: "x"}
	borrowed := map[string]string{v1alpha1.AnnotationBorrowedBy: "lab.x"}
	deployment := appsv1.SchemeGroupVersion.WithKind("Deployment")
	for name, edit := range map[string]func(*unstructured.Unstructured){
		"a spec": func(u *unstructured.Unstructured) {
			u.Object["spec"] = map[string]any{"template": template}
			u.SetLabels(ours)
		},
		"a borrowed spec": func(u *unstructured.Unstructured) {
			u.Object["spec"] = map[string]any{"template": template}
			u.SetAnnotations(borrowed)
		},
		"other fields": func(u *unstructured.Unstructured) { u.Object["subjects"] = many; u.SetLabels(ours) },
		"numbers":      func(u *unstructured.Unstructured) { u.Object["spec"] = numbers; u.SetLabels(ours) },
		"a status": func(u *unstructured.Unstructured) {
			u.Object["status"] = map[string]any{"conditions": many}
			u.SetLabels(ours)
		},
		"labels":            func(u *unstructured.Unstructured) { u.SetLabels(numbered) },
		"annotations":       func(u *unstructured.Unstructured) { u.SetLabels(ours); u.SetAnnotations(numbered) },
		"annotations, ours": func(u *unstructured.Unstructured) { u.SetLabels(ours); u.SetAnnotations(prefixed(numbered)) },
		"owners":            func(u *unstructured.Unstructured) { u.SetOwnerReferences(make([]metav1.OwnerReference, 10_000)) },
		"another's kind": func(u *unstructured.Unstructured) {
			u.SetGroupVersionKind(contract.TestRunKind)
			u.Object["spec"] = map[string]any{"runner": template}
		},
	} {
		t.Run(name, func(t *testing.T) {
			given := &unstructured.Unstructured{Object: map[string]any{}}
			given.SetGroupVersionKind(deployment)
			given.SetName("shop")
			edit(given)
			if whole := size(t, given); whole < most {
				t.Fatalf("the object has %d bytes", whole)
			}
			got, err := cache.StripTransform()(given)
			expect.NoError(t, err)
			if kept := size(t, got); kept > most {
				t.Errorf("%d bytes are kept in mind", kept)
			}
		})
	}
}

func prefixed(all map[string]string) map[string]string {
	made := map[string]string{}
	for name := range all {
		made["perflab.dev/"+name] = ""
	}
	return made
}

// The fields that reconciles read are kept.
func TestStripTransformKeepsFieldsOfOwnObjects(t *testing.T) {
	spec := map[string]any{"replicas": int64(2), "template": map[string]any{"metadata": map[string]any{}}}
	status := map[string]any{"conditions": []any{map[string]any{"type": "Ready"}}}
	given := func() *unstructured.Unstructured {
		made := &unstructured.Unstructured{Object: map[string]any{"spec": spec, "status": status}}
		made.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("Deployment"))
		made.SetGeneration(3)
		made.SetAnnotations(map[string]string{v1alpha1.AnnotationBorrowedBy: "lab.x", "theirs": "b"})
		return made
	}
	want := given()
	want.SetAnnotations(map[string]string{v1alpha1.AnnotationBorrowedBy: "lab.x"})
	got, err := cache.StripTransform()(given())
	expect.NoError(t, err)
	expect.Equal[any](t, want, got, "a borrowed workload")
	of := given()
	of.SetAnnotations(nil)
	of.SetLabels(map[string]string{v1alpha1.LabelExperiment: "x"})
	want = of.DeepCopy()
	want.Object["spec"] = map[string]any{"replicas": int64(2)}
	got, err = cache.StripTransform()(of)
	expect.NoError(t, err)
	expect.Equal[any](t, want, got, "an experiment's own")
}

// Objects of an experiment are found even if an author patches many labels onto them.
func TestStripTransformKeepsSelectedLabels(t *testing.T) {
	given, want := &unstructured.Unstructured{Object: map[string]any{}}, naming.ComponentLabels("x", "module")
	given.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("Deployment"))
	many := naming.ComponentLabels("x", "module")
	for i := range 100 {
		many[fmt.Sprint("l", i)] = ""
	}
	given.SetLabels(many)
	got, err := cache.StripTransform()(given)
	expect.NoError(t, err)
	kept := got.(*unstructured.Unstructured).GetLabels()
	for name, value := range want {
		if kept[name] != value {
			t.Errorf("label %s is %q, want %q", name, kept[name], value)
		}
	}
}

func TestStripPodBoundsPods(t *testing.T) {
	pod := func() *corev1.Pod {
		made := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "a", Annotations: map[string]string{v1alpha1.AnnotationFingerprint: "f"}},
			Spec:       corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{{Name: "c", Image: "i"}}},
			Status:     corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.1.2.3"},
		}
		return made
	}
	given := pod()
	given.Annotations["theirs"] = strings.Repeat("x", 1000)
	given.Spec.Tolerations = make([]corev1.Toleration, 1000)
	given.Spec.Affinity = &corev1.Affinity{}
	expect.Equal(t, pod(), cache.StripPod(given), "what reconciles read")
	given.Spec.Containers = make([]corev1.Container, 100_000)
	given.Status.ContainerStatuses = make([]corev1.ContainerStatus, 100_000)
	want := pod()
	want.Spec.Containers = nil
	expect.Equal(t, want, cache.StripPod(given), "of a large pod")
}
