// SPDX-License-Identifier: Apache-2.0

package strimzi

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/test/emulators/strimzi/api"
)

// newPodSets builds the StrimziPodSets of a component's members, one for each pool.
func newPodSets(kafka *api.Kafka, members []member) []*api.StrimziPodSet {
	var sets []*api.StrimziPodSet
	for _, m := range members {
		if len(sets) == 0 || sets[len(sets)-1].Name != m.podSetName() {
			sets = append(sets, newPodSet(kafka, m.node))
		}
		last := sets[len(sets)-1]
		last.Spec.Pods = append(last.Spec.Pods, *m.pod)
	}
	return sets
}

func newPodSet(kafka *api.Kafka, n node) *api.StrimziPodSet {
	labels := merged(clusterLabels(kafka.Name, n.component()), inheritedLabels(n.Pool.Labels))
	if !n.isZooKeeper() {
		labels[api.LabelPoolName] = n.Pool.Name
	}
	return &api.StrimziPodSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: kafka.Namespace, Name: n.podSetName(), Labels: labels},
		Spec: api.StrimziPodSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: podSetSelector(kafka.Name, n)},
		},
	}
}

// podSetOwner returns the pool if there is one, or else the Kafka.
func podSetOwner(kafka *api.Kafka, n node) client.Object {
	if n.Pool.UID != "" {
		return n.Pool
	}
	return kafka
}

// specifiedAt returns the time when an object's spec was last written.
func specifiedAt(object client.Object) time.Time {
	last := object.GetCreationTimestamp().Time
	for _, entry := range object.GetManagedFields() {
		if entry.Subresource == "" && entry.Time != nil && entry.Time.After(last) {
			last = entry.Time.Time
		}
	}
	return last
}
