// SPDX-License-Identifier: Apache-2.0

package kafka_test

import (
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/kafka"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/yamlcmp"
)

var now = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// Statuses as observed from Strimzi.
const (
	creating = `{observedGeneration: 0, conditions: [{type: NotReady, status: "True", reason: Creating}]}`
	said     = `{observedGeneration: 0, conditions: [{type: NotReady, status: "True", reason: Creating, lastTransitionTime: "2026-05-01T11:59:50Z"}]}`
	ready    = `{observedGeneration: 1, kafkaVersion: 4.3.1, conditions: [{type: Ready, status: "True"}]}`
	refused  = `{observedGeneration: 1, conditions: [{type: NotReady, status: "True", reason: InvalidResourceException, message: Version 9.9.9 is not supported.}]}`
)

// cluster builds the observed objects of a Kafka with one broker and three controllers.
type cluster struct {
	age        time.Duration
	generation int64
	status     string
	pods       []corev1.Pod
	edit       func(environment.Observed)
	refused    string
}

func declared() *v1alpha1.Kafka {
	return &v1alpha1.Kafka{Brokers: v1alpha1.KafkaNodes{Replicas: 1}, Controllers: &v1alpha1.KafkaNodes{Replicas: 3}}
}

func (c cluster) observed(t *testing.T) environment.Observed {
	t.Helper()
	observed := environment.Observed{Objects: map[environment.Key]*unstructured.Unstructured{}, Pods: c.pods, Refused: c.refused, Now: now}
	for _, intent := range kafka.Build(request(declared()), "v1") {
		object := intent.DeepCopy()
		object.SetCreationTimestamp(metav1.NewTime(now.Add(-c.age)))
		object.SetGeneration(max(1, c.generation))
		if c.status != "" && object.GetKind() == "Kafka" {
			object.Object["status"] = yamlcmp.Object(t, "apiVersion: v1\nkind: K\nstatus: "+c.status).Object["status"]
		}
		observed.Objects[environment.Key{Kind: object.GetKind(), Name: object.GetName()}] = object
	}
	if c.edit != nil {
		c.edit(observed)
	}
	return observed
}

func node(pool string, id int, isReady bool) corev1.Pod {
	status := corev1.ConditionFalse
	if isReady {
		status = corev1.ConditionTrue
	}
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: pool + "-" + strconv.Itoa(id), Labels: map[string]string{"strimzi.io/cluster": "demo", "strimzi.io/pool-name": pool}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: status}}},
	}
}

func nodes(brokers bool) []corev1.Pod {
	return []corev1.Pod{
		node("broker-uqnlkapi", 0, brokers),
		node("kraft-uqnlkapi", 1, true), node("kraft-uqnlkapi", 2, true), node("kraft-uqnlkapi", 3, true),
		{ObjectMeta: metav1.ObjectMeta{Name: "demo-entity-operator-1-2"}},
	}
}

