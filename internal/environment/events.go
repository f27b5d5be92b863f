// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/text/prose"
)

// eventChecks find in a pod's events why it is not ready, latest stage first.
var eventChecks = []func(corev1.Pod, []corev1.Event) (Readiness, bool){
	probeFailing,
	mountFailing,
	sandboxFailing,
}

// probeFailing finds a failing probe. A program that is still starting fails it as well, so
// the message only describes the request and the answer.
func probeFailing(pod corev1.Pod, events []corev1.Event) (Readiness, bool) {
	failure, found := lastWarning(events, "Unhealthy")
	if !found {
		return Readiness{}, false
	}
	return NotReady(v1alpha1.ReasonNotReady, fmt.Sprintf("%s: %s; if it listens elsewhere, declare that port and path",
		PodTitle(pod), probeFailure(pod, failure))), true
}

func mountFailing(pod corev1.Pod, events []corev1.Event) (Readiness, bool) {
	failure, found := lastWarning(events, "FailedMount", "FailedAttachVolume", "FailedMapVolume")
	if !found {
		return Readiness{}, false
	}
	return NotReady(v1alpha1.ReasonConfiguration, fmt.Sprintf("%s: a volume can't be mounted%s", PodTitle(pod), quoted(failure.Message))), true
}

func sandboxFailing(pod corev1.Pod, events []corev1.Event) (Readiness, bool) {
	failure, found := lastWarning(events, "FailedCreatePodSandBox")
	if !found {
		return Readiness{}, false
	}
	return NotReady(v1alpha1.ReasonCreating, fmt.Sprintf("%s: its node can't create the pod%s", PodTitle(pod), quoted(failure.Message))), true
}

// Refusal returns the API server's reason to reject pods, from the events of a Job or a set
// of pods; empty if there is none.
func Refusal(events []corev1.Event) string {
	failure, found := lastWarning(events, "FailedCreate")
	if !found {
		return ""
	}
	_, why, cut := strings.Cut(failure.Message, "Error creating: ")
	if !cut {
		why = failure.Message
	}
	return prose.Sentence(why)
}

// ProbeFailure describes the last failed probe of a pod; empty if none failed.
func ProbeFailure(pod corev1.Pod, events []corev1.Event) string {
	failure, found := lastWarning(PodEvents(pod, events), "Unhealthy")
	if !found {
		return ""
	}
	return probeFailure(pod, failure)
}

// PodEvents returns the events of a pod, without those of an earlier pod of its name.
func PodEvents(pod corev1.Pod, events []corev1.Event) []corev1.Event {
	var own []corev1.Event
	for _, event := range events {
		if event.InvolvedObject.UID == pod.UID {
			own = append(own, event)
		}
	}
	return own
}

// lastWarning returns the latest warning with one of these reasons.
func lastWarning(events []corev1.Event, reasons ...string) (corev1.Event, bool) {
	var found []corev1.Event
	for _, event := range events {
		if event.Type == corev1.EventTypeWarning && slices.Contains(reasons, event.Reason) {
			found = append(found, event)
		}
	}
	if len(found) == 0 {
		return corev1.Event{}, false
	}
	return slices.MaxFunc(found, func(a, b corev1.Event) int {
		return cmp.Or(lastSeen(a).Compare(lastSeen(b)), cmp.Compare(a.Name, b.Name))
	}), true
}

// lastSeen returns when an event last occurred. The field depends on the client that
// recorded it.
func lastSeen(event corev1.Event) time.Time {
	last := event.CreationTimestamp.Time
	times := []time.Time{event.LastTimestamp.Time, event.EventTime.Time}
	if event.Series != nil {
		times = append(times, event.Series.LastObservedTime.Time)
	}
	for _, other := range times {
		if other.After(last) {
			last = other
		}
	}
	return last
}

// probed parses the kubelet's message about a probe.
var probed = regexp.MustCompile(`^(Readiness|Liveness|Startup) probe (?:failed|errored)(?: and resulted in \w+ state)?: (.*)$`)

var statusCode = regexp.MustCompile(`statuscode: (\d+)`)

// probeFailure describes the failed probe, without the pod's address, which differs between
// pods.
func probeFailure(pod corev1.Pod, failure corev1.Event) string {
	message := prose.Sentence(failure.Message)
	parts := probed.FindStringSubmatch(message)
	if parts == nil {
		return message
	}
	return fmt.Sprintf("its %s probe%s %s", strings.ToLower(parts[1]), probeTarget(pod, failure, parts[1]), probeOutcome(parts[2]))
}

func probeOutcome(message string) string {
	if code := statusCode.FindStringSubmatch(message); code != nil {
		return "fails with status " + code[1]
	}
	for _, known := range knownOutcomes {
		if strings.Contains(message, known.sign) {
			return known.meaning
		}
	}
	return "fails: " + message
}

// knownOutcomes are the errors of the kubelet's client.
var knownOutcomes = []struct{ sign, meaning string }{
	{"connection refused", "fails: connection refused"},
	{"no route to host", "fails: no route to host"},
	{"context deadline exceeded", "times out"},
	{"Client.Timeout", "times out"},
	{"i/o timeout", "times out"},
}

// probeTarget describes the request of a probe: " (GET :8081/admin/health)".
func probeTarget(pod corev1.Pod, failure corev1.Event, kind string) string {
	for _, container := range pod.Spec.Containers {
		if field := failure.InvolvedObject.FieldPath; field != "" && !strings.Contains(field, "{"+container.Name+"}") {
			continue
		}
		probe := map[string]*corev1.Probe{
			"Readiness": container.ReadinessProbe, "Liveness": container.LivenessProbe, "Startup": container.StartupProbe,
		}[kind]
		switch {
		case probe == nil:
		case probe.HTTPGet != nil:
			return fmt.Sprintf(" (GET :%d%s)", portNumber(container, probe.HTTPGet.Port), probe.HTTPGet.Path)
		case probe.TCPSocket != nil:
			return fmt.Sprintf(" (port %d)", portNumber(container, probe.TCPSocket.Port))
		}
	}
	return ""
}

// portNumber resolves a port that may be named.
func portNumber(container corev1.Container, port intstr.IntOrString) int32 {
	for _, declared := range container.Ports {
		if port.Type == intstr.String && declared.Name == port.StrVal {
			return declared.ContainerPort
		}
	}
	return port.IntVal
}
