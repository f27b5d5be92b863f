// SPDX-License-Identifier: Apache-2.0

package strimzi

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/test/emulators/strimzi/api"
	"perflab.dev/perflab/test/emulators/testcluster"
)

func TestMain(m *testing.M) { apiserver.Main(m) }

// bench is one test's namespace with the controller and brokers that serve Kafka's
// protocol in memory. Its methods act as the kubelet.
type bench struct {
	*testing.T
	client.Client
	namespace string
	brokers   *kfake.Cluster
}

func newBench(t *testing.T, brokers int, adjust ...func(*KafkaReconciler)) *bench {
	t.Helper()
	return newGenerationBench(t, newest, brokers, adjust...)
}

func newGenerationBench(t *testing.T, generation Generation, brokers int, adjust ...func(*KafkaReconciler)) *bench {
	t.Helper()
	config := testcluster.Config(t, generation.OperatorVersion)
	c := apiserver.Client(t, config, api.AddToScheme(generation.APIVersion))
	fake, err := kfake.NewCluster(kfake.NumBrokers(brokers))
	expect.NoError(t, err)
	t.Cleanup(fake.Close)
	b := &bench{T: t, Client: c, namespace: apiserver.Namespace(t, c), brokers: fake}
	b.startControllers(config, generation, adjust)
	return b
}

func (b *bench) startControllers(server *rest.Config, generation Generation, adjust []func(*KafkaReconciler)) {
	b.Helper()
	mgr, err := ctrl.NewManager(server, ctrl.Options{
		Scheme:     b.Scheme(),
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{b.namespace: {}}},
		Controller: config.Controller{SkipNameValidation: new(true)},
	})
	expect.NoError(b, err)
	brokers := Brokers{Seeds: func(string) []string { return b.brokers.ListenAddrs() }}
	kafkas := &KafkaReconciler{Client: mgr.GetClient(), Brokers: brokers, Generation: generation, OperationTimeout: 5 * time.Minute, Now: time.Now}
	for _, change := range adjust {
		change(kafkas)
	}
	podSets := &PodSetReconciler{Client: mgr.GetClient()}
	expect.NoError(b, errors.Join(kafkas.SetupWithManager(mgr), podSets.SetupWithManager(mgr)))
	testcluster.Run(b.T, mgr)
}

func (b *bench) create(objects ...client.Object) {
	b.Helper()
	for _, object := range objects {
		object.SetUID("")
		expect.NoError(b, b.Create(b.Context(), object), "creating %q", object.GetName())
	}
}

// edit changes an object as a user would, while the controllers run.
func (b *bench) edit(object client.Object, change func()) {
	b.Helper()
	b.read(object)
	before := object.DeepCopyObject().(client.Object)
	change()
	expect.NoError(b, b.Patch(b.Context(), object, client.MergeFrom(before)), "changing %q", object.GetName())
}

func (b *bench) read(object client.Object) {
	b.Helper()
	expect.NoError(b, b.Get(b.Context(), client.ObjectKeyFromObject(object), object), "reading %q", object.GetName())
}

// pods lists the cluster's Pods in name order.
func (b *bench) pods() []corev1.Pod {
	b.Helper()
	pods := &corev1.PodList{}
	expect.NoError(b, b.List(b.Context(), pods, client.InNamespace(b.namespace)))
	return pods.Items
}

func (b *bench) awaitPods(names ...string) []corev1.Pod {
	b.Helper()
	var pods []corev1.Pod
	testcluster.Eventually(b.T, func() string {
		pods = b.pods()
		var got []string
		for _, pod := range pods {
			got = append(got, pod.Name)
		}
		if fmt.Sprint(got) != fmt.Sprint(names) {
			return fmt.Sprintf("Pods %v, want %v", got, names)
		}
		return ""
	})
	return pods
}

// markReady acts as the kubelet: the Pod's containers run and their probes succeed.
func (b *bench) markReady(name string) {
	b.Helper()
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name = b.namespace, name
	b.read(pod)
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
	expect.NoError(b, b.Status().Update(b.Context(), pod))
}

// formatConditions renders conditions as "Type=Status/Reason" for comparison.
func formatConditions(conditions []api.Condition) []string {
	var all []string
	for _, c := range conditions {
		all = append(all, fmt.Sprintf("%s=%s/%s", c.Type, c.Status, c.Reason))
	}
	return all
}

// observedGeneration returns the observedGeneration, or -1 if there is none.
func observedGeneration(kafka *api.Kafka) int64 {
	if kafka.Status.ObservedGeneration == nil {
		return -1
	}
	return *kafka.Status.ObservedGeneration
}

// awaitKafka waits for the conditions and the observedGeneration of a Kafka.
func (b *bench) awaitKafka(kafka *api.Kafka, observed int64, conditions ...string) {
	b.Helper()
	testcluster.Eventually(b.T, func() string {
		b.read(kafka)
		got := fmt.Sprint(formatConditions(kafka.Status.Conditions), observedGeneration(kafka))
		want := fmt.Sprint(conditions, observed)
		if got != want {
			return fmt.Sprintf("Kafka conditions and observedGeneration %s, want %s", got, want)
		}
		return ""
	})
}

// readyKafka creates a cluster of one combined node and makes it ready.
func (b *bench) readyKafka() *api.Kafka {
	b.Helper()
	kafka := makeKafka(b.namespace, "k")
	b.create(makePool(kafka, "dual", 1, api.RoleController, api.RoleBroker), kafka)
	b.awaitPods("k-dual-0")
	b.markReady("k-dual-0")
	b.awaitKafka(kafka, 1, "Warning=True/KafkaStorage", "Warning=True/KafkaStorage", "Ready=True/")
	return kafka
}
