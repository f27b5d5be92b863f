// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
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
// +kubebuilder:printcolumn:name="Verdict",type=string,JSONPath=`.status.verdict`
// +kubebuilder:printcolumn:name="Current",type=string,JSONPath=`.status.current.run`
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.waitingFor`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 32 && self.metadata.name.matches('^[a-z]([a-z0-9-]*[a-z0-9])?$')",message="the experiment's name must be at most 32 lower-case letters, digits and '-' and start with a letter: the names of its pods and services begin with it"
// +kubebuilder:validation:XValidation:rule="has(self.spec.serviceAccountName) == has(oldSelf.spec.serviceAccountName) && (!has(self.spec.serviceAccountName) || self.spec.serviceAccountName == oldSelf.spec.serviceAccountName)",message="spec.serviceAccountName can't be changed, because the account that creates objects also deletes them: restore it, or give the changed experiment a new name"
type PerfExperiment struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what to compare and how.
	// +required
	Spec PerfExperimentSpec `json:"spec"`

	// status is the progress and the results.
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
// planned, only suspend, cleanup, retention, lane, notes and more blocks may change.
//
// +kubebuilder:validation:XValidation:rule="has(self.system) != has(self.systemRef)",message="an experiment needs exactly one of system (written here) and systemRef (the name of a PerfSystem)"
// +kubebuilder:validation:XValidation:rule="has(self.arms) != has(self.matrix)",message="an experiment needs exactly one of arms (a list of configurations) and matrix (factors with levels)"
// +kubebuilder:validation:XValidation:rule="!has(self.arms) || self.arms.filter(a, has(a.baseline) && a.baseline).size() == 1",message="exactly one arm must have baseline: true: the other arms are compared to it"
// +kubebuilder:validation:XValidation:rule="(self.reset == 'RestoreData') == has(self.restore)",message="restore requires reset: RestoreData, and reset: RestoreData requires restore: add the missing one"
// +kubebuilder:validation:XValidation:rule="!has(self.history) || !has(self.retention)",message="history is the earlier name of retention: remove history"
type PerfExperimentSpec struct {
	// question that the experiment answers, in a sentence: "Do two partitions
	// make imports faster?". It is the report's title. Default: derived from
	// the arms and the primary metrics.
	// +optional
	// +kubebuilder:validation:MinLength=8
	// +kubebuilder:validation:MaxLength=160
	// +kubebuilder:validation:Pattern=`^[^\x00-\x1f\x7f]*$`
	Question string `json:"question,omitempty"`

	// system under test.
	// +optional
	System System `json:"system,omitzero"`

	// systemRef names the PerfSystem under test, in the same namespace. It is
	// read once, before the first run: later edits don't affect this
	// experiment.
	// +optional
	SystemRef *SystemRef `json:"systemRef,omitempty"`

	// arms are the configurations to compare; exactly one is the baseline.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Arms []Arm `json:"arms,omitempty"`

	// matrix makes one arm of every combination of factors' levels.
	// +optional
	Matrix *Matrix `json:"matrix,omitempty"`

	// scenarios are the workloads that every arm runs.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Scenarios []Scenario `json:"scenarios"`

	// design is how often and in which order to run.
	// +optional
	// +kubebuilder:default={}
	Design Design `json:"design,omitempty"`

	// analysis declares the question that the runs answer.
	// +optional
	// +kubebuilder:default={}
	Analysis Analysis `json:"analysis,omitempty"`

	// measurement is which part of a run counts.
	// +optional
	// +kubebuilder:default={}
	Measurement Measurement `json:"measurement,omitempty"`

	// reset is what is restarted or recreated before each run. Default
	// RestartModules.
	// +optional
	// +kubebuilder:default=RestartModules
	Reset ResetPolicy `json:"reset,omitempty"`

	// restore brings data back, with reset RestoreData.
	// +optional
	Restore *Restore `json:"restore,omitempty"`

	// keepWarm keeps the Kafka and the PostgreSQL of every arm running from the
	// first run that needs them to the end, if arms need different ones.
	// Switching arms then takes no longer than a restart of the modules, but
	// needs the memory for all of them. Default false: one of each at a time.
	// +optional
	KeepWarm bool `json:"keepWarm,omitempty"`

	// cost shows the cost of each arm's nodes.
	// +optional
	Cost *Cost `json:"cost,omitempty"`

	// lane sets what else may be measured at the same time. Absent: nothing
	// else in the cluster.
	// +optional
	Lane *Lane `json:"lane,omitempty"`

	// validity is when a run is valid.
	// +optional
	// +kubebuilder:default={}
	Validity Validity `json:"validity,omitempty"`

	// deadlines limit every wait of a run.
	// +optional
	// +kubebuilder:default={}
	Deadlines Deadlines `json:"deadlines,omitempty"`

	// serviceAccountName is the ServiceAccount, in the same namespace, that the
	// operator impersonates to write what the experiment needs. Authors need the
	// right to impersonate it. It can't be changed. An operator without
	// --act-as-author refuses experiments that name one. Default: the operator's
	// --default-service-account.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]+(-+[a-z0-9]+)*(\.[a-z0-9]+(-+[a-z0-9]+)*)*$`
	ServiceAccountName string `json:"serviceAccountName,omitempty"`

	// suspend starts no further run. The current run is finished.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// cleanup is what happens to the environment afterwards.
	// +optional
	// +kubebuilder:default={}
	Cleanup Cleanup `json:"cleanup,omitempty"`

	// retention sets how long the results of runs stay in the cluster. Absent: the
	// operator's setting, which by default keeps everything until the experiment
	// is deleted.
	// +optional
	Retention *Retention `json:"retention,omitempty"`

	// history is the earlier name of retention. Deprecated: write retention.
	// +optional
	History *Retention `json:"history,omitempty"`

	// notes are additions by users to the report: texts with pictures in its
	// sections, and marks in time on its charts. They may change at any time,
	// which rewrites the report. Their texts have at most 65,536 characters in
	// total; use ConfigMaps for more.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self.map(n, has(n.text) ? size(n.text) : 0).sum() <= 65536",message="the texts of all notes have more than 65,536 characters, which leaves too little space for the status: store the longest in ConfigMaps (configMap)"
	Notes []Note `json:"notes,omitempty"`
}

