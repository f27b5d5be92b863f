// SPDX-License-Identifier: Apache-2.0

package strimzi

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/test/emulators/fault"
	"perflab.dev/perflab/test/emulators/strimzi/api"
	"perflab.dev/perflab/test/emulators/testcluster"
)

// TestKafkaBecomesReady follows one controller and one broker from apply to Ready.
func TestKafkaBecomesReady(t *testing.T) {
	b := newBench(t, 1)
	kafka := makeKafka(b.namespace, "k")
	b.create(kafka)
	b.awaitKafka(kafka, 1, "NotReady=True/InvalidConfigurationException")

	b.create(makePool(kafka, "controller", 1, api.RoleController), makePool(kafka, "broker", 1, api.RoleBroker))
	b.awaitPods("k-broker-0", "k-controller-1")
	b.markReady("k-controller-1")
	b.markReady("k-broker-0")
	b.awaitKafka(kafka, 1, "Warning=True/KafkaStorage", "Warning=True/KafkaStorage", "Ready=True/")

	host := fmt.Sprintf("k-kafka-bootstrap.%s.svc", b.namespace)
	want := api.KafkaStatus{
		ObservedGeneration:            new(int64(1)),
		ClusterSecurity:               &api.ClusterSecurity{Authentication: api.SecurityType{Type: "strimzi-mtls"}, Encryption: api.SecurityType{Type: "strimzi-tls"}},
		ClusterID:                     "kfake",
		KafkaVersion:                  "4.3.1",
		KafkaMetadataVersion:          "4.3-IV0",
		OperatorLastSuccessfulVersion: "1.2.0",
		KafkaNodePools:                []api.NodePoolRef{{Name: "broker"}, {Name: "controller"}},
		Listeners: []api.ListenerStatus{{
			Name: "plain", BootstrapServers: host + ":9092",
			Addresses: []api.ListenerAddress{{Host: host, Port: 9092}},
		}},
	}
	got := kafka.Status
	ready := got.Conditions[len(got.Conditions)-1]
	if ready.Reason != "" || ready.Message != "" {
		t.Errorf("Ready has reason %q and message %q, want neither", ready.Reason, ready.Message)
	}
	got.Conditions = nil
	expect.Equal(t, want, got, "status")
}

// TestFirstStatus checks the status of a cluster whose Pods are not ready yet.
func TestFirstStatus(t *testing.T) {
	b := newBench(t, 1)
	kafka := makeKafka(b.namespace, "k")
	b.create(makePool(kafka, "dual", 1, api.RoleController, api.RoleBroker), kafka)
	b.awaitPods("k-dual-0")
	b.awaitKafka(kafka, 0, "NotReady=True/Creating")
	if got, want := kafka.Status.Conditions[0].Message, "Kafka cluster is being deployed"; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
}

// TestKafkaTakesOverExistingObjects starts where an earlier Kafka of the same name was
// deleted and the garbage collector has not deleted all of its objects.
func TestKafkaTakesOverExistingObjects(t *testing.T) {
	b := newBench(t, 1)
	left := &corev1.ServiceAccount{}
	left.Name, left.Namespace = "k-kafka", b.namespace
	left.OwnerReferences = []metav1.OwnerReference{{APIVersion: "kafka.strimzi.io/v1", Kind: "Kafka", Name: "k", UID: "gone"}}
	b.create(left)
	kafka := b.readyKafka()

	taken := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: left.Name}}
	b.read(taken)
	if owners := taken.OwnerReferences; len(owners) != 1 || owners[0].UID != kafka.UID {
		t.Errorf("the ServiceAccount's owners are %+v, want Kafka %s alone", owners, kafka.UID)
	}
}

// TestKafkaObjects compares the other objects of a node with the real operator's.
func TestKafkaObjects(t *testing.T) {
	b := newBench(t, 1)
	b.readyKafka()

	pod := b.pods()[0]
	for label, want := range map[string]string{
		"strimzi.io/cluster": "k", "strimzi.io/kind": "Kafka", "strimzi.io/name": "k-kafka",
		"strimzi.io/pool-name": "dual", "strimzi.io/component-type": "kafka",
		"strimzi.io/broker-role": "true", "strimzi.io/controller-role": "true",
	} {
		expect.Equal(t, want, pod.Labels[label], "Pod label %s", label)
	}
	for name, want := range map[string]struct {
		ports    map[string]int32
		headless bool
	}{
		"k-kafka-bootstrap": {map[string]int32{"tcp-replication": 9091, "tcp-clients": 9092}, false},
		"k-kafka-brokers":   {map[string]int32{"tcp-ctrlplane": 9090, "tcp-replication": 9091, "tcp-kafkaagent": 8443, "tcp-clients": 9092}, true},
	} {
		service := &corev1.Service{}
		service.Namespace, service.Name = b.namespace, name
		b.read(service)
		ports := map[string]int32{}
		for _, port := range service.Spec.Ports {
			ports[port.Name] = port.Port
		}
		expect.Equal(t, want.ports, ports, "ports of Service %s", name)
		expect.Equal(t, want.headless, service.Spec.ClusterIP == corev1.ClusterIPNone, "Service %s headless", name)
	}
	config := &corev1.ConfigMap{}
	config.Namespace, config.Name = b.namespace, "k-dual-0"
	b.read(config)
}

