// SPDX-License-Identifier: Apache-2.0

package environment_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/testing/expect"
)

var now = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// final returns a readiness that waiting does not change.
func final(reason, message string) *environment.Readiness {
	readiness := not(reason, message)
	readiness.Final = true
	return readiness
}

func TestPodTrouble(t *testing.T) {
	cases := map[string]struct {
		reason string
		pods   []string
		want   *environment.Readiness
	}{
		"None": {reason: "without pods there are no problems"},
		"Starting": {
			reason: "a container that is being created is not a problem",
			pods:   []string{`{metadata: {name: a}, status: {containerStatuses: [{name: c, state: {waiting: {reason: ContainerCreating}}}]}}`},
		},
		"Restarted": {
			reason: "a container that is ready again is judged by the run's validity, not here",
			pods:   []string{`{metadata: {name: a}, status: {containerStatuses: [{name: c, ready: true, restartCount: 2, state: {running: {}}, lastState: {terminated: {exitCode: 1}}}]}}`},
		},
		"Initialised": {
			reason: "init containers are meant to end",
			pods:   []string{`{metadata: {name: a}, status: {initContainerStatuses: [{name: i, state: {terminated: {exitCode: 0, reason: Completed}}}]}}`},
		},
		"NeverPull": {
			reason: "a missing image of an init container",
			pods:   []string{`{metadata: {name: demo-pg-1}, status: {initContainerStatuses: [{name: bootstrap-controller, image: "cnpg:1", state: {waiting: {reason: ErrImageNeverPull, message: 'Container image "cnpg:1" is not present with pull policy of Never'}}}]}}`},
			want: not(v1alpha1.ReasonImagePull, `demo-pg-1: image "cnpg:1" of container "bootstrap-controller" can't be pulled: `+
				`Container image "cnpg:1" is not present with pull policy of Never; put it on every node: its pull policy is Never`),
		},
		"InvalidName": {
			pods: []string{`{metadata: {name: a}, status: {containerStatuses: [{name: c, image: "a b", state: {waiting: {reason: InvalidImageName}}}]}}`},
			want: final(v1alpha1.ReasonImagePull, `a: image "a b" of container "c" can't be pulled; write it as registry/repository:tag`),
		},
		"SecretMissing": {
			pods: []string{module(`containerStatuses: [{name: mod-users, state: {waiting: {reason: CreateContainerConfigError, message: 'secret "demo-pg-app" not found'}}}]`)},
			want: not(v1alpha1.ReasonConfiguration, `demo-mod-users: container "mod-users" can't be created: secret "demo-pg-app" not found`),
		},
		"UserByName": {
			reason: "the kubelet can't check whether a named user is root",
			pods:   []string{module(`containerStatuses: [{name: mod-users, state: {waiting: {reason: CreateContainerConfigError, message: 'container has runAsNonRoot and image has non-numeric user (folio), cannot verify user is non-root (pod: "demo-mod-users-6d4b75cb6d-x7k2p_lab(0a1b)", container: mod-users)'}}}]`)},
			want: final(v1alpha1.ReasonConfiguration, `demo-mod-users: container "mod-users" can't be created: `+
				`container has runAsNonRoot and image has non-numeric user (folio), cannot verify user is non-root; give its image a USER that is a number other than 0`),
		},
		"OutOfMemory": {
			pods: []string{module(`containerStatuses: [{name: mod-users, restartCount: 1, state: {running: {}}, lastState: {terminated: {exitCode: 137, reason: OOMKilled}}}]`)},
			want: not(v1alpha1.ReasonCrashing, `demo-mod-users: container "mod-users" keeps failing with exit code 137 (OOMKilled): it needs more memory than its limit; raise the limit or lower the heap`),
		},
		"LastWords": {
			reason: "the last log line explains more than the exit code; secrets are redacted",
			pods:   []string{module(`containerStatuses: [{name: mod-users, restartCount: 1, state: {running: {}}, lastState: {terminated: {exitCode: 1, reason: Error, message: "12:00:00 INFO starting\nno way to jdbc:postgresql://folio:hunter2@db/folio with password='hunter2'\n"}}}]`)},
			want:   not(v1alpha1.ReasonCrashing, `demo-mod-users: container "mod-users" keeps failing with exit code 1; its termination message: no way to jdbc:postgresql://(not shown)@db/folio with password=(not shown)`),
		},
		"CannotStart": {
			reason: "the runtime's reason and message are shown",
			pods:   []string{module(`containerStatuses: [{name: mod-users, restartCount: 1, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 128, reason: StartError, message: 'exec: "java": executable file not found in $PATH'}}}]`)},
			want:   not(v1alpha1.ReasonCrashing, `demo-mod-users: container "mod-users" keeps failing with exit code 128 (StartError): exec: "java": executable file not found in $PATH`),
		},
		"Evicted": {
			pods: []string{`{metadata: {name: a}, status: {phase: Failed, reason: Evicted, message: "The node was low on resource: ephemeral-storage."}}`},
			want: not(v1alpha1.ReasonCrashing, "a: the pod failed (Evicted): The node was low on resource: ephemeral-storage"),
		},
		"NoNode": {
			pods: []string{`{metadata: {name: demo-broker-0}, status: {conditions: [{type: PodScheduled, status: "False", reason: Unschedulable, lastTransitionTime: "2026-05-01T11:59:00Z", message: "0/1 nodes are available: 1 Insufficient memory."}]}}`},
			want: not(v1alpha1.ReasonUnschedulable, "demo-broker-0: the pod can't be scheduled: 0/1 nodes are available: 1 Insufficient memory"),
		},
		"NoNodeYet": {
			reason: "a volume may still be provisioned",
			pods:   []string{`{metadata: {name: demo-broker-0}, status: {conditions: [{type: PodScheduled, status: "False", lastTransitionTime: "2026-05-01T11:59:58Z", message: "unbound immediate PersistentVolumeClaims"}]}}`},
		},
		"Leaving": {
			reason: "a terminating pod does not explain the failure",
			pods:   []string{`{metadata: {name: a, deletionTimestamp: "2026-05-01T11:59:00Z"}, status: {containerStatuses: [{name: c, state: {terminated: {exitCode: 143}}}]}}`},
		},
		"Order": {
			reason: "a missing image comes before a pod without a node, pods in the order of their names",
			pods: []string{
				`{metadata: {name: a}, status: {conditions: [{type: PodScheduled, status: "False", lastTransitionTime: "2026-05-01T11:00:00Z"}]}}`,
				`{metadata: {name: z}, status: {containerStatuses: [{name: c, image: z, state: {waiting: {reason: InvalidImageName}}}]}}`,
				`{metadata: {name: b}, status: {containerStatuses: [{name: c, image: b, state: {waiting: {reason: InvalidImageName}}}]}}`,
			},
			want: final(v1alpha1.ReasonImagePull, `b: image "b" of container "c" can't be pulled; write it as registry/repository:tag`),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var given []corev1.Pod
			for _, text := range tc.pods {
				given = append(given, pod(t, text))
			}
			before := slices.Clone(given)
			trouble, found := environment.PodTrouble(given, nil, now)
			if found != (tc.want != nil) {
				t.Fatalf("found %t (%s): %s", found, trouble.Message, tc.reason)
			}
			if tc.want != nil {
				expect.Equal(t, *tc.want, trouble, "%s", tc.reason)
			}
			if diff := cmp.Diff(before, given); diff != "" {
				t.Errorf("the pods were edited:\n%s", diff)
			}
		})
	}
}

