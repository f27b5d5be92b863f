// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/text/prose"
)

// EffectivePods returns the state of pods at the start of the load.
func EffectivePods(pods []corev1.Pod) []v1alpha1.EffectivePod {
	var found []v1alpha1.EffectivePod
	for _, pod := range pods {
		found = append(found, v1alpha1.EffectivePod{
			Name: pod.Name, UID: pod.UID, Node: pod.Spec.NodeName, Restarts: restarts(pod),
		})
	}
	return found
}

// Restarts counts the restarts of these pods' containers since before. A deleted or
// terminating pod that was replaced counts as well. If before is incomplete, pods that are
// not in it don't count, because their earlier restarts are unknown.
func Restarts(before []v1alpha1.EffectivePod, more int32, pods []corev1.Pod) int32 {
	earlier := map[types.UID]int32{}
	for _, pod := range before {
		earlier[pod.UID] = pod.Restarts
	}
	var count int32
	for _, pod := range pods {
		if PodEnded(pod) || pod.DeletionTimestamp != nil {
			continue
		}
		was, listed := earlier[pod.UID]
		if listed || more == 0 {
			count += max(0, restarts(pod)-was)
		}
		delete(earlier, pod.UID)
	}
	return count + int32(len(earlier))
}

// Restarted is the number of restarts of a component.
type Restarted struct {
	Part  string
	Times int32
	// Pods with the reasons of the restarts.
	Pods []corev1.Pod
}

// RestartFault describes in one sentence more restarts under load than allowed; empty if
// there were not.
func RestartFault(parts []Restarted, allowed int32, since time.Time) string {
	var total int32
	var sentences []string
	for _, part := range parts {
		if part.Times == 0 {
			continue
		}
		total += part.Times
		sentences = append(sentences, fmt.Sprintf("%s %s%s", part.Part, prose.Counted(part.Times, "time"), lastEnd(part.Pods, since)))
	}
	if total <= allowed {
		return ""
	}
	return fmt.Sprintf("containers ended or pods were replaced during the load: %s; validity.maxRestarts allows %d", strings.Join(sentences, ", "), allowed)
}

// PodEnded reports whether a pod has succeeded or failed.
func PodEnded(pod corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// restarts sums the restarts of a pod's containers. A terminated one that has not restarted
// yet counts too.
func restarts(pod corev1.Pod) int32 {
	var count int32
	for _, status := range pod.Status.ContainerStatuses {
		count += status.RestartCount
		waiting := status.State.Waiting
		if status.State.Terminated != nil || waiting != nil && waiting.Reason == "CrashLoopBackOff" {
			count++
		}
	}
	return count
}

// lastEnd describes the last termination of a container of these pods after this time.
func lastEnd(pods []corev1.Pod, since time.Time) string {
	var ends []corev1.ContainerStateTerminated
	for _, pod := range pods {
		for _, status := range pod.Status.ContainerStatuses {
			for _, end := range []*corev1.ContainerStateTerminated{status.State.Terminated, status.LastTerminationState.Terminated} {
				if end != nil && end.FinishedAt.After(since) {
					ends = append(ends, *end)
				}
			}
		}
	}
	if len(ends) == 0 {
		return ""
	}
	last := slices.MaxFunc(ends, func(a, b corev1.ContainerStateTerminated) int { return a.FinishedAt.Compare(b.FinishedAt.Time) })
	return fmt.Sprintf(" (%s, exit code %d)", cmp.Or(last.Reason, "ended"), last.ExitCode)
}
