// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
)

// Place sets a pod's placement. The selector matches the pods to spread.
func Place(pod *corev1.PodSpec, placement *v1alpha1.Placement, selector *metav1.LabelSelector) {
	if placement == nil {
		return
	}
	declared := placement.DeepCopy()
	pod.NodeSelector = declared.NodeSelector
	pod.Affinity = declared.Affinity
	pod.Tolerations = declared.Tolerations
	pod.TopologySpreadConstraints = SpreadConstraints(declared.TopologySpread, selector)
}

// PlacementFields returns the fields of a pod that a placement sets.
func PlacementFields(placement *v1alpha1.Placement, selector *metav1.LabelSelector) map[string]any {
	pod := corev1.PodSpec{}
	Place(&pod, placement, selector)
	fields := environment.Fields(&pod)
	// A partial pod has no containers.
	delete(fields, "containers")
	return fields
}

// SpreadConstraints returns declared constraints with the API's defaults, for systems
// without them.
func SpreadConstraints(declared []v1alpha1.Spread, selector *metav1.LabelSelector) []corev1.TopologySpreadConstraint {
	var constraints []corev1.TopologySpreadConstraint
	for _, spread := range declared {
		constraints = append(constraints, corev1.TopologySpreadConstraint{
			TopologyKey:       spread.TopologyKey,
			MaxSkew:           max(1, spread.MaxSkew),
			WhenUnsatisfiable: cmp.Or(spread.WhenUnsatisfiable, corev1.DoNotSchedule),
			LabelSelector:     selector.DeepCopy(),
		})
	}
	return constraints
}
