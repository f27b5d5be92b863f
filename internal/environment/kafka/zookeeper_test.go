// SPDX-License-Identifier: Apache-2.0

package kafka_test

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/kafka"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/yamlcmp"
)

func kept() *v1alpha1.Kafka {
	return &v1alpha1.Kafka{
		Mode:    v1alpha1.KafkaModeZooKeeper,
		Version: "3.9.2",
		Brokers: v1alpha1.KafkaNodes{
			Replicas: 5,
			Heap:     ptr.To(resource.MustParse("2Gi")),
			Storage:  &v1alpha1.Storage{Size: resource.MustParse("100Gi")},
			Placement: &v1alpha1.Placement{
				NodeSelector:   map[string]string{"disk": "fast"},
				TopologySpread: []v1alpha1.Spread{{TopologyKey: "kubernetes.io/hostname"}},
			},
		},
	}
}

func TestBuildZooKeeper(t *testing.T) {
	intents := kafka.Build(request(kept()), "v1beta2")
	if len(intents) != 1 {
		t.Fatalf("%d intents, want a Kafka alone: pools are of KRaft", len(intents))
	}
	for _, annotation := range []string{"strimzi.io/kraft", "strimzi.io/node-pools"} {
		if got, found := intents[0].GetAnnotations()[annotation]; found {
			t.Errorf("%s is %q: Strimzi 0.45 would run KRaft", annotation, got)
		}
	}
	spec := intents[0].Object["spec"].(map[string]any)
	yamlcmp.Equal(t, spec["zookeeper"], `
replicas: 3
storage: {type: ephemeral}
template:
  pod: {securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}}
  zookeeperContainer: {securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}
`)
	brokers := spec["kafka"].(map[string]any)
	yamlcmp.Equal(t, brokers["storage"], `{type: persistent-claim, size: 100Gi, deleteClaim: true}`)
	yamlcmp.Equal(t, brokers["jvmOptions"], `{-Xms: 2048m, -Xmx: 2048m}`)
	yamlcmp.Equal(t, brokers["replicas"], `5`)
	yamlcmp.Equal(t, brokers["template"], `
pod:
  metadata: {annotations: {perflab.dev/fingerprint: "`+environment.ReadFingerprint(intents[0])+`"}}
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms: [{matchExpressions: [{key: disk, operator: In, values: [fast]}]}]
  topologySpreadConstraints:
  - topologyKey: kubernetes.io/hostname
    maxSkew: 1
    whenUnsatisfiable: DoNotSchedule
    labelSelector: {matchLabels: {strimzi.io/cluster: demo, strimzi.io/name: demo-kafka}}
  securityContext: {runAsNonRoot: true, fsGroup: 0, seccompProfile: {type: RuntimeDefault}}
kafkaContainer: {securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}
initContainer: {securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}
`)
}

// A node selector applies to each alternative term of the affinity.
func TestNodeSelectorWithAffinity(t *testing.T) {
	term := func(key string) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpExists}}}
	}
	declared := small()
	declared.Brokers.Placement = &v1alpha1.Placement{
		NodeSelector: map[string]string{"b": "2", "a": "1"},
		Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{term("v"), term("w")},
		}}},
	}
	before := declared.DeepCopy()
	pool := kafka.Build(request(declared), "v1")[0].Object["spec"].(map[string]any)
	yamlcmp.Equal(t, pool["template"], `
pod:
  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
    {matchExpressions: [{key: v, operator: Exists}, {key: a, operator: In, values: ["1"]}, {key: b, operator: In, values: ["2"]}]},
    {matchExpressions: [{key: w, operator: Exists}, {key: a, operator: In, values: ["1"]}, {key: b, operator: In, values: ["2"]}]}]}}}
  securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
kafkaContainer: {securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}
initContainer: {securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}
`)
	if diff := cmp.Diff(before, declared); diff != "" {
		t.Errorf("the declaration was edited:\n%s", diff)
	}
}

