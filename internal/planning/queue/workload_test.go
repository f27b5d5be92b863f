// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/expect"
)

func requests(cpu, memory string) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Requests: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory),
	}}
}

// The quota request covers the largest arm and the largest scenario, on each pool.
func TestWorkloadRequestsMaximumOfArms(t *testing.T) {
	onM5 := &v1alpha1.Placement{NodeSelector: map[string]string{"pool": "m5"}}
	system := func(replicas int32, memory string) v1alpha1.System {
		return v1alpha1.System{
			Postgres: &v1alpha1.Postgres{Instances: 2, Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")}}},
			Modules:  []v1alpha1.Module{{Name: "a", Replicas: ptr.To(replicas), Resources: requests("250m", memory), Placement: onM5}},
		}
	}
	experiment := &v1alpha1.PerfExperiment{}
	experiment.Namespace, experiment.Name = "lab", "small"
	experiment.Spec.Lane = &v1alpha1.Lane{Type: v1alpha1.LaneKueue, Name: "team-a"}
	experiment.Spec.Scenarios = []v1alpha1.Scenario{
		{Loads: []v1alpha1.Load{{Resources: requests("1", "256Mi"), Parallelism: ptr.To[int32](2)}, {Resources: requests("1", "256Mi")}}},
		{Loads: []v1alpha1.Load{{Resources: requests("2", "2Gi")}}},
	}
	workload := Workload(experiment, "v1beta2", 3, []v1alpha1.System{system(4, "1Gi"), system(2, "3Gi")})
	if name := workload.GetName(); name != "small-block-3" {
		t.Errorf("name is %s", name)
	}
	want := map[string]any{"queueName": "team-a", "podSets": []any{
		podSetOf("pods-1", nil, "cpu", "4", "memory", "2Gi"),
		podSetOf("pods-2", map[string]any{"pool": "m5"}, "cpu", "1", "memory", "6Gi"),
	}}
	expect.Equal[any](t, want, workload.Object["spec"])
}

func podSetOf(name string, selector map[string]any, amounts ...string) any {
	asked := map[string]any{}
	for i := 0; i < len(amounts); i += 2 {
		asked[amounts[i]] = amounts[i+1]
	}
	spec := map[string]any{"containers": []any{map[string]any{"name": "asks", "resources": map[string]any{"requests": asked}}}}
	if selector != nil {
		spec["nodeSelector"] = selector
	}
	return map[string]any{"name": name, "count": int64(1), "template": map[string]any{"spec": spec}}
}

// Pools beyond the limit of pod sets share one, and none is lost.
func TestWorkloadBoundsPodSets(t *testing.T) {
	experiment := &v1alpha1.PerfExperiment{}
	experiment.Spec.Lane = &v1alpha1.Lane{Type: v1alpha1.LaneKueue, Name: "team-a"}
	var system v1alpha1.System
	for i := range 20 {
		system.Modules = append(system.Modules, v1alpha1.Module{
			Name: fmt.Sprint("m", i), Resources: requests("1", "1Gi"),
			Placement: &v1alpha1.Placement{NodeSelector: map[string]string{"pool": fmt.Sprint(i)}},
		})
	}
	sets, _, _ := unstructured.NestedSlice(Workload(experiment, "v1beta2", 1, []v1alpha1.System{system}).Object, "spec", "podSets")
	if len(sets) != maxPodSets {
		t.Fatalf("%d sets of pods", len(sets))
	}
	cpus := resource.Quantity{}
	for _, set := range sets {
		containers, _, _ := unstructured.NestedSlice(set.(map[string]any), "template", "spec", "containers")
		asked, _, _ := unstructured.NestedString(containers[0].(map[string]any), "resources", "requests", "cpu")
		cpus.Add(resource.MustParse(asked))
	}
	if cpus.Value() != 20 {
		t.Errorf("%s CPUs are asked for, want 20", cpus.String())
	}
}
