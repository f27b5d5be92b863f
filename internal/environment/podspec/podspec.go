// SPDX-License-Identifier: Apache-2.0

// Package podspec makes the pieces of pods that are the same wherever PerfLab
// asks for pods: what the restricted Pod Security Standard wants, placement,
// resources, and variables that come from Secrets. It is pure.
package podspec

import (
	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/internal/environment"
)

// Restricted is a pod that meets the restricted Pod Security Standard. It has
// no token for the API server and no service links, which would put a variable
// per Service of the namespace, other experiments' among them, into it.
func Restricted(containers ...corev1.Container) corev1.PodSpec {
	return corev1.PodSpec{
		Containers:                   containers,
		AutomountServiceAccountToken: new(false),
		EnableServiceLinks:           new(false),
		SecurityContext:              SecurityContext(),
	}
}

// SecurityContext is what the restricted Pod Security Standard asks of a pod.
func SecurityContext() *corev1.PodSecurityContext {
	return &corev1.PodSecurityContext{
		RunAsNonRoot:   new(true),
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
}

// ContainerSecurityContext is what it asks of each container.
func ContainerSecurityContext() *corev1.SecurityContext {
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: new(false),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}

// ReadOnly is what a container is given that runs a program of our choice,
// which writes no files. Others may: Java keeps its counters in /tmp, and to put
// a volume there would change what is measured.
func ReadOnly() *corev1.SecurityContext {
	result := ContainerSecurityContext()
	result.ReadOnlyRootFilesystem = new(true)
	return result
}

// AddResources adds declared resources to the fields of what has containers.
func AddResources(fields map[string]any, declared corev1.ResourceRequirements) {
	if resources := environment.Fields(declared.DeepCopy()); len(resources) > 0 {
		fields["resources"] = resources
	}
}
