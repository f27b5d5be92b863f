// SPDX-License-Identifier: Apache-2.0

package modules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
)

// CountRestarts writes into the module how often containers of its pods ended,
// to be started again, while load was on. A pod that is there no more, with
// another in its place, counts as well.
func CountRestarts(found *v1alpha1.EffectiveModule, pods []corev1.Pod) {
	before := map[types.UID]int32{}
	for _, pod := range found.Pods {
		before[pod.UID] = pod.Restarts
	}
	found.Restarts = 0
	for _, pod := range pods {
		if isOver(pod) {
			continue
		}
		found.Restarts += max(0, restarts(pod)-before[pod.UID])
		delete(before, pod.UID)
	}
	found.Restarts += int32(len(before))
}

// RestartFault says, in one sentence, that modules restarted more often while
// load was on than is allowed; empty when they did not. The pods, by module,
// tell how containers ended.
func RestartFault(found []v1alpha1.EffectiveModule, pods map[string][]corev1.Pod, allowed int32, since time.Time) string {
	var total int32
	var told []string
	for _, module := range found {
		if module.Restarts == 0 {
			continue
		}
		total += module.Restarts
		told = append(told, fmt.Sprintf("%s %s%s", module.Name, environment.Counted(module.Restarts, "time"), lastEnd(pods[module.Name], since)))
	}
	if total <= allowed {
		return ""
	}
	return fmt.Sprintf("containers ended or pods were replaced while load was on: %s; validity.maxRestarts allows %d", strings.Join(told, ", "), allowed)
}

// restarts are those of all of a pod's containers. One that has ended and is
// not back yet counts too.
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

// lastEnd is how a container of these pods last ended after this time.
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
