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

// Surroundings tell what there is beside the system under test.
type Surroundings struct {
	// PerfLab is the operator's version; empty: nobody knows.
	PerfLab string
	// Pod is the operator's own; empty: it has none.
	Pod client.ObjectKey
	// Kubernetes asks the API server for its version; nil: nobody does.
	Kubernetes func() (string, error)
}

// Met are the versions that a run meets, as far as they can be told by what the
// operator may see anyway. A version is not worth a run: what can't be read is not
// known. The pods are those of the system.
func (p *Pass) Met(ctx context.Context, pods []corev1.Pod) v1alpha1.MetVersions {
	return v1alpha1.MetVersions{
		PerfLab:       p.Surroundings.PerfLab,
		Kubernetes:    p.kubernetes(),
		Strimzi:       p.strimzi(ctx),
		CloudNativePG: contract.PostgresOperatorImage(pods),
		K6Operator:    p.k6Operator(ctx),
	}
}

func (p *Pass) kubernetes() string {
	if p.Surroundings.Kubernetes == nil {
		return ""
	}
	version, err := p.Surroundings.Kubernetes()
	if err != nil {
		return ""
	}
	return version
}

func (p *Pass) strimzi(ctx context.Context) string {
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

// k6Operators bound how many Deployments are looked at for k6-operator's.
const k6Operators, k6OperatorPage = 100, 5

// k6Operator is the image of the k6-operator's Deployment, which says its version
// where its TestRuns don't. It is read from the API server, so that the cache needs no
// Deployments for it. Any namespace may have a Deployment with these labels: if the images
// differ, the version is unknown.
func (p *Pass) k6Operator(ctx context.Context) string {
	images, seen := map[string]bool{}, 0
	for _, labels := range contract.K6OperatorLabels {
		err := kube.Pages(ctx, p.Live, &appsv1.DeploymentList{}, k6OperatorPage, func(page *appsv1.DeploymentList) error {
			for i := range page.Items {
				for _, container := range page.Items[i].Spec.Template.Spec.Containers {
					if strings.Contains(container.Image, contract.K6Operator) {
						images[container.Image] = true
					}
				}
			}
			if seen += len(page.Items); seen >= k6Operators {
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

// OwnImage is the operator's own, as the container runtime resolved it; empty:
// nobody knows.
func (t *Tools) OwnImage(ctx context.Context) string {
	if t.Surroundings.Pod.Name == "" {
		return ""
	}
	pod := &corev1.Pod{}
	if err := t.Live.Get(ctx, t.Surroundings.Pod, pod); err != nil || len(pod.Status.ContainerStatuses) == 0 {
		return ""
	}
	return pod.Status.ContainerStatuses[0].ImageID
}
