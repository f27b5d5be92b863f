// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// PerfRun is one run of an experiment: one arm under one scenario in one block.
// The operator creates it; the PerfRuns are the experiment's lab journal.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=prun,categories=perflab
// +kubebuilder:selectablefield:JSONPath=`.spec.experiment`
// +kubebuilder:selectablefield:JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Block",type=integer,JSONPath=`.spec.block`
// +kubebuilder:printcolumn:name="Arm",type=string,JSONPath=`.spec.arm`
// +kubebuilder:printcolumn:name="Scenario",type=string,JSONPath=`.spec.scenario.name`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.message`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type PerfRun struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the resolved configuration and the run's position in the plan. It
	// can't be changed: the results are those of this configuration.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="the spec of a run can't be changed, because it records what was measured; to measure something else, apply a PerfExperiment with another name"
	Spec PerfRunSpec `json:"spec"`

	// status is the progress and the results.
	// +optional
	Status PerfRunStatus `json:"status,omitempty"`
}

// PerfRunList is a list of PerfRuns.
//
// +kubebuilder:object:root=true
type PerfRunList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []PerfRun `json:"items"`
}

// PerfRunSpec is the resolved configuration of a run and its position in the
// plan. It has copies, so that later edits don't affect the run.
type PerfRunSpec struct {
	// experiment is the name of the run's PerfExperiment.
	// +kubebuilder:validation:MaxLength=63
	Experiment string `json:"experiment"`
	// planHash of the experiment when the run was planned.
	PlanHash string `json:"planHash"`
	// block of the run, from 1.
	Block int32 `json:"block"`
	// position of the run in the whole plan, from 1.
	Position int32 `json:"position"`
	// attempt at this position in the plan, from 1.
	Attempt int32 `json:"attempt"`
	// arm of the run.
	Arm string `json:"arm"`
	// system with the arm's settings applied.
	// +structType=atomic
	System System `json:"system"`
	// scenario of the run.
	// +structType=atomic
	Scenario Scenario `json:"scenario"`
	// levels of a scenario's capacity that the run visits, in order.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=12
	// +kubebuilder:validation:items:Minimum=1
	Levels []int32 `json:"levels,omitempty"`
	// seed of the loads' data.
	Seed int64 `json:"seed"`
	// measurement as in the experiment.
	// +optional
	Measurement Measurement `json:"measurement,omitempty"`
	// reset as in the experiment.
	// +optional
	Reset ResetPolicy `json:"reset,omitempty"`
	// restore as in the experiment.
	// +optional
	Restore *Restore `json:"restore,omitempty"`
	// keepWarm as in the experiment.
	// +optional
	KeepWarm bool `json:"keepWarm,omitempty"`
	// cost as in the experiment.
	// +optional
	Cost *Cost `json:"cost,omitempty"`
	// validity as in the experiment.
	// +optional
	Validity Validity `json:"validity,omitempty"`
	// deadlines as in the experiment.
	// +optional
	Deadlines Deadlines `json:"deadlines,omitempty"`
	// serviceAccountName as in the experiment.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
}

// RunPhase is the phase of a run. Phases follow each other in this order;
// Succeeded and Invalid are final.
type RunPhase string

const (
	// RunPending has not begun.
	RunPending RunPhase = "Pending"
	// RunProvisioning builds the environment and waits until it is ready.
	RunProvisioning RunPhase = "Provisioning"
	// RunLoading runs the loads.
	RunLoading RunPhase = "Loading"
	// RunCollecting reads the results.
	RunCollecting RunPhase = "Collecting"
	// RunSucceeded has valid observations.
	RunSucceeded RunPhase = "Succeeded"
	// RunInvalid does not count; message has the cause.
	RunInvalid RunPhase = "Invalid"
)

