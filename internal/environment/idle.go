// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Idle reports whether it is an operator's turn and it has done nothing for a
// while: no pod is on its way, and nobody has made or changed anything since its
// last word. It may be gone after its first word, or have more to do than usual.
func (o Observed) Idle(lastWord time.Time) bool {
	return o.Now.Sub(o.lastActivity(lastWord)) > LongSilenceThreshold && !slices.ContainsFunc(o.Pods, isDeletingOrPending)
}

func isDeletingOrPending(pod corev1.Pod) bool {
	return pod.Status.Phase != corev1.PodSucceeded && !PodReady(pod)
}

// lastActivity is when somebody last did something for the component.
func (o Observed) lastActivity(lastWord time.Time) time.Time {
	last := lastWord
	see := func(at time.Time) {
		if at.After(last) {
			last = at
		}
	}
	for _, object := range o.Objects {
		see(object.GetCreationTimestamp().Time)
	}
	for _, pod := range o.Pods {
		see(pod.CreationTimestamp.Time)
		for _, condition := range pod.Status.Conditions {
			see(condition.LastTransitionTime.Time)
		}
	}
	return last
}
