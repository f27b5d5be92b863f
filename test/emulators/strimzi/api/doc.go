// SPDX-License-Identifier: Apache-2.0

// Package api holds as much of the kafka.strimzi.io and core.strimzi.io kinds as the Strimzi
// emulator reads and writes, of v1 and v1beta2 alike: what is emulated has the
// same names in both, and v1beta2 has some fields more. The schema the API
// server enforces is Strimzi's own; these structs only decode the part of it
// that is emulated, and a status is written as a merge patch, so fields that
// are not listed here are never lost.
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
// their groups, v1 or v1beta2. A scheme can have one of them only: a Strimzi serves one.
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
