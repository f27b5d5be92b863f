// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Idle reports whether the component waits for its operator, which has been inactive for a while:
// no pod is starting, and no object has changed since lastWord. The operator may have stopped, or
// be busy.
func (o Observed) Idle(lastWord time.Time) bool {
	return o.Now.Sub(o.lastActivity(lastWord)) > LongSilenceThreshold && !slices.ContainsFunc(o.Pods, isDeletingOrPending)
}

func isDeletingOrPending(pod corev1.Pod) bool {
	return pod.Status.Phase != corev1.PodSucceeded && !PodReady(pod)
}

// lastActivity returns when an object of the component last changed.
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
