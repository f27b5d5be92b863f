// SPDX-License-Identifier: Apache-2.0

package api

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// KafkaTopic is one topic of one Kafka cluster.
//
// +kubebuilder:object:root=true
type KafkaTopic struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   KafkaTopicSpec   `json:"spec,omitempty"`
	Status KafkaTopicStatus `json:"status,omitempty"`
}

// KafkaTopicList is a list of KafkaTopic.
//
// +kubebuilder:object:root=true
type KafkaTopicList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []KafkaTopic `json:"items"`
}

// KafkaTopicSpec is the wish. Absent partitions or replicas mean the broker's default.
type KafkaTopicSpec struct {
	TopicName  string `json:"topicName,omitempty"`
	Partitions *int32 `json:"partitions,omitempty"`
	Replicas   *int32 `json:"replicas,omitempty"`
	Config     Config `json:"config,omitempty"`
}

// KafkaTopicStatus is what the topic operator reports of a topic.
type KafkaTopicStatus struct {
	Conditions         []Condition `json:"conditions,omitempty"`
	ObservedGeneration int64       `json:"observedGeneration,omitempty"`
	TopicName          string      `json:"topicName,omitempty"`
	TopicID            string      `json:"topicId,omitempty"`
}
