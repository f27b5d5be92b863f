// SPDX-License-Identifier: Apache-2.0

package strimzi

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/test/emulators/fault"
	"perflab.dev/perflab/test/emulators/strimzi/api"
	"perflab.dev/perflab/test/emulators/testcluster"
)

// awaitTopic waits for the one condition of a topic at its current generation.
func (b *bench) awaitTopic(topic *api.KafkaTopic, want string) {
	b.Helper()
	testcluster.Eventually(b.T, func() string {
		b.read(topic)
		got := strings.Join(conditionsOf(topic.Status.Conditions), " ")
		if got != want || topic.Status.ObservedGeneration != topic.Generation {
			return fmt.Sprintf("KafkaTopic %s has %q of generation %d, want %q of %d",
				topic.Name, got, topic.Status.ObservedGeneration, want, topic.Generation)
		}
		return ""
	})
}

// partitions asks the brokers how many partitions a topic has; 0 when there is none.
func (b *bench) partitions(topic string) int {
	b.Helper()
	conn, err := kgo.NewClient(kgo.SeedBrokers(b.brokers.ListenAddrs()...))
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	details, err := kadm.NewClient(conn).ListTopics(context.Background(), topic)
	if err != nil {
		b.Fatal(err)
	}
	return len(details[topic].Partitions)
}

// TestTopicLife creates, grows, fails to shrink, and deletes a topic.
func TestTopicLife(t *testing.T) {
	b := newBench(t, 1)
	kafka := b.readyKafka()
	topic := makeTopic(kafka, "a", 2, 1)
	topic.Spec.TopicName = "some.Topic_A"
	topic.Spec.Config = api.Config{"retention.ms": apiextensionsv1.JSON{Raw: []byte("7200000")}}
	b.create(topic)
	b.awaitTopic(topic, "Ready=True/")
	if topic.Status.TopicName != "some.Topic_A" || len(topic.Status.TopicID) != 22 {
		t.Errorf("topicName %q, topicId %q; want some.Topic_A and 22 characters", topic.Status.TopicName, topic.Status.TopicID)
	}
	if diff := cmp.Diff([]string{"strimzi.io/topic-operator"}, topic.Finalizers); diff != "" {
		t.Errorf("finalizers: -want +got\n%s", diff)
	}

	b.edit(topic, func() { topic.Spec.Partitions = new(int32(4)) })
	b.awaitTopic(topic, "Ready=True/")
	if got := b.partitions("some.Topic_A"); got != 4 {
		t.Errorf("%d partitions after growing, want 4", got)
	}

	b.edit(topic, func() { topic.Spec.Partitions = new(int32(1)) })
	b.awaitTopic(topic, "Ready=False/NotSupported")
	if got, want := topic.Status.Conditions[0].Message, "Decreasing partitions not supported"; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
	if got := b.partitions("some.Topic_A"); got != 4 {
		t.Errorf("%d partitions after the refusal, want 4", got)
	}

	if err := b.Delete(t.Context(), topic); err != nil {
		t.Fatal(err)
	}
	b.awaitGone(topic)
	if got := b.partitions("some.Topic_A"); got != 0 {
		t.Errorf("%d partitions after deletion, want none", got)
	}
}

func (b *bench) awaitGone(object client.Object) {
	b.Helper()
	testcluster.Eventually(b.T, func() string {
		err := b.Get(b.Context(), client.ObjectKeyFromObject(object), object)
		if !apierrors.IsNotFound(err) {
			return fmt.Sprintf("%q is still there (%v)", object.GetName(), err)
		}
		return ""
	})
}

// TestBatch applies many topics at once and counts the requests Kafka got.
func TestBatch(t *testing.T) {
	b := newBench(t, 1)
	kafka := b.readyKafka()
	var lock sync.Mutex
	var sizes []int
	b.brokers.ControlKey(int16(kmsg.CreateTopics), func(req kmsg.Request) (kmsg.Response, error, bool) {
		b.brokers.KeepControl()
		lock.Lock()
		defer lock.Unlock()
		sizes = append(sizes, len(req.(*kmsg.CreateTopicsRequest).Topics))
		return nil, nil, false
	})
	const count = 30
	var topics []*api.KafkaTopic
	for i := range count {
		topic := makeTopic(kafka, fmt.Sprintf("t%d", i), 1, 1)
		topics = append(topics, topic)
		b.create(topic)
	}
	for _, topic := range topics {
		b.awaitTopic(topic, "Ready=True/")
	}
	lock.Lock()
	defer lock.Unlock()
	total := 0
	for _, size := range sizes {
		total += size
	}
	if total < count || len(sizes) > count/2 {
		t.Errorf("requests of %v topics; want %d topics in a few requests", sizes, count)
	}
}