// TestRollKeepsOldStatus changes the configuration of a ready cluster: while
// the node restarts, Ready and the old observedGeneration stay.
func TestRollKeepsOldStatus(t *testing.T) {
	b := newBench(t, 1)
	kafka := b.readyKafka()
	old := b.pods()[0].UID
	b.edit(kafka, func() { kafka.Spec.Kafka.Config["num.io.threads"] = apiextensionsv1.JSON{Raw: []byte("4")} })
	b.awaitRestart("k-dual-0", old)
	b.read(kafka)
	if observedGeneration(kafka) != 1 || formatConditions(kafka.Status.Conditions)[2] != "Ready=True/" {
		t.Errorf("while rolling: %v, observedGeneration %d; want Ready of generation 1",
			formatConditions(kafka.Status.Conditions), observedGeneration(kafka))
	}
	b.markReady("k-dual-0")
	b.awaitKafka(kafka, 2, "Warning=True/KafkaStorage", "Warning=True/KafkaStorage", "Ready=True/")
}

func (b *bench) awaitRestart(name string, old types.UID) {
	b.Helper()
	testcluster.Eventually(b.T, func() string {
		for _, pod := range b.pods() {
			if pod.Name == name && pod.UID != old {
				return ""
			}
		}
		return fmt.Sprintf("Pod %s is not recreated", name)
	})
}

// TestImpossibleSpec breaks a ready cluster, which reports NotReady without Ready and observes
// the new generation.
func TestImpossibleSpec(t *testing.T) {
	b := newBench(t, 1)
	kafka := b.readyKafka()
	b.edit(kafka, func() { kafka.Spec.Kafka.Version = "3.9.0" })
	b.awaitKafka(kafka, 2, "NotReady=True/UnsupportedKafkaVersionException")
	want := "Unsupported Kafka.spec.kafka.version: 3.9.0. Supported versions are: [4.3.1]"
	expect.Equal(t, want, kafka.Status.Conditions[0].Message, "message")
	b.edit(kafka, func() { kafka.Spec.Kafka.Version = "" })
	b.awaitKafka(kafka, 3, "Warning=True/KafkaStorage", "Warning=True/KafkaStorage", "Ready=True/")
}

// TestBrokersMustAnswer has ready Pods, but Kafka has one broker fewer than specified.
func TestBrokersMustAnswer(t *testing.T) {
	b := newBench(t, 1)
	kafka := makeKafka(b.namespace, "k")
	b.create(makePool(kafka, "dual", 2, api.RoleController, api.RoleBroker), kafka)
	b.awaitPods("k-dual-0", "k-dual-1")
	b.markReady("k-dual-0")
	b.markReady("k-dual-1")
	time.Sleep(2 * retryInterval) // Long enough to query the brokers.
	b.read(kafka)
	expect.Equal(t, []string{"NotReady=True/Creating"}, formatConditions(kafka.Status.Conditions), "broker 1 is not registered")
	if _, _, err := b.brokers.AddNode(1, 0); err != nil {
		t.Fatal(err)
	}
	b.awaitKafka(kafka, 1, "Ready=True/")
}

func TestKafkaFaults(t *testing.T) {
	for asked, want := range map[string]struct {
		conditions []string
		observed   int64
	}{
		fault.GoneAfterFirstStatus:       {[]string{"NotReady=True/Creating"}, 0},
		fault.NotReady:                   {[]string{"NotReady=True/RuntimeException"}, 1},
		fault.NotReady + "=FatalProblem": {[]string{"NotReady=True/FatalProblem"}, 1},
	} {
		t.Run(asked, func(t *testing.T) {
			b := newBench(t, 1)
			kafka := makeKafka(b.namespace, "k")
			kafka.Annotations = map[string]string{fault.Annotation: asked}
			b.create(makePool(kafka, "dual", 1, api.RoleController, api.RoleBroker), kafka)
			b.awaitKafka(kafka, want.observed, want.conditions...)
			if pods := b.pods(); len(pods) > 0 {
				t.Errorf("%d Pods were made", len(pods))
			}
			b.edit(kafka, func() { kafka.Annotations = nil })
			b.awaitPods("k-dual-0")
		})
	}
}

// TestIgnoredKafka checks that an ignored Kafka stays unchanged while another cluster is
// reconciled.
func TestIgnoredKafka(t *testing.T) {
	b := newBench(t, 1)
	ignored := makeKafka(b.namespace, "ignored")
	ignored.Annotations = map[string]string{fault.Annotation: fault.Ignore}
	b.create(makePool(ignored, "ignored", 1, api.RoleController, api.RoleBroker), ignored)
	b.readyKafka()
	b.read(ignored)
	if len(ignored.Status.Conditions) > 0 {
		t.Errorf("the ignored Kafka has conditions %v", formatConditions(ignored.Status.Conditions))
	}
	b.awaitPods("k-dual-0")
}

// TestStaleWriteIsRefused writes an object that was read before another write.
func TestStaleWriteIsRefused(t *testing.T) {
	b := newBench(t, 1)
	ready := b.readyKafka()
	late := ready.DeepCopy()
	b.edit(ready, func() { metav1.SetMetaDataAnnotation(&ready.ObjectMeta, "changed", "meanwhile") })
	r := &KafkaReconciler{Client: b.Client, Now: time.Now}
	if err := r.updateStatus(t.Context(), late, func(s *api.KafkaStatus) { setCreating(s, r.Now()) }); !apierrors.IsConflict(err) {
		t.Errorf("writing a status from a late view: %v, want a conflict", err)
	}
	b.awaitKafka(ready, 1, "Warning=True/KafkaStorage", "Warning=True/KafkaStorage", "Ready=True/")
}
