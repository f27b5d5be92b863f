// SPDX-License-Identifier: Apache-2.0

package kafka_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/kafka"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/yamlcmp"
)

func request(declared *v1alpha1.Kafka) environment.Request {
	return environment.Request{
		Namespace:  "lab",
		Experiment: "demo",
		Run:        "demo-1-a-b",
		System:     v1alpha1.System{Kafka: declared},
		Owner:      metav1.OwnerReference{APIVersion: "perflab.dev/v1alpha1", Kind: "PerfExperiment", Name: "demo", UID: "1"},
	}
}

func small() *v1alpha1.Kafka {
	return &v1alpha1.Kafka{
		Brokers: v1alpha1.KafkaNodes{Replicas: 1},
		Topics:  []v1alpha1.TopicGroup{{Group: "data-import", Names: []string{"Default.diku.DI_COMPLETED"}, Partitions: 2}},
	}
}

func large() *v1alpha1.Kafka {
	return &v1alpha1.Kafka{
		Version: "4.3.1",
		Brokers: v1alpha1.KafkaNodes{
			Replicas: 3,
			Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{"cpu": resource.MustParse("2"), "memory": resource.MustParse("4Gi")},
				Limits:   corev1.ResourceList{"memory": resource.MustParse("4Gi")},
			},
			Heap:    ptr.To(resource.MustParse("2Gi")),
			Storage: &v1alpha1.Storage{Size: resource.MustParse("100Gi"), Class: "fast"},
		},
		Controllers: &v1alpha1.KafkaNodes{Replicas: 3, Heap: ptr.To(resource.MustParse("1500k"))},
		Config: map[string]string{
			"auto.create.topics.enable": "true", "log.retention.minutes": "480", "compression.type": "lz4",
			"leader.imbalance.ratio": "0.5", "broker.rack": "007", "min.insync.replicas": "2",
		},
		Topics: []v1alpha1.TopicGroup{{Group: "many", Prefix: "p", Count: ptr.To[int32](2), Partitions: 120, Replicas: 3, Config: map[string]string{"retention.ms": "1"}}},
	}
}

func TestBuildSmall(t *testing.T) {
	intents := kafka.Build(request(small()), "v1")
	if len(intents) != 2 {
		t.Fatalf("%d intents, want a pool and a Kafka", len(intents))
	}
	fingerprint := environment.ReadFingerprint(intents[0])
	yamlcmp.Equal(t, intents[0], `
apiVersion: kafka.strimzi.io/v1
kind: KafkaNodePool
metadata:
  name: broker-uqnlkapi
  namespace: lab
  annotations: {perflab.dev/fingerprint: "`+fingerprint+`"}
  labels:
    app.kubernetes.io/managed-by: perflab
    perflab.dev/component: kafka
    perflab.dev/experiment: demo
    strimzi.io/cluster: demo
  ownerReferences: [{apiVersion: perflab.dev/v1alpha1, kind: PerfExperiment, name: demo, uid: "1"}]
spec:
  replicas: 1
  roles: [controller, broker]
  storage:
    type: jbod
    volumes: [{id: 0, type: ephemeral, kraftMetadata: shared}]
`)
	yamlcmp.Equal(t, intents[1], `
apiVersion: kafka.strimzi.io/v1
kind: Kafka
metadata:
  name: demo
  namespace: lab
  annotations: {perflab.dev/fingerprint: "`+fingerprint+`"}
  labels:
    app.kubernetes.io/managed-by: perflab
    perflab.dev/component: kafka
    perflab.dev/experiment: demo
    strimzi.io/cluster: demo
  ownerReferences: [{apiVersion: perflab.dev/v1alpha1, kind: PerfExperiment, name: demo, uid: "1"}]
spec:
  kafka:
    listeners: [{name: plain, port: 9092, type: internal, tls: false}]
    config:
      auto.create.topics.enable: false
      offsets.topic.replication.factor: 1
      transaction.state.log.replication.factor: 1
      transaction.state.log.min.isr: 1
      default.replication.factor: 1
      min.insync.replicas: 1
    template:
      pod:
        metadata: {annotations: {perflab.dev/fingerprint: "`+fingerprint+`"}}
        securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
      kafkaContainer: {securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}
      initContainer: {securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}
`)
}

