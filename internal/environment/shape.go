// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
)

// KafkaShape identifies the configuration of the run's brokers, without topics; empty if
// the system has no Kafka. Runs with the same shape use the same Kafka.
func (r Request) KafkaShape() string {
	if r.System.Kafka == nil {
		return ""
	}
	declaration := r.System.Kafka.DeepCopy()
	declaration.Topics = nil
	return r.shape(declaration, "Kafka", "KafkaNodePool")
}

// KafkaName returns the name of the run's Kafka.
func (r Request) KafkaName() string {
	return r.Names.Kafka(r.Experiment, r.warmShape(r.KafkaShape()))
}

// PostgresShape identifies the configuration of the run's PostgreSQL; empty if the system
// has none. It includes how replicas follow, but not which modules read from them.
func (r Request) PostgresShape() string {
	if r.System.Postgres == nil {
		return ""
	}
	declaration := r.System.Postgres.DeepCopy()
	synchronous := declaration.ReadWriteSplit != nil && declaration.ReadWriteSplit.Synchronous
	declaration.ReadWriteSplit = nil
	declaration.Instances = max(1, declaration.Instances)
	return r.shape([]any{declaration, synchronous && declaration.Instances > 1}, "Cluster", "Pooler")
}

// PostgresName returns the name of the run's PostgreSQL.
func (r Request) PostgresName() string {
	return r.Names.Postgres(r.Experiment, r.warmShape(r.PostgresShape()))
}

// shape identifies a declaration with the patches of its objects. With reset Recreate, no
// two runs share a shape.
func (r Request) shape(declaration any, kinds ...v1alpha1.PatchKind) string {
	parts := []any{declaration, r.Patches(kinds...)}
	if r.Reset == v1alpha1.ResetRecreate {
		parts = append(parts, r.Run)
	}
	return Fingerprint(parts)
}

// StaysWarm reports whether Kafkas and PostgreSQLs of other shapes keep running. With reset
// Recreate they would never be used again.
func (r Request) StaysWarm() bool { return r.KeepWarm && r.Reset != v1alpha1.ResetRecreate }

// warmShape returns the shape in the names of objects that run side by side.
func (r Request) warmShape(shape string) string {
	if !r.StaysWarm() {
		return ""
	}
	return shape
}

// Patches returns the declared patches of objects of these kinds.
func (r Request) Patches(kinds ...v1alpha1.PatchKind) []v1alpha1.Patch {
	var wanted []v1alpha1.Patch
	for _, patch := range r.System.Patches {
		if slices.Contains(kinds, patch.Kind) {
			wanted = append(wanted, patch)
		}
	}
	return wanted
}
