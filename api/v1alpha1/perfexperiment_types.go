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
// +kubebuilder:validation:XValidation:rule="has(self.spec.serviceAccountName) == has(oldSelf.spec.serviceAccountName) && (!has(self.spec.serviceAccountName) || self.spec.serviceAccountName == oldSelf.spec.serviceAccountName)",message="spec.serviceAccountName can't be changed, because the account that creates objects also deletes them: put it back, or give the changed experiment a new name"
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
// planned, only suspend, cleanup, history, lane, notes and more blocks may change.
//
// +kubebuilder:validation:XValidation:rule="has(self.system) != has(self.systemRef)",message="an experiment needs either system (written here) or systemRef (the name of a PerfSystem), not both and not neither"
// +kubebuilder:validation:XValidation:rule="has(self.arms) != has(self.matrix)",message="an experiment needs either arms (a list of configurations) or matrix (factors with levels), not both and not neither"
// +kubebuilder:validation:XValidation:rule="!has(self.arms) || self.arms.filter(a, has(a.baseline) && a.baseline).size() == 1",message="exactly one arm must have baseline: true: the other arms are compared to it"
// +kubebuilder:validation:XValidation:rule="(self.reset == 'RestoreData') == has(self.restore)",message="restore says how data is brought back, and goes with reset: RestoreData: add the one that is missing"
type PerfExperimentSpec struct {
	// question is what the experiment is to answer, in a sentence: "Do two
	// partitions make imports faster?". It is the title of the report. Default:
	// one made of the arms and the metrics that decide.
	// +optional
	// +kubebuilder:validation:MinLength=8
	// +kubebuilder:validation:MaxLength=160
	// +kubebuilder:validation:Pattern=`^[^\x00-\x1f\x7f]*$`
	Question string `json:"question,omitempty"`

	// system is what is under test.
	// +optional
	System System `json:"system,omitzero"`

	// systemRef names the PerfSystem, in the same namespace, that is under
	// test. It is read once, before the first run: a later edit of it changes
	// nothing for this experiment.
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

	// analysis says which question the runs are to decide.
	// +optional
	// +kubebuilder:default={}
	Analysis Analysis `json:"analysis,omitempty"`

	// measurement says which part of a run counts.
	// +optional
	// +kubebuilder:default={}
	Measurement Measurement `json:"measurement,omitempty"`

	// reset says what is renewed before each run. Default RestartModules.
	// +optional
	// +kubebuilder:default=RestartModules
	Reset ResetPolicy `json:"reset,omitempty"`

	// restore says how data is brought back, with reset RestoreData.
	// +optional
	Restore *Restore `json:"restore,omitempty"`

	// keepWarm leaves the Kafka and the PostgreSQL of every arm up from the
	// first run that needs them to the end, where arms need different ones.
	// Changing over then takes no longer than a restart of the modules, and
	// costs the memory of all of them. Default false: one of each at a time.
	// +optional
	KeepWarm bool `json:"keepWarm,omitempty"`

	// cost gives what each arm's nodes cost beside what they do.
	// +optional
	Cost *Cost `json:"cost,omitempty"`

	// lane says beside what else the experiment may measure. Absent: beside
	// nothing in the cluster.
	// +optional
	Lane *Lane `json:"lane,omitempty"`

	// validity says when a run counts.
	// +optional
	// +kubebuilder:default={}
	Validity Validity `json:"validity,omitempty"`

	// deadlines bound every wait of a run.
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

	// suspend starts no further run. The run that is on is finished.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// cleanup says what becomes of the environment afterwards.
	// +optional
	// +kubebuilder:default={}
	Cleanup Cleanup `json:"cleanup,omitempty"`

	// history sets how long the results of runs stay in the cluster. Absent: the
	// operator's setting, which by default keeps everything until the experiment
	// is deleted.
	// +optional
	History *History `json:"history,omitempty"`

	// notes are what people add to the report: texts with pictures in its
	// sections, and marks in time on its charts. They may change at any time, and
	// the report is then rewritten. Their texts have 65,536 characters together
	// at the most; more of it is kept in ConfigMaps.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self.map(n, has(n.text) ? size(n.text) : 0).sum() <= 65536",message="the texts of all notes have more than 65,536 characters, which would leave the status too little room: keep the longest in ConfigMaps (configMap)"
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

// LaneType says what of the cluster an experiment takes up.
// +kubebuilder:validation:Enum=Cluster;Nodes;Named;Kueue
type LaneType string

const (
	// LaneCluster is all of the cluster: nothing else is measured meanwhile.
	LaneCluster LaneType = "Cluster"
	// LaneNodes are the nodes that the placement of Kafka, PostgreSQL and every
	// module choose.
	LaneNodes LaneType = "Nodes"
	// LaneNamed is a part of the cluster that people have set apart and named.
	LaneNamed LaneType = "Named"
	// LaneKueue is what Kueue admits from one of its queues.
	LaneKueue LaneType = "Kueue"
)

// Lane says beside what else an experiment may measure. Experiments that take up the
// same nodes take turns, a block at a time, and namespaces one after another.
//
// +kubebuilder:validation:XValidation:rule="(has(self.type) && self.type in ['Named', 'Kueue']) == has(self.name)",message="a lane has a name with type: Named or Kueue, and only then: add the one that is missing"
type Lane struct {
	// type is what the experiment takes up. Cluster: nothing else is measured
	// meanwhile. Nodes: nothing else on the nodes that its placement chooses, so
	// Kafka, PostgreSQL and every module need a nodeSelector. Named: beside
	// experiments that name another lane; who names one vouches for it that its
	// nodes are set apart. Kueue: Kueue says when each block begins, to which it is
	// a Workload of what its pods request; beside whom is its quota's matter.
	// Default Cluster.
	// +optional
	Type LaneType `json:"type,omitempty"`

	// name of the lane, with type Named, or of the LocalQueue in the experiment's
	// namespace, with type Kueue.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]+([.-][a-z0-9]+)*$`
	Name string `json:"name,omitempty"`
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
//
// +kubebuilder:validation:XValidation:rule="!has(self.target) || self.target.maxBlocks >= (has(self.blocks) ? self.blocks : 6)",message="design.target.maxBlocks is smaller than design.blocks: blocks are done in any case, and target adds to them"
// +kubebuilder:validation:XValidation:rule="!has(self.budget) || has(self.target) || !has(self.blocks)",message="design.budget bounds the blocks that design.target adds: write a target, or take budget or blocks out"
type Design struct {
	// blocks is the number of times every arm meets every scenario. Default
	// 6, the least a verdict can rest on. May be raised later.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self >= 1 && self <= 100",message="design.blocks must be from 1 to 100"
	Blocks int32 `json:"blocks,omitempty"`

	// calibrate adds an arm that is configured as the baseline, its twin. What
	// differs between the two is noise: where a primary metric does, the
	// condition Calibrated is False and no verdict is given. Elsewhere such an arm
	// is called an A/A control.
	// +optional
	Calibrate bool `json:"calibrate,omitempty"`

	// target adds blocks to those of blocks until the intervals are narrow
	// enough, or every primary metric has a verdict. Absent: blocks is all there
	// is, and without blocks the target is verdicts, with a maxBlocks of 36, or of
	// as many blocks as make 200 runs.
	// +optional
	Target *PrecisionTarget `json:"target,omitempty"`

	// budget is the time from the first run's start within which blocks may be
	// added for target. No block is begun that would not end within it. Absent:
	// no bound.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('0s')",message="write a duration with its unit: for example 500ms, 30s, 5m or 1h30m",messageExpression="'write a duration with its unit: for example 500ms, 30s, 5m or 1h30m' + (self.matches('^[0-9]+([.][0-9]+)?$') ? '; if seconds are meant, write ' + self + 's' : '')"
	Budget *metav1.Duration `json:"budget,omitempty"`

	// maxRuns is the largest number of runs (arms x scenarios x blocks) the
	// experiment may plan. Default 200: more take days, so say that they are
	// meant.
	// +optional
	// +kubebuilder:default=200
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=25600
	MaxRuns int32 `json:"maxRuns,omitempty"`

	// order of the runs within a block. Default Randomized.
	// +optional
	// +kubebuilder:default=Randomized
	Order Order `json:"order,omitempty"`

	// seed of the random order and of the loads' data. Absent: taken from the
	// experiment's uid and recorded in status.seed.
	// +optional
	Seed *int64 `json:"seed,omitempty"`
}

// ResetPolicy says what is renewed before each run.
// +kubebuilder:validation:Enum=None;RestartModules;RestoreData;Reschedule;Recreate
type ResetPolicy string

const (
	// ResetNone lets modules run on from one run to the next.
	ResetNone ResetPolicy = "None"
	// ResetRestartModules restarts every module before each run and tells it
	// the run's name (PERFLAB_RUN), so that it can restore its data.
	ResetRestartModules ResetPolicy = "RestartModules"
	// ResetRestoreData stops the modules, brings the data back as restore
	// says, and starts them again.
	ResetRestoreData ResetPolicy = "RestoreData"
	// ResetReschedule takes every pod of the modules away before any new one
	// is made, so that the scheduler places them all afresh.
	ResetReschedule ResetPolicy = "Reschedule"
	// ResetRecreate rebuilds everything, Kafka and PostgreSQL included.
	ResetRecreate ResetPolicy = "Recreate"
)

// Restore says how data is brought back before a run. It may be done twice for
// one run, so it has to give the same data however often it is done.
//
// +kubebuilder:validation:XValidation:rule="[has(self.sql), has(self.http), has(self.job)].filter(x, x).size() == 1",message="restore needs exactly one of sql (a script for PostgreSQL), http (a call of a module) and job (a container of yours)"
type Restore struct {
	// sql is a script run in the system's database while no module is up.
	// +optional
	SQL *RestoreSQL `json:"sql,omitempty"`

	// http is a call made once the modules are up.
	// +optional
	HTTP *RestoreHTTP `json:"http,omitempty"`

	// job is a container run while no module is up. It gets the variables a
	// module gets (DB_HOST, KAFKA_HOST, PERFLAB_RUN and so on).
	// +optional
	Job *RestoreJob `json:"job,omitempty"`

	// timeout of the restoring. Default 10m.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('0s')",message="write a duration with its unit: for example 500ms, 30s, 5m or 1h30m",messageExpression="'write a duration with its unit: for example 500ms, 30s, 5m or 1h30m' + (self.matches('^[0-9]+([.][0-9]+)?$') ? '; if seconds are meant, write ' + self + 's' : '')"
	Timeout *metav1.Duration `json:"timeout,omitempty"`
}

// RestoreSQL is a script for PostgreSQL.
type RestoreSQL struct {
	// configMap holds the script. It runs in one transaction.
	// +required
	ConfigMap ConfigMapKey `json:"configMap"`

	// image with psql.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image"`
}

// RestoreHTTP is a call of a module.
type RestoreHTTP struct {
	// module to call. Absent: the target.
	// +optional
	// +kubebuilder:validation:MaxLength=40
	Module string `json:"module,omitempty"`

	// method of the call. Default POST.
	// +optional
	// +kubebuilder:default=POST
	// +kubebuilder:validation:Enum=GET;POST;PUT;DELETE
	Method string `json:"method,omitempty"`

	// path of the call. Example: /admin/restore.
	// +required
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="self.matches('^/[^ ]*$')",message="restore.http.path must begin with '/' and have no space: for example /admin/restore"
	Path string `json:"path"`

	// body of the call, sent as application/json.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Body string `json:"body,omitempty"`
}

// RestoreJob is a container that brings data back.
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

// Cost gives what nodes cost.
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

// Unsound says what becomes of a run of which only a part is sound.
// +kubebuilder:validation:Enum=InvalidRun;LeftOut
type Unsound string

const (
	// UnsoundInvalidatesRun has none of the run count.
	UnsoundInvalidatesRun Unsound = "InvalidRun"
	// UnsoundIsLeftOut leaves out the loads and windows that are not sound.
	UnsoundIsLeftOut Unsound = "LeftOut"
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

	// maxFailedRequestsPercent is the largest share of a script's requests that
	// may fail, as k6's http_req_failed counts them: those answered otherwise
	// than the script expects, by default with 400 or above, or not at all. 100
	// allows any share. Default: maxErrorPercent.
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
	// modules, Kafka and PostgreSQL while load is on. Default 0.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	MaxRestarts *int32 `json:"maxRestarts,omitempty"`

	// maxFailedImports is the largest number of imports of one load that may fail, of
	// several. They are results then: counted as failedImports, named in the run's
	// warnings, and left out of durations. One import that stalls ends the load all the
	// same. Default 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=998
	MaxFailedImports *int32 `json:"maxFailedImports,omitempty"`

	// unsound says what becomes of a run of which only a part is sound. InvalidRun: none of it
	// counts. LeftOut: each load counts, and each window of it beside imports, if it is sound by
	// itself; the others are left out, and named in the run's warnings. Default InvalidRun.
	// +optional
	Unsound Unsound `json:"unsound,omitempty"`

	// maxGapPercent is the largest share of the time that counts in which the servers may
	// not have been sampled, for more than three intervals at a time. Such gaps are results
	// then: counted in the run's warnings and marked on charts over time. Default 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=50
	MaxGapPercent *int32 `json:"maxGapPercent,omitempty"`

	// maxOtherCPUPercent is the largest share of the CPUs of the collector's
	// node that other workloads may use, on average after the warm-up. It applies
	// if pods of the run are on that node and the node is full. It is full if it is at
	// least 80 % busy and, if its kernel reports that, tasks wait for a CPU in at
	// least 25 % of the time. 100 allows any. Default 50.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	MaxOtherCPUPercent *int32 `json:"maxOtherCPUPercent,omitempty"`

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
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('0s')",message="write a duration with its unit: for example 500ms, 30s, 5m or 1h30m",messageExpression="'write a duration with its unit: for example 500ms, 30s, 5m or 1h30m' + (self.matches('^[0-9]+([.][0-9]+)?$') ? '; if seconds are meant, write ' + self + 's' : '')"
	Environment *metav1.Duration `json:"environment,omitempty"`

	// loadStart bounds the time from creating a load to its first request.
	// Default 5m.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('0s')",message="write a duration with its unit: for example 500ms, 30s, 5m or 1h30m",messageExpression="'write a duration with its unit: for example 500ms, 30s, 5m or 1h30m' + (self.matches('^[0-9]+([.][0-9]+)?$') ? '; if seconds are meant, write ' + self + 's' : '')"
	LoadStart *metav1.Duration `json:"loadStart,omitempty"`

	// load bounds a load that has no duration of its own: an import, or a load
	// that lasts until another ends. Default 2h.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('0s')",message="write a duration with its unit: for example 500ms, 30s, 5m or 1h30m",messageExpression="'write a duration with its unit: for example 500ms, 30s, 5m or 1h30m' + (self.matches('^[0-9]+([.][0-9]+)?$') ? '; if seconds are meant, write ' + self + 's' : '')"
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
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('0s')",message="write a duration with its unit: for example 500ms, 30s, 5m or 1h30m",messageExpression="'write a duration with its unit: for example 500ms, 30s, 5m or 1h30m' + (self.matches('^[0-9]+([.][0-9]+)?$') ? '; if seconds are meant, write ' + self + 's' : '')"
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
	// ExperimentStalled requires manual action.
	ExperimentStalled ExperimentPhase = "Stalled"
	// ExperimentDeleting deletes its environment.
	ExperimentDeleting ExperimentPhase = "Deleting"
)

// History says how long what runs gave stays in the cluster. Nothing goes before the
// experiment is complete, its report is stored and its environment is gone, or meant to
// stay. Status and report stay in any case.
type History struct {
	// rawResults is the time for which raw results stay: the histograms and
	// series of runs, in ConfigMaps, which are most of what an experiment takes.
	// Without them the report can't be rewritten in full. It begins when the
	// experiment is complete.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('0s')",message="write a duration with its unit: for example 500ms, 30s, 5m or 1h30m",messageExpression="'write a duration with its unit: for example 500ms, 30s, 5m or 1h30m' + (self.matches('^[0-9]+([.][0-9]+)?$') ? '; if seconds are meant, write ' + self + 's' : '')"
	RawResults *metav1.Duration `json:"rawResults,omitempty"`

	// rawResultsOf is the number of runs, the newest, of which raw results stay
	// at all.
	// +optional
	// +kubebuilder:validation:Minimum=0
	RawResultsOf *int32 `json:"rawResultsOf,omitempty"`

	// runs is the time for which the PerfRuns stay, and their raw results at the
	// longest. Without them no block can be added. It begins when the experiment
	// is complete.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('0s')",message="write a duration with its unit: for example 500ms, 30s, 5m or 1h30m",messageExpression="'write a duration with its unit: for example 500ms, 30s, 5m or 1h30m' + (self.matches('^[0-9]+([.][0-9]+)?$') ? '; if seconds are meant, write ' + self + 's' : '')"
	Runs *metav1.Duration `json:"runs,omitempty"`
}

// PerfExperimentStatus is what came out so far.
type PerfExperimentStatus struct {
	// observedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// phase is a one-word summary for people.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Phase ExperimentPhase `json:"phase,omitempty"`

	// progress is the number of runs done and planned, for example "7/12".
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Progress string `json:"progress,omitempty"`

	// waitingFor is the message on what the experiment waits for.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
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
	// scenarios, order, seed, analysis, measurement and validity.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	PlanHash string `json:"planHash,omitempty"`

	// arms are the configurations that are compared, with what they change.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=65
	Arms []ArmStatus `json:"arms,omitempty"`

	// warnings are sentences about what makes the experiment answer less than
	// it could. They stop nothing.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MaxLength=2048
	Warnings []string `json:"warnings,omitempty"`

	// specWarnings are those of the warnings that validation found in the spec before the
	// first run.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MaxLength=2048
	SpecWarnings []string `json:"specWarnings,omitempty"`

	// artifacts are what the operator makes from what the experiment recorded: analysis,
	// history, manifest of digests, report, archive record and announcement.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Artifacts []ArtifactStatus `json:"artifacts,omitempty"`

	// runs counts the runs by outcome.
	// +optional
	Runs *RunCounts `json:"runs,omitempty"`

	// current is the run that is on.
	// +optional
	Current *CurrentRun `json:"current,omitempty"`

	// lane is the experiment's place in the line for what its runs take up.
	// Absent: it is in none.
	// +optional
	Lane *LaneStatus `json:"lane,omitempty"`

	// invalidRuns lists runs that did not count, newest last.
	// +optional
	// +listType=map
	// +listMapKey=run
	// +kubebuilder:validation:MaxItems=100
	InvalidRuns []InvalidRun `json:"invalidRuns,omitempty"`

	// attempts count, by position in the plan, the runs that were made for it, deleted
	// ones included.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=25600
	Attempts Attempts `json:"attempts,omitempty"`

	// deletions say why runs are to be deleted, as far as somebody wrote it on them.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Deletions []RunDeletion `json:"deletions,omitempty"`

	// results hold, per scenario, metric and arm, what the valid runs gave.
	// They are descriptive: a mean and a spread over runs, not a verdict. What
	// exceeds 150 kB, servers' figures first, is in the report.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=2000
	Results []Result `json:"results,omitempty"`

	// analysis is the question as it is frozen, and how far the answer is.
	// +optional
	Analysis *AnalysisStatus `json:"analysis,omitempty"`

	// verdict sums the primary comparisons up, for example "1 better, 1
	// inconclusive"; "so far" while blocks are to come.
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

	// changes are places where a primary metric was found to have changed when the
	// experiment was complete, in the history of the namespace's experiments, and
	// that no earlier experiment reported. The worst come first.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	Changes []SeriesChange `json:"changes,omitempty"`

	// historyDigest is the digest of what the ConfigMap with the experiment's history keeps
	// for comparison with later experiments: what has another digest is not used. "none":
	// nothing is kept. Absent: the experiment is not complete, or an operator of an earlier
	// version completed it.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	HistoryDigest string `json:"historyDigest,omitempty"`

	// historySeries are digests of the scenarios whose results that ConfigMap keeps. Later
	// experiments with one of these scenarios are compared with this one. Absent: an operator
	// of an earlier version completed it.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=64
	HistorySeries []string `json:"historySeries,omitempty"`

	// announcement is what the operator sends to the sinks of the installation. Absent:
	// nothing.
	// +optional
	Announcement *AnnouncementStatus `json:"announcement,omitempty"`

	// settled is the digest of the spec's generation and of the runs for which
	// nothing is left to decide, analyze or write. Absent: something is.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Settled string `json:"settled,omitempty"`

	// topicLedgers are the ConfigMaps that name external brokers in which the experiment
	// makes topics. Only what such a ConfigMap says with this digest is followed when
	// the topics are deleted.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	TopicLedgers []TopicLedger `json:"topicLedgers,omitempty"`

	// tornDown is when the environment of the complete experiment was found to be
	// gone, or the workloads it adopted to be released. Absent: it may still exist.
	// +optional
	TornDown *metav1.Time `json:"tornDown,omitempty"`

	// history is what was deleted of the results of runs. Absent: nothing.
	// +optional
	History *HistoryStatus `json:"history,omitempty"`

	// comparisons hold every primary comparison, then the guards', then of the
	// exploratory ones those whose effect is largest against its error. The
	// report has all.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=300
	Comparisons []Comparison `json:"comparisons,omitempty"`

	// pairs hold the primary comparisons of arms with other arms than the
	// baseline, as analysis.comparisons asks for them and as far as there is
	// room. The report has all.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=300
	Pairs []Comparison `json:"pairs,omitempty"`

	// slowdowns say what background load does to metrics in each arm.
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

// ArmStatus is a configuration that is compared.
type ArmStatus struct {
	// name of the arm.
	// +kubebuilder:validation:MaxLength=512
	Name string `json:"name"`
	// baseline: the other arms are compared to it.
	// +optional
	Baseline bool `json:"baseline,omitempty"`
	// differences to the baseline's configuration.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Differences []Difference `json:"differences,omitempty"`
	// moreDifferences is the number of differences that are not listed.
	// +optional
	MoreDifferences int32 `json:"moreDifferences,omitempty"`
	// twin: the arm is configured as the baseline, to tell noise.
	// +optional
	Twin bool `json:"twin,omitempty"`
	// verdicts sum up the arm's primary comparisons; absent for the baseline
	// and its twin, and before there are any.
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
	// invalid is the number of attempts that did not count.
	Invalid int32 `json:"invalid"`
}

// CurrentRun is the run that is on.
type CurrentRun struct {
	// run is the name of the PerfRun.
	// +kubebuilder:validation:MaxLength=512
	Run string `json:"run"`
	// phase of the run.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Phase RunPhase `json:"phase,omitempty"`
	// message says what the run is doing or waiting for.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Message string `json:"message,omitempty"`
}

// HistoryStatus is what was deleted of the results of runs, as spec.history or the
// operator's setting requires.
type HistoryStatus struct {
	// rawResultsOf is the number of runs, the newest, whose raw results were left.
	// Absent: all.
	// +optional
	RawResultsOf *int32 `json:"rawResultsOf,omitempty"`
	// runs is when deletion of the PerfRuns began. Absent: they exist.
	// +optional
	Runs *metav1.Time `json:"runs,omitempty"`
}

// LaneStatus is a place in the line for a part of the cluster.
type LaneStatus struct {
	// name of what the experiment takes up while it measures, for example "the
	// cluster" or "nodes pool=m5".
	// +kubebuilder:validation:MaxLength=512
	Name string `json:"name"`
	// position is the number of turns until its own. 0: it has its turn.
	Position int32 `json:"position"`
	// behind is the experiment just before it, as namespace/name. The first in
	// line is behind the one that measures.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Behind string `json:"behind,omitempty"`
}

// InvalidRun is an attempt that did not count.
type InvalidRun struct {
	// run is the name of the PerfRun.
	// +kubebuilder:validation:MaxLength=512
	Run string `json:"run"`
	// reason in one word.
	// +kubebuilder:validation:MaxLength=512
	Reason string `json:"reason"`
	// message in a sentence.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Message string `json:"message,omitempty"`
}

// Result is what the valid runs of one arm gave for one metric in one
// scenario. It describes; it does not decide.
type Result struct {
	// scenario the runs were done under.
	// +kubebuilder:validation:MaxLength=512
	Scenario string `json:"scenario"`
	// metric, for example cico/Check-In/p95.
	// +kubebuilder:validation:MaxLength=1024
	Metric string `json:"metric"`
	// arm the runs were done with.
	// +kubebuilder:validation:MaxLength=512
	Arm string `json:"arm"`
	// unit of mean and standardDeviation.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Unit string `json:"unit,omitempty"`
	// runs is the number of valid runs behind the numbers.
	Runs int32 `json:"runs"`
	// mean over the runs.
	// +kubebuilder:validation:MaxLength=512
	Mean string `json:"mean"`
	// standardDeviation over the runs; absent with one run.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	StandardDeviation string `json:"standardDeviation,omitempty"`
	// deltaPercent is the mean's difference to the baseline's mean in percent
	// of the baseline's; negative is less. Absent for the baseline and where
	// the baseline's mean is zero.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	DeltaPercent string `json:"deltaPercent,omitempty"`
}

// Attempts are counts by position in the plan.
type Attempts []int32

// RunDeletion says why a run is to be deleted.
type RunDeletion struct {
	// position of the run in the plan.
	Position int32 `json:"position"`
	// attempt that the run was at this position.
	Attempt int32 `json:"attempt"`
	// reason as somebody wrote it.
	// +kubebuilder:validation:MaxLength=1024
	Reason string `json:"reason"`
}

// TopicLedger is what a ConfigMap that names external brokers is known by.
type TopicLedger struct {
	// name of the ConfigMap.
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// digest is the SHA-256 of the brokers it names.
	// +kubebuilder:validation:MaxLength=64
	Digest string `json:"digest"`
}