func TestBuildLarge(t *testing.T) {
	intents := kafka.Build(request(large()), "v1")
	if len(intents) != 3 {
		t.Fatalf("%d intents, want two pools and a Kafka", len(intents))
	}
	yamlcmp.Equal(t, intents[0].Object["spec"], `
replicas: 3
roles: [broker]
storage:
  type: jbod
  volumes: [{id: 0, type: persistent-claim, size: 100Gi, class: fast, deleteClaim: true, kraftMetadata: shared}]
resources: {requests: {cpu: "2", memory: 4Gi}, limits: {memory: 4Gi}}
jvmOptions: {-Xms: 2048m, -Xmx: 2048m}
`)
	yamlcmp.Equal(t, intents[1].Object["spec"], `
replicas: 3
roles: [controller]
storage:
  type: jbod
  volumes: [{id: 0, type: ephemeral, kraftMetadata: shared}]
jvmOptions: {-Xms: "1500000", -Xmx: "1500000"}
`)
	spec := intents[2].Object["spec"].(map[string]any)
	if operator, there := spec["entityOperator"]; there {
		t.Errorf("there is an entity operator, %v: topics are made over Kafka's own API", operator)
	}
	cluster := spec["kafka"].(map[string]any)
	if cluster["version"] != "4.3.1" {
		t.Errorf("version is %v", cluster["version"])
	}
	// With three brokers Kafka's own defaults work, so no setting is added.
	yamlcmp.Equal(t, cluster["config"], `
auto.create.topics.enable: true
log.retention.minutes: 480
compression.type: lz4
leader.imbalance.ratio: "0.5"
broker.rack: "007"
min.insync.replicas: 2
`)
}

func TestReplicationOnFewBrokers(t *testing.T) {
	for brokers, want := range map[int32]any{1: int64(1), 2: int64(2), 3: nil} {
		declared := small()
		declared.Brokers.Replicas = brokers
		spec := kafka.Build(request(declared), "v1")[1].Object["spec"].(map[string]any)["kafka"].(map[string]any)
		config := spec["config"].(map[string]any)
		for _, setting := range []string{"offsets.topic.replication.factor", "transaction.state.log.replication.factor", "default.replication.factor"} {
			expect.Equal(t, want, config[setting], "with %d brokers %s", brokers, setting)
		}
	}
}

func TestBuildForV1Beta2(t *testing.T) {
	intents := kafka.Build(request(small()), "v1beta2")
	cluster := intents[len(intents)-1]
	if got := cluster.GetAPIVersion(); got != "kafka.strimzi.io/v1beta2" {
		t.Errorf("apiVersion is %q", got)
	}
	for _, annotation := range []string{"strimzi.io/kraft", "strimzi.io/node-pools"} {
		if got := cluster.GetAnnotations()[annotation]; got != "enabled" {
			t.Errorf("%s is %q: Strimzi 0.45 would run ZooKeeper", annotation, got)
		}
	}
}

func TestBuildWithoutKafka(t *testing.T) {
	req := request(nil)
	if got := len(kafka.Build(req, "v1")) + len(kafka.Topics(req)); got != 0 {
		t.Errorf("%d things for a system without Kafka", got)
	}
	if kafka.Env(req) == "" {
		t.Error("no ENV")
	}
	for _, readiness := range []environment.Readiness{
		kafka.Assess(req, environment.Observed{}), kafka.AssessTopics(kafka.Topics(req), nil),
	} {
		if !readiness.Ready || readiness.Reason != v1alpha1.ReasonNotDeclared {
			t.Errorf("readiness is %+v", readiness)
		}
	}
}

