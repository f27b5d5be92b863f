// SPDX-License-Identifier: Apache-2.0

package strimzi

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/test/emulators/fault"
	"perflab.dev/perflab/test/emulators/strimzi/api"
	"perflab.dev/perflab/test/emulators/testcluster"
)

// TestBrokerIsRecreated deletes the only broker. The Kafka's status does not change;
// the storage type determines whether the data is kept.
func TestBrokerIsRecreated(t *testing.T) {
	for name, tc := range map[string]struct {
		volume api.StorageVolume
		source func(corev1.VolumeSource) bool
	}{
		"ephemeral: with an empty disk": {
			api.StorageVolume{ID: new(int32(0)), Type: api.StorageEphemeral},
			func(s corev1.VolumeSource) bool { return s.EmptyDir != nil },
		},
		"persistent: with the same disk": {
			api.StorageVolume{ID: new(int32(0)), Type: api.StoragePersistentClaim, Size: "1Gi"},
			func(s corev1.VolumeSource) bool {
				return s.PersistentVolumeClaim != nil && s.PersistentVolumeClaim.ClaimName == "data-0-k-dual-0"
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, 1)
			kafka, pod := b.readyOn(tc.volume)
			before := kafka.Status
			claims := b.claims()
			expect.NoError(t, b.Delete(t.Context(), &pod))
			b.awaitRestart("k-dual-0", pod.UID)
			b.markReady("k-dual-0")
			b.awaitPodSet("k-dual", api.StrimziPodSetStatus{ObservedGeneration: 1, Pods: 1, ReadyPods: 1, CurrentPods: 1})
			b.read(kafka)
			if diff := cmp.Diff(before, kafka.Status); diff != "" {
				t.Errorf("the Kafka changed: -before +after\n%s", diff)
			}
			volumes := b.pods()[0].Spec.Volumes
			if !tc.source(volumes[0].VolumeSource) {
				t.Errorf("the disk is %+v", volumes[0])
			}
			if diff := cmp.Diff(claims, b.claims()); diff != "" {
				t.Errorf("claims: -before +after\n%s", diff)
			}
		})
	}
}

// TestBrokerLost deletes a broker with its disk, once.
func TestBrokerLost(t *testing.T) {
	b := newBench(t, 1)
	kafka, pod := b.readyOn(api.StorageVolume{ID: new(int32(0)), Type: api.StoragePersistentClaim, Size: "1Gi"})
	before := kafka.Status
	b.edit(kafka, func() { metav1.SetMetaDataAnnotation(&kafka.ObjectMeta, fault.Annotation, fault.BrokerLost+"=0") })
	b.awaitRestart("k-dual-0", pod.UID)
	b.markReady("k-dual-0")
	testcluster.Eventually(t, func() string {
		if b.read(kafka); kafka.Annotations[fault.Annotation] != "" {
			return "the fault is still set"
		}
		return ""
	})
	if diff := cmp.Diff(before, kafka.Status); diff != "" {
		t.Errorf("the Kafka changed: -before +after\n%s", diff)
	}
	claim := &corev1.PersistentVolumeClaim{}
	err := b.Get(t.Context(), client.ObjectKey{Namespace: b.namespace, Name: "data-0-k-dual-0"}, claim)
	// This API server has no controller that protects claims in use.
	if err != nil || claim.DeletionTimestamp == nil {
		t.Errorf("the claim was not deleted (%v)", err)
	}
}

// readyOn creates a ready combined node with the given disk.
func (b *bench) readyOn(disk api.StorageVolume) (*api.Kafka, corev1.Pod) {
	b.Helper()
	kafka := makeKafka(b.namespace, "k")
	pool := makePool(kafka, "dual", 1, api.RoleController, api.RoleBroker)
	pool.Spec.Storage.Volumes = []api.StorageVolume{disk}
	b.create(pool, kafka)
	pod := b.awaitPods("k-dual-0")[0]
	b.markReady("k-dual-0")
	// A Kafka that is reconciled before its pool exists fails and observes its generation first.
	testcluster.Eventually(b.T, func() string {
		b.read(kafka)
		if got := formatConditions(kafka.Status.Conditions); !slices.Contains(got, "Ready=True/") {
			return fmt.Sprintf("conditions %v", got)
		}
		return ""
	})
	return kafka, pod
}

// claims returns the UIDs of the claims by name.
func (b *bench) claims() map[string]types.UID {
	b.Helper()
	list := &corev1.PersistentVolumeClaimList{}
	expect.NoError(b, b.List(b.Context(), list, client.InNamespace(b.namespace)))
	found := map[string]types.UID{}
	for _, claim := range list.Items {
		found[claim.Name] = claim.UID
	}
	return found
}

