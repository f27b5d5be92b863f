// SPDX-License-Identifier: Apache-2.0

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Kafka is one Kafka cluster.
//
// +kubebuilder:object:root=true
type Kafka struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   KafkaSpec   `json:"spec,omitempty"`
	Status KafkaStatus `json:"status,omitempty"`
}

// KafkaList is a list of Kafka.
//
// +kubebuilder:object:root=true
type KafkaList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Kafka `json:"items"`
}

// KafkaSpec is the wish.
type KafkaSpec struct {
	Kafka          KafkaClusterSpec `json:"kafka,omitempty"`
	EntityOperator *EntityOperator  `json:"entityOperator,omitempty"`
}

// KafkaClusterSpec is what all nodes of the cluster share.
type KafkaClusterSpec struct {
	Version         string       `json:"version,omitempty"`
	MetadataVersion string       `json:"metadataVersion,omitempty"`
	Image           string       `json:"image,omitempty"`
	Listeners       []Listener   `json:"listeners,omitempty"`
	Config          Config       `json:"config,omitempty"`
	JvmOptions      *JvmOptions  `json:"jvmOptions,omitempty"`
	Template        NodeTemplate `json:"template,omitempty"`
}

// Listener is one way for clients to connect.
type Listener struct {
	Name string `json:"name"`
	Port int32  `json:"port"`
	Type string `json:"type"`
	TLS  bool   `json:"tls"`
}

// EntityOperator asks for the operators that run beside one Kafka cluster.
type EntityOperator struct {
	TopicOperator *TopicOperator         `json:"topicOperator,omitempty"`
	Template      EntityOperatorTemplate `json:"template,omitempty"`
}

// TopicOperator asks for KafkaTopics to be served.
type TopicOperator struct {
	// ReconciliationIntervalMs is the time between two looks at every topic; 120000 when absent.
	ReconciliationIntervalMs *int64 `json:"reconciliationIntervalMs,omitempty"`
}

// EntityOperatorTemplate holds the environment by which the topic operator is tuned.
type EntityOperatorTemplate struct {
	TopicOperatorContainer ContainerTemplate `json:"topicOperatorContainer,omitempty"`
}

// KafkaStatus is what Strimzi reports of a cluster.
type KafkaStatus struct {
	Conditions                    []Condition      `json:"conditions,omitempty"`
	ObservedGeneration            int64            `json:"observedGeneration,omitempty"`
	Listeners                     []ListenerStatus `json:"listeners,omitempty"`
	KafkaNodePools                []NodePoolRef    `json:"kafkaNodePools,omitempty"`
	ClusterID                     string           `json:"clusterId,omitempty"`
	OperatorLastSuccessfulVersion string           `json:"operatorLastSuccessfulVersion,omitempty"`
	KafkaVersion                  string           `json:"kafkaVersion,omitempty"`
	KafkaMetadataVersion          string           `json:"kafkaMetadataVersion,omitempty"`
}

// ListenerStatus says how to reach a listener.
type ListenerStatus struct {
	Name             string            `json:"name,omitempty"`
	Addresses        []ListenerAddress `json:"addresses,omitempty"`
	BootstrapServers string            `json:"bootstrapServers,omitempty"`
}

// ListenerAddress is one host and port of a listener.
type ListenerAddress struct {
	Host string `json:"host,omitempty"`
	Port int32  `json:"port,omitempty"`
}

// NodePoolRef names a pool that is part of the cluster.
type NodePoolRef struct {
	Name string `json:"name,omitempty"`
}
