//go:build e2e

// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/await"
	"perflab.dev/perflab/internal/testing/expect"
)

// TestAdoptedWorkloads runs an experiment on existing modules, kills the operator
// while they are adopted, and compares them, byte for byte, with their original state.
func TestAdoptedWorkloads(t *testing.T) {
	ctx := t.Context()
	lab := namespace(t)
	experiment := apply(t, lab, "testdata/experiment.yaml", adopt, func(e *v1alpha1.PerfExperiment) {
		for i := range e.Spec.System.Modules {
			module := &e.Spec.System.Modules[i]
			installModule(t, lab, *module)
			// The experiment must not declare what the chart sets.
			module.Env = nil
		}
		e.Spec.Suspend = true
	})
	awaitRollouts(ctx, t, lab)
	before := installed(ctx, t, lab)

	current := get(ctx, t, experiment)
	current.Spec.Suspend = false
	expect.NoError(t, cluster.Update(ctx, current), "letting the experiment go")
	awaitPhase(ctx, t, experiment, v1alpha1.RunLoading, 8*time.Minute)
	t.Run("the run's settings reach the pods", func(t *testing.T) { assertAdopted(ctx, t, experiment) })
	killOperator(ctx, t)
	awaitComplete(ctx, t, experiment, 15*time.Minute)
	for _, run := range runs(ctx, t, lab) {
		if run.Status.Phase != v1alpha1.RunSucceeded {
			t.Errorf("run %s is %s: %s", run.Name, run.Status.Phase, run.Status.Message)
		}
	}
	expect.NoError(t, cluster.Delete(ctx, experiment.DeepCopy()), "deleting the experiment")
	await.Until(ctx, t, 3*time.Minute, "the experiment to be deleted", func() (bool, string) {
		return gone(ctx, t, experiment.DeepCopy()), "it exists"
	})
	awaitRollouts(ctx, t, lab)
	if diff := cmp.Diff(before, installed(ctx, t, lab)); diff != "" {
		t.Errorf("the modules are not as they were (-was +is):\n%s", diff)
	}
}

// adopt leaves the system's brokers and database to PerfLab and adopts the modules.
// The arms differ only in the heap.
func adopt(e *v1alpha1.PerfExperiment) {
	e.Name = "borrowed"
	e.Spec.Design.Blocks = 1
	for i := range e.Spec.System.Modules {
		module := &e.Spec.System.Modules[i]
		module.WorkloadRef = &v1alpha1.WorkloadRef{Kind: v1alpha1.WorkloadDeployment, Name: module.Name, ServicePort: 80}
		module.Image, module.Replicas = "", ptr.To[int32](1)
	}
	e.Spec.Arms[1] = v1alpha1.Arm{Name: "larger", Set: &v1alpha1.SystemSet{Modules: []v1alpha1.ModuleSet{
		{Name: "*", JVM: &v1alpha1.JVM{Heap: &v1alpha1.Heap{MaxRAMPercentage: "40"}}},
	}}}
}