// TestKafkaRefuses a topic with more replicas than there are brokers.
func TestKafkaRefuses(t *testing.T) {
	b := newBench(t, 1)
	kafka := b.readyKafka()
	topic, good := makeTopic(kafka, "wide", 1, 3), makeTopic(kafka, "good", 1, 1)
	b.create(topic, good)
	b.awaitTopic(topic, "Ready=False/KafkaError")
	if got := topic.Status.Conditions[0].Message; !strings.Contains(got, "InvalidReplicationFactorException") {
		t.Errorf("message %q names no InvalidReplicationFactorException", got)
	}
	b.awaitTopic(good, "Ready=True/")
}

func TestTopicConflictAndUnmanaged(t *testing.T) {
	b := newBench(t, 1)
	kafka := b.readyKafka()
	first, unmanaged := makeTopic(kafka, "first", 1, 1), makeTopic(kafka, "unmanaged", 1, 1)
	unmanaged.Annotations = map[string]string{api.AnnotationManaged: "false"}
	b.create(first, unmanaged)
	b.awaitTopic(first, "Ready=True/")
	b.awaitTopic(unmanaged, "Unmanaged=True/")
	second := makeTopic(kafka, "second", 1, 1)
	second.Spec.TopicName = "first"
	second.Finalizers = []string{api.FinalizerTopicOperator}
	b.create(second)
	b.awaitTopic(second, "Ready=False/ResourceConflict")
	if got := b.partitions("unmanaged"); got != 0 {
		t.Errorf("the unmanaged topic has %d partitions", got)
	}
	// Deleting the loser must not delete the winner's topic.
	if err := b.Delete(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	b.awaitGone(second)
	if got := b.partitions("first"); got != 1 {
		t.Errorf("the topic of the first object has %d partitions, want 1", got)
	}
}

// TestTopicsNobodyServes have no status: no such cluster, or asked to be ignored.
func TestTopicsNobodyServes(t *testing.T) {
	b := newBench(t, 1)
	kafka := b.readyKafka()
	stray, ignored, faked, good := makeTopic(kafka, "stray", 1, 1), makeTopic(kafka, "ignored", 1, 1), makeTopic(kafka, "faked", 1, 1), makeTopic(kafka, "good", 1, 1)
	stray.Labels[api.LabelCluster] = "none"
	ignored.Annotations = map[string]string{fault.Annotation: fault.Ignore}
	faked.Annotations = map[string]string{fault.Annotation: fault.KafkaError}
	b.create(stray, ignored, faked, good)
	b.awaitTopic(faked, "Ready=False/KafkaError")
	b.awaitTopic(good, "Ready=True/")
	for _, topic := range []*api.KafkaTopic{stray, ignored} {
		b.read(topic)
		if len(topic.Status.Conditions) > 0 || topic.Status.ObservedGeneration != 0 {
			t.Errorf("KafkaTopic %s has status %+v, want none", topic.Name, topic.Status)
		}
	}
}

// TestTopicOutlivesKafka deletes the cluster first: the finalizer stays for ever.
func TestTopicOutlivesKafka(t *testing.T) {
	b := newBench(t, 1)
	kafka := b.readyKafka()
	topic := makeTopic(kafka, "left", 1, 1)
	b.create(topic)
	b.awaitTopic(topic, "Ready=True/")
	if err := b.Delete(t.Context(), kafka); err != nil {
		t.Fatal(err)
	}
	b.awaitGone(kafka)
	if err := b.Delete(t.Context(), topic); err != nil {
		t.Fatal(err)
	}
	// Another cluster's topic goes through meanwhile: the operator is alive.
	other := makeKafka(b.namespace, "other")
	b.create(makePool(other, "solo", 1, api.RoleController, api.RoleBroker), other)
	testcluster.Eventually(t, func() string {
		for _, pod := range b.pods() {
			if pod.Name == "other-solo-0" {
				return ""
			}
		}
		return "no Pod of the other cluster"
	})
	b.markReady("other-solo-0")
	passing := makeTopic(other, "passing", 1, 1)
	b.create(passing)
	b.awaitTopic(passing, "Ready=True/")
	b.read(topic)
	if topic.DeletionTimestamp == nil || len(topic.Finalizers) != 1 {
		t.Errorf("deletionTimestamp %v, finalizers %v; want a deleted topic that keeps its finalizer", topic.DeletionTimestamp, topic.Finalizers)
	}
}
