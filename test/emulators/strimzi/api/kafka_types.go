// SPDX-License-Identifier: Apache-2.0

package api

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Metadata states of a cluster in the status of v1beta2.
const (
	MetadataStateZooKeeper = "ZooKeeper"
	MetadataStateKRaft     = "KRaft"
)

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

// KafkaSpec is the desired state of a Kafka.
type KafkaSpec struct {
	Kafka     KafkaClusterSpec `json:"kafka,omitempty"`
	Zookeeper *ZookeeperSpec   `json:"zookeeper,omitempty"` // v1beta2
}

// KafkaClusterSpec has the settings of all nodes of the cluster.
type KafkaClusterSpec struct {
	Version         string       `json:"version,omitempty"`
	MetadataVersion string       `json:"metadataVersion,omitempty"`
	Image           string       `json:"image,omitempty"`
	Listeners       []Listener   `json:"listeners,omitempty"`
	Config          Config       `json:"config,omitempty"`
	JvmOptions      *JvmOptions  `json:"jvmOptions,omitempty"`
	Template        NodeTemplate `json:"template,omitempty"`

	// Brokers of a cluster without node pools; v1beta2.
	Replicas  int32                       `json:"replicas,omitempty"`
	Storage   *Storage                    `json:"storage,omitempty"`
	Resources corev1.ResourceRequirements `json:"resources,omitempty"`
}

// ZookeeperSpec is the ensemble of a cluster that does not run on KRaft.
type ZookeeperSpec struct {
	Replicas   int32                       `json:"replicas"`
	Image      string                      `json:"image,omitempty"`
	Storage    Storage                     `json:"storage"`
	Config     Config                      `json:"config,omitempty"`
	Resources  corev1.ResourceRequirements `json:"resources,omitempty"`
	JvmOptions *JvmOptions                 `json:"jvmOptions,omitempty"`
	Template   ZookeeperTemplate           `json:"template,omitempty"`
}

// ZookeeperTemplate holds the templates of a ZooKeeper node.
type ZookeeperTemplate struct {
	Pod                PodTemplate       `json:"pod,omitempty"`
	ZookeeperContainer ContainerTemplate `json:"zookeeperContainer,omitempty"`
}

// Listener is one way for clients to connect.
type Listener struct {
	Name string `json:"name"`
	Port int32  `json:"port"`
	Type string `json:"type"`
	TLS  bool   `json:"tls"`
}

// KafkaStatus is the status that Strimzi reports of a cluster.
type KafkaStatus struct {
	Conditions []Condition `json:"conditions,omitempty"`
	// ObservedGeneration is present in the first status, where it is 0.
	ObservedGeneration            *int64           `json:"observedGeneration,omitempty"`
	Listeners                     []ListenerStatus `json:"listeners,omitempty"`
	KafkaNodePools                []NodePoolRef    `json:"kafkaNodePools,omitempty"`
	ClusterID                     string           `json:"clusterId,omitempty"`
	ClusterSecurity               *ClusterSecurity `json:"clusterSecurity,omitempty"` // v1
	OperatorLastSuccessfulVersion string           `json:"operatorLastSuccessfulVersion,omitempty"`
	KafkaVersion                  string           `json:"kafkaVersion,omitempty"`
	KafkaMetadataVersion          string           `json:"kafkaMetadataVersion,omitempty"`
	KafkaMetadataState            string           `json:"kafkaMetadataState,omitempty"` // v1beta2
	RegisteredNodeIDs             []int32          `json:"registeredNodeIds,omitempty"`  // v1beta2
}

// ClusterSecurity is how the nodes of a cluster authenticate and encrypt.
type ClusterSecurity struct {
	Authentication SecurityType `json:"authentication,omitempty"`
	Encryption     SecurityType `json:"encryption,omitempty"`
}

// SecurityType is one part of a cluster's security.
type SecurityType struct {
	Type string `json:"type"`
}

// ListenerStatus has the addresses of a listener.
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
