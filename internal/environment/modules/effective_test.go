// SPDX-License-Identifier: Apache-2.0

package modules_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment/jvm"
	"perflab.dev/perflab/internal/environment/modules"
	"perflab.dev/perflab/internal/testing/expect"
)

// instance returns a ready pod of mod-a on a node, whose JVM has a maximum heap of this many MiB.
func instance(name, node, image string, heap int64) modules.Instance {
	made := modules.Instance{Pod: corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name)},
		Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "mod-a"}, {Name: "proxy"}}},
		Status: corev1.PodStatus{
			Conditions:        []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "mod-a", ImageID: image}, {Name: "proxy", ImageID: "proxy@sha256:2"}},
		},
	}}
	if heap > 0 {
		made.Start = jvm.Init{MaxHeap: heap << 20, Memory: 1 << 30, Cores: 2, Collector: jvm.Serial}
	}
	return made
}

func TestEffective(t *testing.T) {
	restarted := instance("b", "n2", "a@sha256:1", 676)
	restarted.Pod.Status.ContainerStatuses[1].RestartCount = 2
	got := modules.Effective(v1alpha1.Module{Name: "mod-a"}, []modules.Instance{instance("a", "n2", "a@sha256:1", 676), restarted, instance("c", "n1", "", 0)})
	want := v1alpha1.EffectiveModule{
		Name: "mod-a", Replicas: 3, ImageID: "a@sha256:1", Heap: ptr.To(resource.MustParse("676Mi")), Collector: "Serial", Nodes: []string{"n1", "n2"},
		Pods: []v1alpha1.EffectivePod{{Name: "a", UID: "uid-a", Node: "n2"}, {Name: "b", UID: "uid-b", Node: "n2", Restarts: 2}, {Name: "c", UID: "uid-c", Node: "n1"}},
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b resource.Quantity) bool { return a.Cmp(b) == 0 })); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestDifferences(t *testing.T) {
	size := &v1alpha1.JVM{Heap: &v1alpha1.Heap{Max: ptr.To(resource.MustParse("768Mi"))}}
	share := &v1alpha1.JVM{Heap: &v1alpha1.Heap{MaxRAMPercentage: "66"}}
	limit := corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}}
	double := corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("2Gi")}}
	fast := &v1alpha1.Placement{NodeSelector: map[string]string{"type": "fast"}}
	cases := map[string]struct {
		module    v1alpha1.Module
		instances []modules.Instance
		// want are parts of the only difference; none: there is none.
		want []string
	}{
		"NotDeclared":    {instances: []modules.Instance{instance("a", "n1", "i", 0), instance("b", "n2", "i", 99)}},
		"AsDeclared":     {module: v1alpha1.Module{JVM: size}, instances: []modules.Instance{instance("a", "n1", "i", 768)}},
		"WithinRounding": {module: v1alpha1.Module{JVM: size}, instances: []modules.Instance{instance("a", "n1", "i", 769)}},
		"BeyondRounding": {
			module: v1alpha1.Module{JVM: size}, instances: []modules.Instance{instance("a", "n1", "i", 768), instance("b", "n1", "i", 770)},
			want: []string{"the JVM of mod-a has a maximum heap of 770 MiB", "gives 768 MiB"},
		},
		"Share": {module: v1alpha1.Module{JVM: share, Resources: limit}, instances: []modules.Instance{instance("a", "n1", "i", 676)}},
		"ShareOfOther": {
			module: v1alpha1.Module{JVM: share, Resources: double}, instances: []modules.Instance{instance("a", "n1", "i", 676)},
			want: []string{"heap of 676 MiB", "gives 1352 MiB", "detects 1024 MiB of memory, not the container's 2048 MiB"},
		},
		"ShareOfNoLimit": {module: v1alpha1.Module{JVM: share}, instances: []modules.Instance{instance("a", "n1", "i", 676)}},
		"Silent": {
			module: v1alpha1.Module{JVM: size}, instances: []modules.Instance{instance("a", "n1", "i", 0)},
			want: []string{"the log of mod-a shows no heap: its image does not pass JAVA_OPTIONS"},
		},
		"SilentForAReason": {
			module:    v1alpha1.Module{JVM: size, Env: []corev1.EnvVar{{Name: "JAVA_OPTIONS", Value: "-Xint"}}},
			instances: []modules.Instance{instance("a", "n1", "i", 0)},
			want:      []string{"its env sets JAVA_OPTIONS, which overrides its jvm"},
		},
		"NoPods": {module: v1alpha1.Module{JVM: size}},
		"TwoImages": {
			instances: []modules.Instance{instance("a", "n1", "a@sha256:1", 0), instance("b", "n1", "a@sha256:2", 0)},
			want:      []string{"the pods of mod-a run 2 different images", "a@sha256:1, a@sha256:2"},
		},
		"Placed": {module: v1alpha1.Module{Placement: fast}, instances: []modules.Instance{instance("a", "n1", "i", 0)}},
		"Displaced": {
			module: v1alpha1.Module{Placement: fast}, instances: []modules.Instance{instance("a", "n1", "i", 0), instance("b", "n2", "i", 0)},
			want: []string{`mod-a runs on node n2, whose label type is "slow", not "fast"`},
		},
		"UnknownNode": {module: v1alpha1.Module{Placement: fast}, instances: []modules.Instance{instance("a", "n3", "i", 0)}},
	}
	labels := map[string]map[string]string{"n1": {"type": "fast"}, "n2": {"type": "slow"}}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.module.Name = "mod-a"
			got := modules.Differences(tc.module, tc.instances, labels)
			if len(got) != min(1, len(tc.want)) {
				t.Fatalf("differences are %q, want %d", got, min(1, len(tc.want)))
			}
			expect.Contains(t, strings.Join(got, "\n"), tc.want)
		})
	}
}
