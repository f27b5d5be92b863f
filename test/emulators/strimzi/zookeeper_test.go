// SPDX-License-Identifier: Apache-2.0

package strimzi

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/test/emulators/strimzi/api"
)

func makeKafkaOnZooKeeper(namespace, name string, brokers, ensemble int32) *api.Kafka {
	kafka := makeKafka(namespace, name)
	ephemeral := api.Storage{StorageVolume: api.StorageVolume{Type: api.StorageEphemeral}}
	kafka.Spec.Kafka.Replicas = brokers
	kafka.Spec.Kafka.Storage = &ephemeral
	kafka.Spec.Kafka.JvmOptions = &api.JvmOptions{Xmx: "384m"}
	kafka.Spec.Zookeeper = &api.ZookeeperSpec{Replicas: ensemble, Storage: ephemeral}
	return kafka
}

// TestZooKeeperBecomesReady follows a cluster from apply to Ready: no broker starts
// before the ensemble is ready, and the temporary NotReady passes.
func TestZooKeeperBecomesReady(t *testing.T) {
	b := newGenerationBench(t, zooKeepers, 1)
	kafka := makeKafkaOnZooKeeper(b.namespace, "z", 1, 3)
	b.create(kafka)
	b.awaitPods("z-zookeeper-0", "z-zookeeper-1", "z-zookeeper-2")
	b.awaitKafka(kafka, 1, "NotReady=True/ZookeeperScalingException")
	for i := range 3 {
		b.markReady(fmt.Sprintf("z-zookeeper-%d", i))
	}
	b.awaitPods("z-kafka-0", "z-zookeeper-0", "z-zookeeper-1", "z-zookeeper-2")
	b.markReady("z-kafka-0")
	b.awaitKafka(kafka, 1, "Warning=True/ZooKeeperRemoval", "Warning=True/KafkaStorage", "Ready=True/")

	host := fmt.Sprintf("z-kafka-bootstrap.%s.svc", b.namespace)
	want := api.KafkaStatus{
		ObservedGeneration:            new(int64(1)),
		ClusterID:                     "kfake",
		KafkaVersion:                  "3.9.2",
		KafkaMetadataState:            "ZooKeeper",
		RegisteredNodeIDs:             []int32{0},
		OperatorLastSuccessfulVersion: "0.45.2",
		Listeners: []api.ListenerStatus{{
			Name: "plain", BootstrapServers: host + ":9092",
			Addresses: []api.ListenerAddress{{Host: host, Port: 9092}},
		}},
	}
	got := kafka.Status
	got.Conditions = nil
	expect.Equal(t, want, got, "status")
	b.assertZooKeeperObjects()
	b.checkFacts("0.45.2", "ready on ZooKeeper")
}

func (b *bench) assertZooKeeperObjects() {
	b.Helper()
	for pod, want := range map[string]map[string]string{
		"z-kafka-0": {
			"strimzi.io/cluster": "z", "strimzi.io/kind": "Kafka", "strimzi.io/name": "z-kafka",
			"strimzi.io/component-type": "kafka", "strimzi.io/broker-role": "true", "strimzi.io/controller-role": "false",
		},
		"z-zookeeper-0": {
			"strimzi.io/cluster": "z", "strimzi.io/kind": "Kafka", "strimzi.io/name": "z-zookeeper",
			"strimzi.io/component-type": "zookeeper", "strimzi.io/broker-role": "",
		},
	} {
		object := &corev1.Pod{}
		object.Namespace, object.Name = b.namespace, pod
		b.read(object)
		for label, value := range want {
			expect.Equal(b, value, object.Labels[label], "label %s of Pod %s", label, pod)
		}
	}
	for name, want := range map[string]map[string]int32{
		"z-kafka-bootstrap":  {"tcp-replication": 9091, "tcp-clients": 9092},
		"z-kafka-brokers":    {"tcp-ctrlplane": 9090, "tcp-replication": 9091, "tcp-kafkaagent": 8443, "tcp-clients": 9092},
		"z-zookeeper-client": {"tcp-clients": 2181},
		"z-zookeeper-nodes":  {"tcp-clients": 2181, "tcp-clustering": 2888, "tcp-election": 3888},
	} {
		service := &corev1.Service{}
		service.Namespace, service.Name = b.namespace, name
		b.read(service)
		ports := map[string]int32{}
		for _, port := range service.Spec.Ports {
			ports[port.Name] = port.Port
		}
		expect.Equal(b, want, ports, "ports of Service %s", name)
	}
}

