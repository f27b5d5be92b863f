// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment/kafka"
	"perflab.dev/perflab/internal/kube"
)

// ClusterInfo describes the operator and its cluster.
type ClusterInfo struct {
	// Version of the operator. Empty: unknown.
	Version string
	// Pod is the operator's own. Empty: it runs outside the cluster.
	Pod client.ObjectKey
	// Kubernetes returns the API server's version. Nil: unknown.
	Kubernetes func() (string, error)
}

// Versions are the versions of the software around a run that the operator can read with its
// rights. An unreadable version is left empty: it does not fail the run. The pods are the
// system's.
func (p *Scope) Versions(ctx context.Context, pods []corev1.Pod) v1alpha1.MetVersions {
	return v1alpha1.MetVersions{
		PerfLab:       p.ClusterInfo.Version,
		Kubernetes:    p.kubernetes(),
		Strimzi:       p.strimzi(ctx),
		CloudNativePG: contract.PostgresOperatorImage(pods),
		K6Operator:    p.k6Operator(ctx),
	}
}

func (p *Scope) kubernetes() string {
	if p.ClusterInfo.Kubernetes == nil {
		return ""
	}
	version, err := p.ClusterInfo.Kubernetes()
	if err != nil {
		return ""
	}
	return version
}

func (p *Scope) strimzi(ctx context.Context) string {
	request := p.Request()
	if request.System.Kafka == nil || kafka.IsExternal(request.System.Kafka) {
		return ""
	}
	version, _, err := p.Cluster.Serves(contract.KafkaGroupKind)
	if err != nil {
		return ""
	}
	object, err := p.Cluster.Get(ctx, contract.KafkaKind(version), client.ObjectKey{Namespace: request.Namespace, Name: request.KafkaName()})
	if err != nil {
		return ""
	}
	return contract.Kafka{Object: object}.OperatorVersion()
}

// maxK6Operators bounds the Deployments that are read to find k6-operator.
const maxK6Operators, k6OperatorPageSize = 100, 5

// k6Operator is the image of k6-operator's Deployment: TestRuns do not have the version. It is
// read from the API server, so that the cache needs no Deployments for it. Any namespace may
// have a Deployment with these labels; if the images differ, the version is unknown.
func (p *Scope) k6Operator(ctx context.Context) string {
	images, seen := map[string]bool{}, 0
	for _, labels := range contract.K6OperatorLabels {
		err := kube.Pages(ctx, p.Live, &appsv1.DeploymentList{}, k6OperatorPageSize, func(page *appsv1.DeploymentList) error {
			for i := range page.Items {
				for _, container := range page.Items[i].Spec.Template.Spec.Containers {
					if strings.Contains(container.Image, contract.K6Operator) {
						images[container.Image] = true
					}
				}
			}
			if seen += len(page.Items); seen >= maxK6Operators {
				return kube.ErrStop
			}
			return nil
		}, client.MatchingLabels(labels))
		if err != nil {
			return ""
		}
	}
	if len(images) != 1 {
		return ""
	}
	return slices.Collect(maps.Keys(images))[0]
}

// OperatorImage is the operator's image ID from the container runtime, or empty if it is
// unknown.
func (t *Tools) OperatorImage(ctx context.Context) string {
	if t.ClusterInfo.Pod.Name == "" {
		return ""
	}
	pod := &corev1.Pod{}
	if err := t.Live.Get(ctx, t.ClusterInfo.Pod, pod); err != nil || len(pod.Status.ContainerStatuses) == 0 {
		return ""
	}
	return pod.Status.ContainerStatuses[0].ImageID
}
