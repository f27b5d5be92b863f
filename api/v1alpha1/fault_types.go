// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// Fault disturbs the system while loads run. Its cost is measured against the
// undisturbed time of the same run: LOAD/lostTime@fault-NAME and
// LOAD/excessErrors@fault-NAME, among others. In a scenario with faults, metrics
// without a window count until the first fault begins.
//
// +kubebuilder:validation:XValidation:rule="[has(self.kill), has(self.restart), has(self.switchover), has(self.partitions), has(self.resource)].filter(x, x).size() == 1",message="a fault needs exactly one of kill, restart, switchover, partitions and resource"
type Fault struct {
	// name of the fault, for example primary-lost. It is part of its metrics'
	// names.
	// +required
	// +kubebuilder:validation:MaxLength=24
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?$')",message="a fault's name may have lower-case letters, digits and '-': for example primary-lost"
	Name string `json:"name"`

	// load from whose start the fault's time counts. Default: the scenario's
	// start.
	// +optional
	// +kubebuilder:validation:MaxLength=24
	Load string `json:"load,omitempty"`

	// after is the earliest time of the fault. Example: 3m.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('0s')",message="write a duration with its unit: for example 500ms, 30s, 5m or 1h30m",messageExpression="'write a duration with its unit: for example 500ms, 30s, 5m or 1h30m' + (self.matches('^[0-9]+([.][0-9]+)?$') ? '; if seconds are meant, write ' + self + 's' : '')"
	After metav1.Duration `json:"after"`

	// within makes the time random, from after to after and within; all arms of a
	// block have the same. Default 0s.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('0s')",message="write a duration with its unit: for example 500ms, 30s, 5m or 1h30m",messageExpression="'write a duration with its unit: for example 500ms, 30s, 5m or 1h30m' + (self.matches('^[0-9]+([.][0-9]+)?$') ? '; if seconds are meant, write ' + self + 's' : '')"
	Within *metav1.Duration `json:"within,omitempty"`

	// observe is the time from the fault's begin in which its cost is measured.
	// Default 1m.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('0s')",message="write a duration with its unit: for example 500ms, 30s, 5m or 1h30m",messageExpression="'write a duration with its unit: for example 500ms, 30s, 5m or 1h30m' + (self.matches('^[0-9]+([.][0-9]+)?$') ? '; if seconds are meant, write ' + self + 's' : '')"
	Observe *metav1.Duration `json:"observe,omitempty"`

	// objective is the longest response time of a transaction that counts as done:
	// in lostTime and recoveryTime, slower ones are missing like failed ones.
	// Default 0s: any response time is. Example: 500ms.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('0s')",message="write a duration with its unit: for example 500ms, 30s, 5m or 1h30m",messageExpression="'write a duration with its unit: for example 500ms, 30s, 5m or 1h30m' + (self.matches('^[0-9]+([.][0-9]+)?$') ? '; if seconds are meant, write ' + self + 's' : '')"
	Objective *metav1.Duration `json:"objective,omitempty"`

	// kill deletes pods.
	// +optional
	Kill *KillFault `json:"kill,omitempty"`

	// restart replaces the pods of a component one after another, also by those of
	// another image.
	// +optional
	Restart *RestartFault `json:"restart,omitempty"`

	// switchover makes a replica the primary of its component.
	// +optional
	Switchover *SwitchoverFault `json:"switchover,omitempty"`

	// partitions adds partitions to the topics of a group.
	// +optional
	Partitions *PartitionsFault `json:"partitions,omitempty"`

	// resource creates a custom resource, for example Chaos Mesh's NetworkChaos.
	// +optional
	Resource *ResourceFault `json:"resource,omitempty"`
}