// The kubelet and the runtime vary their messages about the same trouble, but the condition stays
// the same.
func TestPodTroubleIsStable(t *testing.T) {
	cases := map[string][]string{
		"Pull": {
			`containerStatuses: [{name: c, image: "r/a:1", state: {waiting: {reason: ErrImagePull, message: 'rpc error: code = NotFound desc = failed to pull and unpack image "r/a:1": not found'}}}]`,
			`containerStatuses: [{name: c, image: "r/a:1", state: {waiting: {reason: ImagePullBackOff, message: 'Back-off pulling image "r/a:1": ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image "r/a:1": not found'}}}]`,
		},
		"Network": {
			`containerStatuses: [{name: c, image: "r/a:1", state: {waiting: {reason: ErrImagePull, message: 'dial tcp: lookup r: read udp 10.1.0.4:48123->10.96.0.10:53: i/o timeout'}}}]`,
			`containerStatuses: [{name: c, image: "r/a:1", state: {waiting: {reason: ErrImagePull, message: 'dial tcp: lookup r: read udp 10.1.0.4:51007->10.96.0.10:53: i/o timeout'}}}]`,
		},
		"Crash": {
			`containerStatuses: [{name: c, restartCount: 0, state: {terminated: {exitCode: 1, reason: Error}}}]`,
			`containerStatuses: [{name: c, restartCount: 1, state: {running: {}}, lastState: {terminated: {exitCode: 1, reason: Error}}}]`,
			`containerStatuses: [{name: c, restartCount: 1, state: {terminated: {exitCode: 1, reason: Error}}, lastState: {terminated: {exitCode: 1, reason: Error}}}]`,
			`containerStatuses: [{name: c, restartCount: 2, state: {waiting: {reason: CrashLoopBackOff, message: "back-off 10s restarting failed container=c pod=x_ns(1)"}}, lastState: {terminated: {exitCode: 1, reason: Error}}}]`,
			`containerStatuses: [{name: c, restartCount: 3, state: {waiting: {reason: CrashLoopBackOff, message: "back-off 20s restarting failed container=c pod=x_ns(2)"}}, lastState: {terminated: {exitCode: 1, reason: Error}}}]`,
		},
	}
	for name, statuses := range cases {
		t.Run(name, func(t *testing.T) {
			var first environment.Readiness
			for i, status := range statuses {
				trouble, found := environment.PodTrouble([]corev1.Pod{pod(t, module(status))}, nil, now.Add(time.Duration(i)*time.Minute))
				if !found {
					t.Fatalf("nothing found in %s", status)
				}
				if i == 0 {
					first = trouble
				}
				if diff := cmp.Diff(first, trouble); diff != "" {
					t.Errorf("the message changed (-first +later):\n%s", diff)
				}
			}
		})
	}
}

func TestPodTitle(t *testing.T) {
	cases := map[string]corev1.Pod{
		"demo-broker-0":    {ObjectMeta: metav1.ObjectMeta{Name: "demo-broker-0"}},
		"demo-mod-users":   pod(t, module("phase: Running")),
		"demo-pg-1-initdb": {ObjectMeta: metav1.ObjectMeta{Name: "demo-pg-1-initdb-x7k2p", GenerateName: "demo-pg-1-initdb-"}},
	}
	for want, given := range cases {
		expect.Equal(t, want, environment.PodTitle(given), "title of %q", given.Name)
	}
}

func pod(t *testing.T, text string) corev1.Pod {
	t.Helper()
	var pod corev1.Pod
	expect.NoError(t, yaml.UnmarshalStrict([]byte(text), &pod), "reading the test's pod")
	return pod
}

func not(reason, message string) *environment.Readiness {
	readiness := environment.NotReady(reason, message)
	return &readiness
}

// module returns a pod of a Deployment with random parts in its name.
func module(status string) string {
	return `{metadata: {name: demo-mod-users-6d4b75cb6d-x7k2p, generateName: demo-mod-users-6d4b75cb6d-, labels: {pod-template-hash: 6d4b75cb6d}}, status: {` + status + `}}`
}
