// SPDX-License-Identifier: Apache-2.0

package component_test

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/testing/expect"
)

// Any namespace may have a Deployment with k6-operator's labels: if the images differ, the
// version is unknown.
func TestTheK6OperatorThatIsMet(t *testing.T) {
	const real = "ghcr.io/grafana/k6-operator:controller-v1.6.0"
	for name, test := range map[string]struct {
		images []string
		want   string
	}{
		"one":             {[]string{"example.org/other:1", real}, real},
		"the same twice":  {[]string{real, real}, real},
		"another as well": {[]string{real, "example.org/k6-operator:9"}, ""},
		"none":            {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var objects []client.Object
			for n, image := range test.images {
				made := &appsv1.Deployment{}
				made.Namespace, made.Name, made.Labels = fmt.Sprint("tenant-", n), "k6", contract.K6OperatorLabels[n%2]
				made.Spec.Template.Spec.Containers = []corev1.Container{{Image: image}}
				objects = append(objects, made)
			}
			pass := &component.Scope{Run: &v1alpha1.PerfRun{}, Experiment: &v1alpha1.PerfExperiment{}}
			pass.Live = fake.NewClientBuilder().WithObjects(objects...).Build()
			expect.Equal(t, test.want, pass.Versions(t.Context(), nil).K6Operator)
		})
	}
}
