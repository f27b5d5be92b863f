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
// +kubebuilder:validation:XValidation:rule="self.loads.exists(l, !has(l.after) && (!has(l.startAfter) || !l.startAfter.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') || duration(l.startAfter) == duration('0s')))",message="every load of the scenario has a startAfter or an after: remove it from the one that begins the scenario, because the others' delays count from its start"
// +kubebuilder:validation:XValidation:rule="self.loads.all(l, !has(l.after) || self.loads.exists(o, o.name == l.after && o.name != l.name && !has(o.until)))",message="a load's after must name another load of the same scenario that ends by itself"
// +kubebuilder:validation:XValidation:rule="!has(self.capacity) || !has(self.faults)",message="a scenario has either a capacity or faults: write another scenario for one of them"
// +kubebuilder:validation:XValidation:rule="!has(self.faults) || self.faults.all(f, !has(f.load) || self.loads.exists(l, l.name == f.load))",message="a fault's load must name a load of the same scenario"
type Scenario struct {
	// name of the scenario, for example cico-8.
	// +required
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?$')",message="a scenario's name may have lower-case letters, digits and '-': for example cico-8"
	Name string `json:"name"`

	// loads of the scenario. They start together unless startAfter delays them.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Loads []Load `json:"loads"`

	// capacity finds how much of a load each arm takes, instead of comparing
	// response times.
	// +optional
	Capacity *Capacity `json:"capacity,omitempty"`

	// faults disturb the system while the loads run, one after another.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=4
	Faults []Fault `json:"faults,omitempty"`
}

// Load is one k6 test inside a scenario.
//
// +kubebuilder:validation:XValidation:rule="[has(self.checkInCheckOut), has(self.dataImport), has(self.elsewhere), has(self.script)].filter(x, x).size() == 1",message="a load needs exactly one of checkInCheckOut, dataImport and script"
// +kubebuilder:validation:XValidation:rule="!has(self.script) || !has(self.duration)",message="a script defines its own duration: remove duration, and write for example script.arguments: [--duration, 30m]"
// +kubebuilder:validation:XValidation:rule="!has(self.checkInCheckOut) || has(self.duration) != has(self.until)",message="a checkInCheckOut load needs exactly one of duration (for example 30m) and until (the name of a load that ends by itself)"
// +kubebuilder:validation:XValidation:rule="!has(self.dataImport) || (!has(self.duration) && !has(self.until))",message="a dataImport load ends when its imports are done: remove duration and until"
// +kubebuilder:validation:XValidation:rule="!has(self.dataImport) || !has(self.parallelism) || self.parallelism == 1",message="a dataImport load runs in one k6 runner: remove parallelism or set it to 1"
// +kubebuilder:validation:XValidation:rule="!has(self.checkInCheckOut) || !has(self.parallelism) || self.parallelism <= self.checkInCheckOut.users",message="parallelism is larger than checkInCheckOut.users: every k6 runner needs at least one user"
// +kubebuilder:validation:XValidation:rule="!has(self.checkInCheckOut) || !has(self.duration) || !has(self.checkInCheckOut.rampUp) || !self.duration.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') || !self.checkInCheckOut.rampUp.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') || duration(self.checkInCheckOut.rampUp) < duration(self.duration)",message="checkInCheckOut.rampUp must be shorter than the load's duration"
// +kubebuilder:validation:XValidation:rule="!has(self.elsewhere) || !(has(self.after) || has(self.startAfter) || has(self.duration) || has(self.until) || has(self.parallelism))",message="a load with elsewhere is finished: remove after, startAfter, duration, until and parallelism"
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

	// elsewhere is a load that another tool ran: a record from perflab convert,
	// which can't be run.
	// +optional
	Elsewhere *Elsewhere `json:"elsewhere,omitempty"`

	// script is any k6 script.
	// +optional
	Script *Script `json:"script,omitempty"`

	// after starts this load when the named load of the same scenario has
	// ended. Use it to measure several imports separately.
	// +optional
	// +kubebuilder:validation:MaxLength=24
	After string `json:"after,omitempty"`

	// startAfter delays the load's start from the scenario's start or, with
	// after, from that load's end. Default 0s.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('0s')",message="write a duration with its unit: for example 500ms, 30s, 5m or 1h30m",messageExpression="'write a duration with its unit: for example 500ms, 30s, 5m or 1h30m' + (self.matches('^[0-9]+([.][0-9]+)?$') ? '; if seconds are meant, write ' + self + 's' : '')"
	StartAfter *metav1.Duration `json:"startAfter,omitempty"`

	// duration of the load, ramp-up included. Example: 30m.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('0s')",message="write a duration with its unit: for example 500ms, 30s, 5m or 1h30m",messageExpression="'write a duration with its unit: for example 500ms, 30s, 5m or 1h30m' + (self.matches('^[0-9]+([.][0-9]+)?$') ? '; if seconds are meant, write ' + self + 's' : '')"
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
