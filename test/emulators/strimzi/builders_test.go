// SPDX-License-Identifier: Apache-2.0

package strimzi

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/internal/testing/expect"
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

func TestHeap(t *testing.T) {
	limited := func(memory string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory)}}
	}
	for name, tc := range map[string]struct {
		options   api.JvmOptions
		resources corev1.ResourceRequirements
		want      string
	}{
		"no options":             {api.JvmOptions{}, corev1.ResourceRequirements{}, defaultHeap},
		"both options":           {api.JvmOptions{Xms: "1g", Xmx: "2g"}, limited("8Gi"), "-Xms1g -Xmx2g"},
		"half of the limit":      {api.JvmOptions{}, limited("1Gi"), "-Xmx512m"},
		"five gibibytes at most": {api.JvmOptions{}, limited("64Gi"), "-Xmx5120m"},
	} {
		t.Run(name, func(t *testing.T) {
			expect.Equal(t, tc.want, heap(&tc.options, tc.resources))
		})
	}
}

func TestPerformanceOptions(t *testing.T) {
	got := performanceOptions(map[string]string{"UseG1GC": "true", "MaxGCPauseMillis": "20", "ExplicitGCInvokesConcurrent": "false"})
	if want := "-XX:-ExplicitGCInvokesConcurrent -XX:MaxGCPauseMillis=20 -XX:+UseG1GC"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAssignNodes(t *testing.T) {
	kafka := makeKafka("ns", "k")
	pool := func(name string, replicas int32, recorded ...int32) api.KafkaNodePool {
		p := *makePool(kafka, name, replicas, api.RoleBroker)
		p.Status.NodeIDs = recorded
		return p
	}
	for name, tc := range map[string]struct {
		reason string
		pools  []api.KafkaNodePool
		want   []string
	}{
		"new pools": {
			reason: "ids are assigned pool by pool in name order, not in the order of the pools",
			pools:  []api.KafkaNodePool{pool("controller", 1), pool("broker", 2)},
			want:   []string{"k-broker-0", "k-broker-1", "k-controller-2"},
		},
		"a pool grows": {
			reason: "recorded ids stay, the new node takes the lowest free id",
			pools:  []api.KafkaNodePool{pool("broker", 2, 0), pool("controller", 1, 1)},
			want:   []string{"k-broker-0", "k-broker-2", "k-controller-1"},
		},
		"a pool shrinks": {
			reason: "the highest id is removed",
			pools:  []api.KafkaNodePool{pool("broker", 1, 0, 2), pool("controller", 1, 1)},
			want:   []string{"k-broker-0", "k-controller-1"},
		},
		"a pool before the others in name order comes later": {
			reason: "existing nodes keep their ids",
			pools:  []api.KafkaNodePool{pool("zone-b", 1, 0), pool("zone-a", 1)},
			want:   []string{"k-zone-a-1", "k-zone-b-0"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, n := range assignNodes(tc.pools) {
				got = append(got, n.podName())
			}
			expect.Equal(t, tc.want, got, "%s", tc.reason)
		})
	}
}
