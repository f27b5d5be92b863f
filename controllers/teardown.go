// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/naming"
)

// topicPatience is how long the topic operator may take to let go of a deleted
// topic. After that we take its finalizer off ourselves: the whole Kafka goes,
// and a topic operator that is gone never would.
const topicPatience = time.Minute

// teardown takes the environment of an experiment down and says true when all
// of it is gone.
func teardown(ctx context.Context, cluster kube.Cluster, namespace, experiment string, now time.Time) (bool, error) {
	modulesGone, err := deleteAll(ctx, cluster, namespace, naming.ComponentLabels(experiment, environment.ComponentModule),
		appsv1.SchemeGroupVersion.WithKind("Deployment"), corev1.SchemeGroupVersion.WithKind("Service"))
	if err != nil {
		return false, err
	}
	postgresGone, err := deleteAll(ctx, cluster, namespace, naming.ComponentLabels(experiment, environment.ComponentPostgres), postgresKinds...)
	if err != nil {
		return false, err
	}
	kafkaGone, err := teardownKafka(ctx, cluster, namespace, experiment, now)
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

// teardownKafka deletes topics first: once their Kafka is gone nobody takes
// their finalizer off.
func teardownKafka(ctx context.Context, cluster kube.Cluster, namespace, experiment string, now time.Time) (bool, error) {
	version, served, err := cluster.Serves(contract.KafkaGroupKind)
	if err != nil || !served {
		return !served, err
	}
	gone, err := deleteTopics(ctx, cluster, namespace, experiment, version, now)
	if err != nil || !gone {
		return false, err
	}
	return deleteAll(ctx, cluster, namespace, naming.ComponentLabels(experiment, environment.ComponentKafka),
		contract.KafkaKind(version), contract.KafkaNodePoolKind(version))
}

func deleteTopics(ctx context.Context, cluster kube.Cluster, namespace, experiment, version string, now time.Time) (bool, error) {
	topics, err := cluster.List(ctx, contract.KafkaTopicKind(version), namespace, naming.ComponentLabels(experiment, environment.ComponentTopic))
	if err != nil {
		return false, err
	}
	for i := range topics {
		topic := &topics[i]
		if err := cluster.Delete(ctx, topic); err != nil {
			return false, err
		}
		deleted := topic.GetDeletionTimestamp()
		if deleted != nil && now.Sub(deleted.Time) > topicPatience {
			if err := release(ctx, cluster, topic); err != nil {
				return false, err
			}
		}
	}
	return len(topics) == 0, nil
}

func release(ctx context.Context, cluster kube.Cluster, topic *unstructured.Unstructured) error {
	before := topic.DeepCopy()
	topic.SetFinalizers(nil)
	if err := cluster.Client.Patch(ctx, topic, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("taking the finalizer off topic %q: %w", topic.GetName(), err)
	}
	return nil
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