// TestAdoption replaces a Kafka by another of the same name while the Pod of the first
// is terminating.
func TestAdoption(t *testing.T) {
	b := newBench(t, 1)
	first := b.readyKafka()
	old := b.pods()[0]
	b.bind(&old)
	b.removeCluster(first, "dual")
	expect.NoError(t, b.Delete(t.Context(), &old))

	second := makeKafka(b.namespace, "k")
	b.create(makePool(second, "dual", 1, api.RoleController, api.RoleBroker), second)
	testcluster.Eventually(t, func() string {
		if b.read(&old); len(old.OwnerReferences) != 2 {
			return fmt.Sprintf("the old Pod has the owners %v", old.OwnerReferences)
		}
		return ""
	})
	if old.DeletionTimestamp == nil {
		t.Error("the adopted Pod is not about to end any more")
	}
	b.awaitKafka(second, 0, "NotReady=True/Creating")

	expect.NoError(t, b.Delete(t.Context(), &old, client.GracePeriodSeconds(0)))
	b.awaitRestart("k-dual-0", old.UID)
	if owners := b.pods()[0].OwnerReferences; len(owners) != 1 || owners[0].UID != old.OwnerReferences[1].UID {
		t.Errorf("the new Pod has the owners %v, want the new StrimziPodSet alone", owners)
	}
	b.markReady("k-dual-0")
	b.awaitKafka(second, 1, "Warning=True/KafkaStorage", "Warning=True/KafkaStorage", "Ready=True/")
}

// bind assigns a Pod to a node: from then on only its kubelet can end it.
func (b *bench) bind(pod *corev1.Pod) {
	b.Helper()
	binding := &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: "nowhere"}}
	expect.NoError(b, b.SubResource("binding").Create(b.Context(), pod, binding))
}

// removeCluster deletes a Kafka with one pool, and acts as the garbage collector.
func (b *bench) removeCluster(kafka *api.Kafka, pool string) {
	b.Helper()
	meta := metav1.ObjectMeta{Namespace: b.namespace, Name: pool}
	set := metav1.ObjectMeta{Namespace: b.namespace, Name: kafka.Name + "-" + pool}
	for _, object := range []client.Object{kafka, &api.KafkaNodePool{ObjectMeta: meta}, &api.StrimziPodSet{ObjectMeta: set}} {
		expect.NoError(b, b.Delete(b.Context(), object))
	}
	testcluster.Eventually(b.T, func() string {
		err := b.Get(b.Context(), client.ObjectKey{Namespace: b.namespace, Name: set.Name}, &api.StrimziPodSet{})
		if !apierrors.IsNotFound(err) {
			return "the StrimziPodSet exists"
		}
		return ""
	})
}

// TestReadyDelay makes a cluster ready some time after its Pods.
func TestReadyDelay(t *testing.T) {
	const delay = 4 * time.Second
	b := newBench(t, 1, func(r *KafkaReconciler) { r.ReadyDelay = delay })
	kafka := b.readyKafka()
	ready := kafka.Status.Conditions[len(kafka.Status.Conditions)-1]
	at, err := time.Parse(time.RFC3339Nano, ready.LastTransitionTime)
	expect.NoError(t, err)
	if got := at.Sub(readySince(b.pods())); got < delay {
		t.Errorf("ready %s after the Pod, want %s at least", got, delay)
	}
}

// TestLinger gives a Pod time to run after its deletion.
func TestLinger(t *testing.T) {
	kafka := makeKafka("ns", "k")
	nodes := assignNodes([]api.KafkaNodePool{*makePool(kafka, "dual", 1, api.RoleController, api.RoleBroker)})
	for linger, want := range map[time.Duration]int64{0: 0, 1500 * time.Millisecond: 2, 19 * time.Second: 19} {
		generation := newest
		generation.Linger = linger
		pod, err := generation.nodePod(kafka, nodes[0])
		expect.NoError(t, err)
		var got int64
		if lifecycle := pod.Spec.Containers[0].Lifecycle; lifecycle != nil {
			got = lifecycle.PreStop.Sleep.Seconds
		}
		if got != want {
			t.Errorf("linger %s: the Pod sleeps %d s before it ends, want %d", linger, got, want)
		}
	}
}

// TestLabelsOfPool checks that the Pods of a pool have its labels, except those that Strimzi
// sets.
func TestLabelsOfPool(t *testing.T) {
	kafka := makeKafka("ns", "k")
	pool := makePool(kafka, "dual", 1, api.RoleController, api.RoleBroker)
	pool.Labels["mine"], pool.Labels["app.kubernetes.io/name"], pool.Labels["app.kubernetes.io/version"] = "yes", "mine", "1"
	pod, err := newest.nodePod(kafka, assignNodes([]api.KafkaNodePool{*pool})[0])
	expect.NoError(t, err)
	for label, want := range map[string]string{
		"mine": "yes", "app.kubernetes.io/name": "kafka", "app.kubernetes.io/version": "", "strimzi.io/pool-name": "dual",
	} {
		expect.Equal(t, want, pod.Labels[label], "label %s", label)
	}
}