// The changed fingerprints determine what is rebuilt.
func TestFingerprints(t *testing.T) {
	cases := map[string]struct {
		edit            func(*v1alpha1.Kafka)
		cluster, topics bool
	}{
		"Nothing":       {edit: func(*v1alpha1.Kafka) {}},
		"SameSize":      {edit: func(k *v1alpha1.Kafka) { k.Brokers.Heap = ptr.To(resource.MustParse("2048Mi")) }},
		"SameConfig":    {edit: func(k *v1alpha1.Kafka) { k.Topics[0].Config = map[string]string{"retention.ms": "1"} }},
		"GroupRenamed":  {edit: func(k *v1alpha1.Kafka) { k.Topics[0].Group = "other" }},
		"Partitions":    {edit: func(k *v1alpha1.Kafka) { k.Topics[0].Partitions++ }, topics: true},
		"TopicReplicas": {edit: func(k *v1alpha1.Kafka) { k.Topics[0].Replicas-- }, topics: true},
		"TopicConfig":   {edit: func(k *v1alpha1.Kafka) { k.Topics[0].Config = nil }, topics: true},
		"Heap":          {edit: func(k *v1alpha1.Kafka) { k.Brokers.Heap = nil }, cluster: true},
		"Brokers":       {edit: func(k *v1alpha1.Kafka) { k.Brokers.Replicas = 4 }, cluster: true},
		"Controllers":   {edit: func(k *v1alpha1.Kafka) { k.Controllers = nil }, cluster: true},
		"Config":        {edit: func(k *v1alpha1.Kafka) { k.Config["a"] = "b" }, cluster: true},
		"Version":       {edit: func(k *v1alpha1.Kafka) { k.Version = "4.2.0" }, cluster: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			edited := large()
			tc.edit(edited)
			expect.Equal(t, tc.cluster, clusterPrint(t, edited) != clusterPrint(t, large()), "the cluster's fingerprint changed")
			expect.Equal(t, tc.topics, !cmp.Equal(bare(edited), bare(large())), "the topics changed")
			expect.Equal(t, tc.topics, kafka.Env(request(edited)) != kafka.Env(request(large())), "ENV changed")
		})
	}
}

func TestFingerprintsOfNilAndEmptyConfig(t *testing.T) {
	without, with := small(), small()
	with.Config, with.Topics[0].Config = map[string]string{}, map[string]string{}
	with.Topics[0].Replicas = 1
	if clusterPrint(t, without) != clusterPrint(t, with) || kafka.Env(request(without)) != kafka.Env(request(with)) {
		t.Error("a default that is written out changes the fingerprint")
	}
}

func clusterPrint(t *testing.T, declared *v1alpha1.Kafka) string {
	t.Helper()
	intents := kafka.Build(request(declared), "v1")
	for _, intent := range intents {
		if environment.ReadFingerprint(intent) != environment.ReadFingerprint(intents[0]) {
			t.Errorf("%s has another fingerprint than the rest", intent.GetKind())
		}
	}
	return environment.ReadFingerprint(intents[0])
}

// bare returns the topics with only the fields that Kafka distinguishes.
func bare(declared *v1alpha1.Kafka) []kafka.Topic {
	topics := kafka.Topics(request(declared))
	for i := range topics {
		topics[i].Group = ""
	}
	return topics
}

func TestBuildIsDeterministic(t *testing.T) {
	req := request(large())
	first, second := kafka.Build(req, "v1"), kafka.Build(req, "v1")
	if diff := cmp.Diff(first, second); diff != "" || !cmp.Equal(kafka.Topics(req), kafka.Topics(req)) {
		t.Errorf("built twice is not the same:\n%s", diff)
	}
	for _, intent := range first {
		// It panics on values that are not plain JSON.
		intent.DeepCopy()
	}
	if diff := cmp.Diff(request(large()), req); diff != "" {
		t.Errorf("the request was edited:\n%s", diff)
	}
}
