// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
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

// teardown takes the environment of an experiment down and says true when all
// of it is gone.
func teardown(ctx context.Context, cluster kube.Cluster, experiment *v1alpha1.PerfExperiment) (bool, error) {
	modulesGone, err := deleteAll(ctx, cluster, experiment, environment.ComponentModule,
		appsv1.SchemeGroupVersion.WithKind("Deployment"), corev1.SchemeGroupVersion.WithKind("Service"))
	if err != nil {
		return false, err
	}
	postgresGone, err := deleteAll(ctx, cluster, experiment, environment.ComponentPostgres, postgresKinds...)
	if err != nil {
		return false, err
	}
	kafkaGone, err := teardownKafka(ctx, cluster, experiment)
	if err != nil {
		return false, err
	}
	imagesGone, err := deleteAll(ctx, cluster, experiment, environment.ComponentImages, corev1.SchemeGroupVersion.WithKind("Pod"))
	if err != nil {
		return false, err
	}
	podsGone, err := noPods(ctx, cluster, experiment)
	return modulesGone && postgresGone && kafkaGone && imagesGone && podsGone, err
}

func teardownKafka(ctx context.Context, cluster kube.Cluster, experiment *v1alpha1.PerfExperiment) (bool, error) {
	version, served, err := cluster.Serves(contract.KafkaGroupKind)
	if err != nil || !served {
		return !served, err
	}
	return deleteAll(ctx, cluster, experiment, environment.ComponentKafka, contract.KafkaKind(version), contract.KafkaNodePoolKind(version))
}

// deleteAll deletes what the experiment has made of a component and says true
// when there is nothing left of it.
func deleteAll(ctx context.Context, cluster kube.Cluster, experiment *v1alpha1.PerfExperiment, component string, kinds ...schema.GroupVersionKind) (bool, error) {
	return deleteLabelled(ctx, cluster, experiment, naming.ComponentLabels(experiment.Name, component), kinds...)
}

func deleteLabelled(ctx context.Context, cluster kube.Cluster, owner client.Object, labels map[string]string, kinds ...schema.GroupVersionKind) (bool, error) {
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
