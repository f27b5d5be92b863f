// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/testing/expect"
)

// All pods of the operator pull images with the installation's Secrets: the check of images,
// modules, restore, collector, runners and starter.
func TestRunsPullWithSecrets(t *testing.T) {
	l := newLab(t, complete)
	withCollectors(l)
	l.pulls = environment.Pulls{Secrets: []corev1.LocalObjectReference{{Name: "registry"}}}
	l.create(login(), script(), smallExperiment(t, oneArm, restoring(bySQL)))
	checked := map[string]bool{}
	l.until("a complete experiment", func() bool {
		for what, secrets := range l.pullSecrets() {
			checked[what] = true
			expect.Equal(t, l.pulls.Secrets, secrets, "pull Secrets of the %s", what)
		}
		return l.experiment("small").Status.Phase == v1alpha1.ExperimentComplete
	})
	expect.Equal(t, map[string]bool{"image check": true, "module": true, "Job of collector": true, "Job of restore": true, "runner": true, "starter": true}, checked, "pods")
}

// pullSecrets are the pull Secrets of objects in the lab's namespace that create pods.
func (l *lab) pullSecrets() map[string][]corev1.LocalObjectReference {
	l.t.Helper()
	found := map[string][]corev1.LocalObjectReference{}
	deployments, jobs := &appsv1.DeploymentList{}, &batchv1.JobList{}
	for _, list := range []client.ObjectList{deployments, jobs} {
		expect.NoError(l.t, l.admin.List(l.t.Context(), list, client.InNamespace(l.namespace)))
	}
	for i := range deployments.Items {
		found["module"] = deployments.Items[i].Spec.Template.Spec.ImagePullSecrets
	}
	for i := range jobs.Items {
		pod := jobs.Items[i].Spec.Template.Spec
		// k6-operator's containers are stubs.
		if name := pod.Containers[0].Name; name != "k6" {
			found["Job of "+name] = pod.ImagePullSecrets
		}
	}
	for _, pod := range l.pods(map[string]string{v1alpha1.LabelComponent: environment.ComponentImages}) {
		found["image check"] = pod.Spec.ImagePullSecrets
	}
	testRuns := &unstructured.UnstructuredList{}
	testRuns.SetGroupVersionKind(contract.TestRunKind)
	expect.NoError(l.t, l.admin.List(l.t.Context(), testRuns, client.InNamespace(l.namespace)))
	for _, testRun := range testRuns.Items {
		for _, part := range []string{"runner", "starter"} {
			listed, _, _ := unstructured.NestedSlice(testRun.Object, "spec", part, "imagePullSecrets")
			var secrets []corev1.LocalObjectReference
			for _, secret := range listed {
				secrets = append(secrets, corev1.LocalObjectReference{Name: secret.(map[string]any)["name"].(string)})
			}
			found[part] = secrets
		}
	}
	return found
}
