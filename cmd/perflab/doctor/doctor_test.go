// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"strings"
	"testing"

	"perflab.dev/perflab/cmd/perflab/console"

	appsv1 "k8s.io/api/apps/v1"

	corev1 "k8s.io/api/core/v1"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func node(images ...string) *corev1.Node {
	made := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node"}}
	for _, image := range images {
		made.Status.Images = append(made.Status.Images, corev1.ContainerImage{Names: []string{"sha256:0", image}})
	}
	return made
}

func operatorWith(available int32, environment ...corev1.EnvVar) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "perflab-system", Name: "perflab-operator", Labels: map[string]string{"app.kubernetes.io/name": "perflab-operator"}},
		Spec: appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Image: "example.org/operator:1", Env: environment}},
		}}},
		Status: appsv1.DeploymentStatus{AvailableReplicas: available},
	}
}

func TestDoctorChecksOperatorAndImages(t *testing.T) {
	loads := func(image string) corev1.EnvVar { return corev1.EnvVar{Name: "K6_IMAGE", Value: image} }
	collector := corev1.EnvVar{Name: "COLLECTOR_IMAGE", Value: "perflab/collector:1"}
	cases := map[string]struct {
		there []client.Object
		want  []string
	}{
		"NoOperator": {
			want: []string{"MISSING  PerfLab's operator: no Deployment found: make deploy"},
		},
		"AllThere": {
			there: []client.Object{operatorWith(1, loads("localhost/perflab/k6:dev"), collector), node("localhost/perflab/k6:dev", "docker.io/perflab/collector:1")},
			want: []string{
				"ok       PerfLab's operator: perflab-system/perflab-operator, image example.org/operator:1",
				"ok       image of the loads: localhost/perflab/k6:dev, on 1 of 1 nodes",
				"ok       image of the collector: perflab/collector:1, on 1 of 1 nodes",
			},
		},
		"UnderAnotherName": {
			there: []client.Object{&appsv1.Deployment{
				ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "bench-operator", Labels: map[string]string{
					"app.kubernetes.io/name": "bench-operator", "app.kubernetes.io/part-of": "perflab", "app.kubernetes.io/component": "operator",
				}},
				Spec: operatorWith(1, loads("perflab/k6:1"), collector).Spec, Status: appsv1.DeploymentStatus{AvailableReplicas: 1},
			}, node("perflab/k6:1", "perflab/collector:1")},
			want: []string{
				"ok       PerfLab's operator: lab/bench-operator", "ok       image of the loads", "ok       image of the collector",
			},
		},
		"NotReady": {
			there: []client.Object{operatorWith(0, loads("localhost/perflab/k6:dev")), node("localhost/perflab/k6:other")},
			want: []string{
				"MISSING  PerfLab's operator: Deployment perflab-system/perflab-operator has no ready pod: kubectl -n perflab-system describe deployment perflab-operator",
				"MISSING  image of the loads: localhost/perflab/k6:dev is not on any node, and localhost is not a registry",
				"MISSING  image of the collector: the operator has no image: set images.collector (Helm) or COLLECTOR_IMAGE",
			},
		},
		"ToBePulled": {
			there: []client.Object{operatorWith(1, loads("example.org/k6:1"), collector), node()},
			want: []string{
				"ok       PerfLab's operator",
				"warning  image of the loads: example.org/k6:1 is not on any node yet: the first run pulls it",
				"warning  image of the collector: perflab/collector:1 is not on any node yet",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			found := checkOperator(t.Context(), fake.NewClientBuilder().WithObjects(tc.there...).Build())
			if len(found) != len(tc.want) {
				t.Fatalf("%d findings, want %d: %v", len(found), len(tc.want), found)
			}
			for i, want := range tc.want {
				if got := found[i].line(console.Style{}); !strings.HasPrefix(got, want) {
					t.Errorf("%s\nwant %s …", got, want)
				}
			}
		})
	}
}