// KillFault deletes pods of one component that PerfLab built.
//
// +kubebuilder:validation:XValidation:rule="[has(self.module), has(self.postgres), has(self.kafka)].filter(x, x).size() == 1",message="kill needs exactly one of module, postgres and kafka"
type KillFault struct {
	// module whose pods are deleted.
	// +optional
	// +kubebuilder:validation:MaxLength=50
	Module string `json:"module,omitempty"`

	// postgres is the role of the instance: Primary or Replica.
	// +optional
	Postgres PostgresRole `json:"postgres,omitempty"`

	// kafka is the role of the node: Broker, or Controller for the active
	// controller.
	// +optional
	Kafka KafkaRole `json:"kafka,omitempty"`

	// pods is the number of pods, which are chosen at random. Default 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=16
	Pods *int32 `json:"pods,omitempty"`

	// wholeNode also kills all other pods of the system on the nodes of these pods:
	// a lost node, or with a gracePeriod a drained one. The node itself stays
	// schedulable. Default false.
	// +optional
	WholeNode bool `json:"wholeNode,omitempty"`

	// gracePeriod that containers have to end by themselves, in whole seconds.
	// Default 0s: they are killed.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('0s')",message="write a duration with its unit: for example 500ms, 30s, 5m or 1h30m",messageExpression="'write a duration with its unit: for example 500ms, 30s, 5m or 1h30m' + (self.matches('^[0-9]+([.][0-9]+)?$') ? '; if seconds are meant, write ' + self + 's' : '')"
	GracePeriod *metav1.Duration `json:"gracePeriod,omitempty"`
}

// RestartFault is a rolling restart of one component that PerfLab built.
//
// +kubebuilder:validation:XValidation:rule="[has(self.module), has(self.postgres), has(self.kafka)].filter(x, x).size() == 1",message="restart needs exactly one of module, postgres and kafka"
// +kubebuilder:validation:XValidation:rule="!has(self.image) || has(self.module)",message="image is that of a module: write postgres.image"
// +kubebuilder:validation:XValidation:rule="!has(self.memory) || has(self.module)",message="memory is that of a module: name the module"
type RestartFault struct {
	// module whose pods are replaced by a rolling update.
	// +optional
	// +kubebuilder:validation:MaxLength=50
	Module string `json:"module,omitempty"`

	// image that the module's pods run afterwards: an upgrade. Default: the same
	// as before.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`

	// memory is the limit that the module's container has afterwards, for example
	// 300Mi. It is below the declared limit, and lowers a higher request. All pods
	// are replaced at once. Default: the same as before.
	// +optional
	Memory *resource.Quantity `json:"memory,omitempty"`

	// postgres restarts all instances, as CloudNativePG does it.
	// +optional
	Postgres *PostgresRestart `json:"postgres,omitempty"`

	// kafka restarts brokers and controllers, as Strimzi does it.
	// +optional
	Kafka *KafkaRestart `json:"kafka,omitempty"`
}

// KafkaRestart restarts the brokers and controllers of Kafka.
type KafkaRestart struct {
	// version that the nodes run afterwards: an upgrade. Strimzi must support it.
	// Default: the same as before.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	Version string `json:"version,omitempty"`
}

// PostgresRestart restarts the instances of PostgreSQL.
type PostgresRestart struct {
	// image that the instances run afterwards: an upgrade to another minor
	// version. Default: the same as before.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`
}

// SwitchoverFault is a planned change of the primary.
type SwitchoverFault struct {
	// postgres asks CloudNativePG to promote a replica, chosen at random.
	// +required
	Postgres *PostgresSwitchover `json:"postgres"`
}

// PostgresSwitchover has no settings.
type PostgresSwitchover struct{}

// PartitionsFault adds partitions to topics of a Kafka that PerfLab built. When
// the run has ended, the topics are deleted, so that the next run creates them as
// declared.
type PartitionsFault struct {
	// group of the topics, as in system.kafka.topics.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Group string `json:"group"`

	// count of partitions that each topic has afterwards: more than declared.
	// +required
	// +kubebuilder:validation:Minimum=2
	// +kubebuilder:validation:Maximum=9999
	Count int32 `json:"count"`
}

// ResourceFault creates a custom resource in the experiment's namespace, and
// deletes it at the end. It is created with the rights of
// spec.serviceAccountName, which may create, patch and delete it.
type ResourceFault struct {
	// manifest of the resource: apiVersion, kind, spec, and labels or annotations
	// under metadata. PerfLab sets its name and namespace.
	// +required
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	Manifest runtime.RawExtension `json:"manifest"`

	// begun is the sign that the fault has started.
	// +required
	Begun FaultSign `json:"begun"`

	// over is the sign that the fault has ended. Default: the resource is gone.
	// +optional
	Over *FaultSign `json:"over,omitempty"`

	// duration from the fault's begin, after which the resource is deleted.
	// Default: observe.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('0s')",message="write a duration with its unit: for example 500ms, 30s, 5m or 1h30m",messageExpression="'write a duration with its unit: for example 500ms, 30s, 5m or 1h30m' + (self.matches('^[0-9]+([.][0-9]+)?$') ? '; if seconds are meant, write ' + self + 's' : '')"
	Duration *metav1.Duration `json:"duration,omitempty"`
}

