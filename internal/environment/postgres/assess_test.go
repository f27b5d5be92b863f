// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/postgres"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/yamlcmp"
)

var now = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

const (
	settingUp = `{phase: Setting up primary, phaseReason: Creating primary instance demo-pg-1, conditions: [{type: Ready, status: "False"}]}`
	healthy   = `{phase: Cluster in healthy state, readyInstances: 3, image: "postgresql:15.4", currentPrimary: demo-pg-1, targetPrimary: demo-pg-1, conditions: [{type: Ready, status: "True"}]}`
)

func TestAssess(t *testing.T) {
	pulling := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "demo-pg-1-initdb-x7k2p", GenerateName: "demo-pg-1-initdb-"},
		Status: corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{{
			Name: "bootstrap-controller", Image: "cnpg:1", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull"}},
		}}},
	}
	unbound := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "demo-pg-1"},
		Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "pod has unbound immediate PersistentVolumeClaims",
		}}},
	}
	cases := map[string]struct {
		reason string
		age    time.Duration
		status string
		pods   []corev1.Pod
		edit   func(*unstructured.Unstructured)
		absent bool
		want   environment.Readiness
	}{
		"Missing": {absent: true, want: environment.NotReady(v1alpha1.ReasonCreating, `PostgreSQL "demo-pg" does not exist yet`)},
		"New":     {want: environment.NotReady(v1alpha1.ReasonCreating, `PostgreSQL "demo-pg" is being created: 0 of 3 instances are ready`)},
		"Silent": {age: time.Minute, want: environment.NotReady(v1alpha1.ReasonOperatorSilent,
			`no operator reconciles PostgreSQL "demo-pg": it has no status; check that the CloudNativePG operator runs and watches namespace "lab"`)},
		"Abandoned": {
			reason: "the operator stopped after its first status", age: time.Minute, status: settingUp, want: environment.NotReady(v1alpha1.ReasonOperatorSilent,
				`PostgreSQL "demo-pg" has made no progress since CloudNativePG started to reconcile it: 0 of 3 instances are ready; Setting up primary: Creating primary instance demo-pg-1; `+
					`if this persists, check that the CloudNativePG operator is still running`),
		},
		"SettingUp": {age: environment.LongSilenceThreshold, status: settingUp, want: environment.NotReady(v1alpha1.ReasonCreating,
			`PostgreSQL "demo-pg" is being created: 0 of 3 instances are ready; Setting up primary: Creating primary instance demo-pg-1`)},
		"Ready": {status: healthy, want: environment.Ready(`PostgreSQL "demo-pg" is ready: 3 of 3 instances are ready`)},
		"Earlier": {
			reason: "CloudNativePG has no observedGeneration, so the fingerprint decides",
			status: healthy, edit: func(o *unstructured.Unstructured) { o.SetAnnotations(nil) },
			want: environment.NotReady(v1alpha1.ReasonReplacing, `PostgreSQL "demo-pg" of an earlier configuration still exists`),
		},
		"Leaving": {
			status: healthy, edit: func(o *unstructured.Unstructured) { o.SetDeletionTimestamp(ptr.To(metav1.NewTime(now))) },
			want: environment.NotReady(v1alpha1.ReasonReplacing, `PostgreSQL "demo-pg" of an earlier configuration still exists`),
		},
		"OtherImage": {
			reason: "healthy with the previous image is not ready",
			status: healthy, edit: func(o *unstructured.Unstructured) {
				o.Object["status"].(map[string]any)["image"] = "postgresql:14"
			},
			want: environment.NotReady(v1alpha1.ReasonCreating, `PostgreSQL "demo-pg" is being created: 3 of 3 instances are ready; Cluster in healthy state`),
		},
		"Pulling": {status: settingUp, pods: []corev1.Pod{pulling}, want: environment.NotReady(v1alpha1.ReasonImagePull,
			`demo-pg-1-initdb: image "cnpg:1" of container "bootstrap-controller" can't be pulled; check its name, and that the nodes can reach its registry and are allowed to pull from it`)},
		"NoVolume": {status: settingUp, pods: []corev1.Pod{unbound}, want: environment.NotReady(v1alpha1.ReasonUnschedulable,
			"demo-pg-1: the pod can't be scheduled: pod has unbound immediate PersistentVolumeClaims")},
		"Stuck": {
			status: `{phase: Unable to create required cluster objects, phaseReason: "storageclass \"fast\" not found"}`,
			want: environment.NotReady(v1alpha1.ReasonRefused,
				`CloudNativePG can't create PostgreSQL "demo-pg" as declared: 0 of 3 instances are ready; Unable to create required cluster objects: storageclass "fast" not found`),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			observed := environment.Observed{Objects: map[environment.Key]*unstructured.Unstructured{}, Pods: tc.pods, Now: now}
			object := postgres.Build(request(large()))[0].DeepCopy()
			object.SetCreationTimestamp(metav1.NewTime(now.Add(-tc.age)))
			if tc.status != "" {
				object.Object["status"] = yamlcmp.Object(t, "apiVersion: v1\nkind: K\nstatus: "+tc.status).Object["status"]
			}
			if tc.edit != nil {
				tc.edit(object)
			}
			if !tc.absent {
				observed.Objects[environment.Key{Kind: "Cluster", Name: "demo-pg"}] = object
			}
			expect.Equal(t, tc.want, postgres.Assess(request(large()), observed), "%s", tc.reason)
		})
	}
}