// SystemRef names a PerfSystem in the same namespace.
type SystemRef struct {
	// name of the PerfSystem.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// LaneType is the part of the cluster that an experiment occupies.
// +kubebuilder:validation:Enum=Cluster;Nodes;Named;Kueue
type LaneType string

const (
	// LaneCluster is the whole cluster: nothing else is measured at the same
	// time.
	LaneCluster LaneType = "Cluster"
	// LaneNodes are the nodes that the placement of Kafka, PostgreSQL and every
	// module select.
	LaneNodes LaneType = "Nodes"
	// LaneNamed is a named part of the cluster that users have reserved.
	LaneNamed LaneType = "Named"
	// LaneKueue is the quota that Kueue admits from one of its queues.
	LaneKueue LaneType = "Kueue"
)

// Lane sets what else may be measured at the same time. Experiments that need the
// same nodes take turns by block; namespaces rotate.
//
// +kubebuilder:validation:XValidation:rule="(has(self.type) && self.type in ['Named', 'Kueue']) == has(self.name)",message="a lane needs a name with type: Named or Kueue, and only then: add the missing one"
type Lane struct {
	// type of lane. Cluster: nothing else is measured at the same time. Nodes:
	// nothing else on the nodes that its placement selects, so Kafka, PostgreSQL
	// and every module need a nodeSelector. Named: in parallel with experiments in
	// other lanes; you ensure that the lane's nodes are reserved for it. Kueue:
	// Kueue admits each block as a Workload with its pods' requests, and its quota
	// decides what runs in parallel. Default Cluster.
	// +optional
	Type LaneType `json:"type,omitempty"`

	// name of the lane, with type Named, or of the LocalQueue in the experiment's
	// namespace, with type Kueue.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]+([.-][a-z0-9]+)*$`
	Name string `json:"name,omitempty"`
}

// Order is the order of the runs in a block.
// +kubebuilder:validation:Enum=Randomized;Fixed
type Order string

const (
	// OrderRandomized shuffles each block from the seed.
	OrderRandomized Order = "Randomized"
	// OrderFixed keeps the declared order of arms and scenarios. Drift then
	// looks like an effect; use it to debug, not to compare.
	OrderFixed Order = "Fixed"
)

// Design is how often and in which order to run.
//
// +kubebuilder:validation:XValidation:rule="!has(self.target) || self.target.maxBlocks >= (has(self.blocks) ? self.blocks : 6)",message="design.target.maxBlocks must be at least design.blocks: target adds blocks to them"
// +kubebuilder:validation:XValidation:rule="!has(self.budget) || has(self.target) || !has(self.blocks)",message="design.budget limits the blocks that design.target adds: add a target, or remove budget or blocks"
type Design struct {
	// blocks is how often every arm runs every scenario. Default 6, the fewest
	// for a verdict. May be raised later.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self >= 1 && self <= 100",message="design.blocks must be from 1 to 100"
	Blocks int32 `json:"blocks,omitempty"`

	// calibrate adds an A/A control: an arm with the baseline's configuration.
	// Differences between the two are noise: if a primary metric differs, the
	// condition Calibrated is False and no verdict is given.
	// +optional
	Calibrate bool `json:"calibrate,omitempty"`

	// target adds blocks until the intervals are narrow enough, or every primary
	// metric has a verdict. Absent: no more than blocks. Default without blocks:
	// verdicts, with a maxBlocks of 36, or of as many blocks as make 200 runs.
	// +optional
	Target *PrecisionTarget `json:"target,omitempty"`

	// budget is the time from the first run's start in which target may add
	// blocks. No block starts that would exceed it. Absent: no limit.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('0s')",message="write a duration with its unit: for example 500ms, 30s, 5m or 1h30m",messageExpression="'write a duration with its unit: for example 500ms, 30s, 5m or 1h30m' + (self.matches('^[0-9]+([.][0-9]+)?$') ? '; if seconds are meant, write ' + self + 's' : '')"
	Budget *metav1.Duration `json:"budget,omitempty"`

	// maxRuns is the largest number of runs (arms x scenarios x blocks) that
	// may be planned. Default 200. More take days, so confirm them here.
	// +optional
	// +kubebuilder:default=200
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=25600
	MaxRuns int32 `json:"maxRuns,omitempty"`

	// order of the runs within a block. Default Randomized.
	// +optional
	// +kubebuilder:default=Randomized
	Order Order `json:"order,omitempty"`

	// seed of the random order and of the loads' data. Default: derived from
	// the experiment's uid and recorded in status.seed.
	// +optional
	Seed *int64 `json:"seed,omitempty"`
}

// ResetPolicy is what is restarted or recreated before each run.
// +kubebuilder:validation:Enum=None;RestartModules;RestoreData;Reschedule;Recreate
type ResetPolicy string

const (
	// ResetNone keeps modules running from one run to the next.
	ResetNone ResetPolicy = "None"
	// ResetRestartModules restarts every module before each run and sets
	// PERFLAB_RUN to the run's name, so that the module can restore its data.
	ResetRestartModules ResetPolicy = "RestartModules"
	// ResetRestoreData stops the modules, restores data as declared in restore,
	// and starts them again.
	ResetRestoreData ResetPolicy = "RestoreData"
	// ResetReschedule deletes all pods of the modules before it creates new
	// ones, so that the scheduler places all of them.
	ResetReschedule ResetPolicy = "Reschedule"
	// ResetRecreate rebuilds everything, Kafka and PostgreSQL included.
	ResetRecreate ResetPolicy = "Recreate"
)

// Restore brings data back before a run. It may run twice for one run, so it
// must be idempotent.
//
// +kubebuilder:validation:XValidation:rule="[has(self.sql), has(self.http), has(self.job)].filter(x, x).size() == 1",message="restore needs exactly one of sql (a script for PostgreSQL), http (a call of a module) and job (a container of yours)"
type Restore struct {
	// sql is a script that runs in the system's database while the modules are
	// stopped.
	// +optional
	SQL *RestoreSQL `json:"sql,omitempty"`

	// http is a request to send once the modules are ready.
	// +optional
	HTTP *RestoreHTTP `json:"http,omitempty"`

	// job is a container that runs while the modules are stopped. It gets the
	// variables of a module (DB_HOST, KAFKA_HOST, PERFLAB_RUN and so on).
	// +optional
	Job *RestoreJob `json:"job,omitempty"`

	// timeout of the restore. Default 10m.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('0s')",message="write a duration with its unit: for example 500ms, 30s, 5m or 1h30m",messageExpression="'write a duration with its unit: for example 500ms, 30s, 5m or 1h30m' + (self.matches('^[0-9]+([.][0-9]+)?$') ? '; if seconds are meant, write ' + self + 's' : '')"
	Timeout *metav1.Duration `json:"timeout,omitempty"`
}

// RestoreSQL is a script for PostgreSQL.
type RestoreSQL struct {
	// configMap with the script. It runs in one transaction.
	// +required
	ConfigMap ConfigMapKey `json:"configMap"`

	// image with psql.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image"`
}

// RestoreHTTP is an HTTP request to a module.
type RestoreHTTP struct {
	// module to call. Absent: the target.
	// +optional
	// +kubebuilder:validation:MaxLength=40
	Module string `json:"module,omitempty"`

	// method of the request. Default POST.
	// +optional
	// +kubebuilder:default=POST
	// +kubebuilder:validation:Enum=GET;POST;PUT;DELETE
	Method string `json:"method,omitempty"`

	// path of the request. Example: /admin/restore.
	// +required
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="self.matches('^/[^ ]*$')",message="restore.http.path must begin with '/' and have no space: for example /admin/restore"
	Path string `json:"path"`

	// body of the request, sent as application/json.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Body string `json:"body,omitempty"`
}

// RestoreJob is a container that restores data.
type RestoreJob struct {
	// image of the container.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image"`

	// command of the container. Absent: the image's.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Command []string `json:"command,omitempty"`

	// env holds further environment variables.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Env []corev1.EnvVar `json:"env,omitempty"`
}

// Cost shows the cost of nodes.
type Cost struct {
	// priceList is a ConfigMap, in the experiment's namespace, whose keys are
	// instance types (the node label node.kubernetes.io/instance-type) and
	// whose values are prices per hour, for example c7g.large: "0.0725".
	// +required
	PriceList ConfigMapName `json:"priceList"`

	// currency of the prices. Default USD.
	// +optional
	// +kubebuilder:default=USD
	// +kubebuilder:validation:MaxLength=8
	Currency string `json:"currency,omitempty"`
}

// ConfigMapName refers to a ConfigMap in the same namespace.
type ConfigMapName struct {
	// name of the ConfigMap.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// Unsound is what happens to a run that is only partly valid.
// +kubebuilder:validation:Enum=InvalidRun;LeftOut
type Unsound string

const (
	// UnsoundInvalidatesRun makes the whole run invalid.
	UnsoundInvalidatesRun Unsound = "InvalidRun"
	// UnsoundIsLeftOut omits the loads and windows that are invalid.
	UnsoundIsLeftOut Unsound = "LeftOut"
)

// Validity is when a run is valid. An invalid run is listed with its reason and
// repeated, never averaged in.
type Validity struct {
	// maxErrorPercent is the largest share of failed transactions of any load.
	// Default 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	MaxErrorPercent *int32 `json:"maxErrorPercent,omitempty"`

	// maxFailedRequestsPercent is the largest share of a script's failed
	// requests, as counted by k6's http_req_failed: unexpected responses, by
	// default from status 400 on, and missing responses. 100 allows any share.
	// Default: maxErrorPercent.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	MaxFailedRequestsPercent *int32 `json:"maxFailedRequestsPercent,omitempty"`

	// maxFailedChecksPercent is the largest share of a script's checks that may
	// fail. 100 allows any share. Default: maxErrorPercent.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	MaxFailedChecksPercent *int32 `json:"maxFailedChecksPercent,omitempty"`

	// maxRestarts is the largest number of restarts of the containers of
	// modules, Kafka and PostgreSQL under load. Default 0.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	MaxRestarts *int32 `json:"maxRestarts,omitempty"`

	// maxFailedImports is the largest number of failed imports of a load with several
	// imports. Allowed failures are results: they are counted as failedImports, named
	// in the run's warnings, and excluded from durations. A stalled import always ends
	// the load. Default 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=998
	MaxFailedImports *int32 `json:"maxFailedImports,omitempty"`

	// unsound is what happens to a run that is only partly valid. InvalidRun: the whole run
	// is invalid. LeftOut: valid loads count, and their valid windows beside imports; the
	// others are excluded, and named in the run's warnings. Default InvalidRun.
	// +optional
	Unsound Unsound `json:"unsound,omitempty"`

	// maxGapPercent is the largest share of the measured time without samples of the
	// servers. Gaps of up to three intervals don't count. Allowed gaps are in the run's
	// warnings and marked on charts over time. Default 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=50
	MaxGapPercent *int32 `json:"maxGapPercent,omitempty"`

	// maxOtherCPUPercent is the largest share of the CPUs of the collector's node that
	// other workloads may use, on average after the warm-up. It applies if pods of the
	// run are on that node and the node is full. It is full if it is at least 80 %
	// busy and, if its kernel reports that, tasks wait for a CPU in at least 25 % of
	// the time. 100 allows any. Default 50.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	MaxOtherCPUPercent *int32 `json:"maxOtherCPUPercent,omitempty"`

	// maxAttempts is how often a run is attempted before the experiment stalls.
	// Default 3.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	MaxAttempts int32 `json:"maxAttempts,omitempty"`
}

// Deadlines limit every wait of a run. A run that exceeds one is invalid.
type Deadlines struct {
	// environment is the deadline for a ready environment. Default 15m.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('0s')",message="write a duration with its unit: for example 500ms, 30s, 5m or 1h30m",messageExpression="'write a duration with its unit: for example 500ms, 30s, 5m or 1h30m' + (self.matches('^[0-9]+([.][0-9]+)?$') ? '; if seconds are meant, write ' + self + 's' : '')"
	Environment *metav1.Duration `json:"environment,omitempty"`

	// loadStart is the deadline from creating a load to its first request.
	// Default 5m.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('0s')",message="write a duration with its unit: for example 500ms, 30s, 5m or 1h30m",messageExpression="'write a duration with its unit: for example 500ms, 30s, 5m or 1h30m' + (self.matches('^[0-9]+([.][0-9]+)?$') ? '; if seconds are meant, write ' + self + 's' : '')"
	LoadStart *metav1.Duration `json:"loadStart,omitempty"`

	// load is the deadline for loads without a duration: imports, and loads
	// that last until another ends. Default 2h.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('0s')",message="write a duration with its unit: for example 500ms, 30s, 5m or 1h30m",messageExpression="'write a duration with its unit: for example 500ms, 30s, 5m or 1h30m' + (self.matches('^[0-9]+([.][0-9]+)?$') ? '; if seconds are meant, write ' + self + 's' : '')"
	Load *metav1.Duration `json:"load,omitempty"`
}

// CleanupPolicy is what happens to the environment of a complete experiment.
// +kubebuilder:validation:Enum=Delete;Retain
type CleanupPolicy string

const (
	// CleanupDelete deletes the environment after the experiment.
	CleanupDelete CleanupPolicy = "Delete"
	// CleanupRetain keeps it until the experiment is deleted.
	CleanupRetain CleanupPolicy = "Retain"
)

// Cleanup is what happens to the environment afterwards. Results and runs stay
// until the experiment is deleted.
type Cleanup struct {
	// policy for the environment of a complete experiment. Default Delete.
	// +optional
	// +kubebuilder:default=Delete
	Policy CleanupPolicy `json:"policy,omitempty"`

	// ttl keeps the environment this long after completion. Default 0s.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('0s')",message="write a duration with its unit: for example 500ms, 30s, 5m or 1h30m",messageExpression="'write a duration with its unit: for example 500ms, 30s, 5m or 1h30m' + (self.matches('^[0-9]+([.][0-9]+)?$') ? '; if seconds are meant, write ' + self + 's' : '')"
	TTL *metav1.Duration `json:"ttl,omitempty"`
}

// ExperimentPhase is a one-word summary for display; tools read conditions.
type ExperimentPhase string

const (
	// ExperimentPending has not planned its first run.
	ExperimentPending ExperimentPhase = "Pending"
	// ExperimentRunning is executing runs.
	ExperimentRunning ExperimentPhase = "Running"
	// ExperimentSuspended starts no further run.
	ExperimentSuspended ExperimentPhase = "Suspended"
	// ExperimentComplete has finished every run.
	ExperimentComplete ExperimentPhase = "Complete"
	// ExperimentStalled requires manual action.
	ExperimentStalled ExperimentPhase = "Stalled"
	// ExperimentDeleting is deleting its environment.
	ExperimentDeleting ExperimentPhase = "Deleting"
)

// Retention is how long the results of runs stay in the cluster. Nothing is deleted
// before the experiment is complete, its report is stored and its environment is
// deleted or retained. Status and report always stay.
type Retention struct {
	// rawResults is how long raw results stay after completion: the histograms
	// and time series of runs, in ConfigMaps, which take most of an experiment's
	// space. Without them the report can't be rewritten in full.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('0s')",message="write a duration with its unit: for example 500ms, 30s, 5m or 1h30m",messageExpression="'write a duration with its unit: for example 500ms, 30s, 5m or 1h30m' + (self.matches('^[0-9]+([.][0-9]+)?$') ? '; if seconds are meant, write ' + self + 's' : '')"
	RawResults *metav1.Duration `json:"rawResults,omitempty"`

	// rawResultsOf is the number of newest runs whose raw results stay.
	// +optional
	// +kubebuilder:validation:Minimum=0
	RawResultsOf *int32 `json:"rawResultsOf,omitempty"`

	// runs is how long the PerfRuns, and their raw results at most, stay after
	// completion. Without them no block can be added.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('0s')",message="write a duration with its unit: for example 500ms, 30s, 5m or 1h30m",messageExpression="'write a duration with its unit: for example 500ms, 30s, 5m or 1h30m' + (self.matches('^[0-9]+([.][0-9]+)?$') ? '; if seconds are meant, write ' + self + 's' : '')"
	Runs *metav1.Duration `json:"runs,omitempty"`
}

// PerfExperimentStatus is the progress and the results.
type PerfExperimentStatus struct {
	// observedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// phase is a one-word summary for display.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Phase ExperimentPhase `json:"phase,omitempty"`

	// progress is the number of runs done and planned, for example "7/12".
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Progress string `json:"progress,omitempty"`

	// waitingFor describes what the experiment waits for.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	WaitingFor string `json:"waitingFor,omitempty"`

	// startTime is when the first run was planned. It freezes the spec.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// completionTime is when the last run finished.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// seed of the runs' order.
	// +optional
	Seed *int64 `json:"seed,omitempty"`

	// planHash identifies the comparison: system, arms, scenarios, order, seed,
	// analysis, measurement and validity.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	PlanHash string `json:"planHash,omitempty"`

	// arms are the compared configurations and their changes.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=65
	Arms []ArmStatus `json:"arms,omitempty"`

	// warnings describe what limits the answer. They don't stop the experiment.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MaxLength=2048
	Warnings []string `json:"warnings,omitempty"`

	// specWarnings are the warnings of the validation of the spec before the first run.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MaxLength=2048
	SpecWarnings []string `json:"specWarnings,omitempty"`

	// designWarnings are those of specWarnings that advise another design.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MaxLength=2048
	DesignWarnings []string `json:"designWarnings,omitempty"`

	// truncated is what does not fit into this status, as in warnings; absent: all fits.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Truncated string `json:"truncated,omitempty"`

	// artifacts that the operator makes from the experiment's records: analysis, history,
	// manifest of digests, report, archive record and announcement.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Artifacts []ArtifactStatus `json:"artifacts,omitempty"`

	// runs counts the runs by outcome.
	// +optional
	Runs *RunCounts `json:"runs,omitempty"`

	// current run.
	// +optional
	Current *CurrentRun `json:"current,omitempty"`

	// lane is the experiment's position in the queue for its lane. Absent: not
	// queued.
	// +optional
	Lane *LaneStatus `json:"lane,omitempty"`

	// invalidRuns lists invalid runs, newest last.
	// +optional
	// +listType=map
	// +listMapKey=run
	// +kubebuilder:validation:MaxItems=100
	InvalidRuns []InvalidRun `json:"invalidRuns,omitempty"`

	// attempts count the runs created for each position in the plan, deleted ones
	// included.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=25600
	Attempts Attempts `json:"attempts,omitempty"`

	// deletions are why runs are to be deleted, if their annotation gives a reason.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Deletions []RunDeletion `json:"deletions,omitempty"`

	// results of the valid runs, per scenario, metric and arm. They are
	// descriptive: a mean and a spread over runs, not a verdict. The report has
	// results beyond 150 kB, those of servers first.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=2000
	Results []Result `json:"results,omitempty"`

	// analysis is the frozen question and the progress of its answer.
	// +optional
	Analysis *AnalysisStatus `json:"analysis,omitempty"`

	// verdict summarizes the primary comparisons, for example "1 better, 1
	// inconclusive"; "so far" before the last block.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Verdict string `json:"verdict,omitempty"`

	// report is the name of the ConfigMap with the report, which is rewritten
	// after each block and at the end.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Report string `json:"report,omitempty"`

	// evidence names the manifest with the digests of plan, runs and answer, for
	// perflab verify.
	// +optional
	Evidence *ExperimentEvidence `json:"evidence,omitempty"`

	// changes are the changes of primary metrics that were found at completion in
	// the history of the namespace's experiments, and that no earlier experiment
	// reported. The worst come first.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	Changes []SeriesChange `json:"changes,omitempty"`

	// historyDigest is the digest of the ConfigMap that stores the experiment for
	// comparison with later ones; other content is ignored. "none": nothing is stored.
	// Absent: the experiment is not complete, or an earlier version of the operator
	// completed it.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	HistoryDigest string `json:"historyDigest,omitempty"`

	// historySeries are digests of the scenarios in that ConfigMap. Later experiments with
	// one of these scenarios are compared with this one. Absent: an earlier version of the
	// operator completed it.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=64
	HistorySeries []string `json:"historySeries,omitempty"`

	// announcement is what the operator sends to the installation's sinks. Absent:
	// nothing.
	// +optional
	Announcement *AnnouncementStatus `json:"announcement,omitempty"`

	// settled is the digest of the spec's generation and of the runs once
	// nothing is left to decide, analyze or write.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Settled string `json:"settled,omitempty"`

	// topicLedgers are the ConfigMaps that name external brokers in which the experiment
	// creates topics. Topics are deleted only in brokers that match a digest.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	TopicLedgers []TopicLedger `json:"topicLedgers,omitempty"`

	// tornDown is when the complete experiment's environment was deleted, or its
	// adopted workloads released. Absent: it may still exist.
	// +optional
	TornDown *metav1.Time `json:"tornDown,omitempty"`

	// history records which results of runs were deleted. Absent: none.
	// +optional
	History *HistoryStatus `json:"history,omitempty"`

	// capacities are the capacities of the arms, in scenarios with a capacity.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	Capacities []ArmCapacity `json:"capacities,omitempty"`

	// comparisons hold every primary comparison, then those of guardrails, then
	// the exploratory ones with the largest effects relative to their errors.
	// The report has all.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=300
	Comparisons []Comparison `json:"comparisons,omitempty"`

	// pairs hold the primary comparisons of analysis.comparisons, as far as
	// they fit. The report has all.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=300
	Pairs []Comparison `json:"pairs,omitempty"`

	// slowdowns are effects of background load on metrics in each arm.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Slowdowns []Slowdown `json:"slowdowns,omitempty"`

	// effects are the main effects and two-way interactions of a matrix's
	// factors, on primary metrics.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Effects []FactorEffect `json:"effects,omitempty"`

	// conditions: Ready, Reconciling, Stalled (kstatus), Complete,
	// Calibrated, SingleFactor.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ArmStatus is a compared configuration.
type ArmStatus struct {
	// name of the arm.
	// +kubebuilder:validation:MaxLength=512
	Name string `json:"name"`
	// baseline: the other arms are compared with it.
	// +optional
	Baseline bool `json:"baseline,omitempty"`
	// differences from the baseline's configuration.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Differences []Difference `json:"differences,omitempty"`
	// moreDifferences is the number of unlisted differences.
	// +optional
	MoreDifferences int32 `json:"moreDifferences,omitempty"`
	// twin: the arm is the A/A control, which shows the noise.
	// +optional
	Twin bool `json:"twin,omitempty"`
	// verdicts summarize the arm's primary comparisons; absent for the
	// baseline, for the A/A control and before the first comparison.
	// +optional
	Verdicts *ArmVerdicts `json:"verdicts,omitempty"`
}

// Difference is a setting in which an arm differs from the baseline.
type Difference struct {
	// setting that differs, for example modules[mod-users].jvm.heap.
	// +kubebuilder:validation:MaxLength=1024
	Setting string `json:"setting"`
	// baseline is the baseline's value; absent: not set.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Baseline string `json:"baseline,omitempty"`
	// arm is the arm's value; absent: not set.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Arm string `json:"arm,omitempty"`
}

// RunCounts counts the runs by outcome.
type RunCounts struct {
	// planned runs: arms x scenarios x blocks.
	Planned int32 `json:"planned"`
	// done is the number of planned runs with a valid attempt.
	Done int32 `json:"done"`
	// invalid is the number of invalid attempts.
	Invalid int32 `json:"invalid"`
}

// CurrentRun is the current run.
type CurrentRun struct {
	// run is the name of the PerfRun.
	// +kubebuilder:validation:MaxLength=512
	Run string `json:"run"`
	// phase of the run.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Phase RunPhase `json:"phase,omitempty"`
	// message is what the run does or waits for.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Message string `json:"message,omitempty"`
}

// HistoryStatus records which results of runs were deleted, as spec.retention or the
// operator's setting requires.
type HistoryStatus struct {
	// rawResultsOf is the number of newest runs whose raw results were kept.
	// Absent: all.
	// +optional
	RawResultsOf *int32 `json:"rawResultsOf,omitempty"`
	// runs is when deletion of the PerfRuns began. Absent: they exist.
	// +optional
	Runs *metav1.Time `json:"runs,omitempty"`
}

// LaneStatus is a position in the queue for a lane.
type LaneStatus struct {
	// name of what the experiment occupies while it measures, for example "the
	// cluster" or "nodes pool=m5".
	// +kubebuilder:validation:MaxLength=512
	Name string `json:"name"`
	// position in the queue. 0: the experiment may measure.
	Position int32 `json:"position"`
	// behind is the previous experiment in the queue, as namespace/name. The
	// first in the queue is behind the one that measures.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Behind string `json:"behind,omitempty"`
}

// InvalidRun is an invalid attempt.
type InvalidRun struct {
	// run is the name of the PerfRun.
	// +kubebuilder:validation:MaxLength=512
	Run string `json:"run"`
	// reason in CamelCase.
	// +kubebuilder:validation:MaxLength=512
	Reason string `json:"reason"`
	// message explains the reason.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Message string `json:"message,omitempty"`
}

// Result summarizes the valid runs of one arm for one metric in one scenario.
// It is descriptive, not a verdict.
type Result struct {
	// scenario of the runs.
	// +kubebuilder:validation:MaxLength=512
	Scenario string `json:"scenario"`
	// metric, for example cico/Check-In/p95.
	// +kubebuilder:validation:MaxLength=1024
	Metric string `json:"metric"`
	// arm of the runs.
	// +kubebuilder:validation:MaxLength=512
	Arm string `json:"arm"`
	// unit of mean and standardDeviation.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Unit string `json:"unit,omitempty"`
	// runs is the number of valid runs.
	Runs int32 `json:"runs"`
	// mean over the runs.
	// +kubebuilder:validation:MaxLength=512
	Mean string `json:"mean"`
	// standardDeviation over the runs; absent with one run.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	StandardDeviation string `json:"standardDeviation,omitempty"`
	// deltaPercent is the mean's difference from the baseline's mean in percent
	// of the latter; negative is less. Absent for the baseline and if the
	// baseline's mean is zero.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	DeltaPercent string `json:"deltaPercent,omitempty"`
}

// Attempts are counts by position in the plan.
type Attempts []int32

// RunDeletion is why a run is to be deleted.
type RunDeletion struct {
	// position of the run in the plan.
	Position int32 `json:"position"`
	// attempt of the run at this position.
	Attempt int32 `json:"attempt"`
	// reason in the run's annotation.
	// +kubebuilder:validation:MaxLength=1024
	Reason string `json:"reason"`
}

// TopicLedger identifies a ConfigMap that names external brokers.
type TopicLedger struct {
	// name of the ConfigMap.
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// digest is the SHA-256 of the brokers it names.
	// +kubebuilder:validation:MaxLength=64
	Digest string `json:"digest"`
}
