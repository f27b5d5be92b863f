// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/measure/collector"
	"perflab.dev/perflab/internal/testing/expect"
)

// Anyone who can create pods in a namespace can set any label on them. These pods claim by their labels
// to belong to an object, and don't.

// claim creates a ready pod with the labels of another one, and these owners.
func (l *lab) claim(name string, like corev1.Pod, owners ...metav1.OwnerReference) string {
	l.t.Helper()
	if len(like.OwnerReferences) == 0 {
		l.t.Fatalf("pod %s has no owner", like.Name)
	}
	claimed, owner := like.OwnerReferences[0], &unstructured.Unstructured{}
	owner.SetAPIVersion(claimed.APIVersion)
	owner.SetKind(claimed.Kind)
	owner.SetName(claimed.Name)
	owner.SetUID(claimed.UID)
	l.ensurePod(name, owner, like.Labels, like.Annotations)
	pods := l.pods(like.Labels)
	at := slices.IndexFunc(pods, func(pod corev1.Pod) bool { return pod.Name == name })
	pods[at].OwnerReferences = owners
	expect.NoError(l.t, l.admin.Update(l.t.Context(), &pods[at]))
	return l.podAddress(name)
}

// made waits until the operator has created an object, and simulates the rest.
func (l *lab) made(kind schema.GroupVersionKind, name string) {
	l.t.Helper()
	l.until(kind.Kind+" "+name, func() bool {
		return slices.ContainsFunc(l.foreign(kind), func(object unstructured.Unstructured) bool { return object.GetName() == name })
	})
	l.play()
}

// falseOwners are owners of such pods, or none.
func falseOwners(own, another metav1.OwnerReference) map[string][]metav1.OwnerReference {
	unchecked := own
	unchecked.Controller = nil
	return map[string][]metav1.OwnerReference{"orphan": nil, "another-s": {another}, "not-controlled": {unchecked}}
}

func TestOnlyOwnInstancesAreQueried(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, oneArm))
	another := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "postgresql.cnpg.io/v1", "kind": "Cluster", "metadata": map[string]any{"name": "theirs"},
		"spec": map[string]any{"instances": int64(1), "storage": map[string]any{"size": "1Gi"}},
	}}
	l.create(another)
	ofInstances := map[string]string{contract.LabelPostgresCluster: "small-pg", contract.LabelPostgresRole: contract.PostgresRoleInstance}
	l.made(contract.PostgresClusterKind, "small-pg")
	own := l.pods(ofInstances)[0]
	claimed := map[string]string{}
	for name, owners := range falseOwners(own.OwnerReferences[0], *metav1.NewControllerRef(another, contract.PostgresClusterKind)) {
		claimed[name] = l.claim("small-pg-"+name, own, owners...)
	}
	run := l.untilRun(v1alpha1.RunSucceeded)
	asked := strings.Join(l.databases.asked.names(), " ")
	if !strings.Contains(asked, l.podAddress(own.Name)+":") {
		t.Errorf("called %s, want the instance at %s", asked, l.podAddress(own.Name))
	}
	for name, address := range claimed {
		if strings.Contains(asked, address+":") {
			t.Errorf("a pod that is %s was called at %s", name, address)
		}
	}
	if found := run.Status.Effective; len(found.Postgres.Servers) != 1 || len(found.PostgresPods) != 1 {
		t.Errorf("servers %v, pods %v, want the one instance", found.Postgres.Servers, found.PostgresPods)
	}
}

// A pod that is not in CloudNativePG's list of instances is not an instance, even if it has the
// right controller.
func TestOnlyNamedInstancesAreQueried(t *testing.T) {
	l := newLab(t, complete)
	l.outside.namesInstances = true
	l.create(login(), smallExperiment(t, oneArm))
	ofInstances := map[string]string{contract.LabelPostgresRole: contract.PostgresRoleInstance}
	l.made(contract.PostgresClusterKind, "small-pg")
	own := l.pods(ofInstances)[0]
	address := l.claim("small-pg-7", own, own.OwnerReferences...)
	l.untilRun(v1alpha1.RunSucceeded)
	if asked := strings.Join(l.databases.asked.names(), " "); strings.Contains(asked, address+":") || !strings.Contains(asked, l.podAddress(own.Name)+":") {
		t.Errorf("called %s, want the instance and not the pod at %s", asked, address)
	}
}

