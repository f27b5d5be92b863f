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

	// displayName is the arm's name in reports, for example "Two partitions".
	// Default: its name.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=60
	DisplayName string `json:"displayName,omitempty"`

	// baseline marks the arm that others are compared with. Exactly one arm has
	// it.
	// +optional
	Baseline bool `json:"baseline,omitempty"`

	// set changes the system for this arm. Absent: no change.
	// +optional
	Set *SystemSet `json:"set,omitempty"`
}

// SystemSet is a partial System: present fields replace, absent fields stay.
type SystemSet struct {
	// kafka settings to change.
	// +optional
	Kafka *KafkaSet `json:"kafka,omitempty"`

	// postgres settings to change.
	// +optional
	Postgres *PostgresSet `json:"postgres,omitempty"`

	// modules to change. Settings for every module ("*") are applied first,
	// then those for several (names), then those for one (name).
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=128
	Modules []ModuleSet `json:"modules,omitempty"`

	// patches are applied after those of the system.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Patches []Patch `json:"patches,omitempty"`
}

// KafkaSet is a partial Kafka.
type KafkaSet struct {
	// mode replaces where metadata is kept.
	// +optional
	Mode KafkaMode `json:"mode,omitempty"`

	// version replaces Kafka's version.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Version string `json:"version,omitempty"`

	// brokers replaces the declaration of the brokers.
	// +optional
	Brokers *KafkaNodes `json:"brokers,omitempty"`

	// controllers replaces the declaration of the controllers.
	// +optional
	Controllers *KafkaNodes `json:"controllers,omitempty"`

	// zooKeeper replaces the declaration of ZooKeeper's nodes.
	// +optional
	ZooKeeper *KafkaNodes `json:"zooKeeper,omitempty"`

	// external replaces the address of existing brokers.
	// +optional
	External *ExternalKafka `json:"external,omitempty"`

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

	// image replaces the image of the server.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`

	// external replaces the address of an existing server.
	// +optional
	External *ExternalPostgres `json:"external,omitempty"`

	// pooler replaces the pooler.
	// +optional
	Pooler *Pooler `json:"pooler,omitempty"`

	// resources replaces the resources of each instance.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

	// placement replaces the placement of the instances.
	// +optional
	Placement *Placement `json:"placement,omitempty"`

	// parameters adds or replaces single PostgreSQL settings.
	// +optional
	// +kubebuilder:validation:MaxProperties=128
	Parameters map[string]string `json:"parameters,omitempty"`
}

// ModuleSet is a partial Module.
//
// +kubebuilder:validation:XValidation:rule="has(self.name) != has(self.names)",message="an arm's module setting needs exactly one of name (one module, or \"*\" for all) and names (a list)"
type ModuleSet struct {
	// name of the module to change, or "*" for all.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	Name string `json:"name,omitempty"`

	// names of the modules to change.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=128
	// +kubebuilder:validation:items:MaxLength=40
	Names []string `json:"names,omitempty"`

	// image replaces the image.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`

	// replicas replaces the number of pods.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self >= 0 && self <= 100",message="replicas of a module must be from 0 to 100"
	Replicas *int32 `json:"replicas,omitempty"`

	// resources replaces the resources.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

	// requests replaces single requests of the resources, for example the cpu of
	// all modules.
	// +optional
	Requests corev1.ResourceList `json:"requests,omitempty"`

	// jvm replaces heap, metaspace and options one by one. It replaces the
	// whole heap, so that a size and a percentage never combine.
	// +optional
	JVM *JVM `json:"jvm,omitempty"`

	// placement replaces the placement.
	// +optional
	Placement *Placement `json:"placement,omitempty"`

	// env adds or replaces single variables by name.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=128
	Env []corev1.EnvVar `json:"env,omitempty"`
}

// Matrix makes one arm of every combination of its factors' levels.
type Matrix struct {
	// factors that vary.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=6
	Factors []Factor `json:"factors"`

	// exclude omits combinations. Each entry names levels by factor and omits
	// combinations that have all of them.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Exclude []map[string]string `json:"exclude,omitempty"`
}

// Factor is one setting that a matrix varies.
type Factor struct {
	// name of the factor, for example partitions.
	// +required
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?$')",message="a factor's name may have lower-case letters, digits and '-': for example partitions"
	Name string `json:"name"`

	// displayName is the factor's name in reports, for example "Partitions of
	// data import". Default: its name.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=60
	DisplayName string `json:"displayName,omitempty"`

	// levels of the factor. The first is the baseline's, unless another has
	// baseline: true.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:XValidation:rule="size(self) >= 2",message="a factor needs two levels or more: with one level nothing varies; write it into the system instead"
	Levels []Level `json:"levels"`
}

// Level is one setting of a factor.
type Level struct {
	// name of the level, for example two. Arms are named after their levels,
	// joined by "-".
	// +required
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?$')",message="a level's name may have lower-case letters, digits and '-': for example two"
	Name string `json:"name"`

	// displayName is the level's name in reports, for example "two partitions".
	// Reports join the levels of an arm by " / ". Default: its name.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=60
	DisplayName string `json:"displayName,omitempty"`

	// baseline marks the level of the baseline arm.
	// +optional
	Baseline bool `json:"baseline,omitempty"`

	// set changes the system. Absent: no change.
	// +optional
	Set *SystemSet `json:"set,omitempty"`
}
