// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment/podspec"
)

// placement returns the declared placement for Strimzi's pod template. That has no
// nodeSelector, so the labels become an equivalent required node affinity. labels are those
// of the placed pods.
func placement(declared *v1alpha1.Placement, labels map[string]string) map[string]any {
	if declared == nil {
		return nil
	}
	allowed := *declared
	allowed.Affinity, allowed.NodeSelector = affinity(declared), nil
	return podspec.PlacementFields(&allowed, &metav1.LabelSelector{MatchLabels: labels})
}

func affinity(declared *v1alpha1.Placement) *corev1.Affinity {
	if len(declared.NodeSelector) == 0 {
		return declared.Affinity
	}
	affinity := declared.Affinity.DeepCopy()
	if affinity == nil {
		affinity = &corev1.Affinity{}
	}
	if affinity.NodeAffinity == nil {
		affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	required := &affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if *required == nil {
		*required = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{}}}
	}
	// Terms are alternatives, so each needs the labels.
	for i := range (*required).NodeSelectorTerms {
		term := &(*required).NodeSelectorTerms[i]
		term.MatchExpressions = append(term.MatchExpressions, hasLabels(declared.NodeSelector)...)
	}
	return affinity
}

func hasLabels(labels map[string]string) []corev1.NodeSelectorRequirement {
	var requirements []corev1.NodeSelectorRequirement
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		requirements = append(requirements, corev1.NodeSelectorRequirement{
			Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{labels[key]},
		})
	}
	return requirements
}
