// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"perflab.dev/perflab/internal/tested"
	"perflab.dev/perflab/internal/testing/expect"
)

// onPath puts stubs of helm and kubectl first on the PATH. They log their arguments and exit with
// the code.
func onPath(t *testing.T, exitCode string) (log string) {
	t.Helper()
	directory := t.TempDir()
	log = filepath.Join(directory, "log")
	for _, program := range []string{"helm", "kubectl"} {
		script := "#!/bin/sh\necho " + program + " \"$@\" >> " + log + "\nexit " + exitCode + "\n"
		expect.NoError(t, os.WriteFile(filepath.Join(directory, program), []byte(script), 0o700)) //nolint:gosec // A program.
	}
	t.Setenv("PATH", directory+":"+os.Getenv("PATH"))
	return log
}

// The commands are those of the tested versions, for the same cluster. Nothing runs without --run.
func TestDoctorFix(t *testing.T) {
	lab := measured(t)
	log := onPath(t, "0")
	lab.must(t, "", "doctor", "--fix").shows(
		"# k6-operator 1.6.0\nhelm upgrade --install k6-operator k6-operator --repo https://grafana.github.io/helm-charts --version 4.6.0 --namespace k6-operator-system --create-namespace --set namespace.create=false --kubeconfig "+lab.kubeconfig+"\n",
		"# Strimzi 1.2.0\nhelm upgrade --install strimzi strimzi-kafka-operator --repo https://strimzi.io/charts/ --version 1.2.0",
		"# CloudNativePG 1.30.0\nhelm upgrade --install cloudnative-pg cloudnative-pg --repo https://cloudnative-pg.github.io/charts --version 0.29.0",
		"# metrics-server 0.9.0\nkubectl apply --server-side -f https://github.com/kubernetes-sigs/metrics-server/releases/download/v0.9.0/components.yaml --kubeconfig "+lab.kubeconfig+"\n",
	)
	if _, err := os.Stat(log); err == nil {
		t.Error("commands ran without --run")
	}
	printed := lab.must(t, "", "doctor", "--fix=k6-operator,metrics-server", "--run")
	ran, err := os.ReadFile(log)
	expect.NoError(t, err)
	var commands []string
	for line := range strings.Lines(printed.out) {
		if !strings.HasPrefix(line, "#") {
			commands = append(commands, line)
		}
	}
	expect.Equal(t, strings.Join(commands, ""), string(ran), "commands that ran")
	if len(commands) != 2 {
		t.Errorf("%d commands, want those of k6-operator and metrics-server: %q", len(commands), commands)
	}
}

func TestDoctorFixFails(t *testing.T) {
	lab := measured(t)
	onPath(t, "3")
	for want, arguments := range map[string][]string{
		"installing k6-operator: helm: exit status 3": {"--fix=k6-operator", "--run"},
		"--run needs --fix":                           {"--run"},
		`unknown component "kafka"`:                   {"--fix=kafka"},
		"--fix prints commands":                       {"--fix", "-o", "json"},
	} {
		lab.perflab(t, "", append([]string{"doctor"}, arguments...)...).ends(exitFailed).warns(want)
	}
}

func TestDoctorWarnsOfUntestedVersions(t *testing.T) {
	strimzi := *tested.Versions().Component("strimzi")
	found := finding{"Strimzi", stateOK, "Kafka in kafka.strimzi.io/v1"}
	for version, want := range map[string]finding{
		"":       found,
		"1.2.3":  {"Strimzi", stateOK, "Kafka in kafka.strimzi.io/v1, version 1.2.3"},
		"0.45.0": {"Strimzi", stateOK, "Kafka in kafka.strimzi.io/v1, version 0.45.0"},
		"1.3.0":  {"Strimzi", stateWarning, "Kafka in kafka.strimzi.io/v1, version 1.3.0: PerfLab is tested with Strimzi 1.2.0, 0.45.2"},
	} {
		expect.Equal(t, want, checkVersion(found, strimzi, version), "Strimzi %q", version)
	}
	kubernetes := tested.Kubernetes{Minimum: "1.30", Versions: []string{"1.35.4"}}
	for version, want := range map[string]finding{
		"v1.35.0": {"cluster", stateOK, "Kubernetes v1.35.0 at host"},
		"v1.34.2": {"cluster", stateWarning, "Kubernetes v1.34.2 at host: PerfLab is tested with 1.35.4"},
		"v1.29.1": {"cluster", stateMissing, "Kubernetes v1.29.1 at host: PerfLab needs 1.30 or later"},
	} {
		expect.Equal(t, want, checkKubernetes(kubernetes, version, "host"), "Kubernetes %s", version)
	}
}

func TestInstalledVersions(t *testing.T) {
	deployment := func(name, image string) *appsv1.Deployment {
		return &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: name},
			Spec:       appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Image: image}}}}},
		}
	}
	reader := fake.NewClientBuilder().WithObjects(
		deployment("strimzi", "quay.io/strimzi/operator:1.3.0"), deployment("pg", "ghcr.io/cloudnative-pg/cloudnative-pg:1.30.1"), deployment("perflab", "example.org/perflab/operator:v0.1.0"),
	).Build()
	expect.Equal(t, map[string]string{"strimzi": "1.3.0", "cloudnative-pg": "1.30.1"}, installedVersions(t.Context(), reader), "versions")
}
