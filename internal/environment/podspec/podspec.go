// SPDX-License-Identifier: Apache-2.0

// Package podspec builds the common parts of PerfLab's pods: the restricted Pod Security
// Standard, placement, resources, and variables from Secrets. It is pure.
package podspec

import (
	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/internal/environment"
)

// Restricted returns a pod that meets the restricted Pod Security Standard. It has no API
// token and no service links, which would add a variable for each Service of the namespace.
func Restricted(containers ...corev1.Container) corev1.PodSpec {
	return corev1.PodSpec{
		Containers:                   containers,
		AutomountServiceAccountToken: new(false),
		EnableServiceLinks:           new(false),
		SecurityContext:              SecurityContext(),
	}
}

// SecurityContext returns a pod's security context for the restricted Pod Security
// Standard.
func SecurityContext() *corev1.PodSecurityContext {
	return &corev1.PodSecurityContext{
		RunAsNonRoot:   new(true),
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
}

// ContainerSecurityContext returns that of each container.
func ContainerSecurityContext() *corev1.SecurityContext {
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: new(false),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}

// ReadOnly returns the security context of a container with one of our programs, which
// writes no files. Other programs may: Java keeps its counters in /tmp, and a volume there
// would affect the measurement.
func ReadOnly() *corev1.SecurityContext {
	result := ContainerSecurityContext()
	result.ReadOnlyRootFilesystem = new(true)
	return result
}

// AddResources adds declared resources to the fields of an object with containers.
func AddResources(fields map[string]any, declared corev1.ResourceRequirements) {
	if resources := environment.Fields(declared.DeepCopy()); len(resources) > 0 {
		fields["resources"] = resources
	}
}