// FaultSign is what the status of a resource says.
//
// +kubebuilder:validation:XValidation:rule="has(self.condition) != has(self.field)",message="a sign needs exactly one of condition and field"
// +kubebuilder:validation:XValidation:rule="has(self.field) == has(self.value)",message="a field needs a value, and a value a field: for example field: status.engineStatus and value: initialized"
type FaultSign struct {
	// condition of status.conditions that is True, for example AllInjected.
	// +optional
	// +kubebuilder:validation:MaxLength=316
	Condition string `json:"condition,omitempty"`

	// field is the path of a text, for example status.engineStatus.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.matches('^status([.][A-Za-z0-9_-]+)+$')",message="write the path of a field of the status: for example status.engineStatus"
	Field string `json:"field,omitempty"`

	// value of the field, for example initialized.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Value string `json:"value,omitempty"`
}

// PostgresRole is the role of an instance of PostgreSQL.
// +kubebuilder:validation:Enum=Primary;Replica
type PostgresRole string

const (
	// PostgresPrimary is the instance that writes.
	PostgresPrimary PostgresRole = "Primary"
	// PostgresReplica is an instance that follows the primary.
	PostgresReplica PostgresRole = "Replica"
)

// KafkaRole is the role of a node of Kafka.
// +kubebuilder:validation:Enum=Broker;Controller
type KafkaRole string

const (
	// KafkaBroker is any broker.
	KafkaBroker KafkaRole = "Broker"
	// KafkaController is the active controller, which in ZooKeeper mode is a broker.
	KafkaController KafkaRole = "Controller"
)

// RunFault is what happened at a fault of a run.
type RunFault struct {
	// name of the fault.
	// +kubebuilder:validation:MaxLength=24
	Name string `json:"name"`

	// due is when the fault had to begin.
	Due metav1.MicroTime `json:"due"`

	// targets are the pods that the fault kills, or the replica that it promotes,
	// chosen before it begins.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Targets []FaultTarget `json:"targets,omitempty"`

	// candidates is the number of pods from which the targets were drawn. With
	// wholeNode, it is that of all pods of the system.
	// +optional
	Candidates int32 `json:"candidates,omitempty"`

	// attempted is whether the operator has started to add partitions.
	// +optional
	Attempted bool `json:"attempted,omitempty"`

	// resource that the fault creates.
	// +optional
	// +structType=atomic
	Resource *FaultResource `json:"resource,omitempty"`

	// begin is when the API server had accepted the fault, or when the resource was
	// seen to have started it.
	// +optional
	Begin *metav1.MicroTime `json:"begin,omitempty"`

	// ready is when the component was first seen with as many ready pods as
	// before, and the replica that the fault promotes as the primary; with
	// partitions, when brokers lead all of them.
	// +optional
	Ready *metav1.MicroTime `json:"ready,omitempty"`

	// over is when the resource was seen to have ended its fault, or to be gone.
	// +optional
	Over *metav1.MicroTime `json:"over,omitempty"`

	// gone is whether nothing is left to remove of the fault.
	// +optional
	Gone bool `json:"gone,omitempty"`

	// end is when the fault's observation ends.
	// +optional
	End *metav1.MicroTime `json:"end,omitempty"`

	// replacements are pods that came until the end. If one of them goes later,
	// that counts as a restart.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Replacements []FaultTarget `json:"replacements,omitempty"`

	// restarts is the number of restarts, of all components, from begin to end.
	// They follow from the fault, and don't count for validity.maxRestarts.
	// +optional
	Restarts int32 `json:"restarts,omitempty"`

	// earlierRestarts is the number of restarts before begin that follow from no
	// fault.
	// +optional
	EarlierRestarts int32 `json:"earlierRestarts,omitempty"`
}

// FaultResource identifies the custom resource of a fault.
type FaultResource struct {
	// apiVersion of the resource.
	// +kubebuilder:validation:MaxLength=316
	APIVersion string `json:"apiVersion"`

	// kind of the resource.
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind"`

	// name of the resource.
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// uid identifies the resource.
	// +optional
	UID types.UID `json:"uid,omitempty"`
}

// FaultTarget is a pod that a fault strikes.
type FaultTarget struct {
	// pod is its name.
	// +kubebuilder:validation:MaxLength=253
	Pod string `json:"pod"`

	// uid identifies the pod.
	UID types.UID `json:"uid"`

	// node that ran it.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Node string `json:"node,omitempty"`
}
