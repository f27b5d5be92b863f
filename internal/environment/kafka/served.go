// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"fmt"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
)

// NeedsStrimzi reports whether Strimzi runs the declared Kafka.
func NeedsStrimzi(kafka *v1alpha1.Kafka) bool { return kafka != nil && !IsExternal(kafka) }

// Strimzi returns what to install for the declared Kafka.
func Strimzi(kafka *v1alpha1.Kafka) string {
	if kafka != nil && kafka.Mode == v1alpha1.KafkaModeZooKeeper {
		return "Strimzi 0.45.2, the last release with ZooKeeper"
	}
	return "Strimzi"
}

// AssessServed reports whether a Strimzi with this API version supports the declared Kafka.
func AssessServed(req environment.Request, apiVersion string) environment.Readiness {
	kafka := req.System.Kafka
	switch {
	case !NeedsStrimzi(kafka):
		return environment.Ready("Strimzi is not required")
	case kafka.Mode == v1alpha1.KafkaModeZooKeeper && apiVersion != contract.StrimziV1Beta2:
		return environment.NotReady(v1alpha1.ReasonModeNotServed, fmt.Sprintf(
			"this cluster's Strimzi serves %s/%s, which supports only KRaft, not ZooKeeper: "+
				"install Strimzi 0.45.2, the last release with ZooKeeper, in a separate Kubernetes cluster, because its CRDs "+
				"and those of Strimzi 1.x exclude each other, or write kafka.mode: KRaft", contract.StrimziGroup, apiVersion))
	default:
		return environment.Ready(fmt.Sprintf("Strimzi serves %s/%s", contract.StrimziGroup, apiVersion))
	}
}
