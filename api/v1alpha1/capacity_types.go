// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Capacity finds the highest level of a load at which all objectives hold. Each
// run visits several levels: the first run of an arm the whole range, later ones
// levels around the arm's capacity. The result is the metric LOAD/capacity, one
// value per run.
//
// +kubebuilder:validation:XValidation:rule="!has(self.max) || self.min < self.max",message="capacity.min must be lower than capacity.max"
type Capacity struct {
	// load whose level changes. Default: the scenario's only load.
	// +optional
	// +kubebuilder:validation:MaxLength=24
	Load string `json:"load,omitempty"`

	// min is the lowest level: users of a checkInCheckOut load, or transactions
	// a minute of one with arrivals; records of a dataImport load, or imports at
	// the same time of one with parallel. For a script, it is the lowest target of
	// its stages.
	// +required
	// +kubebuilder:validation:XValidation:rule="self >= 1 && self <= 1000000",message="capacity.min must be from 1 to 1000000"
	Min int32 `json:"min"`

	// max is the highest level. Default: the users, or the arrivals per minute,
	// of the checkInCheckOut load; the parallel imports, or else the records, of
	// the dataImport load.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self >= 2 && self <= 1000000",message="capacity.max must be from 2 to 1000000"
	Max *int32 `json:"max,omitempty"`

	// levels is the number of levels in each run. Default 6.
	// +optional
	// +kubebuilder:validation:Minimum=4
	// +kubebuilder:validation:Maximum=12
	Levels *int32 `json:"levels,omitempty"`

	// step is the time at each level. Default: the load's duration without
	// measurement.warmUp, divided by levels. A script has no duration of its
	// own, so it needs a step; its stages are in the variable PERFLAB_STAGES.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('0s')",message="write a duration with its unit: for example 500ms, 30s, 5m or 1h30m",messageExpression="'write a duration with its unit: for example 500ms, 30s, 5m or 1h30m' + (self.matches('^[0-9]+([.][0-9]+)?$') ? '; if seconds are meant, write ' + self + 's' : '')"
	Step *metav1.Duration `json:"step,omitempty"`

	// settle is the time at the start of each step that is not measured.
	// Default: a third of the step.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('0s')",message="write a duration with its unit: for example 500ms, 30s, 5m or 1h30m",messageExpression="'write a duration with its unit: for example 500ms, 30s, 5m or 1h30m' + (self.matches('^[0-9]+([.][0-9]+)?$') ? '; if seconds are meant, write ' + self + 's' : '')"
	Settle *metav1.Duration `json:"settle,omitempty"`

	// required is the load that the system has to take, for example 100 users:
	// status.capacities and the report tell which arms take it. It does not
	// change the levels.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	Required *int32 `json:"required,omitempty"`

	// objectives that must hold at a level. One that is not measured at a level
	// makes the run invalid.
	// +required
	// +listType=map
	// +listMapKey=metric
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Objectives []Objective `json:"objectives"`
}

// Objective is a limit of a metric at each level.
//
// +kubebuilder:validation:XValidation:rule="has(self.max) != has(self.min)",message="an objective needs exactly one of max and min"
type Objective struct {
	// metric, for example cico/Check-In/p95 or postgres/primary/cpu/percentOfLimit.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Metric string `json:"metric"`

	// max is the highest value at which the objective holds, with its unit: 1s,
	// 500ms, 1%. Without a unit, the metric's.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^-?[0-9]+([.][0-9]+)? *[^0-9 ]*$')",message="write a number with an optional unit: for example 1s, 500ms, 1% or 0.8"
	Max string `json:"max,omitempty"`

	// min is the lowest value at which the objective holds.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^-?[0-9]+([.][0-9]+)? *[^0-9 ]*$')",message="write a number with an optional unit: for example 1s, 500ms, 1% or 0.8"
	Min string `json:"min,omitempty"`
}

// CapacityRequirement is whether an arm takes a required load.
// +kubebuilder:validation:Enum=Met;NotMet;Uncertain
type CapacityRequirement string

// Answers about a required load.
const (
	// RequirementMet means that the whole interval of the capacity is at or above the required
	// load.
	RequirementMet CapacityRequirement = "Met"
	// RequirementNotMet means that the whole interval is below it.
	RequirementNotMet CapacityRequirement = "NotMet"
	// RequirementUncertain means that the interval includes it, or that there is none yet.
	RequirementUncertain CapacityRequirement = "Uncertain"
)

// CapacitySide is where a run's capacity is relative to its levels.
// +kubebuilder:validation:Enum=Within;Below;Above
type CapacitySide string

const (
	// CapacityWithin means that a level held all objectives and a higher one did not.
	CapacityWithin CapacitySide = "Within"
	// CapacityBelow means that no level held all objectives.
	CapacityBelow CapacitySide = "Below"
	// CapacityAbove means that every level held all objectives.
	CapacityAbove CapacitySide = "Above"
)

