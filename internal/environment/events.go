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

// eventChecks find in what was told of a pod, by events alone, why it does not
// serve. The order is that of a pod's life turned round.
var eventChecks = []func(corev1.Pod, []corev1.Event) (Readiness, bool){
	probeFailing,
	mountFailing,
	sandboxFailing,
}

// probeFailing finds a probe that fails. A program that is still starting fails it
// as well, so the sentence says what was asked and what came back, and leaves
// the rest to the reader.
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
	return NotReady(v1alpha1.ReasonCreating, fmt.Sprintf("%s: its node can't make the pod%s", PodTitle(pod), quoted(failure.Message))), true
}

// Refusal finds in the events of a Job or a set of pods that the API server
// takes none of its pods; empty: it does not say so.
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

// ProbeFailure says which probe of a pod failed last, and how; empty where none
// did.
func ProbeFailure(pod corev1.Pod, events []corev1.Event) string {
	failure, found := lastWarning(PodEvents(pod, events), "Unhealthy")
	if !found {
		return ""
	}
	return probeFailure(pod, failure)
}

// PodEvents are those about a pod, and not about an earlier one of its name.
func PodEvents(pod corev1.Pod, events []corev1.Event) []corev1.Event {
	var own []corev1.Event
	for _, event := range events {
		if event.InvolvedObject.UID == pod.UID {
			own = append(own, event)
		}
	}
	return own
}

// lastWarning is the latest warning with one of these reasons.
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

// lastSeen is when an event was last told. Which field holds it depends on who
// told it.
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

// probed takes the kubelet's sentence about a probe apart.
var probed = regexp.MustCompile(`^(Readiness|Liveness|Startup) probe (?:failed|errored)(?: and resulted in \w+ state)?: (.*)$`)

var statusCode = regexp.MustCompile(`statuscode: (\d+)`)

// probeFailure tells which probe failed, what it asked and what came back,
// without the pod's address, which is another one for each pod.
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
		return "is answered with status " + code[1]
	}
	for _, known := range knownOutcomes {
		if strings.Contains(message, known.sign) {
			return known.meaning
		}
	}
	return "fails: " + message
}

// knownOutcomes are what the kubelet's client says where there was none.
var knownOutcomes = []struct{ sign, meaning string }{
	{"connection refused", "is refused a connection"},
	{"no route to host", "finds no way to it"},
	{"context deadline exceeded", "gets no answer in time"},
	{"Client.Timeout", "gets no answer in time"},
	{"i/o timeout", "gets no answer in time"},
}

// probeTarget is what a probe of a pod asks for: " (GET :8081/admin/health)".
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

// portNumber is that of a port which may be named.
func portNumber(container corev1.Container, port intstr.IntOrString) int32 {
	for _, declared := range container.Ports {
		if port.Type == intstr.String && declared.Name == port.StrVal {
			return declared.ContainerPort
		}
	}
	return port.IntVal
}
