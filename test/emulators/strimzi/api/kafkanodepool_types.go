// SPDX-License-Identifier: Apache-2.0

package api

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Roles of the nodes in a pool.
const (
	RoleController = "controller"
	RoleBroker     = "broker"
)

// Types of storage.
const (
	StorageEphemeral       = "ephemeral"
	StoragePersistentClaim = "persistent-claim"
	StorageJBOD            = "jbod"
)

// KafkaNodePool is a set of identical nodes of one Kafka cluster.
//
// +kubebuilder:object:root=true
type KafkaNodePool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   KafkaNodePoolSpec   `json:"spec,omitempty"`
	Status KafkaNodePoolStatus `json:"status,omitempty"`
}

// KafkaNodePoolList is a list of KafkaNodePool.
//
// +kubebuilder:object:root=true
type KafkaNodePoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []KafkaNodePool `json:"items"`
}

// KafkaNodePoolSpec is the desired state of a pool.
type KafkaNodePoolSpec struct {
	Replicas   int32                       `json:"replicas"`
	Roles      []string                    `json:"roles"`
	Storage    Storage                     `json:"storage"`
	Resources  corev1.ResourceRequirements `json:"resources,omitempty"`
	JvmOptions *JvmOptions                 `json:"jvmOptions,omitempty"`
	Template   *NodeTemplate               `json:"template,omitempty"`
}

// Storage is one volume, or a list of them when the type is jbod.
type Storage struct {
	StorageVolume `json:",inline"`
	Volumes       []StorageVolume `json:"volumes,omitempty"`
}

// StorageVolume is one disk of a node.
type StorageVolume struct {
	ID            *int32 `json:"id,omitempty"`
	Type          string `json:"type"`
	Size          string `json:"size,omitempty"`
	SizeLimit     string `json:"sizeLimit,omitempty"`
	Class         string `json:"class,omitempty"`
	DeleteClaim   bool   `json:"deleteClaim,omitempty"`
	KraftMetadata string `json:"kraftMetadata,omitempty"`
}

// KafkaNodePoolStatus is the status that Strimzi reports of a pool. It does not show readiness.
type KafkaNodePoolStatus struct {
	Conditions         []Condition `json:"conditions,omitzero"` // Written out if empty.
	ObservedGeneration int64       `json:"observedGeneration,omitempty"`
	NodeIDs            []int32     `json:"nodeIds,omitempty"`
	ClusterID          string      `json:"clusterId,omitempty"`
	Roles              []string    `json:"roles,omitempty"`
	Replicas           int32       `json:"replicas,omitempty"`
	LabelSelector      string      `json:"labelSelector,omitempty"`
}