// TestSecurityOfPods checks the security contexts: as specified, and with an fsGroup for
// persistent disks if nothing is specified.
func TestSecurityOfPods(t *testing.T) {
	asked := restricted()
	claim := api.StorageVolume{ID: new(int32(0)), Type: api.StoragePersistentClaim, Size: "1Gi"}
	for name, tc := range map[string]struct {
		change    func(*api.Kafka, *api.KafkaNodePool)
		pod       corev1.PodSecurityContext
		container corev1.SecurityContext
	}{
		"not specified": {func(*api.Kafka, *api.KafkaNodePool) {}, corev1.PodSecurityContext{}, corev1.SecurityContext{}},
		"of the Kafka": {
			func(k *api.Kafka, _ *api.KafkaNodePool) { k.Spec.Kafka.Template = *asked },
			*asked.Pod.SecurityContext, *asked.KafkaContainer.SecurityContext,
		},
		"of the pool": {
			func(_ *api.Kafka, p *api.KafkaNodePool) { p.Spec.Template = asked },
			*asked.Pod.SecurityContext, *asked.KafkaContainer.SecurityContext,
		},
		"of the Kafka, but the pool has a template": {
			func(k *api.Kafka, p *api.KafkaNodePool) {
				k.Spec.Kafka.Template, p.Spec.Template = *asked, &api.NodeTemplate{}
			},
			corev1.PodSecurityContext{},
			corev1.SecurityContext{},
		},
		"not specified, on a claim": {
			func(_ *api.Kafka, p *api.KafkaNodePool) { p.Spec.Storage.Volumes = []api.StorageVolume{claim} },
			corev1.PodSecurityContext{FSGroup: new(int64(0))},
			corev1.SecurityContext{},
		},
		"of the Kafka, on a claim": {
			func(k *api.Kafka, p *api.KafkaNodePool) {
				k.Spec.Kafka.Template, p.Spec.Storage.Volumes = *asked, []api.StorageVolume{claim}
			},
			*asked.Pod.SecurityContext, *asked.KafkaContainer.SecurityContext,
		},
	} {
		t.Run(name, func(t *testing.T) {
			kafka := makeKafka("ns", "k")
			pool := makePool(kafka, "dual", 1, api.RoleController, api.RoleBroker)
			tc.change(kafka, pool)
			pod, err := newest.nodePod(kafka, assignNodes([]api.KafkaNodePool{*pool})[0])
			expect.NoError(t, err)
			got := []any{*pod.Spec.SecurityContext, *pod.Spec.Containers[0].SecurityContext}
			expect.Equal(t, []any{tc.pod, tc.container}, got)
		})
	}
}

// TestSecurityOnZooKeeper uses a template for each of the two components.
func TestSecurityOnZooKeeper(t *testing.T) {
	asked := restricted()
	kafka := makeKafkaOnZooKeeper("ns", "z", 1, 1)
	kafka.Spec.Zookeeper.Template = api.ZookeeperTemplate{Pod: asked.Pod, ZookeeperContainer: asked.KafkaContainer}
	for component, tc := range map[string]struct {
		n      node
		secure bool
	}{
		"zookeeper": {zooKeeperNodes(kafka)[0], true},
		"kafka":     {brokersOnZooKeeper(kafka)[0], false},
	} {
		pod, err := zooKeepers.nodePod(kafka, tc.n)
		expect.NoError(t, err)
		expect.Equal(t, tc.secure, pod.Spec.SecurityContext.RunAsNonRoot != nil, "%s: the Pod has a security context", component)
		expect.Equal(t, tc.secure, pod.Spec.Containers[0].SecurityContext.Capabilities != nil, "%s: the container has a security context", component)
	}
}

// TestStatusIsRecounted overwrites both statuses, as a reconcile with a stale cache does. The
// counts are corrected.
func TestStatusIsRecounted(t *testing.T) {
	b := newBench(t, 1)
	kafka := b.readyKafka()
	set := &api.StrimziPodSet{}
	set.Namespace, set.Name = b.namespace, "k-dual"
	b.read(set)
	counted := set.Status
	set.Status.ReadyPods = 0
	expect.NoError(t, b.Status().Update(t.Context(), set))
	b.awaitPodSet("k-dual", counted)

	b.read(kafka)
	conditions := formatConditions(kafka.Status.Conditions)
	kafka.Status.Conditions = nil
	expect.NoError(t, b.Status().Update(t.Context(), kafka))
	b.awaitKafka(kafka, 1, conditions...)
}
