// SPDX-License-Identifier: Apache-2.0

package strimzi

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/test/emulators/fault"
	"perflab.dev/perflab/test/emulators/strimzi/api"
	"perflab.dev/perflab/test/emulators/testcluster"
)

// checkFacts compares the namespace's objects with a recording of the real operator.
func (b *bench) checkFacts(release, when string) {
	b.Helper()
	testcluster.CheckFacts(b.T, b.Client, b.namespace, "testdata/"+release+".yaml", when)
}

// awaitPodSet waits for the counts of a StrimziPodSet.
func (b *bench) awaitPodSet(name string, want api.StrimziPodSetStatus) {
	b.Helper()
	set := &api.StrimziPodSet{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: name}}
	testcluster.Eventually(b.T, func() string {
		if err := b.Get(b.Context(), client.ObjectKeyFromObject(set), set); err != nil {
			return err.Error()
		}
		if set.Status != want {
			return "the StrimziPodSet has another status"
		}
		return ""
	})
}

func TestRecordingOfStrimzi1(t *testing.T) {
	b := newBench(t, 1)
	kafka := makeKafka(b.namespace, "k")
	kafka.Labels = map[string]string{"example.org/part": "lab"}
	b.create(makePool(kafka, "dual", 1, api.RoleController, api.RoleBroker), kafka)
	b.awaitPods("k-dual-0")
	b.awaitKafka(kafka, 0, "NotReady=True/Creating")
	b.checkFacts("1.2.0", "first status")
	b.markReady("k-dual-0")
	b.awaitKafka(kafka, 1, "Warning=True/KafkaStorage", "Warning=True/KafkaStorage", "Ready=True/")
	b.awaitPodSet("k-dual", api.StrimziPodSetStatus{ObservedGeneration: 1, Pods: 1, ReadyPods: 1, CurrentPods: 1})
	b.checkFacts("1.2.0", "ready")
}

func TestRecordingOfStrimzi045(t *testing.T) {
	b := newGenerationBench(t, zooKeepers, 1)
	kafka := makeKafka(b.namespace, "k")
	kafka.Annotations = map[string]string{api.AnnotationKRaft: "enabled", api.AnnotationNodePools: "enabled"}
	b.create(makePool(kafka, "broker", 1, api.RoleBroker), makePool(kafka, "controller", 1, api.RoleController), kafka)
	b.awaitPods("k-broker-0", "k-controller-1")
	b.awaitKafka(kafka, 0, "NotReady=True/Creating")
	b.checkFacts("0.45.2", "first status")
	for _, name := range []string{"broker", "controller"} {
		b.markReady(map[string]string{"broker": "k-broker-0", "controller": "k-controller-1"}[name])
		b.awaitPodSet("k-"+name, api.StrimziPodSetStatus{ObservedGeneration: 1, Pods: 1, ReadyPods: 1, CurrentPods: 1})
	}
	b.awaitKafka(kafka, 1, "Warning=True/KafkaStorage", "Warning=True/KafkaStorage", "Ready=True/")
	b.checkFacts("0.45.2", "ready")
}

// TestRecordingOfRefusal uses a namespace with a Pod Security Standard that the Pods of a Kafka
// without security contexts violate.
func TestRecordingOfRefusal(t *testing.T) {
	var ahead atomic.Int64
	b := newBench(t, 1, func(r *KafkaReconciler) {
		r.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	})
	b.enforce("restricted")
	kafka := makeKafka(b.namespace, "k")
	b.create(makePool(kafka, "dual", 1, api.RoleController, api.RoleBroker), kafka)
	b.awaitPodSet("k-dual", api.StrimziPodSetStatus{ObservedGeneration: 1})
	b.awaitKafka(kafka, 0, "NotReady=True/Creating")
	b.checkFacts("1.2.0", "refused")
	ahead.Store(int64(6 * time.Minute))
	b.awaitKafka(kafka, 1, "Warning=True/KafkaStorage", "Warning=True/KafkaStorage", "NotReady=True/StrimziTimeoutException")
	b.checkFacts("1.2.0", "timed out")

	ahead.Store(0)
	b.edit(kafka, func() { kafka.Spec.Kafka.Template = *restricted() })
	b.awaitPods("k-dual-0")
	b.markReady("k-dual-0")
	b.awaitKafka(kafka, 2, "Warning=True/KafkaStorage", "Warning=True/KafkaStorage", "Ready=True/")
}

// TestPodsRefused simulates the same rejection without enforcement.
func TestPodsRefused(t *testing.T) {
	b := newBench(t, 1)
	kafka := makeKafka(b.namespace, "k")
	kafka.Annotations = map[string]string{fault.Annotation: fault.PodsRefused}
	b.create(makePool(kafka, "dual", 1, api.RoleController, api.RoleBroker), kafka)
	b.awaitPodSet("k-dual", api.StrimziPodSetStatus{ObservedGeneration: 1})
	b.awaitKafka(kafka, 0, "NotReady=True/Creating")
	b.checkFacts("1.2.0", "refused")
	b.edit(kafka, func() { kafka.Annotations = nil })
	b.awaitPods("k-dual-0")
}

// TestTemplateOfPool uses a pool with its own template: the Kafka's security contexts do not
// apply to the Pods of this pool.
func TestTemplateOfPool(t *testing.T) {
	b := newBench(t, 1)
	b.enforce("restricted")
	kafka := makeKafka(b.namespace, "k")
	kafka.Spec.Kafka.Template = *restricted()
	pool := makePool(kafka, "dual", 1, api.RoleController, api.RoleBroker)
	pool.Spec.Template = &api.NodeTemplate{Pod: api.PodTemplate{PriorityClassName: "system-node-critical"}}
	b.create(pool, kafka)
	b.awaitPodSet("k-dual", api.StrimziPodSetStatus{ObservedGeneration: 1})
	b.edit(pool, func() { pool.Spec.Template = restricted() })
	b.awaitPods("k-dual-0")
}

func restricted() *api.NodeTemplate {
	return &api.NodeTemplate{
		Pod: api.PodTemplate{SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot:   new(true),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		}},
		KafkaContainer: api.ContainerTemplate{SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: new(false),
			Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		}},
	}
}

// enforce makes the API server reject Pods that violate a standard. It waits until the API
// server enforces it.
func (b *bench) enforce(standard string) {
	b.Helper()
	namespace := &corev1.Namespace{}
	namespace.Name = b.namespace
	b.edit(namespace, func() { metav1.SetMetaDataLabel(&namespace.ObjectMeta, "pod-security.kubernetes.io/enforce", standard) })
	testcluster.Eventually(b.T, func() string {
		bare := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "bare", Image: "example.org/bare:1"}}}}
		bare.Namespace, bare.Name = b.namespace, "bare"
		if err := b.Create(b.Context(), bare, client.DryRunAll); !apierrors.IsForbidden(err) {
			return fmt.Sprintf("creating a Pod that violates %q: %v", standard, err)
		}
		return ""
	})
}
