// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
)

// Place puts a pod where it is declared to be. The selector finds the pods it
// is spread among.
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

// PlacementFields are the fields of a pod that a placement sets.
func PlacementFields(placement *v1alpha1.Placement, selector *metav1.LabelSelector) map[string]any {
	pod := corev1.PodSpec{}
	Place(&pod, placement, selector)
	fields := environment.Fields(&pod)
	// A pod must have containers; a part of one need not.
	delete(fields, "containers")
	return fields
}

// SpreadConstraints are declared spreads with the API's defaults, for systems
// that did not pass admission.
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
