// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PerfExperiment declares a benchmark experiment: a system, the arms to
// compare, the scenarios to load them with and the design of the comparison.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=pexp,categories=perflab
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Runs",type=string,JSONPath=`.status.progress`
// +kubebuilder:printcolumn:name="Current",type=string,JSONPath=`.status.current.run`
// +kubebuilder:printcolumn:name="Waiting for",type=string,JSONPath=`.status.waitingFor`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 32 && self.metadata.name.matches('^[a-z]([a-z0-9-]*[a-z0-9])?$')",message="the experiment's name must be at most 32 lower-case letters, digits and '-' and start with a letter: the names of its pods and services begin with it"
// +kubebuilder:validation:XValidation:rule="self.spec.system.modules.all(m, size(self.metadata.name) + size(m.name) <= 62)",fieldPath=".spec.system.modules",message="the experiment's name and a module's name may have 62 characters together: the module's Service is called <experiment>-<module>"
// +kubebuilder:validation:XValidation:rule="!(has(oldSelf.status) && has(oldSelf.status.startTime)) || self.spec.system == oldSelf.spec.system",fieldPath=".spec.system",message="the experiment has begun, so only suspend, cleanup and design.blocks (upwards) may change: put spec.system back, or give the changed experiment a new name"
// +kubebuilder:validation:XValidation:rule="!(has(oldSelf.status) && has(oldSelf.status.startTime)) || self.spec.arms == oldSelf.spec.arms",fieldPath=".spec.arms",message="the experiment has begun, so only suspend, cleanup and design.blocks (upwards) may change: put spec.arms back, or give the changed experiment a new name"
// +kubebuilder:validation:XValidation:rule="!(has(oldSelf.status) && has(oldSelf.status.startTime)) || self.spec.scenarios == oldSelf.spec.scenarios",fieldPath=".spec.scenarios",message="the experiment has begun, so only suspend, cleanup and design.blocks (upwards) may change: put spec.scenarios back, or give the changed experiment a new name"
// +kubebuilder:validation:XValidation:rule="!(has(oldSelf.status) && has(oldSelf.status.startTime)) || self.spec.measurement == oldSelf.spec.measurement",fieldPath=".spec.measurement",message="the experiment has begun, so only suspend, cleanup and design.blocks (upwards) may change: put spec.measurement back, or give the changed experiment a new name"
// +kubebuilder:validation:XValidation:rule="!(has(oldSelf.status) && has(oldSelf.status.startTime)) || self.spec.reset == oldSelf.spec.reset",fieldPath=".spec.reset",message="the experiment has begun, so only suspend, cleanup and design.blocks (upwards) may change: put spec.reset back, or give the changed experiment a new name"
// +kubebuilder:validation:XValidation:rule="!(has(oldSelf.status) && has(oldSelf.status.startTime)) || self.spec.validity == oldSelf.spec.validity",fieldPath=".spec.validity",message="the experiment has begun, so only suspend, cleanup and design.blocks (upwards) may change: put spec.validity back, or give the changed experiment a new name"
// +kubebuilder:validation:XValidation:rule="!(has(oldSelf.status) && has(oldSelf.status.startTime)) || self.spec.deadlines == oldSelf.spec.deadlines",fieldPath=".spec.deadlines",message="the experiment has begun, so only suspend, cleanup and design.blocks (upwards) may change: put spec.deadlines back, or give the changed experiment a new name"
// +kubebuilder:validation:XValidation:rule="!(has(oldSelf.status) && has(oldSelf.status.startTime)) || (self.spec.design.order == oldSelf.spec.design.order && self.spec.design.?seed == oldSelf.spec.design.?seed)",fieldPath=".spec.design",message="the experiment has begun, so only suspend, cleanup and design.blocks (upwards) may change: put spec.design.order and spec.design.seed back, or give the changed experiment a new name"
// +kubebuilder:validation:XValidation:rule="!(has(oldSelf.status) && has(oldSelf.status.startTime)) || self.spec.design.blocks >= oldSelf.spec.design.blocks",fieldPath=".spec.design.blocks",message="the experiment has begun, so design.blocks may only be raised: the blocks that are done can't be undone"
type PerfExperiment struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what to compare and how.
	// +required
	Spec PerfExperimentSpec `json:"spec"`

	// status is what came out so far.
	// +optional
	Status PerfExperimentStatus `json:"status,omitempty"`
}

