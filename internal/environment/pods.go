// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/text/prose"
	"perflab.dev/perflab/internal/text/redact"
)

// schedulingThreshold is how long a new pod may be unscheduled before that is reported: its
// volume may still be provisioning.
const schedulingThreshold = 5 * time.Second

// PodTrouble returns the most specific reason why one of the pods is not ready, if there is
// one, from the pods and the events of those that are not ready. It ignores terminating
// pods. Its messages are stable between reconciles while the cause stays: without times,
// back-off durations and random parts of pod names.
func PodTrouble(pods []corev1.Pod, events []corev1.Event, now time.Time) (Readiness, bool) {
	alive := slices.DeleteFunc(slices.Clone(pods), func(p corev1.Pod) bool { return p.DeletionTimestamp != nil })
	slices.SortFunc(alive, func(a, b corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })

	// Latest stage first: a pod that reached it has passed the earlier ones.
	checks := []func(corev1.Pod, time.Time) (Readiness, bool){
		containers(imagePull),
		containers(configuration),
		containers(crash),
		failed,
		unschedulable,
	}
	for _, check := range checks {
		for _, pod := range alive {
			if trouble, found := check(pod, now); found {
				return trouble, true
			}
		}
	}
	return eventTrouble(alive, events)
}

// eventTrouble returns the reason that only events contain.
func eventTrouble(pods []corev1.Pod, events []corev1.Event) (Readiness, bool) {
	for _, check := range eventChecks {
		for _, pod := range pods {
			if PodReady(pod) {
				continue
			}
			if trouble, found := check(pod, PodEvents(pod, events)); found {
				return trouble, true
			}
		}
	}
	return Readiness{}, false
}

// PodTitle names a pod without the random parts of its name.
func PodTitle(pod corev1.Pod) string {
	if pod.GenerateName == "" {
		return pod.Name
	}
	title := strings.TrimSuffix(pod.GenerateName, "-")
	return strings.TrimSuffix(title, "-"+pod.Labels["pod-template-hash"])
}

// PodReady reports whether a pod is ready and not terminating.
func PodReady(pod corev1.Pod) bool {
	if pod.DeletionTimestamp != nil {
		return false
	}
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// containers turns a check of one container into a check of a pod's containers, in start
// order.
func containers(check func(title string, status corev1.ContainerStatus) (Readiness, bool)) func(corev1.Pod, time.Time) (Readiness, bool) {
	return func(pod corev1.Pod, _ time.Time) (Readiness, bool) {
		statuses := slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses)
		for _, status := range statuses {
			if trouble, found := check(PodTitle(pod), status); found {
				return trouble, true
			}
		}
		return Readiness{}, false
	}
}

func imagePull(title string, status corev1.ContainerStatus) (Readiness, bool) {
	waiting := status.State.Waiting
	if waiting == nil {
		return Readiness{}, false
	}
	advice := "check its name, and that the nodes can reach its registry and are allowed to pull from it"
	final := false
	switch waiting.Reason {
	case "ErrImagePull", "ImagePullBackOff", "RegistryUnavailable":
	case "ErrImageNeverPull":
		advice = "put it on every node: its pull policy is Never"
	case "InvalidImageName":
		advice, final = "write it as registry/repository:tag", true
	default:
		return Readiness{}, false
	}
	trouble := NotReady(v1alpha1.ReasonImagePull, fmt.Sprintf("%s: image %q of container %q can't be pulled%s; %s",
		title, status.Image, status.Name, quoted(waiting.Message), advice))
	trouble.Final = final
	return trouble, true
}

func configuration(title string, status corev1.ContainerStatus) (Readiness, bool) {
	waiting := status.State.Waiting
	if waiting == nil || (waiting.Reason != "CreateContainerConfigError" && waiting.Reason != "CreateContainerError") {
		return Readiness{}, false
	}
	advice, final := "", strings.Contains(waiting.Message, "runAsNonRoot")
	if final {
		advice = "; give its image a USER that is a number other than 0"
	}
	trouble := NotReady(v1alpha1.ReasonConfiguration, fmt.Sprintf("%s: container %q can't be created%s%s",
		title, status.Name, quoted(waiting.Message), advice))
	trouble.Final = final
	return trouble, true
}

// crash finds a terminated container that has not restarted. Between attempts its state
// alternates between terminated, waiting and running, so all three must give the same
// message.
func crash(title string, status corev1.ContainerStatus) (Readiness, bool) {
	end := status.State.Terminated
	if end == nil && !status.Ready && status.RestartCount > 0 {
		end = status.LastTerminationState.Terminated
	}
	if end == nil || end.ExitCode == 0 {
		return Readiness{}, false
	}
	message := fmt.Sprintf("%s: container %q keeps failing with exit code %d", title, status.Name, end.ExitCode)
	switch end.Reason {
	case "OOMKilled":
		message += " (OOMKilled): it needs more memory than its limit; raise the limit or lower the heap"
	case "", "Error", "Completed":
		if words := terminationMessage(end.Message); words != "" {
			message += "; its termination message: " + words
		} else {
			message += "; see its log"
		}
	default:
		message += " (" + end.Reason + ")" + quoted(end.Message)
	}
	return NotReady(v1alpha1.ReasonCrashing, message), true
}

// terminationMessage returns the last line of a container's termination message, without
// possible secrets.
func terminationMessage(message string) string {
	lines := strings.Split(strings.TrimSpace(message), "\n")
	return prose.Sentence(redact.HideInText(lines[len(lines)-1]))
}

// failed finds a failed pod, for example an evicted one.
func failed(pod corev1.Pod, _ time.Time) (Readiness, bool) {
	if pod.Status.Phase != corev1.PodFailed || pod.Status.Reason == "" {
		return Readiness{}, false
	}
	return NotReady(v1alpha1.ReasonCrashing, fmt.Sprintf("%s: the pod failed (%s)%s",
		PodTitle(pod), pod.Status.Reason, quoted(pod.Status.Message))), true
}

func unschedulable(pod corev1.Pod, now time.Time) (Readiness, bool) {
	for _, condition := range pod.Status.Conditions {
		if condition.Type != corev1.PodScheduled || condition.Status != corev1.ConditionFalse {
			continue
		}
		if now.Sub(condition.LastTransitionTime.Time) < schedulingThreshold {
			return Readiness{}, false
		}
		return NotReady(v1alpha1.ReasonUnschedulable, fmt.Sprintf("%s: the pod can't be scheduled%s",
			PodTitle(pod), quoted(condition.Message))), true
	}
	return Readiness{}, false
}

// Remove the parts of the runtime's messages that differ between attempts.
func quoted(message string) string {
	if message = prose.Sentence(message); message == "" {
		return ""
	}
	return ": " + message
}