func TestAssessZooKeeper(t *testing.T) {
	const up = `{observedGeneration: 1, kafkaVersion: 3.9.2, conditions: [{type: Ready, status: "True"}]}`
	member := func(component string, id int, isReady bool) corev1.Pod {
		pod := node(component, id, isReady)
		// Strimzi 0.45 names the brokers' pool kafka, though there is none.
		pod.Name = "demo-" + component + "-" + strconv.Itoa(id)
		pod.Labels = map[string]string{"strimzi.io/cluster": "demo", "strimzi.io/name": "demo-" + component, "strimzi.io/pool-name": "kafka"}
		return pod
	}
	pods := func(keeper bool) []corev1.Pod {
		return []corev1.Pod{
			member("kafka", 0, true), member("kafka", 1, true),
			member("zookeeper", 0, true), member("zookeeper", 1, keeper),
		}
	}
	cases := map[string]struct {
		pods []corev1.Pod
		want environment.Readiness
	}{
		"Up":         {pods: pods(true), want: environment.Ready(`Kafka "demo" is ready: 2 brokers and 2 ZooKeeper nodes, version 3.9.2`)},
		"KeeperDown": {pods: pods(false), want: environment.NotReady(v1alpha1.ReasonNotReady, `Kafka "demo" was ready, but its pods are not as declared: 3 of 4 nodes are ready`)},
		"NoKeepers":  {pods: pods(true)[:2], want: environment.NotReady(v1alpha1.ReasonNotReady, `Kafka "demo" was ready, but its pods are not as declared: 2 of 4 nodes are ready`)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			req := request(&v1alpha1.Kafka{Mode: v1alpha1.KafkaModeZooKeeper, Brokers: v1alpha1.KafkaNodes{Replicas: 2}})
			object := kafka.Build(req, "v1beta2")[0].DeepCopy()
			object.SetCreationTimestamp(metav1.NewTime(now))
			object.SetGeneration(1)
			object.Object["status"] = yamlcmp.Object(t, "apiVersion: v1\nkind: K\nstatus: "+up).Object["status"]
			observed := environment.Observed{
				Objects: map[environment.Key]*unstructured.Unstructured{{Kind: "Kafka", Name: "demo"}: object}, Pods: tc.pods, Now: now,
			}
			expect.Equal(t, tc.want, kafka.Assess(req, observed))
		})
	}
}

func TestExternalIsNotBuilt(t *testing.T) {
	req := request(&v1alpha1.Kafka{
		Provider: v1alpha1.KafkaProviderExternal,
		External: &v1alpha1.ExternalKafka{BootstrapServers: []string{"b-1:9092"}},
	})
	if got := kafka.Build(req, "v1"); len(got) != 0 {
		t.Errorf("%d objects for external brokers", len(got))
	}
	if got := kafka.Assess(req, environment.Observed{}); !got.Ready {
		t.Errorf("not ready: %s", got.Message)
	}
}

func TestAssessServed(t *testing.T) {
	cases := map[string]struct {
		kafka      *v1alpha1.Kafka
		apiVersion string
		reason     string
	}{
		"KRaft":           {kafka: small(), apiVersion: "v1", reason: v1alpha1.ReasonReady},
		"KRaftBefore":     {kafka: small(), apiVersion: "v1beta2", reason: v1alpha1.ReasonReady},
		"ZooKeeperBefore": {kafka: kept(), apiVersion: "v1beta2", reason: v1alpha1.ReasonReady},
		"ZooKeeper":       {kafka: kept(), apiVersion: "v1", reason: v1alpha1.ReasonModeNotServed},
		"None":            {apiVersion: "v1", reason: v1alpha1.ReasonReady},
		"External":        {kafka: &v1alpha1.Kafka{Provider: v1alpha1.KafkaProviderExternal, Mode: v1alpha1.KafkaModeZooKeeper}, apiVersion: "v1", reason: v1alpha1.ReasonReady},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := kafka.AssessServed(request(tc.kafka), tc.apiVersion); got.Reason != tc.reason {
				t.Errorf("gave %+v, want reason %s", got, tc.reason)
			}
		})
	}
}
