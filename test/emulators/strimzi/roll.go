// SPDX-License-Identifier: Apache-2.0

package strimzi

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// step is the next action of a roll. An empty step means that the roll is finished.
type step struct {
	Delete []corev1.Pod
	// Wait is the name of the Pod to wait for.
	Wait string
}

func (s step) settled() bool { return len(s.Delete) == 0 && s.Wait == "" }

// nextStep returns the next step. It waits for missing Pods, which the StrimziPodSets create at
// the same time. It deletes outdated Pods one by one, controllers before brokers, each only
// when all others are ready. It deletes an outdated Pod that is not ready immediately, because
// it may never become ready, and the new specification may fix it.
func nextStep(members []member, pods []corev1.Pod) step {
	for _, pod := range pods {
		if pod.DeletionTimestamp != nil {
			return step{Wait: pod.Name}
		}
	}
	for _, m := range members {
		if podNamed(pods, m.pod.Name) == nil {
			return step{Wait: m.pod.Name}
		}
	}
	outdated := outdatedInOrder(members, pods)
	for _, pod := range outdated {
		if !isReady(pod) {
			return step{Delete: []corev1.Pod{pod}}
		}
	}
	for _, pod := range pods {
		if !isReady(pod) {
			return step{Wait: pod.Name}
		}
	}
	if len(outdated) > 0 {
		return step{Delete: outdated[:1]}
	}
	return step{}
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

func isReady(pod corev1.Pod) bool { return readyCondition(pod) != nil }

func readyCondition(pod corev1.Pod) *corev1.PodCondition {
	for i, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

// readySince returns the time when the last of the Pods became ready.
func readySince(pods []corev1.Pod) time.Time {
	var last time.Time
	for _, pod := range pods {
		if ready := readyCondition(pod); ready != nil && ready.LastTransitionTime.After(last) {
			last = ready.LastTransitionTime.Time
		}
	}
	return last
}