// TestKRaftBeforeStrimzi1 has both annotations, and both kinds of pools.
func TestKRaftBeforeStrimzi1(t *testing.T) {
	b := newGenerationBench(t, zooKeepers, 1)
	kafka := makeKafka(b.namespace, "k")
	kafka.Annotations = map[string]string{api.AnnotationKRaft: "enabled", api.AnnotationNodePools: "enabled"}
	b.create(makePool(kafka, "dual", 1, api.RoleController, api.RoleBroker), kafka)
	b.awaitPods("k-dual-0")
	b.markReady("k-dual-0")
	b.awaitKafka(kafka, 1, "Warning=True/KafkaStorage", "Warning=True/KafkaStorage", "Ready=True/")
	if state, version := kafka.Status.KafkaMetadataState, kafka.Status.KafkaMetadataVersion; state != "KRaft" || version != "3.9-IV0" {
		t.Errorf("metadata state %q version %q, want KRaft 3.9-IV0", state, version)
	}

	// Removing the annotation moves no metadata out of KRaft.
	b.edit(kafka, func() { delete(kafka.Annotations, api.AnnotationKRaft) })
	if got := zooKeepers.metadataState(kafka); got != "KRaft" {
		t.Errorf("without the annotation the metadata state is %s", got)
	}
}

// TestZooKeeperRolls changes the brokers' configuration: the ensemble does not restart.
func TestZooKeeperRolls(t *testing.T) {
	b := newGenerationBench(t, zooKeepers, 1)
	kafka := makeKafkaOnZooKeeper(b.namespace, "z", 1, 1)
	b.create(kafka)
	b.awaitPods("z-zookeeper-0")
	b.markReady("z-zookeeper-0")
	pods := b.awaitPods("z-kafka-0", "z-zookeeper-0")
	b.markReady("z-kafka-0")
	b.awaitKafka(kafka, 1, "Warning=True/ZooKeeperRemoval", "Warning=True/KafkaStorage", "Ready=True/")
	b.edit(kafka, func() { kafka.Spec.Kafka.Config["num.io.threads"] = apiextensionsv1.JSON{Raw: []byte("4")} })
	b.awaitRestart("z-kafka-0", pods[0].UID)
	if got := b.awaitPods("z-kafka-0", "z-zookeeper-0")[1].UID; got != pods[1].UID {
		t.Error("the ensemble was restarted although nothing of it had changed")
	}
}

func TestZooKeeperSettings(t *testing.T) {
	kafka := makeKafkaOnZooKeeper("ns", "z", 1, 2)
	kafka.Spec.Zookeeper.Config = api.Config{
		"tickTime":   apiextensionsv1.JSON{Raw: []byte("500")},
		"clientPort": apiextensionsv1.JSON{Raw: []byte("1")},
	}
	ensemble, brokers := zooKeeperNodes(kafka), brokersOnZooKeeper(kafka)
	files, err := zooKeepers.files(kafka, ensemble, ensemble[1])
	expect.NoError(t, err)
	for _, line := range []string{
		"dataDir=/var/lib/zookeeper/data/version", "clientPort=2181", "tickTime=500",
		"server.1=z-zookeeper-0.z-zookeeper-nodes.ns.svc.cluster.local:2888:3888",
		"server.2=z-zookeeper-1.z-zookeeper-nodes.ns.svc.cluster.local:2888:3888",
	} {
		if !strings.Contains(files["zoo.cfg"], line+"\n") {
			t.Errorf("zoo.cfg lacks %s:\n%s", line, files["zoo.cfg"])
		}
	}
	expect.Equal(t, "2", files["myid"], "myid")

	files, err = zooKeepers.files(kafka, brokers, brokers[0])
	expect.NoError(t, err)
	want := strings.TrimPrefix(`
broker.id=0
zookeeper.connect=z-zookeeper-client.ns.svc:2181
control.plane.listener.name=CONTROLPLANE-9090
inter.broker.listener.name=REPLICATION-9091
listener.security.protocol.map=CONTROLPLANE-9090:PLAINTEXT,REPLICATION-9091:PLAINTEXT,PLAIN-9092:PLAINTEXT
listeners=CONTROLPLANE-9090://0.0.0.0:9090,REPLICATION-9091://0.0.0.0:9091,PLAIN-9092://0.0.0.0:9092
advertised.listeners=CONTROLPLANE-9090://z-kafka-0.z-kafka-brokers.ns.svc:9090,REPLICATION-9091://z-kafka-0.z-kafka-brokers.ns.svc:9091,PLAIN-9092://z-kafka-0.z-kafka-brokers.ns.svc:9092
log.dirs=/var/lib/kafka/data/kafka-log0
offsets.topic.replication.factor=1
`, "\n")
	expect.Equal(t, want, files["server.config"], "server.config")
	if _, formatted := files["cluster.id"]; formatted {
		t.Error("a broker on ZooKeeper has a cluster id to format its storage")
	}
}

