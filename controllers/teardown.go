// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
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
func teardown(ctx context.Context, cluster kube.Cluster, namespace, experiment string) (bool, error) {
	modulesGone, err := deleteAll(ctx, cluster, namespace, naming.ComponentLabels(experiment, environment.ComponentModule),
		appsv1.SchemeGroupVersion.WithKind("Deployment"), corev1.SchemeGroupVersion.WithKind("Service"))
	if err != nil {
		return false, err
	}
	postgresGone, err := deleteAll(ctx, cluster, namespace, naming.ComponentLabels(experiment, environment.ComponentPostgres), postgresKinds...)
	if err != nil {
		return false, err
	}
	kafkaGone, err := teardownKafka(ctx, cluster, namespace, experiment)
	if err != nil {
		return false, err
	}
	imagesGone, err := deleteAll(ctx, cluster, namespace, naming.ComponentLabels(experiment, environment.ComponentImages),
		corev1.SchemeGroupVersion.WithKind("Pod"))
	if err != nil {
		return false, err
	}
	podsGone, err := noPods(ctx, cluster, namespace, experiment)
	return modulesGone && postgresGone && kafkaGone && imagesGone && podsGone, err
}

func teardownKafka(ctx context.Context, cluster kube.Cluster, namespace, experiment string) (bool, error) {
	version, served, err := cluster.Serves(contract.KafkaGroupKind)
	if err != nil || !served {
		return !served, err
	}
	return deleteAll(ctx, cluster, namespace, naming.ComponentLabels(experiment, environment.ComponentKafka),
		contract.KafkaKind(version), contract.KafkaNodePoolKind(version))
}

func deleteAll(ctx context.Context, cluster kube.Cluster, namespace string, labels map[string]string, kinds ...schema.GroupVersionKind) (bool, error) {
	gone := true
	for _, kind := range kinds {
		objects, err := cluster.List(ctx, kind, namespace, labels)
		if err != nil {
			return false, err
		}
		for i := range objects {
			gone = false
			if err := cluster.Delete(ctx, &objects[i]); err != nil {
				return false, err
			}
		}
	}
	return gone, nil
}

// noPods says whether the pods of the environment are gone: those of the
// modules, of Kafka and of PostgreSQL.
func noPods(ctx context.Context, cluster kube.Cluster, namespace, experiment string) (bool, error) {
	pods := &corev1.PodList{}
	if err := cluster.Client.List(ctx, pods, client.InNamespace(namespace)); err != nil {
		return false, fmt.Errorf("listing pods: %w", err)
	}
	left := slices.ContainsFunc(pods.Items, func(pod corev1.Pod) bool {
		labels := pod.Labels
		ours := labels[v1alpha1.LabelExperiment] == experiment && labels[v1alpha1.LabelComponent] == environment.ComponentModule
		return ours || naming.IsKafka(experiment, labels[contract.LabelStrimziCluster]) ||
			naming.IsPostgres(experiment, labels[contract.LabelPostgresCluster])
	})
	return !left, nil
}