// installModule creates the Deployment and the Service of a module as a chart does.
// It has no pods, because it can't work without brokers and a database.
func installModule(t *testing.T, namespace string, module v1alpha1.Module) {
	t.Helper()
	labels := map[string]string{"app.kubernetes.io/name": module.Name}
	environment := append(slices.Clone(module.Env),
		corev1.EnvVar{Name: "JAVA_OPTIONS", Value: "-XX:MaxRAMPercentage=75.0 -XX:+UseSerialGC"},
		corev1.EnvVar{Name: "OKAPI_URL", Value: "http://gateway"},
		corev1.EnvVar{Name: "CIRCULATION_URL", Value: "http://circulation"},
		corev1.EnvVar{Name: "INVENTORY_STORAGE_URL", Value: "http://inventory-storage"},
		corev1.EnvVar{Name: "DATA_IMPORT_URL", Value: "http://data-import"},
	)
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: module.Name, Labels: labels, Annotations: map[string]string{"meta.helm.sh/release-name": "library"}},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](0),
			Strategy: appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType},
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					TerminationGracePeriodSeconds: ptr.To[int64](2),
					SecurityContext: &corev1.PodSecurityContext{
						RunAsNonRoot: ptr.To(true), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
					},
					Containers: []corev1.Container{{
						Name: "module", Image: sampleImage, ImagePullPolicy: corev1.PullIfNotPresent, Env: environment,
						Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8081}},
						ReadinessProbe: &corev1.Probe{PeriodSeconds: 2, FailureThreshold: 3, ProbeHandler: corev1.ProbeHandler{
							HTTPGet: &corev1.HTTPGetAction{Path: "/admin/health", Port: intstr.FromString("http")},
						}},
						SecurityContext: &corev1.SecurityContext{
							AllowPrivilegeEscalation: ptr.To(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
						},
					}},
				},
			},
		},
	}
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: module.Name},
		Spec:       corev1.ServiceSpec{Selector: labels, Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromString("http")}}},
	}
	for _, object := range []client.Object{deployment, service} {
		expect.NoError(t, cluster.Create(t.Context(), object, client.FieldOwner("helm")), "installing %s", object.GetName())
	}
}

const sampleImage = "localhost/perflab/sample:dev"

// assertAdopted checks the modules as the active run has changed them.
func assertAdopted(ctx context.Context, t *testing.T, experiment *v1alpha1.PerfExperiment) {
	t.Helper()
	heap := "-Xmx96m"
	for _, run := range runs(ctx, t, experiment.Namespace) {
		if run.Status.Phase == v1alpha1.RunLoading && run.Spec.Arm == "larger" {
			heap = "-XX:MaxRAMPercentage=40.0"
		}
	}
	deployment := &appsv1.Deployment{}
	expect.NoError(t, cluster.Get(ctx, client.ObjectKey{Namespace: experiment.Namespace, Name: "gateway"}, deployment))
	for _, variable := range deployment.Spec.Template.Spec.Containers[0].Env {
		ours := strings.Contains(variable.Value, heap) && !strings.Contains(variable.Value, "75.0")
		if variable.Name == "JAVA_OPTIONS" && !ours {
			t.Errorf("JAVA_OPTIONS = %q, want %s instead of the percentage", variable.Value, heap)
		}
	}
	if borrower := deployment.Annotations[v1alpha1.AnnotationBorrowedBy]; borrower != experiment.Namespace+"/borrowed" {
		t.Errorf("the gateway is adopted by %q", borrower)
	}
}

// awaitRollouts waits until the Deployment controller has caught up.
func awaitRollouts(ctx context.Context, t *testing.T, namespace string) {
	t.Helper()
	await.Until(ctx, t, time.Minute, "the Deployments to settle", func() (bool, string) {
		list := &appsv1.DeploymentList{}
		expect.NoError(t, cluster.List(ctx, list, client.InNamespace(namespace)))
		for _, deployment := range list.Items {
			if deployment.Status.ObservedGeneration < deployment.Generation || deployment.Status.Replicas != *deployment.Spec.Replicas {
				return false, deployment.Name
			}
		}
		return len(list.Items) > 0, "none"
	})
}

// installed returns the Deployments of a namespace as bytes, without what their
// controller writes: status, and the count of template revisions.
func installed(ctx context.Context, t *testing.T, namespace string) map[string]string {
	t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("DeploymentList"))
	expect.NoError(t, cluster.List(ctx, list, client.InNamespace(namespace)), "listing the Deployments")
	found := map[string]string{}
	for _, object := range list.Items {
		object.SetResourceVersion("")
		object.SetGeneration(0)
		delete(object.Object, "status")
		unstructured.RemoveNestedField(object.Object, "metadata", "annotations", "deployment.kubernetes.io/revision")
		object.SetManagedFields(slices.DeleteFunc(object.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool { return e.Subresource == "status" }))
		text, err := json.MarshalIndent(object.Object, "", " ")
		expect.NoError(t, err)
		found[object.GetName()] = string(text)
	}
	return found
}
