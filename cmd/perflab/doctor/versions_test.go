// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"perflab.dev/perflab/internal/tested"
	"perflab.dev/perflab/internal/testing/expect"
)

func TestDoctorWarnsOfUntestedVersions(t *testing.T) {
	strimzi := *tested.Versions().Component("strimzi")
	found := Finding{"Strimzi", stateOK, "Kafka in kafka.strimzi.io/v1"}
	for version, want := range map[string]Finding{
		"":       found,
		"1.2.3":  {"Strimzi", stateOK, "Kafka in kafka.strimzi.io/v1, version 1.2.3"},
		"0.45.0": {"Strimzi", stateOK, "Kafka in kafka.strimzi.io/v1, version 0.45.0"},
		"1.3.0":  {"Strimzi", stateWarning, "Kafka in kafka.strimzi.io/v1, version 1.3.0: PerfLab is tested with Strimzi 1.2.0, 0.45.2"},
	} {
		expect.Equal(t, want, checkVersion(found, strimzi, version), "Strimzi %q", version)
	}
	kubernetes := tested.Kubernetes{Minimum: "1.30", Versions: []string{"1.35.4"}}
	for version, want := range map[string]Finding{
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
