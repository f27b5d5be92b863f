// SPDX-License-Identifier: Apache-2.0

package strimzi

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"perflab.dev/perflab/test/emulators/strimzi/api"
)

// Generation describes a release of Strimzi that the emulator can simulate, as a client sees
// it.
type Generation struct {
	// OperatorVersion is the release.
	OperatorVersion string
	// APIVersion is the version of kafka.strimzi.io that the release serves.
	APIVersion string
	// KafkaVersion is the only version of Kafka that the emulator has for the release.
	KafkaVersion string
	// MetadataVersion is the default metadata version of a KRaft cluster.
	MetadataVersion string
	// Image is the image of the release's nodes, unless a Kafka specifies another one.
	Image string
	// ZooKeeper means that clusters run on ZooKeeper unless annotations turn on KRaft and node
	// pools. Later releases have KRaft and node pools only.
	ZooKeeper bool
	// TimeoutClass is the reason that the release reports after the operation timeout.
	TimeoutClass string
	// Linger is how long a deleted Pod runs before it starts to terminate.
	Linger time.Duration
}

var generations = map[string]Generation{
	"1.2.0": {
		OperatorVersion: "1.2.0", APIVersion: "v1",
		KafkaVersion: "4.3.1", MetadataVersion: "4.3-IV0",
		Image: "localhost/perflab/kafka:dev", TimeoutClass: "StrimziTimeoutException",
	},
	"0.45.2": {
		OperatorVersion: "0.45.2", APIVersion: "v1beta2",
		KafkaVersion: "3.9.2", MetadataVersion: "3.9-IV0",
		Image: "localhost/perflab/kafka-3.9:dev", ZooKeeper: true, TimeoutClass: "TimeoutException",
	},
}

// ParseGeneration returns the generation of a release. It returns an error for a release
// that is not emulated.
func ParseGeneration(release string) (Generation, error) {
	generation, known := generations[release]
	if !known {
		return Generation{}, fmt.Errorf("no emulator of Strimzi %q: choose %s",
			release, strings.Join(slices.Sorted(maps.Keys(generations)), " or "))
	}
	return generation, nil
}

// metadataState returns the cluster's metadata state. A cluster stays on KRaft, because
// removing the annotation does not migrate metadata.
func (g Generation) metadataState(kafka *api.Kafka) string {
	switch {
	case !g.ZooKeeper:
		return api.MetadataStateKRaft
	case kafka.Status.KafkaMetadataState != "":
		return kafka.Status.KafkaMetadataState
	case isEnabled(kafka, api.AnnotationKRaft):
		return api.MetadataStateKRaft
	default:
		return api.MetadataStateZooKeeper
	}
}

func (g Generation) onZooKeeper(kafka *api.Kafka) bool {
	return g.metadataState(kafka) == api.MetadataStateZooKeeper
}

func (g Generation) metadataVersion(kafka *api.Kafka) string {
	if kafka.Spec.Kafka.MetadataVersion != "" {
		return kafka.Spec.Kafka.MetadataVersion
	}
	return g.MetadataVersion
}

func isEnabled(kafka *api.Kafka, annotation string) bool {
	return kafka.Annotations[annotation] == "enabled"
}
