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

// Generation is a release of Strimzi the emulator can stand for, by what a
// client sees of it.
type Generation struct {
	// OperatorVersion is the release.
	OperatorVersion string
	// APIVersion is the version of kafka.strimzi.io it serves.
	APIVersion string
	// KafkaVersion is the one version of Kafka the emulator has for it.
	KafkaVersion string
	// MetadataVersion is that of a KRaft cluster which asks for none.
	MetadataVersion string
	// Image runs its nodes unless a Kafka names another one.
	Image string
	// ZooKeeper tells that it runs clusters on ZooKeeper unless annotations ask
	// for KRaft and node pools. Later releases know KRaft and node pools only.
	ZooKeeper bool
	// TimeoutClass is the reason it gives when the operation timeout is over.
	TimeoutClass string
	// Linger is how long a Pod that is deleted goes on before it begins to end.
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

// GenerationOf returns the generation of a release. It is an error to ask for
// one that is not emulated.
func GenerationOf(release string) (Generation, error) {
	generation, known := generations[release]
	if !known {
		return Generation{}, fmt.Errorf("there is no emulator of Strimzi %q: choose %s",
			release, strings.Join(slices.Sorted(maps.Keys(generations)), " or "))
	}
	return generation, nil
}

// metadataState tells where a cluster keeps its metadata. What it once was it
// remains: the annotation alone moves no metadata.
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