func TestAssess(t *testing.T) {
	crashing := nodes(false)
	crashing[0].Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "kafka", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}},
	}}
	leaving := nodes(true)
	leaving[3].DeletionTimestamp = ptr.To(metav1.NewTime(now))
	cases := map[string]struct {
		reason string
		given  cluster
		want   environment.Readiness
	}{
		"KafkaMissing": {
			given: cluster{edit: func(o environment.Observed) { delete(o.Objects, environment.Key{Kind: "Kafka", Name: "demo"}) }},
			want:  environment.NotReady(v1alpha1.ReasonCreating, `Kafka "demo" does not exist yet`),
		},
		"PoolMissing": {
			given: cluster{status: ready, pods: nodes(true), edit: func(o environment.Observed) {
				delete(o.Objects, environment.Key{Kind: "KafkaNodePool", Name: "kraft-uqnlkapi"})
			}},
			want: environment.NotReady(v1alpha1.ReasonCreating, `KafkaNodePool "kraft-uqnlkapi" does not exist yet`),
		},
		"Earlier": {
			reason: "an outdated or unreplaced object is not ready, whatever its conditions",
			given: cluster{status: ready, pods: nodes(true), edit: func(o environment.Observed) {
				o.Get("Kafka", "demo").SetAnnotations(map[string]string{v1alpha1.AnnotationFingerprint: "other"})
			}},
			want: environment.NotReady(v1alpha1.ReasonReplacing, `Kafka "demo" of an earlier configuration still exists`),
		},
		"EarlierPool": {
			given: cluster{status: ready, pods: nodes(true), edit: func(o environment.Observed) {
				o.Get("KafkaNodePool", "broker-uqnlkapi").SetAnnotations(nil)
			}},
			want: environment.NotReady(v1alpha1.ReasonReplacing, `Kafka "demo" of an earlier configuration still exists`),
		},
		"Leaving": {
			given: cluster{status: ready, pods: nodes(true), edit: func(o environment.Observed) {
				o.Get("Kafka", "demo").SetDeletionTimestamp(ptr.To(metav1.NewTime(now)))
			}},
			want: environment.NotReady(v1alpha1.ReasonReplacing, `Kafka "demo" of an earlier configuration still exists`),
		},
		"LeavingPool": {
			given: cluster{status: ready, pods: nodes(true), edit: func(o environment.Observed) {
				o.Get("KafkaNodePool", "broker-uqnlkapi").SetDeletionTimestamp(ptr.To(metav1.NewTime(now)))
			}},
			want: environment.NotReady(v1alpha1.ReasonReplacing, `Kafka "demo" of an earlier configuration still exists`),
		},
		"New": {
			given: cluster{age: environment.SilenceThreshold},
			want:  environment.NotReady(v1alpha1.ReasonCreating, `Kafka "demo" is being created: 0 of 4 nodes are ready`),
		},
		"Silent": {
			given: cluster{age: environment.SilenceThreshold + time.Second},
			want: environment.NotReady(v1alpha1.ReasonOperatorSilent,
				`no operator reconciles Kafka "demo": it has no status; check that the Strimzi operator runs and watches namespace "lab"`),
		},
		"Creating": {
			reason: "any status shows that the operator is running",
			given:  cluster{age: time.Hour, status: creating, pods: nodes(false)},
			want:   environment.NotReady(v1alpha1.ReasonCreating, `Kafka "demo" is being created: 3 of 4 nodes are ready`),
		},
		"PodsRefused": {
			reason: "Strimzi does not report why admission rejects its pods",
			given:  cluster{age: time.Minute, status: creating, refused: `violates PodSecurity "restricted:latest": runAsNonRoot != true`},
			want: environment.NotReady(v1alpha1.ReasonRefused,
				`the cluster refuses the pods of Kafka "demo": violates PodSecurity "restricted:latest": runAsNonRoot != true`),
		},
		"Abandoned": {
			reason: "the operator stopped after its first status",
			given:  cluster{age: environment.LongSilenceThreshold + time.Second, status: creating},
			want: environment.NotReady(v1alpha1.ReasonOperatorSilent,
				`Kafka "demo" has made no progress since Strimzi started to reconcile it: 0 of 4 nodes are ready; if this persists, check that the Strimzi operator is still running`),
		},
		"AbandonedWithItsPodsUp": {
			given: cluster{age: time.Hour, status: creating, pods: nodes(true)[:4]},
			want: environment.NotReady(v1alpha1.ReasonOperatorSilent,
				`Kafka "demo" has made no progress since Strimzi started to reconcile it: 4 of 4 nodes are ready; if this persists, check that the Strimzi operator is still running`),
		},
		"LastWord": {
			reason: "the operator updated the status recently",
			given:  cluster{age: time.Hour, status: said},
			want:   environment.NotReady(v1alpha1.ReasonCreating, `Kafka "demo" is being created: 0 of 4 nodes are ready`),
		},
		"PodInTrouble": {
			reason: "the pod has more details than the operator's status, and earlier",
			given:  cluster{status: refused, pods: crashing},
			want: environment.NotReady(v1alpha1.ReasonCrashing,
				`broker-uqnlkapi-0: container "kafka" keeps failing with exit code 137 (OOMKilled): it needs more memory than its limit; raise the limit or lower the heap`),
		},
		"Refused": {
			given: cluster{status: refused},
			want: environment.NotReady(v1alpha1.ReasonRefused,
				`Strimzi can't reconcile Kafka "demo" and retries: InvalidResourceException: Version 9.9.9 is not supported`),
		},
		"RefusedBefore": {
			reason: "the refusal is of an older generation",
			given:  cluster{generation: 2, status: refused},
			want:   environment.NotReady(v1alpha1.ReasonCreating, `Kafka "demo" is being created: 0 of 4 nodes are ready`),
		},
		"Rolling": {
			reason: "Ready=True of the old generation stays during the whole roll, pods ready or not",
			given:  cluster{generation: 2, status: ready, pods: nodes(true)},
			want:   environment.NotReady(v1alpha1.ReasonRolling, `Kafka "demo" is being updated to a new configuration: 4 of 4 nodes are ready`),
		},
		"Ready": {
			given: cluster{status: ready, pods: nodes(true)},
			want:  environment.Ready(`Kafka "demo" is ready: 1 broker and 3 controllers, version 4.3.1`),
		},
		"BrokerGone": {
			reason: "Strimzi reconciles only every two minutes",
			given:  cluster{status: ready, pods: nodes(false)},
			want:   environment.NotReady(v1alpha1.ReasonNotReady, `Kafka "demo" was ready, but its pods are not as declared: 3 of 4 nodes are ready`),
		},
		"NodeTooMany": {
			reason: "a node of a larger cluster is still being removed",
			given:  cluster{status: ready, pods: append(nodes(true), node("broker-uqnlkapi", 4, false))},
			want:   environment.NotReady(v1alpha1.ReasonNotReady, `Kafka "demo" was ready, but its pods are not as declared: 4 of 4 nodes are ready`),
		},
		"NodeLeaving": {
			given: cluster{status: ready, pods: leaving},
			want:  environment.NotReady(v1alpha1.ReasonNotReady, `Kafka "demo" was ready, but its pods are not as declared: 3 of 4 nodes are ready`),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			expect.Equal(t, tc.want, kafka.Assess(request(declared()), tc.given.observed(t)), "%s", tc.reason)
		})
	}
}
