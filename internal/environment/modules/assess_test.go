// SPDX-License-Identifier: Apache-2.0

package modules_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/modules"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/yamlcmp"
)

var now = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// status returns that of a Deployment with this many pods, all of them new.
func status(pods, ready int) string {
	return fmt.Sprintf("{observedGeneration: 1, replicas: %d, updatedReplicas: %d, readyReplicas: %d}", pods, pods, ready)
}

// running returns a cluster in which both modules are ready.
func running(t *testing.T) environment.Observed {
	t.Helper()
	observed := environment.Observed{Objects: map[environment.Key]*unstructured.Unstructured{}, Now: now}
	for _, intent := range modules.Build(request(system()), env) {
		object := intent.DeepCopy()
		object.SetGeneration(1)
		observed.Objects[environment.Key{Kind: object.GetKind(), Name: object.GetName()}] = object
	}
	setStatus(t, observed, "demo-mod-inventory", status(2, 2))
	setStatus(t, observed, "demo-gateway", status(1, 1))
	fingerprint := func(module string) string {
		return environment.ReadFingerprint(observed.Get("Deployment", "demo-"+module))
	}
	observed.Pods = []corev1.Pod{
		pod("mod-inventory", "a", fingerprint("mod-inventory")),
		pod("mod-inventory", "b", fingerprint("mod-inventory")),
		pod("gateway", "c", fingerprint("gateway")),
	}
	return observed
}

func setStatus(t *testing.T, observed environment.Observed, deployment, status string) {
	t.Helper()
	observed.Get("Deployment", deployment).Object["status"] = yamlcmp.Object(t, "apiVersion: v1\nkind: K\nstatus: "+status).Object["status"]
}

func pod(module, suffix, fingerprint string) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "demo-" + module + "-hash-" + suffix, GenerateName: "demo-" + module + "-hash-",
			Labels:      map[string]string{v1alpha1.LabelModule: module, "pod-template-hash": "hash"},
			Annotations: map[string]string{v1alpha1.AnnotationFingerprint: fingerprint},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