func TestOnlyOwnRunnersAreRead(t *testing.T) {
	l := newLab(t, complete)
	l.outside.held["cico"] = true
	l.create(login(), smallExperiment(t, oneArm, importUnderUsers))
	l.until("a TestRun", func() bool { return len(l.foreign(contract.TestRunKind)) > 0 })
	l.play()
	own := l.pods(map[string]string{contract.LabelRunner: "true"})[0]
	for name, owners := range falseOwners(own.OwnerReferences[0], *metav1.NewControllerRef(l.experiment("small"), v1alpha1.GroupVersion.WithKind("PerfExperiment"))) {
		l.claim("a-"+name, own, owners...)
	}
	l.untilRun(v1alpha1.RunSucceeded)
	for _, reported := range l.runners.names() {
		if reported != "http://"+l.podAddress(own.Name)+":6565" {
			t.Errorf("%s was stopped, which is no runner", reported)
		}
	}
}

func TestOnlyOwnCollectorIsReadAndStopped(t *testing.T) {
	l := newLab(t, complete)
	withCollectors(l)
	l.create(login(), smallExperiment(t, oneArm))
	ofCollectors := map[string]string{v1alpha1.LabelComponent: collector.Container}
	l.until("a collector", func() bool { return len(l.pods(ofCollectors)) > 0 })
	own, run := l.pods(ofCollectors)[0], l.run()
	for name, owners := range falseOwners(own.OwnerReferences[0], *metav1.NewControllerRef(run, v1alpha1.GroupVersion.WithKind("PerfRun"))) {
		l.claim("a-"+name, own, owners...)
		l.logs.put("a-"+name, []byte("no samples"))
	}
	run = l.untilRun(v1alpha1.RunSucceeded)
	for _, pod := range l.pods(ofCollectors) {
		if _, reported := pod.Annotations[v1alpha1.AnnotationEnd]; reported && pod.Name != own.Name {
			t.Errorf("pod %s was stopped, which is no collector", pod.Name)
		}
	}
	if notes := strings.Join(run.Status.Servers.Notes, " "); strings.Contains(notes, "a-") {
		t.Errorf("notes mention pods that are no collector: %s", notes)
	}
}

// Pods of modules are controlled by a ReplicaSet of our Deployment.
func TestOnlyOwnModulePodsAreRead(t *testing.T) {
	l := newLab(t, complete)
	l.outside.moduleLog = started
	l.create(login(), smallExperiment(t, oneArm, heapOf66Percent))
	l.made(appsv1.SchemeGroupVersion.WithKind("Deployment"), "small-gateway")
	own := l.gateways()[0]
	set := func(name string, owner metav1.OwnerReference) metav1.OwnerReference {
		labels := maps.Clone(own.Labels)
		labels[appsv1.DefaultDeploymentUniqueLabelKey] = name
		made := &appsv1.ReplicaSet{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, OwnerReferences: []metav1.OwnerReference{owner}},
			Spec: appsv1.ReplicaSetSpec{
				Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: labels},
					Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "gateway", Image: "example.org/any:1"}}},
				},
			},
		}
		l.create(made)
		return *metav1.NewControllerRef(made, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))
	}
	ours, theirs := set("ours", own.OwnerReferences[0]), set("theirs", *metav1.NewControllerRef(l.configMapNamed("shop"), corev1.SchemeGroupVersion.WithKind("ConfigMap")))
	l.claim("of-ours", own, ours)
	for name, owners := range falseOwners(own.OwnerReferences[0], theirs) {
		l.claim("a-"+name, own, owners...)
	}
	run := l.untilRun(v1alpha1.RunSucceeded)
	var read []string
	for _, pod := range run.Status.Effective.Modules[0].Pods {
		read = append(read, pod.Name)
	}
	slices.Sort(read)
	expect.Equal(t, []string{"of-ours", own.Name}, read, "pods of the module")
}

func TestOnlyOwnKafkaPodsCount(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, oneArm))
	l.made(contract.KafkaKind("v1"), "small")
	own := l.pods(map[string]string{contract.LabelStrimziCluster: "small"})
	l.claim("an-orphan", own[0])
	l.claim("another-s", own[0], *metav1.NewControllerRef(l.configMapNamed("shop"), corev1.SchemeGroupVersion.WithKind("ConfigMap")))
	run := l.untilRun(v1alpha1.RunSucceeded)
	if found := run.Status.Effective.KafkaPods; len(found) != len(own) {
		t.Errorf("Kafka's pods are %v, want the %d of its pools", found, len(own))
	}
}

// configMapNamed is a third-party ConfigMap.
func (l *lab) configMapNamed(name string) *corev1.ConfigMap {
	l.t.Helper()
	made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
	l.create(made)
	return made
}
