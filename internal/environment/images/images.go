// SPDX-License-Identifier: Apache-2.0

// Package images finds out whether a run's images can be pulled before
// anything is built on them: a pod that does nothing, with one container per
// image. It is pure.
package images

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/naming"
)

// Build returns the pod that pulls these images, each once, besides those of
// the run's modules. Another set of images is another pod: a pod's containers
// can't be changed.
func Build(req environment.Request, others ...string) []environment.Intent {
	wanted := distinct(req, others)
	fingerprint := environment.Fingerprint(wanted)
	intent := req.Intent(corev1.SchemeGroupVersion.WithKind("Pod"),
		naming.ImageCheck(req.Experiment, fingerprint), environment.ComponentImages, fingerprint)
	intent.Object["spec"] = environment.Fields(&corev1.PodSpec{
		Containers:                    containers(wanted),
		RestartPolicy:                 corev1.RestartPolicyNever,
		AutomountServiceAccountToken:  ptr.To(false),
		EnableServiceLinks:            ptr.To(false),
		TerminationGracePeriodSeconds: ptr.To[int64](0),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot:   ptr.To(true),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
	})
	return []environment.Intent{intent}
}

func distinct(req environment.Request, others []string) []string {
	images := slices.Clone(others)
	for _, module := range req.BuiltModules() {
		images = append(images, module.Image)
	}
	slices.Sort(images)
	return slices.Compact(images)
}

func containers(images []string) []corev1.Container {
	made := make([]corev1.Container, 0, len(images))
	for i, image := range images {
		made = append(made, corev1.Container{
			Name:  fmt.Sprintf("image-%d", i+1),
			Image: image,
			// The pull is the question. Whether the image has this program is
			// not: a container that can't start has been pulled.
			Command: []string{"true"},
			SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: ptr.To(false),
				Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			},
		})
	}
	return made
}

// Assess says whether an image can't be pulled. Images that are still being
// pulled are no reason to wait: the modules that need them will.
func Assess(observed environment.Observed) environment.Readiness {
	trouble, found := environment.PodTrouble(observed.Pods, observed.Now)
	if found && trouble.Reason == v1alpha1.ReasonImagePull {
		return trouble
	}
	return environment.Ready("no image is known to be missing")
}
