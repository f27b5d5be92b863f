// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// Arm is one configuration to compare: the system with some settings changed.
type Arm struct {
	// name of the arm, for example two-partitions.
	// +required
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?$')",message="an arm's name may have lower-case letters, digits and '-': for example two-partitions"
	Name string `json:"name"`

	// baseline marks the arm the others are compared to. Exactly one arm is it.
	// +optional
	Baseline bool `json:"baseline,omitempty"`

	// set changes the system for this arm. Absent: the system as it is.
	// +optional
	Set *SystemSet `json:"set,omitempty"`
}

// SystemSet is a partial System: what is given replaces, what is absent stays.
type SystemSet struct {
	// kafka settings to change.
	// +optional
	Kafka *KafkaSet `json:"kafka,omitempty"`

	// postgres settings to change.
	// +optional
	Postgres *PostgresSet `json:"postgres,omitempty"`

	// modules to change, by name; "*" means every module and is applied first.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=128
	Modules []ModuleSet `json:"modules,omitempty"`
}

// KafkaSet is a partial Kafka.
type KafkaSet struct {
	// version replaces the version of Kafka.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Version string `json:"version,omitempty"`

	// brokers replaces the declaration of the brokers.
	// +optional
	Brokers *KafkaNodes `json:"brokers,omitempty"`

	// controllers replaces the declaration of the controllers.
	// +optional
	Controllers *KafkaNodes `json:"controllers,omitempty"`

	// config adds or replaces single broker settings.
	// +optional
	// +kubebuilder:validation:MaxProperties=128
	Config map[string]string `json:"config,omitempty"`

	// topics changes topic groups by their name.
	// +optional
	// +listType=map
	// +listMapKey=group
	// +kubebuilder:validation:MaxItems=32
	Topics []TopicGroupSet `json:"topics,omitempty"`
}

// TopicGroupSet is a partial TopicGroup.
type TopicGroupSet struct {
	// group to change.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	Group string `json:"group"`

	// partitions replaces the number of partitions.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self >= 1 && self <= 10000",message="partitions must be from 1 to 10000"
	Partitions *int32 `json:"partitions,omitempty"`

	// replicas replaces the number of replicas.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self >= 1 && self <= 100",message="topic replicas must be from 1 to 100"
	Replicas *int32 `json:"replicas,omitempty"`

	// config adds or replaces single topic settings.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Config map[string]string `json:"config,omitempty"`
}

// PostgresSet is a partial Postgres.
type PostgresSet struct {
	// instances replaces the number of servers.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self >= 1 && self <= 16",message="postgres.instances must be from 1 to 16: one primary and up to 15 replicas"
	Instances *int32 `json:"instances,omitempty"`

	// readWriteSplit replaces the read/write split.
	// +optional
	ReadWriteSplit *ReadWriteSplit `json:"readWriteSplit,omitempty"`

	// parameters adds or replaces single PostgreSQL settings.
	// +optional
	// +kubebuilder:validation:MaxProperties=128
	Parameters map[string]string `json:"parameters,omitempty"`
}

// ModuleSet is a partial Module.
type ModuleSet struct {
	// name of the module to change, or "*" for all.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	Name string `json:"name"`

	// image replaces the image.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`

	// replicas replaces the number of pods.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self >= 1 && self <= 100",message="replicas of a module must be from 1 to 100"
	Replicas *int32 `json:"replicas,omitempty"`

	// resources replaces the resources.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

	// jvm replaces heap, metaspace and options one by one: a heap given here
	// replaces the whole heap, so that size and percentage never meet.
	// +optional
	JVM *JVM `json:"jvm,omitempty"`

	// env adds or replaces single variables by name.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=128
	Env []corev1.EnvVar `json:"env,omitempty"`
}
