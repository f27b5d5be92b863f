// SPDX-License-Identifier: Apache-2.0

package strimzi

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// step is the next thing to do to bring the Pods where they should be. An empty
// step means that they are there.
type step struct {
	Create []member
	Delete []corev1.Pod
	Wait   string
}

func (s step) settled() bool { return len(s.Create) == 0 && len(s.Delete) == 0 && s.Wait == "" }

// nextStep decides on one step. Missing Pods are created together; outdated
// ones are deleted one by one, controllers before brokers, each only when all
// others are ready. An outdated Pod that is not ready goes at once, for it may
// never become ready: the new specification can be its remedy.
func nextStep(members []member, pods []corev1.Pod) step {
	for _, pod := range pods {
		if pod.DeletionTimestamp != nil {
			return step{Wait: fmt.Sprintf("Pod %s to terminate", pod.Name)}
		}
	}
	if s := (step{Create: missing(members, pods), Delete: surplus(members, pods)}); !s.settled() {
		return s
	}
	outdated := outdatedInOrder(members, pods)
	for _, pod := range outdated {
		if !isReady(pod) {
			return step{Delete: []corev1.Pod{pod}}
		}
	}
	for _, pod := range pods {
		if !isReady(pod) {
			return step{Wait: fmt.Sprintf("Pod %s to become ready", pod.Name)}
		}
	}
	if len(outdated) > 0 {
		return step{Delete: outdated[:1]}
	}
	return step{}
}

func missing(members []member, pods []corev1.Pod) []member {
	var all []member
	for _, m := range members {
		if podNamed(pods, m.pod.Name) == nil {
			all = append(all, m)
		}
	}
	return all
}

// surplus are Pods of nodes that are no more, and Pods that have ended (evicted ones).
func surplus(members []member, pods []corev1.Pod) []corev1.Pod {
	var all []corev1.Pod
	for _, pod := range pods {
		wanted := slices.ContainsFunc(members, func(m member) bool { return m.pod.Name == pod.Name })
		ended := pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
		if !wanted || ended {
			all = append(all, pod)
		}
	}
	return all
}

func outdatedInOrder(members []member, pods []corev1.Pod) []corev1.Pod {
	var controllers, brokers []corev1.Pod
	for _, m := range members {
		pod := podNamed(pods, m.pod.Name)
		if pod == nil || pod.Annotations[annotationRevision] == m.pod.Annotations[annotationRevision] {
			continue
		}
		if m.isBroker() {
			brokers = append(brokers, *pod)
		} else {
			controllers = append(controllers, *pod)
		}
	}
	return append(controllers, brokers...)
}

func podNamed(pods []corev1.Pod, name string) *corev1.Pod {
	for i := range pods {
		if pods[i].Name == name {
			return &pods[i]
		}
	}
	return nil
}

func isReady(pod corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}