// A Pooler's status does not show whether its PgBouncers accept connections; their pods do.
func TestAssessPoolers(t *testing.T) {
	pod := func(pooler string, ready corev1.ConditionStatus) corev1.Pod {
		return corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: pooler + "-x", GenerateName: pooler + "-", Labels: map[string]string{"cnpg.io/poolerName": pooler}},
			Status:     corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}},
		}
	}
	pulling := pod("demo-pg-pooler-ro", corev1.ConditionFalse)
	pulling.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "pgbouncer", Image: "pgbouncer:1", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull"}},
	}}
	both := []corev1.Pod{pod("demo-pg-pooler-rw", corev1.ConditionTrue), pod("demo-pg-pooler-ro", corev1.ConditionTrue)}
	const up = `PostgreSQL "demo-pg" is ready`
	cases := map[string]struct {
		status string
		pods   []corev1.Pod
		want   environment.Readiness
	}{
		"New": {want: environment.NotReady(v1alpha1.ReasonCreating, up+`, its PgBouncers are being created: 0 of 1 PgBouncer is ready in "demo-pg-pooler-rw", 0 of 1 PgBouncer is ready in "demo-pg-pooler-ro"`)},
		"One": {status: "phase: active", pods: both[:1], want: environment.NotReady(v1alpha1.ReasonCreating, up+`, its PgBouncers are being created: 1 of 1 PgBouncer is ready in "demo-pg-pooler-rw", 0 of 1 PgBouncer is ready in "demo-pg-pooler-ro"`)},
		"Pulling": {status: "phase: active", pods: []corev1.Pod{both[0], pulling}, want: environment.NotReady(v1alpha1.ReasonImagePull,
			`demo-pg-pooler-ro: image "pgbouncer:1" of container "pgbouncer" can't be pulled; check its name, and that the nodes can reach its registry and are allowed to pull from it`)},
		"Failed": {status: `{phase: failed, phaseReason: "cluster not found"}`, want: environment.NotReady(v1alpha1.ReasonRefused,
			`CloudNativePG can't create Pooler "demo-pg-pooler-rw" as declared: cluster not found`)},
		"Inactive": {status: "phase: inactive", pods: both, want: environment.NotReady(v1alpha1.ReasonCreating,
			up+`, its PgBouncers are being created: 1 of 1 PgBouncer is ready in "demo-pg-pooler-rw", 1 of 1 PgBouncer is ready in "demo-pg-pooler-ro"`)},
		"Ready": {status: "phase: active", pods: both, want: environment.Ready(up + `: 3 of 3 instances are ready; 1 of 1 PgBouncer is ready in "demo-pg-pooler-rw", 1 of 1 PgBouncer is ready in "demo-pg-pooler-ro"`)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			declared := large()
			declared.Pooler = &v1alpha1.Pooler{}
			observed := environment.Observed{Objects: map[environment.Key]*unstructured.Unstructured{}, Pods: tc.pods, Now: now}
			for _, intent := range postgres.Build(request(declared)) {
				object := intent.DeepCopy()
				object.SetCreationTimestamp(metav1.NewTime(now))
				status := tc.status
				if intent.GetKind() == "Cluster" {
					status = healthy
				}
				if status != "" {
					object.Object["status"] = yamlcmp.Object(t, "apiVersion: v1\nkind: K\nstatus: "+wrapped(status)).Object["status"]
				}
				observed.Objects[environment.Key{Kind: intent.GetKind(), Name: intent.GetName()}] = object
			}
			expect.Equal(t, tc.want, postgres.Assess(request(declared), observed))
		})
	}
}

func wrapped(status string) string {
	if strings.HasPrefix(status, "{") {
		return status
	}
	return "{" + status + "}"
}

func TestAssessWithoutPostgres(t *testing.T) {
	readiness := postgres.Assess(request(nil), environment.Observed{})
	if !readiness.Ready || readiness.Reason != v1alpha1.ReasonNotDeclared {
		t.Errorf("readiness is %+v", readiness)
	}
}
