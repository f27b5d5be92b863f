// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/podspec"
)

// place adds the declared placement to a Cluster's spec. CloudNativePG spreads instances by
// itself; the declared placement is added.
func place(spec map[string]any, declared *v1alpha1.Placement, cluster string) {
	if declared == nil {
		return
	}
	if affinity := affinity(declared); len(affinity) > 0 {
		spec["affinity"] = affinity
	}
	if len(declared.TopologySpread) > 0 {
		spec["topologySpreadConstraints"] = spread(declared.TopologySpread, cluster)
	}
}

// affinity has CloudNativePG's structure, which differs from a pod's.
func affinity(declared *v1alpha1.Placement) map[string]any {
	affinity := map[string]any{}
	if len(declared.NodeSelector) > 0 {
		selector := map[string]any{}
		for label, value := range declared.NodeSelector {
			selector[label] = value
		}
		affinity["nodeSelector"] = selector
	}
	if len(declared.Tolerations) > 0 {
		tolerations := make([]any, 0, len(declared.Tolerations))
		for _, toleration := range declared.Tolerations {
			tolerations = append(tolerations, environment.Fields(toleration.DeepCopy()))
		}
		affinity["tolerations"] = tolerations
	}
	if declared.Affinity == nil {
		return affinity
	}
	if nodes := declared.Affinity.NodeAffinity; nodes != nil {
		affinity["nodeAffinity"] = environment.Fields(nodes.DeepCopy())
	}
	if pods := declared.Affinity.PodAffinity; pods != nil {
		affinity["additionalPodAffinity"] = environment.Fields(pods.DeepCopy())
	}
	if pods := declared.Affinity.PodAntiAffinity; pods != nil {
		affinity["additionalPodAntiAffinity"] = environment.Fields(pods.DeepCopy())
	}
	return affinity
}

func spread(declared []v1alpha1.Spread, cluster string) []any {
	// Only the instances: the pods of Poolers and of CloudNativePG's jobs have the
	// Cluster's label as well.
	instances := &metav1.LabelSelector{MatchLabels: map[string]string{
		contract.LabelPostgresCluster: cluster,
		contract.LabelPostgresRole:    contract.PostgresRoleInstance,
	}}
	constraints := make([]any, 0, len(declared))
	for _, constraint := range podspec.SpreadConstraints(declared, instances) {
		constraints = append(constraints, environment.Fields(&constraint))
	}
	return constraints
}
