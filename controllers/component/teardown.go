// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/naming"
)

// TearDown takes the environment of an experiment down and says true when all
// of it is gone.
func TearDown(ctx context.Context, cluster kube.Cluster, experiment *v1alpha1.PerfExperiment) (bool, error) {
	gone := true
	for _, part := range slices.Backward(Parts) {
		partGone, err := part.tearDown(ctx, cluster, experiment)
		if err != nil {
			return false, err
		}
		gone = gone && partGone
	}
	podsGone, err := noPods(ctx, cluster, experiment)
	return gone && podsGone, err
}

func (p Part) tearDown(ctx context.Context, cluster kube.Cluster, experiment *v1alpha1.PerfExperiment) (bool, error) {
	if p.kinds == nil {
		return true, nil
	}
	kinds, err := p.kinds(cluster)
	if err != nil {
		return false, err
	}
	return Delete(ctx, cluster, experiment, naming.ComponentLabels(experiment.Name, p.labels[0]), kinds...)
}

// Delete deletes what the owner has of these kinds and labels, and says true when
// there is nothing of it left.
func Delete(ctx context.Context, cluster kube.Cluster, owner client.Object, labels map[string]string, kinds ...schema.GroupVersionKind) (bool, error) {
	gone := true
	for _, kind := range kinds {
		objects, err := cluster.ListOwned(ctx, owner, kind, labels)
		if err != nil {
			return false, err
		}
		for i := range objects {
			gone = false
			if err := cluster.Delete(ctx, owner, &objects[i]); err != nil {
				return false, err
			}
		}
	}
	return gone, nil
}

// noPods says whether the pods of the environment are gone: those of the
// modules, of Kafka and of PostgreSQL. Those of a Kafka or PostgreSQL that
// somebody else made under such a name stay.
func noPods(ctx context.Context, cluster kube.Cluster, experiment *v1alpha1.PerfExperiment) (bool, error) {
	pods := &corev1.PodList{}
	if err := cluster.Client.List(ctx, pods, client.InNamespace(experiment.Namespace)); err != nil {
		return false, fmt.Errorf("listing pods: %w", err)
	}
	version, _, err := cluster.Serves(contract.KafkaGroupKind)
	if err != nil {
		return false, err
	}
	kafkas, err := foreign(ctx, cluster, experiment, contract.KafkaKind(version))
	if err != nil {
		return false, err
	}
	databases, err := foreign(ctx, cluster, experiment, contract.PostgresClusterKind)
	left := slices.ContainsFunc(pods.Items, func(pod corev1.Pod) bool {
		labels := pod.Labels
		kafka, database := labels[contract.LabelStrimziCluster], labels[contract.LabelPostgresCluster]
		ours := labels[v1alpha1.LabelExperiment] == experiment.Name && labels[v1alpha1.LabelComponent] == environment.ComponentModule
		return ours || naming.IsKafka(experiment.Name, kafka) && !kafkas[kafka] || naming.IsPostgres(experiment.Name, database) && !databases[database]
	})
	return !left, err
}

// foreign are the names of the objects of a kind that the experiment did not
// make.
func foreign(ctx context.Context, cluster kube.Cluster, experiment *v1alpha1.PerfExperiment, kind schema.GroupVersionKind) (map[string]bool, error) {
	objects, err := cluster.List(ctx, kind, experiment.Namespace, nil)
	names := map[string]bool{}
	for i := range objects {
		if !metav1.IsControlledBy(&objects[i], experiment) {
			names[objects[i].GetName()] = true
		}
	}
	return names, err
}
