// SPDX-License-Identifier: Apache-2.0

package validate_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/validate"
	"perflab.dev/perflab/internal/testing/systems"
)

// experiment compares the full system with itself and three more brokers.
func experiment() *v1alpha1.PerfExperiment {
	made := &v1alpha1.PerfExperiment{}
	made.Name = "full"
	made.Spec = v1alpha1.PerfExperimentSpec{
		System: systems.Full(),
		Arms: []v1alpha1.Arm{
			{Name: "as-is", Baseline: true},
			{Name: "more", Set: &v1alpha1.SystemSet{Postgres: &v1alpha1.PostgresSet{Instances: ptr.To[int32](4)}}},
		},
		Scenarios: []v1alpha1.Scenario{{Name: "cico"}},
		Design:    v1alpha1.Design{Blocks: 6, MaxRuns: 200},
	}
	return made
}

func TestValidExperimentHasNoFindings(t *testing.T) {
	made := experiment()
	faults, warnings := validate.Experiment(made, validate.Known{})
	if len(faults)+len(warnings) > 0 {
		t.Errorf("faults %v, warnings %q", faults, warnings)
	}
	if diff := cmp.Diff(experiment(), made); diff != "" {
		t.Errorf("the experiment was edited (-before +after):\n%s", diff)
	}
}

// Offline planning and validation have no API server, so specs that its rules reject must not cause
// a panic here.
func TestExperimentWithoutDefaultsIsValidated(t *testing.T) {
	cases := map[string]func(*v1alpha1.PerfExperiment){
		"nothing at all":         func(e *v1alpha1.PerfExperiment) { *e = v1alpha1.PerfExperiment{} },
		"a matrix of no factors": func(e *v1alpha1.PerfExperiment) { e.Spec.Arms, e.Spec.Matrix = nil, &v1alpha1.Matrix{} },
		"a factor of no levels": func(e *v1alpha1.PerfExperiment) {
			e.Spec.Matrix = &v1alpha1.Matrix{Factors: []v1alpha1.Factor{{Name: "f"}}}
		},
		"a patch of nothing": func(e *v1alpha1.PerfExperiment) { e.Spec.System.Patches = []v1alpha1.Patch{{Kind: "Kafka"}} },
		"an empty heap":      func(e *v1alpha1.PerfExperiment) { e.Spec.System.Modules[0].JVM.Heap = &v1alpha1.Heap{} },
		"a percentage in words": func(e *v1alpha1.PerfExperiment) {
			e.Spec.System.Modules[0].JVM.Heap = &v1alpha1.Heap{MaxRAMPercentage: "all"}
		},
		"a version in words":      func(e *v1alpha1.PerfExperiment) { e.Spec.System.Kafka.Version = "latest" },
		"a module set of no name": func(e *v1alpha1.PerfExperiment) { e.Spec.Arms[1].Set.Modules = []v1alpha1.ModuleSet{{}, {}} },
		"external and nothing": func(e *v1alpha1.PerfExperiment) {
			e.Spec.System.Kafka = &v1alpha1.Kafka{Provider: v1alpha1.KafkaProviderExternal}
		},
	}
	for name, spoil := range cases {
		t.Run(name, func(*testing.T) {
			made := experiment()
			spoil(made)
			validate.Experiment(made, validate.Known{})
		})
	}
}