// TestJVMOfZooKeeper checks that each component has its own options.
func TestJVMOfZooKeeper(t *testing.T) {
	kafka := makeKafkaOnZooKeeper("ns", "z", 1, 1)
	kafka.Spec.Zookeeper.JvmOptions = &api.JvmOptions{Xmx: "96m", XX: map[string]string{"UseSerialGC": "true"}}
	for name, tc := range map[string]struct {
		n    node
		want []corev1.EnvVar
	}{
		"broker":    {brokersOnZooKeeper(kafka)[0], []corev1.EnvVar{{Name: "KAFKA_HEAP_OPTS", Value: "-Xmx384m"}}},
		"zookeeper": {zooKeeperNodes(kafka)[0], []corev1.EnvVar{{Name: "KAFKA_HEAP_OPTS", Value: "-Xmx96m"}, {Name: "KAFKA_JVM_PERFORMANCE_OPTS", Value: "-XX:+UseSerialGC"}}},
	} {
		expect.Equal(t, tc.want, jvmEnv(kafka, tc.n.Pool)[3:], "%s", name)
	}
}

// TestRefusals checks the error of each generation, with the real operator's message.
func TestRefusals(t *testing.T) {
	annotated := func(kafka *api.Kafka, names ...string) *api.Kafka {
		kafka.Annotations = map[string]string{}
		for _, name := range names {
			kafka.Annotations[name] = "enabled"
		}
		return kafka
	}
	bare := makeKafka("ns", "k")
	unsupported := makeKafkaOnZooKeeper("ns", "k", 1, 1)
	unsupported.Spec.Kafka.Version = "4.3.1"
	moving := makeKafkaOnZooKeeper("ns", "k", 1, 1)
	moving.Annotations = map[string]string{api.AnnotationKRaft: "migration"}
	for name, tc := range map[string]struct {
		generation Generation
		kafka      *api.Kafka
		want       string
	}{
		"1.2.0 without pools": {newest, bare, "InvalidConfigurationException: No KafkaNodePools found for Kafka cluster k"},
		"0.45.2 KRaft without node pools": {
			zooKeepers, annotated(makeKafka("ns", "k"), api.AnnotationKRaft),
			"InvalidConfigurationException: The UseKRaft feature gate can be used only together with a Kafka cluster based on the KafkaNodePool resources.",
		},
		"0.45.2 KRaft with node pools enabled and none exist": {
			zooKeepers, annotated(makeKafka("ns", "k"), api.AnnotationKRaft, api.AnnotationNodePools),
			"InvalidConfigurationException: KafkaNodePools are enabled, but no KafkaNodePools found for Kafka cluster k",
		},
		"0.45.2 ZooKeeper with node pools enabled and none exist": {
			zooKeepers, annotated(makeKafkaOnZooKeeper("ns", "k", 1, 1), api.AnnotationNodePools),
			"InvalidConfigurationException: KafkaNodePools are enabled, but no KafkaNodePools found for Kafka cluster k",
		},
		"0.45.2 neither annotation nor ZooKeeper": {
			zooKeepers, bare,
			"InvalidResourceException: Kafka configuration is not valid: [" +
				"The .spec.zookeeper section of the Kafka custom resource is missing. This section is required for a ZooKeeper-based cluster., " +
				"The .spec.kafka.replicas property of the Kafka custom resource is missing. This property is required for a ZooKeeper-based Kafka cluster that is not using Node Pools., " +
				"The .spec.kafka.storage section of the Kafka custom resource is missing. This section is required for a ZooKeeper-based Kafka cluster that is not using Node Pools.]",
		},
		"0.45.2 a Kafka of a later Strimzi": {
			zooKeepers, unsupported,
			"UnsupportedKafkaVersionException: Unsupported Kafka.spec.kafka.version: 4.3.1. Supported versions are: [3.9.2]",
		},
		"0.45.2 migration": {
			zooKeepers, moving,
			"UnsupportedOperationException: strimzi.io/kraft: migration: the Strimzi emulator does not move clusters from ZooKeeper to KRaft",
		},
		"0.45.2 ZooKeeper": {zooKeepers, makeKafkaOnZooKeeper("ns", "k", 1, 1), "<nil>"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := fmt.Sprint(tc.generation.check(tc.kafka, nil)); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestUnknownGeneration(t *testing.T) {
	_, err := ParseGeneration("0.46.0")
	if want := `no emulator of Strimzi "0.46.0": choose 0.45.2 or 1.2.0`; fmt.Sprint(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