// PerfExperimentList is a list of PerfExperiments.
//
// +kubebuilder:object:root=true
type PerfExperimentList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []PerfExperiment `json:"items"`
}

// PerfExperimentSpec is what to compare and how. Once the first run has been
// planned, only suspend, cleanup and more blocks may change.
//
// +kubebuilder:validation:XValidation:rule="self.arms.filter(a, has(a.baseline) && a.baseline).size() == 1",message="exactly one arm must have baseline: true: the other arms are compared to it"
// +kubebuilder:validation:XValidation:rule="self.arms.all(a, !has(a.set) || !has(a.set.modules) || a.set.modules.all(m, m.name == '*' || self.system.modules.exists(x, x.name == m.name)))",message="an arm sets a module that system.modules does not have: write the name of an existing module, or \"*\" for all"
// +kubebuilder:validation:XValidation:rule="self.arms.all(a, !has(a.set) || !has(a.set.kafka) || has(self.system.kafka))",message="an arm sets kafka, but system.kafka is absent: declare system.kafka or take the setting out of the arm"
// +kubebuilder:validation:XValidation:rule="self.arms.all(a, !has(a.set) || !has(a.set.postgres) || has(self.system.postgres))",message="an arm sets postgres, but system.postgres is absent: declare system.postgres or take the setting out of the arm"
// +kubebuilder:validation:XValidation:rule="self.arms.all(a, !has(a.set) || !has(a.set.kafka) || !has(a.set.kafka.topics) || (has(self.system.kafka) && has(self.system.kafka.topics) && a.set.kafka.topics.all(t, self.system.kafka.topics.exists(x, x.group == t.group))))",message="an arm sets a topic group that system.kafka.topics does not have: write the name of an existing group"
// +kubebuilder:validation:XValidation:rule="!has(self.system.postgres) || self.arms.all(a, !(a.?set.?postgres.?readWriteSplit.?enabled.orValue(self.system.postgres.?readWriteSplit.?enabled.orValue(false))) || a.?set.?postgres.?instances.orValue(self.system.postgres.?instances.orValue(1)) >= 2)",message="an arm has the read/write split on with one PostgreSQL instance: give it postgres.instances of 2 or more, or turn readWriteSplit.enabled off"
// +kubebuilder:validation:XValidation:rule="self.arms.all(a, !has(a.set) || !has(a.set.postgres) || !has(a.set.postgres.readWriteSplit) || !has(a.set.postgres.readWriteSplit.exclude) || a.set.postgres.readWriteSplit.exclude.all(x, self.system.modules.exists(m, m.name == x)))",message="an arm's postgres.readWriteSplit.exclude names a module that system.modules does not have: write the name of an existing module"
type PerfExperimentSpec struct {
	// system is what is under test.
	// +required
	System System `json:"system"`

	// arms are the configurations to compare; exactly one is the baseline.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Arms []Arm `json:"arms"`

	// scenarios are the workloads every arm is put under.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Scenarios []Scenario `json:"scenarios"`

	// design says how often and in which order runs are done.
	// +optional
	// +kubebuilder:default={}
	Design Design `json:"design,omitempty"`

	// measurement says which part of a run counts.
	// +optional
	// +kubebuilder:default={}
	Measurement Measurement `json:"measurement,omitempty"`

	// reset says what is renewed before each run. Default RestartModules.
	// +optional
	// +kubebuilder:default=RestartModules
	Reset ResetPolicy `json:"reset,omitempty"`

	// validity says when a run counts.
	// +optional
	// +kubebuilder:default={}
	Validity Validity `json:"validity,omitempty"`

	// deadlines bound every wait of a run.
	// +optional
	// +kubebuilder:default={}
	Deadlines Deadlines `json:"deadlines,omitempty"`

	// suspend starts no further run. The run that is on is finished.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// cleanup says what becomes of the environment afterwards.
	// +optional
	// +kubebuilder:default={}
	Cleanup Cleanup `json:"cleanup,omitempty"`
}

// Order says in which order the runs of a block are done.
// +kubebuilder:validation:Enum=Randomized;Fixed
type Order string

