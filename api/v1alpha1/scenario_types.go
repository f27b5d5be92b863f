// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Scenario is one workload: loads on a timeline. Arms are compared within a
// scenario, never across.
//
// +kubebuilder:validation:XValidation:rule="self.loads.all(l, !has(l.until) || self.loads.exists(o, o.name == l.until && o.name != l.name && !has(o.until)))",message="a load's until must name another load of the same scenario that ends by itself"
// +kubebuilder:validation:XValidation:rule="self.loads.exists(l, !has(l.startAfter) || !l.startAfter.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') || duration(l.startAfter) == duration('0s'))",message="every load of the scenario has a startAfter: take it out of the one that begins the scenario, the others' delays count from its start"
type Scenario struct {
	// name of the scenario, for example cico-8.
	// +required
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?$')",message="a scenario's name may have lower-case letters, digits and '-': for example cico-8"
	Name string `json:"name"`

	// loads of the scenario. They start together unless startAfter says
	// otherwise.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Loads []Load `json:"loads"`
}

// Load is one k6 test inside a scenario.
//
// +kubebuilder:validation:XValidation:rule="has(self.checkInCheckOut) != has(self.dataImport)",message="a load needs exactly one of checkInCheckOut and dataImport"
// +kubebuilder:validation:XValidation:rule="!has(self.checkInCheckOut) || has(self.duration) != has(self.until)",message="a checkInCheckOut load needs exactly one of duration (for example 30m) and until (the name of a load that ends by itself)"
// +kubebuilder:validation:XValidation:rule="!has(self.dataImport) || (!has(self.duration) && !has(self.until))",message="a dataImport load ends when its imports are done: take out duration and until"
// +kubebuilder:validation:XValidation:rule="!has(self.dataImport) || !has(self.parallelism) || self.parallelism == 1",message="a dataImport load runs in one k6 runner: take out parallelism or set it to 1"
// +kubebuilder:validation:XValidation:rule="!has(self.checkInCheckOut) || !has(self.parallelism) || self.parallelism <= self.checkInCheckOut.users",message="parallelism is larger than checkInCheckOut.users: every k6 runner needs at least one user"
// +kubebuilder:validation:XValidation:rule="!has(self.checkInCheckOut) || !has(self.duration) || !has(self.checkInCheckOut.rampUp) || !self.duration.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') || !self.checkInCheckOut.rampUp.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') || duration(self.checkInCheckOut.rampUp) < duration(self.duration)",message="checkInCheckOut.rampUp must be shorter than the load's duration"
type Load struct {
	// name of the load, for example cico. It is the first part of its metrics'
	// names: cico/Check-In/p95.
	// +required
	// +kubebuilder:validation:MaxLength=24
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?$')",message="a load's name may have lower-case letters, digits and '-': for example create-5k"
	Name string `json:"name"`

	// checkInCheckOut lets users check library items in and out.
	// +optional
	CheckInCheckOut *CheckInCheckOut `json:"checkInCheckOut,omitempty"`

	// dataImport imports files of MARC records.
	// +optional
	DataImport *DataImport `json:"dataImport,omitempty"`

	// startAfter delays the load's start from the scenario's start. Default 0s.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$')",message="write a duration with its unit: for example 500ms, 30s, 5m or 1h30m"
	StartAfter *metav1.Duration `json:"startAfter,omitempty"`

	// duration of the load, ramp-up included. Example: 30m.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$')",message="write a duration with its unit: for example 500ms, 30s, 5m or 1h30m"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') || duration(self) > duration('0s')",message="a load must last longer than 0s"
	Duration *metav1.Duration `json:"duration,omitempty"`

	// until ends this load when the named load of the same scenario has ended.
	// +optional
	// +kubebuilder:validation:MaxLength=24
	Until string `json:"until,omitempty"`

	// parallelism is the number of k6 runner pods that share the load.
	// Default 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	Parallelism *int32 `json:"parallelism,omitempty"`

	// resources of each runner pod.
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitempty"`
}

// CheckInCheckOut lets users check library items in and out, each user one
// transaction after another with think time between.
type CheckInCheckOut struct {
	// users is the number of concurrent users over all runners.
	// +required
	// +kubebuilder:validation:XValidation:rule="self >= 1 && self <= 10000",message="checkInCheckOut.users must be from 1 to 10000"
	Users int32 `json:"users"`

	// rampUp is the time over which the users start. Default 0s.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$')",message="write a duration with its unit: for example 500ms, 30s, 5m or 1h30m"
	RampUp *metav1.Duration `json:"rampUp,omitempty"`

	// thinkTime is the mean pause of a user per transaction. Default 4s.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$')",message="write a duration with its unit: for example 500ms, 30s, 5m or 1h30m"
	ThinkTime *metav1.Duration `json:"thinkTime,omitempty"`

	// checkInPercent is the share of check-ins among the transactions.
	// Default 43.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	CheckInPercent *int32 `json:"checkInPercent,omitempty"`
}

// RecordType is the kind of MARC record an import holds.
// +kubebuilder:validation:Enum=Bibliographic
type RecordType string

// ImportOperation says what an import does with its records.
// +kubebuilder:validation:Enum=Create
type ImportOperation string

// DataImport imports files of generated MARC 21 records, one after another.
type DataImport struct {
	// recordType of the file. Default Bibliographic.
	// +optional
	// +kubebuilder:default=Bibliographic
	RecordType RecordType `json:"recordType,omitempty"`

	// operation on the records. Default Create.
	// +optional
	// +kubebuilder:default=Create
	Operation ImportOperation `json:"operation,omitempty"`

	// jobProfile is the name of the job profile. Default "PTF - Create 2".
	// +optional
	// +kubebuilder:default="PTF - Create 2"
	// +kubebuilder:validation:MaxLength=128
	JobProfile string `json:"jobProfile,omitempty"`

	// records in each file.
	// +required
	// +kubebuilder:validation:XValidation:rule="self >= 1 && self <= 1000000",message="dataImport.records must be from 1 to 1000000"
	Records int32 `json:"records"`

	// imports is the number of files, imported one after another. Default 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Imports int32 `json:"imports,omitempty"`

	// pause between two imports. Default 0s.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$')",message="write a duration with its unit: for example 500ms, 30s, 5m or 1h30m"
	Pause *metav1.Duration `json:"pause,omitempty"`

	// stallTimeout ends an import whose progress does not move. Default 5m.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$')",message="write a duration with its unit: for example 500ms, 30s, 5m or 1h30m"
	StallTimeout *metav1.Duration `json:"stallTimeout,omitempty"`
}
