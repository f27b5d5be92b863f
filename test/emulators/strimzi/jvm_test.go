// SPDX-License-Identifier: Apache-2.0

package strimzi

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"perflab.dev/perflab/test/emulators/strimzi/api"
)

func TestHeap(t *testing.T) {
	limited := func(memory string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory)}}
	}
	for name, tc := range map[string]struct {
		options   api.JvmOptions
		resources corev1.ResourceRequirements
		want      string
	}{
		"nothing asked":          {api.JvmOptions{}, corev1.ResourceRequirements{}, defaultHeap},
		"both asked":             {api.JvmOptions{Xms: "1g", Xmx: "2g"}, limited("8Gi"), "-Xms1g -Xmx2g"},
		"half of the limit":      {api.JvmOptions{}, limited("1Gi"), "-Xmx512m"},
		"five gibibytes at most": {api.JvmOptions{}, limited("64Gi"), "-Xmx5120m"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := heap(&tc.options, tc.resources); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestPerformanceOptions(t *testing.T) {
	got := performanceOptions(map[string]string{"UseG1GC": "true", "MaxGCPauseMillis": "20", "ExplicitGCInvokesConcurrent": "false"})
	if want := "-XX:-ExplicitGCInvokesConcurrent -XX:MaxGCPauseMillis=20 -XX:+UseG1GC"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
