// SPDX-License-Identifier: Apache-2.0

package validate_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/validate"
	"perflab.dev/perflab/internal/testing/expect"
)

// affinity returns a placement with this many terms, each of which is two bytes of JSON.
func affinity(terms int) *v1alpha1.Placement {
	return &v1alpha1.Placement{Affinity: &corev1.Affinity{PodAffinity: &corev1.PodAffinity{
		PreferredDuringSchedulingIgnoredDuringExecution: make([]corev1.WeightedPodAffinityTerm, terms),
	}}}
}

func manyModules(e *v1alpha1.PerfExperiment, count int) {
	for len(e.Spec.System.Modules) < count {
		e.Spec.System.Modules = append(e.Spec.System.Modules, v1alpha1.Module{Name: fmt.Sprintf("mod-%d", len(e.Spec.System.Modules)), Image: "example.org/mod:1"})
	}
}

func patchOf(bytes int) []v1alpha1.Patch {
	return []v1alpha1.Patch{{Kind: "Deployment", Merge: apiruntime.RawExtension{Raw: []byte(`{"metadata":{"annotations":{"a":"` + strings.Repeat("x", bytes) + `"}}}`)}}}
}

// Each of these specs is small as written. It is rejected before anything is resolved, rendered or
// named, in little time and memory.
func TestTooLargeSpecIsRejectedUnresolved(t *testing.T) {
	setAll := func(set v1alpha1.ModuleSet) func(*v1alpha1.PerfExperiment) {
		return func(e *v1alpha1.PerfExperiment) {
			manyModules(e, 128)
			set.Name = "*"
			e.Spec.Arms[1].Set = &v1alpha1.SystemSet{Modules: []v1alpha1.ModuleSet{set}}
		}
	}
	for name, c := range map[string]struct {
		edit        func(*v1alpha1.PerfExperiment)
		place, says string
	}{
		"an affinity": {
			edit:  func(e *v1alpha1.PerfExperiment) { e.Spec.System.Modules[0].Placement = affinity(430_000) },
			place: "spec", says: "at most 256 KiB are stored",
		},
		"an affinity for all modules": {
			edit:  setAll(v1alpha1.ModuleSet{Placement: affinity(500)}),
			place: "spec.arms[1]", says: "a run stores at most 512 KiB",
		},
		"variables for all modules": {
			edit:  setAll(v1alpha1.ModuleSet{Env: []corev1.EnvVar{{Name: "A", Value: strings.Repeat("x", 30_000)}}}),
			place: "spec.arms[1]", says: `with the settings of arm "more", the system takes`,
		},
		"many arms": {
			edit: func(e *v1alpha1.PerfExperiment) {
				manyModules(e, 128)
				for i := range 40 {
					e.Spec.Arms = append(e.Spec.Arms, v1alpha1.Arm{Name: fmt.Sprint("arm-", i), Set: &v1alpha1.SystemSet{Modules: []v1alpha1.ModuleSet{{Name: "*", Env: []corev1.EnvVar{{Name: "A", Value: strings.Repeat("x", 2000)}}}}}})
				}
			},
			place: "spec", says: "the systems of all arms take",
		},
		"a patch of all modules": {
			edit: func(e *v1alpha1.PerfExperiment) {
				manyModules(e, 128)
				e.Spec.System.Patches = patchOf(60_000)
			},
			place: "spec.arms[0]", says: `the patches of arm "as-is" add`,
		},
		"topics": {
			edit: func(e *v1alpha1.PerfExperiment) {
				for i := range 32 {
					e.Spec.System.Kafka.Topics = append(e.Spec.System.Kafka.Topics, v1alpha1.TopicGroup{Group: fmt.Sprint("g", i), Prefix: fmt.Sprint("p", i), Count: ptr.To[int32](5000)})
				}
			},
			place: "spec.system.kafka.topics", says: "a system may have 10000",
		},
	} {
		t.Run(name, func(t *testing.T) {
			made := experiment()
			c.edit(made)
			var faults field.ErrorList
			began, bytes := time.Now(), allocated(func() { faults, _ = validate.Experiment(made, validate.Known{}) })
			told := ""
			for _, fault := range faults {
				told += fault.Field + ": " + fault.Detail + "\n"
			}
			expect.Contains(t, told, []string{c.place + ": ", c.says})
			if took := time.Since(began); took > time.Second || bytes > 200<<20 {
				t.Errorf("it took %s and %d MiB", took, bytes>>20)
			}
		})
	}
}

// allocated returns the allocated memory in bytes.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestStored(t *testing.T) {
	for name, c := range map[string]struct{ spec, says string }{
		"nothing":     {"", ""},
		"small":       {`{"a":[1,2,{"b":"c"}]}`, ""},
		"long":        {`{"a":"` + strings.Repeat("x", 256<<10) + `"}`, "the spec takes 256 KiB"},
		"values":      {`{"a":[` + strings.Repeat("{},", 8_000) + `{}]}`, "the spec has 16003 values, and at most 8000"},
		"commas":      {`{"a":"` + strings.Repeat(",", 30_000) + `"}`, ""},
		"with quotes": {`{"a":"\"` + strings.Repeat(`\",{`, 30_000) + `"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			told := ""
			if faults := validate.Stored([]byte(c.spec)); len(faults) > 0 {
				told = faults[0].Detail
			}
			if c.says == "" != (told == "") {
				t.Errorf("told is %q", told)
			}
			expect.Contains(t, told, []string{c.says})
		})
	}
}