const (
	// OrderRandomized shuffles each block from the seed.
	OrderRandomized Order = "Randomized"
	// OrderFixed does arms and scenarios as they are written. It lets drift
	// look like an effect; use it to debug, not to compare.
	OrderFixed Order = "Fixed"
)

// Design says how often and in which order runs are done.
type Design struct {
	// blocks is the number of times every arm meets every scenario. Default
	// 6, the least a verdict can rest on. May be raised later.
	// +optional
	// +kubebuilder:default=6
	// +kubebuilder:validation:XValidation:rule="self >= 1 && self <= 100",message="design.blocks must be from 1 to 100"
	Blocks int32 `json:"blocks,omitempty"`

	// order of the runs within a block. Default Randomized.
	// +optional
	// +kubebuilder:default=Randomized
	Order Order `json:"order,omitempty"`

	// seed of the random order and of the loads' data. Absent: taken from the
	// experiment's uid and recorded in status.seed.
	// +optional
	Seed *int64 `json:"seed,omitempty"`
}

// Measurement says which part of a run counts.
type Measurement struct {
	// warmUp is cut off the start of every checkInCheckOut load. Default 0s.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$')",message="write a duration with its unit: for example 500ms, 30s, 5m or 1h30m"
	WarmUp *metav1.Duration `json:"warmUp,omitempty"`
}

// ResetPolicy says what is renewed before each run.
// +kubebuilder:validation:Enum=None;RestartModules
type ResetPolicy string

const (
	// ResetNone lets modules run on from one run to the next.
	ResetNone ResetPolicy = "None"
	// ResetRestartModules restarts every module before each run and tells it
	// the run's name (PERFLAB_RUN), so that it can restore its data.
	ResetRestartModules ResetPolicy = "RestartModules"
)

// Validity says when a run counts. A run that does not is listed with its
// reason and repeated, never averaged in.
type Validity struct {
	// maxErrorPercent is the largest share of failed transactions of any load.
	// Default 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	MaxErrorPercent *int32 `json:"maxErrorPercent,omitempty"`

	// maxAttempts is how often a run is tried before the experiment stalls.
	// Default 3.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	MaxAttempts int32 `json:"maxAttempts,omitempty"`
}

// Deadlines bound every wait of a run. A run past one of them is invalid.
type Deadlines struct {
	// environment bounds building the environment until it is ready. Default
	// 15m.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$')",message="write a duration with its unit: for example 500ms, 30s, 5m or 1h30m"
	Environment *metav1.Duration `json:"environment,omitempty"`

	// loadStart bounds the time from creating a load to its first request.
	// Default 5m.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$')",message="write a duration with its unit: for example 500ms, 30s, 5m or 1h30m"
	LoadStart *metav1.Duration `json:"loadStart,omitempty"`

	// load bounds a load that has no duration of its own: an import, or a load
	// that lasts until another ends. Default 2h.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$')",message="write a duration with its unit: for example 500ms, 30s, 5m or 1h30m"
	Load *metav1.Duration `json:"load,omitempty"`
}

// CleanupPolicy says what becomes of the environment of a complete experiment.
// +kubebuilder:validation:Enum=Delete;Retain
type CleanupPolicy string

const (
	// CleanupDelete takes the environment down after the experiment.
	CleanupDelete CleanupPolicy = "Delete"
	// CleanupRetain leaves it until the experiment is deleted.
	CleanupRetain CleanupPolicy = "Retain"
)

// Cleanup says what becomes of the environment afterwards. Results and runs
// stay until the experiment is deleted.
type Cleanup struct {
	// policy for the environment of a complete experiment. Default Delete.
	// +optional
	// +kubebuilder:default=Delete
	Policy CleanupPolicy `json:"policy,omitempty"`

	// ttl keeps the environment this long after completion. Default 0s.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$')",message="write a duration with its unit: for example 500ms, 30s, 5m or 1h30m"
	TTL *metav1.Duration `json:"ttl,omitempty"`
}

// ExperimentPhase is a one-word summary for people; tools read conditions.
type ExperimentPhase string