// RunCapacity is the capacity that a run found.
type RunCapacity struct {
	// side is where the capacity is relative to the run's levels.
	Side CapacitySide `json:"side"`

	// value is the capacity as a decimal number. Below or above the levels, it
	// is at most one step away from them.
	// +kubebuilder:validation:MaxLength=64
	Value string `json:"value"`

	// coarse means that the levels are too far apart for more than a rough
	// value, as those of an arm's first run often are. The run chooses the levels
	// of later ones, and is in no comparison.
	// +optional
	Coarse bool `json:"coarse,omitempty"`

	// low is the highest level that held the objectives below the capacity;
	// 0 if none did.
	// +optional
	Low int32 `json:"low,omitempty"`

	// high is the lowest level above it that did not; 0 if all did.
	// +optional
	High int32 `json:"high,omitempty"`

	// limiting is the metric of the objective that limits the capacity.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Limiting string `json:"limiting,omitempty"`

	// nonMonotone means that a level clearly held the objectives above one that
	// clearly did not.
	// +optional
	NonMonotone bool `json:"nonMonotone,omitempty"`

	// levels are the run's levels in order of time.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=12
	Levels []CapacityLevel `json:"levels,omitempty"`
}

// CapacityLevel is what a run measured at one level.
type CapacityLevel struct {
	// level of the load.
	Level int32 `json:"level"`

	// start of the measured time.
	Start metav1.Time `json:"start"`

	// end of the measured time.
	End metav1.Time `json:"end"`

	// held reports whether all objectives did.
	Held bool `json:"held"`

	// observations of the objectives' metrics, of the load's transactions and
	// rates, and of servers' CPU.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Observations []Observation `json:"observations,omitempty"`
}

// ArmCapacity is the capacity of an arm in a scenario.
type ArmCapacity struct {
	// scenario with the capacity.
	// +kubebuilder:validation:MaxLength=512
	Scenario string `json:"scenario"`

	// arm of the runs.
	// +kubebuilder:validation:MaxLength=512
	Arm string `json:"arm"`

	// metric with the runs' values: LOAD/capacity.
	// +kubebuilder:validation:MaxLength=512
	Metric string `json:"metric"`

	// unit of value, low and high: users, or 1 for a script's levels.
	// +kubebuilder:validation:MaxLength=64
	Unit string `json:"unit"`

	// runs is the number of valid runs with levels close to the capacity.
	Runs int32 `json:"runs"`

	// coarse is the number of further valid runs, which only looked for it.
	// +optional
	Coarse int32 `json:"coarse,omitempty"`

	// below is the number of valid runs in which no level held the objectives.
	// +optional
	Below int32 `json:"below,omitempty"`

	// above is the number of valid runs in which every level held the
	// objectives.
	// +optional
	Above int32 `json:"above,omitempty"`

	// nonMonotone is the number of runs in which a level clearly held the
	// objectives above one that clearly did not.
	// +optional
	NonMonotone int32 `json:"nonMonotone,omitempty"`

	// value is the geometric mean over the runs. Absent: more than a third of
	// them found the capacity below or above their levels.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Value string `json:"value,omitempty"`

	// low is the lower end of value's interval, with the confidence of the
	// analysis. Absent with fewer than two runs.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Low string `json:"low,omitempty"`

	// high is the upper end of value's interval.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	High string `json:"high,omitempty"`

	// required tells whether the arm takes capacity.required.
	// +optional
	Required CapacityRequirement `json:"required,omitempty"`

	// iterationsPerSecond of the load at the capacity, as the geometric mean
	// over the runs.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	IterationsPerSecond string `json:"iterationsPerSecond,omitempty"`

	// limiting is the metric of the objective that limits the capacity in most
	// runs.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Limiting string `json:"limiting,omitempty"`

	// limitingRuns is the number of runs that it limits.
	// +optional
	LimitingRuns int32 `json:"limitingRuns,omitempty"`

	// busiest is the server that uses the largest share of its CPU limit at
	// the level above the capacity, as the metric of this share.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Busiest string `json:"busiest,omitempty"`

	// busiestPercent is this share, as the mean over the runs.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	BusiestPercent string `json:"busiestPercent,omitempty"`

	// demand is the CPU that servers need for the load, the largest first, from
	// the levels that held the objectives.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	Demand []CapacityDemand `json:"demand,omitempty"`
}

// CapacityDemand is the CPU that a server needs for the load.
type CapacityDemand struct {
	// metric of the server's CPU, for example module/gateway/cpu/average.
	// +kubebuilder:validation:MaxLength=512
	Metric string `json:"metric"`

	// value is the number of cores for each 1,000 of the levels' unit: the
	// slope of the CPU over the levels, as the mean over the runs.
	// +kubebuilder:validation:MaxLength=64
	Value string `json:"value"`

	// low is the lower end of value's interval.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Low string `json:"low,omitempty"`

	// high is the upper end of value's interval.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	High string `json:"high,omitempty"`
}
