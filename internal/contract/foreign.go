// SPDX-License-Identifier: Apache-2.0

package contract

import "k8s.io/apimachinery/pkg/runtime/schema"

// KafkaGroupKind is the kind of which the cluster is asked whether, and in
// which version, it serves Strimzi's.
var KafkaGroupKind = schema.GroupKind{Group: StrimziGroup, Kind: KindKafka}

// ForeignKinds are the kinds of other operators whose objects tell us when to
// go on.
func ForeignKinds() []schema.GroupKind {
	return []schema.GroupKind{
		KafkaGroupKind,
		PostgresClusterKind.GroupKind(),
		PostgresPoolerKind.GroupKind(),
		TestRunKind.GroupKind(),
	}
}