// PerfRunStatus is the progress and the results of a run.
type PerfRunStatus struct {
	// observedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// phase of the run.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Phase RunPhase `json:"phase,omitempty"`

	// message is what the run does or waits for, or why it is invalid.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Message string `json:"message,omitempty"`

	// timings are when the run reached each step.
	// +optional
	Timings RunTimings `json:"timings,omitempty"`

	// durations are how long each step took.
	// +optional
	Durations *RunDurations `json:"durations,omitempty"`

	// effective is the configuration read back from the running system.
	// +optional
	// +structType=atomic
	Effective *EffectiveSystem `json:"effective,omitempty"`

	// loads are the progress and the outcome of each load.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	Loads []LoadStatus `json:"loads,omitempty"`

	// observations are the run's values, one per metric. The raw results have
	// those beyond 1,000, first those of single requests.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=1000
	Observations []Observation `json:"observations,omitempty"`

	// capacity is what a scenario's capacity found.
	// +optional
	// +structType=atomic
	Capacity *RunCapacity `json:"capacity,omitempty"`

	// faults are the scenario's faults, as they happened.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=4
	Faults []RunFault `json:"faults,omitempty"`

	// warnings describe what limits the run's results. They don't make it
	// invalid.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MaxLength=2048
	Warnings []string `json:"warnings,omitempty"`

	// leftOut are the parts of a valid run that don't count (validity.unsound).
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	LeftOut []LeftOut `json:"leftOut,omitempty"`

	// advisedWarmUp is the measurement.warmUp after which response times no longer
	// fell; absent: that of the run was long enough.
	// +optional
	AdvisedWarmUp *metav1.Duration `json:"advisedWarmUp,omitempty"`

	// truncated is what does not fit into this status, as in warnings; absent: all
	// fits.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Truncated string `json:"truncated,omitempty"`

	// rawResults names the ConfigMap with the loads' merged histograms.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	RawResults string `json:"rawResults,omitempty"`

	// servers describes the system's servers under load, beside the
	// observations.
	// +optional
	// +structType=atomic
	Servers *ServersStatus `json:"servers,omitempty"`

	// evidence is what the results rest on, for perflab verify.
	// +optional
	// +structType=atomic
	Evidence *RunEvidence `json:"evidence,omitempty"`

	// conditions: Ready, Reconciling, Stalled (kstatus), one for each
	// prerequisite of the run (for example KafkaReady), LoadsComplete, Priced,
	// Valid.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// LeftOut is a part of a run that does not count.
type LeftOut struct {
	// load that does not count.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Load string `json:"load,omitempty"`
	// window in which it does not count, for example during-create-5k; absent: the
	// whole run.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Window string `json:"window,omitempty"`
	// reason, as of an invalid run (docs/reasons.md).
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Reason string `json:"reason,omitempty"`
	// message explains the reason.
	// +kubebuilder:validation:MaxLength=2048
	Message string `json:"message"`
}

// RunTimings are when the run reached each step.
type RunTimings struct {
	// provisionStart is when the operator began to build the environment.
	// +optional
	ProvisionStart *metav1.Time `json:"provisionStart,omitempty"`
	// provisioned is when Kafka with its topics and PostgreSQL were as
	// declared.
	// +optional
	Provisioned *metav1.Time `json:"provisioned,omitempty"`
	// stopped is when the modules of the previous run were deleted, if data is
	// restored.
	// +optional
	Stopped *metav1.Time `json:"stopped,omitempty"`
	// restored is when the data was restored.
	// +optional
	Restored *metav1.Time `json:"restored,omitempty"`
	// ready is when the environment was ready and the target answered.
	// +optional
	Ready *metav1.Time `json:"ready,omitempty"`
	// loadStart is when the first load sent its first request.
	// +optional
	LoadStart *metav1.Time `json:"loadStart,omitempty"`
	// loadFinish is when the last load ended.
	// +optional
	LoadFinish *metav1.Time `json:"loadFinish,omitempty"`
	// collectStart is when the runners had ended and collecting began.
	// +optional
	CollectStart *metav1.Time `json:"collectStart,omitempty"`
	// finish is when the run finished.
	// +optional
	Finish *metav1.Time `json:"finish,omitempty"`
}

// RunDurations are how long each step took.
type RunDurations struct {
	// provision: from the start until Kafka and PostgreSQL were as declared.
	Provision metav1.Duration `json:"provision"`
	// ready: from there until the modules were ready and the target answered.
	Ready metav1.Duration `json:"ready"`
	// loadStart: from there until the first request.
	LoadStart metav1.Duration `json:"loadStart"`
	// load: from the first request to the end of the last load.
	Load metav1.Duration `json:"load"`
	// collect: from there until all results were read.
	Collect metav1.Duration `json:"collect"`
	// analyze: computing the observations from the results.
	Analyze metav1.Duration `json:"analyze"`
}

// EffectiveSystem is the configuration read back from the running system.
type EffectiveSystem struct {
	// kafkaMode is where Kafka keeps its metadata, as reported by the brokers.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	KafkaMode string `json:"kafkaMode,omitempty"`
	// kafkaVersion is the version of the brokers.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	KafkaVersion string `json:"kafkaVersion,omitempty"`
	// kafkaBrokers is the number of brokers in the cluster, as reported by
	// them.
	// +optional
	KafkaBrokers int32 `json:"kafkaBrokers,omitempty"`
	// topics are the topic groups as they exist in Kafka.
	// +optional
	// +listType=map
	// +listMapKey=group
	// +kubebuilder:validation:MaxItems=256
	Topics []EffectiveTopics `json:"topics,omitempty"`
	// kafkaPods are the pods of brokers and controllers when load started.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=400
	KafkaPods []EffectivePod `json:"kafkaPods,omitempty"`
	// kafkaRestarts counts the restarts of containers in Kafka's pods under
	// load. A replaced pod counts as one.
	// +optional
	KafkaRestarts int32 `json:"kafkaRestarts,omitempty"`
	// postgresInstances is the number of ready PostgreSQL servers.
	// +optional
	PostgresInstances int32 `json:"postgresInstances,omitempty"`
	// postgres is what the servers report about themselves.
	// +optional
	Postgres *EffectivePostgres `json:"postgres,omitempty"`
	// postgresPods are the pods of the servers and of PgBouncer when load
	// started.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	PostgresPods []EffectivePod `json:"postgresPods,omitempty"`
	// postgresRestarts counts the restarts of containers in PostgreSQL's pods
	// under load. A replaced pod counts as one.
	// +optional
	PostgresRestarts int32 `json:"postgresRestarts,omitempty"`
	// modules are the modules as they run.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=256
	Modules []EffectiveModule `json:"modules,omitempty"`
	// nodes are the nodes that ran pods of the system.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=200
	Nodes []EffectiveNode `json:"nodes,omitempty"`
	// morePods is the number of unlisted pods. Their restarts are not counted.
	// +optional
	MorePods int32 `json:"morePods,omitempty"`
	// moreNodes is the number of unlisted nodes. The run's cost is then unknown.
	// +optional
	MoreNodes int32 `json:"moreNodes,omitempty"`
}

// EffectivePostgres is what PostgreSQL's servers report about themselves.
// Missing values are absent, with the cause in unproved.
type EffectivePostgres struct {
	// streamingReplicas is the number of replicas the primary sends its WAL to.
	// +optional
	StreamingReplicas *int32 `json:"streamingReplicas,omitempty"`
	// synchronousReplicas is the number of replicas that a commit waits for.
	// +optional
	SynchronousReplicas *int32 `json:"synchronousReplicas,omitempty"`
	// replicaReads is the number of rows of the modules' tables, and of entries
	// of their indexes, read on replicas under load.
	// +optional
	ReplicaReads *int64 `json:"replicaReads,omitempty"`
	// primaryReads is the same for the primary.
	// +optional
	PrimaryReads *int64 `json:"primaryReads,omitempty"`
	// servers are the instances just before the load.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Servers []EffectiveServer `json:"servers,omitempty"`
	// unproved is what the servers could not report, and why.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Unproved string `json:"unproved,omitempty"`
}

// EffectiveServer is an instance of PostgreSQL just before the load.
type EffectiveServer struct {
	// name of the instance's pod.
	// +kubebuilder:validation:MaxLength=512
	Name string `json:"name"`
	// replica: the instance is a replica.
	Replica bool `json:"replica"`
	// rowsRead from the modules' tables since the instance's statistics began.
	// +optional
	RowsRead *int64 `json:"rowsRead,omitempty"`
}

// EffectiveTopics is a topic group as it exists in Kafka.
type EffectiveTopics struct {
	// group of the topics.
	// +kubebuilder:validation:MaxLength=512
	Group string `json:"group"`
	// topics in the group.
	Topics int32 `json:"topics"`
	// partitions of each topic.
	Partitions int32 `json:"partitions"`
	// replicas of each partition.
	// +optional
	Replicas int32 `json:"replicas,omitempty"`
	// source of the numbers: the topics' metadata from a broker.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Source string `json:"source,omitempty"`
}

// EffectiveModule is a module as it runs.
type EffectiveModule struct {
	// name of the module.
	// +kubebuilder:validation:MaxLength=512
	Name string `json:"name"`
	// replicas that are ready.
	Replicas int32 `json:"replicas"`
	// imageID is the digest that the container runtime resolved.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	ImageID string `json:"imageID,omitempty"`
	// heap is the largest maximum heap of the JVMs, as logged by them.
	// +optional
	Heap *resource.Quantity `json:"heap,omitempty"`
	// collector is the JVMs' garbage collector, as logged by them.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Collector string `json:"collector,omitempty"`
	// nodes of the module's pods, sorted, without duplicates.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:items:MaxLength=512
	// +kubebuilder:validation:MaxItems=100
	Nodes []string `json:"nodes,omitempty"`
	// pods of the module when load started.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=100
	Pods []EffectivePod `json:"pods,omitempty"`
	// restarts of the module's containers under load. A replaced pod counts as
	// one.
	// +optional
	Restarts int32 `json:"restarts,omitempty"`
}

// EffectivePod is a pod of the system.
type EffectivePod struct {
	// name of the pod.
	// +kubebuilder:validation:MaxLength=512
	Name string `json:"name"`
	// uid distinguishes the pod from a later one of the same name.
	UID types.UID `json:"uid"`
	// node of the pod.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Node string `json:"node,omitempty"`
	// restarts of its containers before load started.
	// +optional
	Restarts int32 `json:"restarts,omitempty"`
}

// EffectiveNode is a node that ran pods of the system.
type EffectiveNode struct {
	// name of the node.
	// +kubebuilder:validation:MaxLength=512
	Name string `json:"name"`
	// instanceType is the node's label node.kubernetes.io/instance-type.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	InstanceType string `json:"instanceType,omitempty"`
	// pods of the system on the node.
	Pods int32 `json:"pods"`
	// pricePerHour in the price list; absent: not in the list.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	PricePerHour string `json:"pricePerHour,omitempty"`
}

// LoadOutcome is how a load ended.
type LoadOutcome string

const (
	// LoadSucceeded ended as planned on every runner.
	LoadSucceeded LoadOutcome = "Succeeded"
	// LoadFailed did not; message has the cause.
	LoadFailed LoadOutcome = "Failed"
)

// LoadStatus is the progress and the outcome of a load.
type LoadStatus struct {
	// name of the load.
	// +kubebuilder:validation:MaxLength=512
	Name string `json:"name"`
	// testRun is the name of the k6 TestRun.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	TestRun string `json:"testRun,omitempty"`
	// stage of the TestRun as reported by k6-operator.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Stage string `json:"stage,omitempty"`
	// createTime is when the TestRun was created.
	// +optional
	CreateTime *metav1.Time `json:"createTime,omitempty"`
	// startTime is when the first runner sent its first request.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`
	// finishTime is when the last runner ended.
	// +optional
	FinishTime *metav1.Time `json:"finishTime,omitempty"`
	// stopTime is when the operator signaled the runners to end (until,
	// suspend).
	// +optional
	StopTime *metav1.Time `json:"stopTime,omitempty"`
	// outcome of the load; absent while it runs.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Outcome LoadOutcome `json:"outcome,omitempty"`
	// message explains a failure.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Message string `json:"message,omitempty"`
	// exitCode of k6 in the runner that failed.
	// +optional
	ExitCode int32 `json:"exitCode,omitempty"`
	// progress of the load; absent before its first report.
	// +optional
	Progress *LoadProgress `json:"progress,omitempty"`
	// requests of the load while it counts; absent before they are counted.
	// +optional
	Requests *FailedShare `json:"requests,omitempty"`
	// checks of the load while it counts; absent if it made none.
	// +optional
	Checks *FailedShare `json:"checks,omitempty"`
	// script of the load, if it comes from a ConfigMap.
	// +optional
	Script *ScriptStatus `json:"script,omitempty"`
}

// ScriptStatus identifies the script that a load runs. Runs of another script
// are not comparable.
type ScriptStatus struct {
	// sha256 of the script, in hexadecimal, as from sha256sum.
	// +kubebuilder:validation:MaxLength=512
	SHA256 string `json:"sha256"`
	// files beside the script in its ConfigMap, which it may import.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Files []ScriptFile `json:"files,omitempty"`
	// record names the ConfigMap with the text, up to 256 KiB, under the load's
	// name, a dot and the file's name.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Record string `json:"record,omitempty"`
}

// ScriptFile is a file beside a script.
type ScriptFile struct {
	// name of the file: its key in the ConfigMap.
	// +kubebuilder:validation:MaxLength=512
	Name string `json:"name"`
	// sha256 of the file.
	// +kubebuilder:validation:MaxLength=512
	SHA256 string `json:"sha256"`
}

// FailedShare is a count and the share of failures in it.
type FailedShare struct {
	// count of all.
	Count int64 `json:"count"`
	// failedPercent is the share that failed.
	// +kubebuilder:validation:MaxLength=512
	FailedPercent string `json:"failedPercent"`
}

// LoadProgress is the sum of the last reports of a load's runners.
type LoadProgress struct {
	// time at which the reports were read.
	Time metav1.Time `json:"time"`
	// users that are active.
	Users int32 `json:"users"`
	// requestsPerSecond since the previous report.
	// +kubebuilder:validation:MaxLength=512
	RequestsPerSecond string `json:"requestsPerSecond"`
	// errorPercent is the share of failed transactions so far.
	// +kubebuilder:validation:MaxLength=512
	ErrorPercent string `json:"errorPercent"`
	// p95 of each transaction's time so far, in ms; the largest of the runners'.
	// +optional
	// +listType=map
	// +listMapKey=transaction
	// +kubebuilder:validation:MaxItems=8
	P95 []TransactionProgress `json:"p95,omitempty"`
	// records imported so far.
	// +optional
	Records *int64 `json:"records,omitempty"`
}

// TransactionProgress is a transaction's time so far.
type TransactionProgress struct {
	// transaction, for example Check-In.
	// +kubebuilder:validation:MaxLength=512
	Transaction string `json:"transaction"`
	// milliseconds of the 95th percentile.
	// +kubebuilder:validation:MaxLength=512
	Milliseconds string `json:"milliseconds"`
}

// Observation is the value of one metric in one run.
type Observation struct {
	// metric, for example cico/Check-In/p95.
	// +kubebuilder:validation:MaxLength=1024
	Metric string `json:"metric"`
	// value as a decimal number.
	// +kubebuilder:validation:MaxLength=512
	Value string `json:"value"`
	// unit of the value.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Unit string `json:"unit,omitempty"`
	// samples is the number of transactions behind a statistic.
	// +optional
	Samples int64 `json:"samples,omitempty"`
}
