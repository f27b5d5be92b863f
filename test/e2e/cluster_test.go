//go:build e2e

// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/config"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/await"
	"perflab.dev/perflab/internal/testing/expect"
)

// operatorNamespace is where config/default installs the operator.
const operatorNamespace = "perflab-system"

var cluster client.Client

func TestMain(m *testing.M) {
	connected, err := connect()
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e needs a cluster with PerfLab installed (make e2e brings one up):", err)
		os.Exit(1)
	}
	cluster = connected
	os.Exit(m.Run())
}

func connect() (client.Client, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	kubeconfig, err := config.GetConfig()
	if err != nil {
		return nil, err
	}
	// Tests check admission warnings in the status.
	kubeconfig.WarningHandler = rest.NoWarnings{}
	return client.New(kubeconfig, client.Options{Scheme: scheme})
}

// namespace creates a namespace that enforces the restricted Pod Security
// Standard and is deleted when the test ends. If the test failed, its state is
// printed first.
func namespace(t *testing.T) string {
	t.Helper()
	made := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "perflab-e2e-",
		Labels:       map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
	expect.NoError(t, cluster.Create(t.Context(), made), "making a namespace")
	t.Cleanup(func() {
		// The test's own context is canceled by now.
		ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
		defer cancel()
		if t.Failed() {
			describe(ctx, t, made.Name)
		}
		deleteExperiments(ctx, t, made.Name)
	})
	return made.Name
}

// deleteExperiments deletes the experiments before the namespace. Otherwise the
// operator could not delete their topics.
func deleteExperiments(ctx context.Context, t *testing.T, name string) {
	t.Helper()
	if err := cluster.DeleteAllOf(ctx, &v1alpha1.PerfExperiment{}, client.InNamespace(name)); err != nil {
		t.Errorf("deleting the experiments: %v", err)
	}
	await.Until(ctx, t, 3*time.Minute, "the experiments to be deleted", func() (bool, string) {
		left := experiments(ctx, t, name)
		return len(left) == 0, fmt.Sprintf("%d left", len(left))
	})
	if err := cluster.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
		t.Errorf("deleting namespace %q: %v", name, err)
	}
}

func experiments(ctx context.Context, t *testing.T, namespace string) []v1alpha1.PerfExperiment {
	t.Helper()
	list := &v1alpha1.PerfExperimentList{}
	expect.NoError(t, cluster.List(ctx, list, client.InNamespace(namespace)), "listing experiments")
	return list.Items
}

// runs lists the runs of a namespace in the order of the plan.
func runs(ctx context.Context, t *testing.T, namespace string) []v1alpha1.PerfRun {
	t.Helper()
	list := &v1alpha1.PerfRunList{}
	expect.NoError(t, cluster.List(ctx, list, client.InNamespace(namespace)), "listing runs")
	return list.Items
}

// apply creates the objects of a YAML file and edits the experiment with the given
// functions. Objects of an earlier experiment may already exist.
func apply(t *testing.T, namespace, file string, edits ...func(*v1alpha1.PerfExperiment)) *v1alpha1.PerfExperiment {
	t.Helper()
	var experiment *v1alpha1.PerfExperiment
	for _, object := range objects(t, file) {
		if object.GetKind() == "PerfExperiment" {
			experiment = typed(t, object)
			experiment.Namespace = namespace
			for _, edit := range edits {
				edit(experiment)
			}
			create(t, experiment)
			continue
		}
		object.SetNamespace(namespace)
		if err := cluster.Create(t.Context(), object); client.IgnoreAlreadyExists(err) != nil {
			t.Fatalf("creating %s: %v", object.GetName(), err)
		}
	}
	if experiment == nil {
		t.Fatalf("%s has no PerfExperiment", file)
	}
	return experiment
}

// objects reads a YAML file.
func objects(t *testing.T, file string) []*unstructured.Unstructured {
	t.Helper()
	content, err := os.ReadFile(file)
	expect.NoError(t, err)
	var read []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(object)
		if errors.Is(err, io.EOF) {
			return read
		}
		expect.NoError(t, err, "reading %s", file)
		read = append(read, object)
	}
}

// labelled returns whether a node has the label.
func labelled(ctx context.Context, t *testing.T, key, value string) bool {
	t.Helper()
	nodes := &corev1.NodeList{}
	expect.NoError(t, cluster.List(ctx, nodes, client.MatchingLabels{key: value}), "listing nodes")
	return len(nodes.Items) > 0
}

func typed(t *testing.T, object *unstructured.Unstructured) *v1alpha1.PerfExperiment {
	t.Helper()
	experiment := &v1alpha1.PerfExperiment{}
	expect.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, experiment, true), "reading experiment %q", object.GetName())
	return experiment
}

func create(t *testing.T, object client.Object) {
	t.Helper()
	expect.NoError(t, cluster.Create(t.Context(), object), "creating %s", object.GetName())
}

func get(ctx context.Context, t *testing.T, experiment *v1alpha1.PerfExperiment) *v1alpha1.PerfExperiment {
	t.Helper()
	current := &v1alpha1.PerfExperiment{}
	expect.NoError(t, cluster.Get(ctx, client.ObjectKeyFromObject(experiment), current), "reading experiment %q", experiment.Name)
	return current
}

func gone(ctx context.Context, t *testing.T, object client.Object) bool {
	t.Helper()
	err := cluster.Get(ctx, client.ObjectKeyFromObject(object), object)
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatalf("reading %q: %v", object.GetName(), err)
	}
	return err != nil
}

// describe prints the state of the namespace for a failed test.
func describe(ctx context.Context, t *testing.T, namespace string) {
	t.Helper()
	for _, experiment := range experiments(ctx, t, namespace) {
		t.Logf("experiment %s: %s %s, waiting for %q", experiment.Name, experiment.Status.Phase, experiment.Status.Progress, experiment.Status.WaitingFor)
		for _, condition := range experiment.Status.Conditions {
			t.Logf("  %s=%s %s: %s", condition.Type, condition.Status, condition.Reason, condition.Message)
		}
	}
	for _, run := range runs(ctx, t, namespace) {
		t.Logf("run %s: %s %s", run.Name, run.Status.Phase, run.Status.Message)
	}
	pods := &corev1.PodList{}
	if err := cluster.List(ctx, pods, client.InNamespace(namespace)); err != nil {
		t.Logf("listing pods: %v", err)
	}
	for _, pod := range pods.Items {
		t.Logf("pod %s: %s", pod.Name, pod.Status.Phase)
		for _, status := range pod.Status.ContainerStatuses {
			t.Logf("  %s: ready %t, restarts %d, state %+v", status.Name, status.Ready, status.RestartCount, status.State)
		}
	}
}

func secretVariable(name, secret string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: secret}, Key: "value",
	}}}
}
