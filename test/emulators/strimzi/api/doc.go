// SPDX-License-Identifier: Apache-2.0

// Package api has the fields of the kafka.strimzi.io and core.strimzi.io kinds that the Strimzi
// emulator reads and writes, for both v1 and v1beta2. The emulated fields have the same names
// in both, and v1beta2 has some more. The API server enforces Strimzi's own schema. These
// structs decode only the emulated part, and a status is written as a merge patch, so other
// fields are never lost.
//
// +kubebuilder:object:generate=true
// +groupName=kafka.strimzi.io
package api

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// AddToScheme registers Kafka, KafkaNodePool and StrimziPodSet under one version of
// their groups, v1 or v1beta2. A scheme can have only one of them.
func AddToScheme(version string) func(*runtime.Scheme) error {
	groupVersion := schema.GroupVersion{Group: "kafka.strimzi.io", Version: version}
	core := schema.GroupVersion{Group: "core.strimzi.io", Version: version}
	return func(scheme *runtime.Scheme) error {
		scheme.AddKnownTypes(groupVersion,
			&Kafka{}, &KafkaList{},
			&KafkaNodePool{}, &KafkaNodePoolList{},
		)
		scheme.AddKnownTypes(core, &StrimziPodSet{}, &StrimziPodSetList{})
		metav1.AddToGroupVersion(scheme, groupVersion)
		metav1.AddToGroupVersion(scheme, core)
		return nil
	}
}