func TestAssess(t *testing.T) {
	const (
		waiting = "1 of 2 modules is ready; mod-inventory: "
		older   = waiting + "pods of an earlier configuration still exist"
		making  = waiting + "pods are being created"
		probing = waiting + "pods are running but not ready yet"
	)
	cases := map[string]struct {
		reason string
		// inventory and gateway are statuses of the Deployments, if not ready.
		inventory, gateway string
		edit               func(*environment.Observed)
		want               environment.Readiness
	}{
		"Ready": {
			want: environment.Ready("2 of 2 modules are ready"),
		},
		"Missing": {
			edit: func(o *environment.Observed) {
				delete(o.Objects, environment.Key{Kind: "Deployment", Name: "demo-mod-inventory"})
				o.Pods = o.Pods[2:]
			},
			want: environment.NotReady(v1alpha1.ReasonCreating, making),
		},
		"Stale": {
			reason: "the cache has the Deployment of the previous run",
			edit: func(o *environment.Observed) {
				o.Get("Deployment", "demo-mod-inventory").SetAnnotations(nil)
				o.Pods = o.Pods[2:]
			},
			want: environment.NotReady(v1alpha1.ReasonCreating, making),
		},
		"Unobserved": {
			reason: "the Deployment's controller has not seen the change",
			edit: func(o *environment.Observed) {
				o.Get("Deployment", "demo-mod-inventory").SetGeneration(2)
			},
			want: environment.NotReady(v1alpha1.ReasonNotReady, probing),
		},
		"NotScaled": {
			reason: "same template, other number of replicas",
			edit: func(o *environment.Observed) {
				o.Get("Deployment", "demo-mod-inventory").Object["spec"].(map[string]any)["replicas"] = int64(1)
			},
			want: environment.NotReady(v1alpha1.ReasonNotReady, probing),
		},
		"LeavingDeployment": {
			edit: func(o *environment.Observed) {
				o.Get("Deployment", "demo-mod-inventory").SetDeletionTimestamp(ptr.To(metav1.NewTime(now)))
			},
			want: environment.NotReady(v1alpha1.ReasonNotReady, probing),
		},
		"OneNotReady": {
			inventory: status(2, 1),
			want:      environment.NotReady(v1alpha1.ReasonNotReady, probing),
		},
		"NotUpdated": {
			inventory: "{observedGeneration: 1, replicas: 2, updatedReplicas: 1, readyReplicas: 2}",
			want:      environment.NotReady(v1alpha1.ReasonNotReady, probing),
		},
		"TooMany": {
			inventory: "{observedGeneration: 1, replicas: 3, updatedReplicas: 2, readyReplicas: 2}",
			want:      environment.NotReady(v1alpha1.ReasonNotReady, probing),
		},
		"Pending": {
			inventory: status(2, 1),
			edit: func(o *environment.Observed) {
				o.Pods[0].Status.Phase = corev1.PodPending
			},
			want: environment.NotReady(v1alpha1.ReasonCreating, making),
		},
		"EarlierPod": {
			reason: "an old pod still receives requests and data",
			edit: func(o *environment.Observed) {
				o.Pods = append(o.Pods, pod("mod-inventory", "old", "another"))
			},
			want: environment.NotReady(v1alpha1.ReasonRolling, older),
		},
		"LeavingPod": {
			edit: func(o *environment.Observed) {
				o.Pods[1].DeletionTimestamp = ptr.To(metav1.NewTime(now))
			},
			want: environment.NotReady(v1alpha1.ReasonRolling, older),
		},
		"EvictedPod": {
			reason: "a finished pod is ignored",
			edit: func(o *environment.Observed) {
				evicted := pod("mod-inventory", "old", "another")
				evicted.Status.Phase = corev1.PodFailed
				o.Pods = append(o.Pods, evicted)
			},
			want: environment.Ready("2 of 2 modules are ready"),
		},
		"Trouble": {
			inventory: status(2, 1),
			edit: func(o *environment.Observed) {
				o.Pods[1].Status.ContainerStatuses = []corev1.ContainerStatus{{
					Name: "mod-inventory", Image: "inventory:1", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImageNeverPull"}},
				}}
			},
			want: environment.NotReady(v1alpha1.ReasonImagePull,
				`demo-mod-inventory: image "inventory:1" of container "mod-inventory" can't be pulled; put it on every node: its pull policy is Never`),
		},
		"TroubleOfEarlier": {
			reason: "problems of the previous run's pods do not concern this run",
			edit: func(o *environment.Observed) {
				earlier := pod("mod-inventory", "old", "another")
				earlier.Status.ContainerStatuses = []corev1.ContainerStatus{{
					Name: "mod-inventory", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImageNeverPull"}},
				}}
				o.Pods = append(o.Pods, earlier)
			},
			want: environment.NotReady(v1alpha1.ReasonRolling, older),
		},
		"Refused": {
			inventory: `{observedGeneration: 1, conditions: [{type: ReplicaFailure, status: "True", reason: FailedCreate, ` +
				`message: 'pods "demo-mod-inventory-7d9-x2x2x" is forbidden: exceeded quota: small, requested: memory=1Gi'}]}`,
			edit: func(o *environment.Observed) {
				o.Pods = o.Pods[2:]
			},
			want: environment.NotReady(v1alpha1.ReasonRefused,
				"the cluster refuses the pods of module mod-inventory: exceeded quota: small, requested: memory=1Gi"),
		},
		"Both": {
			inventory: status(2, 1),
			gateway:   status(1, 0),
			want: environment.NotReady(v1alpha1.ReasonNotReady,
				"0 of 2 modules are ready; mod-inventory, gateway: pods are running but not ready yet"),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			observed := running(t)
			if tc.inventory != "" {
				setStatus(t, observed, "demo-mod-inventory", tc.inventory)
			}
			if tc.gateway != "" {
				setStatus(t, observed, "demo-gateway", tc.gateway)
			}
			if tc.edit != nil {
				tc.edit(&observed)
			}
			expect.Equal(t, tc.want, modules.Assess(request(system()), observed), "%s", tc.reason)
		})
	}
}

func TestAssessAfterNextRunIsWanted(t *testing.T) {
	next := request(system())
	next.Run = "demo-2-a-b"
	if readiness := modules.Assess(next, running(t)); readiness.Ready {
		t.Error("modules of the run before are ready for the next")
	}
}
