// SPDX-License-Identifier: Apache-2.0

package strimzi

import (
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/test/emulators/strimzi/api"
)

// The generations under test.
var (
	newest     = generations["1.2.0"]
	zooKeepers = generations["0.45.2"]
)

func makeKafka(namespace, name string) *api.Kafka {
	return &api.Kafka{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: "01234567-89ab-cdef-0123-456789abcdef"},
		Spec: api.KafkaSpec{
			Kafka: api.KafkaClusterSpec{
				Listeners: []api.Listener{{Name: "plain", Port: 9092, Type: "internal"}},
				Config: api.Config{
					"offsets.topic.replication.factor": apiextensionsv1.JSON{Raw: []byte(`1`)},
				},
			},
		},
	}
}

func makePool(kafka *api.Kafka, name string, replicas int32, roles ...string) *api.KafkaNodePool {
	return &api.KafkaNodePool{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: kafka.Namespace, Name: name,
			Labels: map[string]string{api.LabelCluster: kafka.Name},
		},
		Spec: api.KafkaNodePoolSpec{
			Replicas: replicas,
			Roles:    roles,
			Storage: api.Storage{
				StorageVolume: api.StorageVolume{Type: api.StorageJBOD},
				Volumes: []api.StorageVolume{
					{ID: new(int32(0)), Type: api.StorageEphemeral, KraftMetadata: "shared"},
				},
			},
		},
	}
}

func makePod(m member, ready bool) corev1.Pod {
	pod := *m.pod.DeepCopy()
	if ready {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}
	return pod
}
