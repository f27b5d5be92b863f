// SPDX-License-Identifier: Apache-2.0

// Package images checks whether a run's images can be pulled before anything is built: with
// an idle pod that has one container per image. It is pure.
package images

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/podspec"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/text/prose"
)

// Build returns the pod that pulls these images, each once and in this order, followed by
// those of the run's modules. Containers of a pod are immutable, so another set of images
// needs another pod.
func Build(req environment.Request, others ...string) []environment.Intent {
	wanted := distinct(append(slices.Clone(others), moduleContainers(req)...))
	// Include the security context: a pod of an earlier release is immutable as well.
	declared := []any{wanted, podspec.ReadOnly()}
	if req.Pulls.Secrets != nil || req.Pulls.Policies != nil {
		declared = append(declared, req.Pulls)
	}
	fingerprint := environment.Fingerprint(declared)
	intent := req.Intent(corev1.SchemeGroupVersion.WithKind("Pod"),
		naming.ImageCheck(req.Experiment, fingerprint), environment.ComponentImages, fingerprint)
	pod := podspec.Restricted(containers(wanted)...)
	pod.RestartPolicy = corev1.RestartPolicyNever
	pod.TerminationGracePeriodSeconds = new(int64)
	req.Pulls.Set(&pod)
	intent.Object["spec"] = environment.Fields(&pod)
	return []environment.Intent{intent}
}

func moduleContainers(req environment.Request) []string {
	var images []string
	for _, module := range req.BuiltModules() {
		images = append(images, module.Image)
	}
	slices.Sort(images)
	return images
}

// distinct returns the images without duplicates.
func distinct(images []string) []string {
	var once []string
	for _, image := range images {
		if !slices.Contains(once, image) {
			once = append(once, image)
		}
	}
	return once
}

func containers(images []string) []corev1.Container {
	result := make([]corev1.Container, 0, len(images))
	for i, image := range images {
		result = append(result, corev1.Container{
			Name:  containerName(i),
			Image: image,
			// Only the pull matters: a container that can't start has been pulled.
			Command:         []string{"true"},
			SecurityContext: podspec.ReadOnly(),
		})
	}
	return result
}

// Assess reports whether these images have been pulled, and whether any other can't be.
// Modules' images are pulled when the modules start, on each node that needs them.
func Assess(observed environment.Observed, others ...string) environment.Readiness {
	trouble, found := environment.PodTrouble(observed.Pods, nil, observed.Now)
	switch {
	case found && trouble.Reason == v1alpha1.ReasonImagePull:
		return trouble
	case found && trouble.Reason == v1alpha1.ReasonUnschedulable:
		// No image is at fault, and other nodes may pull them.
		return environment.Ready("the images were not checked in advance: " + trouble.Message)
	}
	wanted := distinct(others)
	var pulling []string
	for i, image := range wanted {
		if !pulled(observed.Pods, containerName(i)) {
			pulling = append(pulling, image)
		}
	}
	if len(pulling) > 0 {
		return environment.NotReady(v1alpha1.ReasonPulling, prose.Partly(len(wanted)-len(pulling), len(wanted), "image")+
			" available; pulling "+prose.Enumerate(pulling))
	}
	return environment.Ready("the images of loads and collector are available, and no image of a module is known to be missing")
}

// pulled reports whether a container's image was pulled: it runs, has ended, or could not
// be started.
func pulled(pods []corev1.Pod, container string) bool {
	for _, pod := range pods {
		for _, status := range pod.Status.ContainerStatuses {
			started := status.State.Running != nil || status.State.Terminated != nil || status.LastTerminationState.Terminated != nil
			waiting := status.State.Waiting
			if status.Name == container && (started || waiting != nil && slices.Contains(unstartable, waiting.Reason)) {
				return true
			}
		}
	}
	return false
}

// unstartable are the kubelet's reasons for a container that has its image but can't start.
var unstartable = []string{"CreateContainerConfigError", "CreateContainerError", "RunContainerError", "CrashLoopBackOff"}

func containerName(i int) string { return fmt.Sprintf("image-%d", i+1) }
