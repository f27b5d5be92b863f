// SPDX-License-Identifier: Apache-2.0

package component

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/kube"
)

// Part is one of the things that have to be so before a run can go on.
type Part struct {
	// Condition speaks of it.
	Condition string
	// Name of the part in a sentence.
	Name string
	// labels of the objects it is made of, by v1alpha1.LabelComponent.
	labels []string
	// kinds of the objects that outlive a run, in the order in which they are
	// taken down; nil: nothing of it does.
	kinds func(kube.Cluster) ([]schema.GroupVersionKind, error)
}

// Parts are in the order in which they come up; they are taken down in the
// opposite one. The conditions of a run, what it waits for, what an experiment
// shows of its current run and what goes with it come from this list.
var Parts = []Part{
	{Condition: v1alpha1.ConditionScriptsAvailable, Name: "the scripts"},
	{
		Condition: v1alpha1.ConditionImagesAvailable, Name: "the images", labels: []string{environment.ComponentImages},
		kinds: always(corev1.SchemeGroupVersion.WithKind("Pod")),
	},
	{
		Condition: v1alpha1.ConditionKafkaReady, Name: "Kafka", labels: []string{environment.ComponentKafka, environment.ComponentTopic},
		kinds: kafkaKinds,
	},
	{
		Condition: v1alpha1.ConditionPostgresReady, Name: "PostgreSQL", labels: []string{environment.ComponentPostgres},
		kinds: always(PostgresKinds...),
	},
	{Condition: v1alpha1.ConditionDataRestored, Name: "the data"},
	{
		Condition: v1alpha1.ConditionModulesReady, Name: "the modules", labels: []string{environment.ComponentModule},
		kinds: always(appsv1.SchemeGroupVersion.WithKind("Deployment"), corev1.SchemeGroupVersion.WithKind("Service")),
	},
	{Condition: v1alpha1.ConditionTargetReachable, Name: "the target"},
	{Condition: v1alpha1.ConditionResultsKept, Name: "the results"},
}

// PostgresKinds are what a PostgreSQL consists of, in the order in which it is
// taken down: a Pooler without its Cluster only complains.
var PostgresKinds = []schema.GroupVersionKind{
	contract.PostgresPoolerKind,
	contract.PostgresClusterKind,
	corev1.SchemeGroupVersion.WithKind("ConfigMap"),
}

func always(kinds ...schema.GroupVersionKind) func(kube.Cluster) ([]schema.GroupVersionKind, error) {
	return func(kube.Cluster) ([]schema.GroupVersionKind, error) { return kinds, nil }
}

// kafkaKinds are those of the Strimzi that is installed.
func kafkaKinds(cluster kube.Cluster) ([]schema.GroupVersionKind, error) {
	version, served, err := cluster.Serves(contract.KafkaGroupKind)
	if err != nil || !served {
		return nil, err
	}
	return []schema.GroupVersionKind{contract.KafkaKind(version), contract.KafkaNodePoolKind(version)}, nil
}

// PartOf finds the part an object is of by its label, or else that of the
// condition. What is of none is of the loads.
func PartOf(label, condition string) Part {
	at := slices.IndexFunc(Parts, func(p Part) bool { return label != "" && slices.Contains(p.labels, label) })
	if at < 0 {
		at = slices.IndexFunc(Parts, func(p Part) bool { return p.Condition == condition })
	}
	if at < 0 {
		return Part{Condition: v1alpha1.ConditionLoadsComplete, Name: "the loads"}
	}
	return Parts[at]
}
