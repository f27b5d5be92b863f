// SPDX-License-Identifier: Apache-2.0

package modules_test

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment/modules"
	"perflab.dev/perflab/internal/jvm"
)

func TestHeap(t *testing.T) {
	limited := func(memory string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory)}}
	}
	share := &v1alpha1.JVM{Heap: &v1alpha1.Heap{MaxRAMPercentage: "66"}}
	cases := map[string]struct {
		module v1alpha1.Module
		// want in MiB.
		want   int64
		source jvm.Source
		err    error
	}{
		"Size":       {module: v1alpha1.Module{JVM: &v1alpha1.JVM{Heap: &v1alpha1.Heap{Max: ptr.To(resource.MustParse("922Mi"))}}}, want: 922, source: jvm.SourceSize},
		"Percentage": {module: v1alpha1.Module{Resources: limited("1536Mi"), JVM: share}, want: 1014, source: jvm.SourcePercentage},
		"Default":    {module: v1alpha1.Module{Resources: limited("1Gi")}, want: 256, source: jvm.SourceDefault},
		"OwnOptions": {
			module: v1alpha1.Module{Resources: limited("1Gi"), JVM: share, Env: []corev1.EnvVar{{Name: "JAVA_OPTIONS", Value: "-Xmx100m"}}},
			want:   100, source: jvm.SourceSize,
		},
		"NoLimit": {module: v1alpha1.Module{JVM: share}, err: jvm.ErrMemoryUnknown},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			heap, err := modules.Heap(tc.module)
			if !errors.Is(err, tc.err) || heap.Bytes != tc.want<<20 || heap.Source != tc.source {
				t.Errorf("%d MiB from %q (%v), want %d from %q (%v)", heap.Bytes>>20, heap.Source, err, tc.want, tc.source, tc.err)
			}
		})
	}
}