const (
	// ExperimentPending has not planned its first run.
	ExperimentPending ExperimentPhase = "Pending"
	// ExperimentRunning is doing runs.
	ExperimentRunning ExperimentPhase = "Running"
	// ExperimentSuspended starts no further run.
	ExperimentSuspended ExperimentPhase = "Suspended"
	// ExperimentComplete has done every run.
	ExperimentComplete ExperimentPhase = "Complete"
	// ExperimentStalled needs a person.
	ExperimentStalled ExperimentPhase = "Stalled"
	// ExperimentDeleting takes its environment down.
	ExperimentDeleting ExperimentPhase = "Deleting"
)

// PerfExperimentStatus is what came out so far.
type PerfExperimentStatus struct {
	// observedGeneration is the generation of the spec this status tells of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// phase is a one-word summary for people.
	// +optional
	Phase ExperimentPhase `json:"phase,omitempty"`

	// progress is the number of runs done and planned, for example "7/12".
	// +optional
	Progress string `json:"progress,omitempty"`

	// waitingFor says in a few words what the experiment waits for.
	// +optional
	WaitingFor string `json:"waitingFor,omitempty"`

	// startTime is when the first run was planned. From then on the spec is
	// frozen.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// completionTime is when the last run was done.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// seed the runs were ordered with.
	// +optional
	Seed *int64 `json:"seed,omitempty"`

	// planHash identifies what the runs are compared under: system, arms,
	// scenarios, order, seed, measurement and validity.
	// +optional
	PlanHash string `json:"planHash,omitempty"`

	// runs counts the runs by outcome.
	// +optional
	Runs *RunCounts `json:"runs,omitempty"`

	// current is the run that is on.
	// +optional
	Current *CurrentRun `json:"current,omitempty"`

	// invalidRuns lists runs that did not count, newest last.
	// +optional
	// +listType=map
	// +listMapKey=run
	// +kubebuilder:validation:MaxItems=100
	InvalidRuns []InvalidRun `json:"invalidRuns,omitempty"`

	// results hold, per scenario, metric and arm, what the valid runs gave.
	// They are descriptive: a mean and a spread over runs, not a verdict.
	// +optional
	// +listType=map
	// +listMapKey=scenario
	// +listMapKey=metric
	// +listMapKey=arm
	// +kubebuilder:validation:MaxItems=2000
	Results []Result `json:"results,omitempty"`

	// conditions: Ready, Reconciling, Stalled (kstatus), Complete.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// RunCounts counts the runs by outcome.
type RunCounts struct {
	// planned runs: arms x scenarios x blocks.
	Planned int32 `json:"planned"`
	// done is the number of planned runs with a valid attempt.
	Done int32 `json:"done"`
	// invalid is the number of attempts that did not count.
	Invalid int32 `json:"invalid"`
}

// CurrentRun is the run that is on.
type CurrentRun struct {
	// run is the name of the PerfRun.
	Run string `json:"run"`
	// phase of the run.
	// +optional
	Phase RunPhase `json:"phase,omitempty"`
	// message says what the run is doing or waiting for.
	// +optional
	Message string `json:"message,omitempty"`
}

// InvalidRun is an attempt that did not count.
type InvalidRun struct {
	// run is the name of the PerfRun.
	Run string `json:"run"`
	// reason in one word.
	Reason string `json:"reason"`
	// message in a sentence.
	// +optional
	Message string `json:"message,omitempty"`
}

// Result is what the valid runs of one arm gave for one metric in one
// scenario. It describes; it does not decide.
type Result struct {
	// scenario the runs were done under.
	Scenario string `json:"scenario"`
	// metric, for example cico/Check-In/p95.
	Metric string `json:"metric"`
	// arm the runs were done with.
	Arm string `json:"arm"`
	// unit of mean and standardDeviation.
	// +optional
	Unit string `json:"unit,omitempty"`
	// runs is the number of valid runs behind the numbers.
	Runs int32 `json:"runs"`
	// mean over the runs.
	Mean string `json:"mean"`
	// standardDeviation over the runs; absent with one run.
	// +optional
	StandardDeviation string `json:"standardDeviation,omitempty"`
	// deltaPercent is the mean's difference to the baseline's mean in percent
	// of the baseline's; negative is less. Absent for the baseline and where
	// the baseline's mean is zero.
	// +optional
	DeltaPercent string `json:"deltaPercent,omitempty"`
}
