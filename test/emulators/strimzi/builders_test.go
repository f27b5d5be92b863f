// SPDX-License-Identifier: Apache-2.0

package strimzi

import (
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kafkav1 "perflab.dev/perflab/test/emulators/strimzi/api/v1"
)

func makeKafka(namespace, name string) *kafkav1.Kafka {
	return &kafkav1.Kafka{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: "01234567-89ab-cdef-0123-456789abcdef"},
		Spec: kafkav1.KafkaSpec{
			Kafka: kafkav1.KafkaClusterSpec{
				Listeners: []kafkav1.Listener{{Name: "plain", Port: 9092, Type: "internal"}},
				Config: kafkav1.Config{
					"offsets.topic.replication.factor": apiextensionsv1.JSON{Raw: []byte(`1`)},
				},
			},
			EntityOperator: &kafkav1.EntityOperator{TopicOperator: &kafkav1.TopicOperator{}},
		},
	}
}

func makePool(kafka *kafkav1.Kafka, name string, replicas int32, roles ...string) *kafkav1.KafkaNodePool {
	return &kafkav1.KafkaNodePool{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: kafka.Namespace, Name: name,
			Labels: map[string]string{kafkav1.LabelCluster: kafka.Name},
		},
		Spec: kafkav1.KafkaNodePoolSpec{
			Replicas: replicas,
			Roles:    roles,
			Storage: kafkav1.Storage{
				StorageVolume: kafkav1.StorageVolume{Type: kafkav1.StorageJBOD},
				Volumes: []kafkav1.StorageVolume{
					{ID: new(int32(0)), Type: kafkav1.StorageEphemeral, KraftMetadata: "shared"},
				},
			},
		},
	}
}

func makeTopic(kafka *kafkav1.Kafka, name string, partitions, replicas int32) *kafkav1.KafkaTopic {
	return &kafkav1.KafkaTopic{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: kafka.Namespace, Name: name,
			Labels: map[string]string{kafkav1.LabelCluster: kafka.Name},
		},
		Spec: kafkav1.KafkaTopicSpec{Partitions: &partitions, Replicas: &replicas},
	}
}

func makePod(m member, ready bool) corev1.Pod {
	pod := *m.pod.DeepCopy()
	if ready {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}
	return pod
}
