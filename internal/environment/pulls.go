// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Pulls are the installation's settings for pulling the images of pods.
type Pulls struct {
	// Secrets with credentials for registries, which each namespace with experiments needs.
	// The kubelet ignores missing ones.
	Secrets []corev1.LocalObjectReference
	// Policies of the operator's own images, by image. Absent: Kubernetes' default.
	Policies map[string]corev1.PullPolicy
}

// Set sets the pull Secrets and the pull policies of a pod.
func (p Pulls) Set(pod *corev1.PodSpec) {
	pod.ImagePullSecrets = slices.Clone(p.Secrets)
	for i := range pod.Containers {
		if policy := p.Policies[pod.Containers[i].Image]; policy != "" {
			pod.Containers[i].ImagePullPolicy = policy
		}
	}
}
