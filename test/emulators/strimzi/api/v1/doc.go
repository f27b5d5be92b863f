// SPDX-License-Identifier: Apache-2.0

// Package v1 holds as much of the kafka.strimzi.io/v1 kinds as the Strimzi
// emulator reads and writes. The schema the API server enforces is Strimzi's
// own; these structs only decode the part of it that is emulated, and a status
// is written as a merge patch, so fields that are not listed here are never lost.
//
// +kubebuilder:object:generate=true
// +groupName=kafka.strimzi.io
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the only version of the group that Strimzi 1.x serves.
var GroupVersion = schema.GroupVersion{Group: "kafka.strimzi.io", Version: "v1"}

// AddToScheme registers Kafka, KafkaNodePool and KafkaTopic.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&Kafka{}, &KafkaList{},
		&KafkaNodePool{}, &KafkaNodePoolList{},
		&KafkaTopic{}, &KafkaTopicList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
