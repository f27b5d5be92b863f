// SPDX-License-Identifier: Apache-2.0

package strimzi

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/test/emulators/strimzi/api"
)

// supportObjects returns the objects that the nodes of a component need, in the order of their
// creation. The Secrets have the names of the real ones, but are empty because the nodes use
// plaintext.
func (g Generation) supportObjects(kafka *api.Kafka, members []member) []client.Object {
	labels := supportLabels(kafka, members[0].component())
	meta := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: kafka.Namespace, Name: name, Labels: labels}
	}
	name := componentName(kafka.Name, members[0].component())
	objects := []client.Object{&corev1.ServiceAccount{ObjectMeta: meta(name)}}
	for _, secret := range g.secretNames(kafka.Name, members) {
		objects = append(objects, &corev1.Secret{ObjectMeta: meta(secret)})
	}
	if members[0].isKafka() {
		objects = append(objects, &networkingv1.NetworkPolicy{ObjectMeta: meta(kafka.Name + "-network-policy-kafka"), Spec: networkPolicy(kafka)})
	}
	return append(objects, &policyv1.PodDisruptionBudget{
		ObjectMeta: meta(name),
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: new(intstr.FromInt(len(members) - 1)),
			Selector:     &metav1.LabelSelector{MatchLabels: nodeSelector(kafka.Name, members[0].component())},
		},
	})
}

// networkPolicy admits Kafka's nodes and the operator to the ports between them, and everyone to the
// listeners.
func networkPolicy(kafka *api.Kafka) networkingv1.NetworkPolicySpec {
	nodes := metav1.LabelSelector{MatchLabels: nodeSelector(kafka.Name, componentKafka)}
	inside := []networkingv1.NetworkPolicyPeer{
		{PodSelector: &nodes},
		{PodSelector: &metav1.LabelSelector{MatchLabels: map[string]string{api.LabelKind: "cluster-operator"}}, NamespaceSelector: &metav1.LabelSelector{}},
	}
	var rules []networkingv1.NetworkPolicyIngressRule
	admit := func(port int32, from []networkingv1.NetworkPolicyPeer) {
		rules = append(rules, networkingv1.NetworkPolicyIngressRule{
			From: from, Ports: []networkingv1.NetworkPolicyPort{{Port: new(intstr.FromInt32(port)), Protocol: new(corev1.ProtocolTCP)}},
		})
	}
	for _, port := range []int32{portControlPlane, portReplication, portAgent} {
		admit(port, inside)
	}
	for _, port := range clientPorts(kafka) {
		admit(port.Port, nil)
	}
	return networkingv1.NetworkPolicySpec{PodSelector: nodes, Ingress: rules, PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}}
}

// secretNames returns the names of the Secrets with the certificate authorities and the
// certificates. Before Strimzi 1, all nodes of a component share one Secret for certificates.
func (g Generation) secretNames(cluster string, members []member) []string {
	names := []string{
		cluster + "-cluster-ca-cert", cluster + "-cluster-ca",
		cluster + "-clients-ca-cert", cluster + "-clients-ca",
		cluster + "-cluster-operator-certs",
	}
	if g.ZooKeeper {
		return append(names, nodesServiceName(cluster, members[0].component()))
	}
	for _, m := range members {
		names = append(names, m.podName())
	}
	return append(names, cluster+"-trustbundle")
}
