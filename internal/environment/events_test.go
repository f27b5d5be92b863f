// SPDX-License-Identifier: Apache-2.0

package environment_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/testing/expect"
)

// probing is a module's pod that runs and does not serve.
const probing = `
metadata: {name: shop-gateway-6d4b75cb6d-x7k2p, generateName: shop-gateway-6d4b75cb6d-, uid: u1, labels: {pod-template-hash: 6d4b75cb6d}}
spec:
  containers:
  - name: gateway
    ports: [{name: http, containerPort: 8180}]
    startupProbe: {httpGet: {path: /health, port: http}}
    readinessProbe: {httpGet: {path: /health, port: http}}
    livenessProbe: {tcpSocket: {port: 8180}}
status: {phase: Running}
`

func event(t *testing.T, text string) corev1.Event {
	t.Helper()
	var event corev1.Event
	expect.NoError(t, yaml.UnmarshalStrict([]byte(text), &event), "reading the test's event")
	return event
}

func TestPodTroubleFromEvents(t *testing.T) {
	const about = `type: Warning, involvedObject: {uid: u1, fieldPath: "spec.containers{gateway}"}`
	cases := map[string]struct {
		reason string
		events []string
		want   *environment.Readiness
	}{
		"WrongPort": {
			reason: "the address differs in each pod; users can change the port and the path",
			events: []string{`{` + about + `, reason: Unhealthy, message: 'Startup probe failed: Get "http://10.244.0.12:8180/health": dial tcp 10.244.0.12:8180: connect: connection refused'}`},
			want:   not(v1alpha1.ReasonNotReady, "shop-gateway: its startup probe (GET :8180/health) fails: connection refused; if it listens elsewhere, declare that port and path"),
		},
		"WrongPath": {
			events: []string{`{` + about + `, reason: Unhealthy, message: 'Readiness probe failed: HTTP probe failed with statuscode: 404'}`},
			want:   not(v1alpha1.ReasonNotReady, "shop-gateway: its readiness probe (GET :8180/health) fails with status 404; if it listens elsewhere, declare that port and path"),
		},
		"Hangs": {
			events: []string{`{` + about + `, reason: Unhealthy, message: 'Readiness probe failed: Get "http://10.244.0.12:8180/health": context deadline exceeded (Client.Timeout exceeded while awaiting headers)'}`},
			want:   not(v1alpha1.ReasonNotReady, "shop-gateway: its readiness probe (GET :8180/health) times out; if it listens elsewhere, declare that port and path"),
		},
		"Latest": {
			reason: "the last event is the current state",
			events: []string{
				`{` + about + `, lastTimestamp: "2026-05-01T11:59:00Z", reason: Unhealthy, message: 'Startup probe failed: HTTP probe failed with statuscode: 503'}`,
				`{` + about + `, lastTimestamp: "2026-05-01T11:00:00Z", reason: Unhealthy, message: 'Startup probe failed: dial tcp 10.244.0.12:8180: connect: connection refused'}`,
			},
			want: not(v1alpha1.ReasonNotReady, "shop-gateway: its startup probe (GET :8180/health) fails with status 503; if it listens elsewhere, declare that port and path"),
		},
		"Volume": {
			events: []string{`{` + about + `, reason: FailedMount, message: 'MountVolume.SetUp failed for volume "realm" : configmap "realm" not found'}`},
			want:   not(v1alpha1.ReasonConfiguration, `shop-gateway: a volume can't be mounted: MountVolume.SetUp failed for volume "realm" : configmap "realm" not found`),
		},
		"OfAnother": {
			reason: "the event is about an earlier pod of the same name",
			events: []string{`{type: Warning, involvedObject: {uid: u0}, reason: Unhealthy, message: 'Readiness probe failed: HTTP probe failed with statuscode: 404'}`},
		},
		"Normal": {
			reason: "events other than warnings are not problems",
			events: []string{`{type: Normal, involvedObject: {uid: u1}, reason: Pulled, message: 'Container image already present'}`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var events []corev1.Event
			for _, text := range tc.events {
				events = append(events, event(t, text))
			}
			trouble, found := environment.PodTrouble([]corev1.Pod{pod(t, probing)}, events, now)
			if found != (tc.want != nil) {
				t.Fatalf("found %t (%s): %s", found, trouble.Message, tc.reason)
			}
			if found {
				expect.Equal(t, *tc.want, trouble, "%s", tc.reason)
			}
		})
	}
}

func TestPodTroubleIgnoresReadyPod(t *testing.T) {
	ready := pod(t, probing)
	ready.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	late := event(t, `{type: Warning, involvedObject: {uid: u1}, reason: Unhealthy, message: 'Readiness probe failed: HTTP probe failed with statuscode: 404'}`)
	if trouble, found := environment.PodTrouble([]corev1.Pod{ready}, []corev1.Event{late}, now); found {
		t.Errorf("found %q of a pod that answers by now", trouble.Message)
	}
}

func TestRefusalFromJobEvents(t *testing.T) {
	refused := event(t, `{type: Warning, reason: FailedCreate, message: 'Error creating: pods "tr-1-x7k2p" is forbidden: exceeded quota: lab, requested: pods=1, used: pods=4, limited: pods=4'}`)
	if got, want := environment.Refusal([]corev1.Event{refused}), "exceeded quota: lab, requested: pods=1, used: pods=4, limited: pods=4"; got != want {
		t.Errorf("got %q, want %q: the same for each pod that is tried", got, want)
	}
	if got := environment.Refusal(nil); got != "" {
		t.Errorf("without an event: %q", got)
	}
}