func TestFindingsHaveDeclaredPaths(t *testing.T) {
	limit := resource.MustParse("512Mi")
	cases := map[string]struct {
		reason string
		sets   []v1alpha1.ModuleSet
		want   string
	}{
		"one of two settings": {
			reason: "the arm sets the limit; the heap is the system's",
			sets:   []v1alpha1.ModuleSet{{Name: "mod-inventory", Resources: limited(limit)}},
			want:   "spec.arms[1].set.modules[0].resources.limits.memory",
		},
		"both": {
			reason: "the arm sets both; the heap has to change",
			sets:   []v1alpha1.ModuleSet{{Name: "mod-inventory", Resources: limited(limit), JVM: heap("600Mi")}},
			want:   "spec.arms[1].set.modules[0].jvm.heap.max",
		},
		"the particular one": {
			reason: "settings of one module are applied last",
			sets:   []v1alpha1.ModuleSet{{Name: "mod-inventory", JVM: heap("3Gi")}, {Name: "*", JVM: heap("1Gi")}},
			want:   "spec.arms[1].set.modules[0].jvm.heap.max",
		},
		"the list": {
			reason: "settings of several modules are applied after those of all",
			sets:   []v1alpha1.ModuleSet{{Name: "*", JVM: heap("1Gi")}, {Names: []string{"mod-inventory"}, JVM: heap("3Gi")}},
			want:   "spec.arms[1].set.modules[1].jvm.heap.max",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			made := experiment()
			made.Spec.Arms[1].Set = &v1alpha1.SystemSet{Modules: tc.sets}
			faults, _ := validate.Experiment(made, validate.Known{})
			if diff := cmp.Diff([]string{tc.want}, places(faults)); diff != "" {
				t.Errorf("%s (-want +got):\n%s\n%v", tc.reason, diff, faults)
			}
		})
	}
}

func places(faults field.ErrorList) []string {
	var places []string
	for _, fault := range faults {
		places = append(places, fault.Field)
	}
	return places
}

func heap(size string) *v1alpha1.JVM {
	return &v1alpha1.JVM{Heap: &v1alpha1.Heap{Max: ptr.To(resource.MustParse(size))}}
}

// large has the maximum number of arms and modules: either 16 arms that each set every module, or a
// matrix of 64.
func large(matrix bool) *v1alpha1.PerfExperiment {
	made := experiment()
	module := made.Spec.System.Modules[0]
	made.Spec.System.Modules = nil
	made.Spec.System.Postgres.ReadWriteSplit.Exclude = nil
	for n := range 128 {
		module.Name = fmt.Sprintf("module-%d", n)
		made.Spec.System.Modules = append(made.Spec.System.Modules, *module.DeepCopy())
	}
	set := func(replicas int) *v1alpha1.SystemSet {
		all := &v1alpha1.SystemSet{}
		for n := range 128 {
			all.Modules = append(all.Modules, v1alpha1.ModuleSet{Name: fmt.Sprintf("module-%d", n), Replicas: ptr.To(int32(replicas))})
		}
		return all
	}
	made.Spec.Design.MaxRuns = 25600
	if !matrix {
		for n := len(made.Spec.Arms); n < 16; n++ {
			made.Spec.Arms = append(made.Spec.Arms, v1alpha1.Arm{Name: fmt.Sprintf("arm-%d", n), Set: set(n)})
		}
		return made
	}
	made.Spec.Arms, made.Spec.Matrix = nil, &v1alpha1.Matrix{}
	for f := range 2 {
		factor := v1alpha1.Factor{Name: fmt.Sprintf("f%d", f)}
		for n := range 8 {
			factor.Levels = append(factor.Levels, v1alpha1.Level{Name: fmt.Sprintf("l%d", n), Set: set(n + 1)})
		}
		made.Spec.Matrix.Factors = append(made.Spec.Matrix.Factors, factor)
	}
	return made
}

// The API server waits five seconds for an answer.
func BenchmarkExperiment(b *testing.B) {
	patched := large(true)
	patched.Spec.System.Patches = []v1alpha1.Patch{{Kind: "Deployment", Merge: runtime.RawExtension{Raw: []byte(`{"spec": {"paused": false}}`)}}}
	for name, made := range map[string]*v1alpha1.PerfExperiment{
		"16 arms of 128 modules": large(false), "64 arms of 128 modules": large(true), "64 arms of 128 patched modules": patched,
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if faults, _ := validate.Experiment(made, validate.Known{}); len(faults) > 0 {
					b.Fatal(faults)
				}
			}
		})
	}
}

func limited(memory resource.Quantity) *corev1.ResourceRequirements {
	return &corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: memory}}
}
