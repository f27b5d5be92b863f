// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Conditions of both kinds. Ready, Reconciling and Stalled follow kstatus:
// Ready is always present, Reconciling and Stalled only while true.
const (
	// ConditionReady is True when the object is complete, Unknown while it is
	// in progress, False when it failed.
	ConditionReady = "Ready"
	// ConditionReconciling is True while the operator is working on the object.
	ConditionReconciling = "Reconciling"
	// ConditionStalled is True when manual action is required.
	ConditionStalled = "Stalled"
)

// Conditions of a PerfExperiment.
const (
	// ConditionComplete is True when every planned run has a valid attempt, for
	// kubectl wait --for=condition=Complete.
	ConditionComplete = "Complete"
	// ConditionSingleFactor is True when each arm differs from the baseline in
	// only one setting, False when several settings may have caused an effect.
	ConditionSingleFactor = "SingleFactor"
	// ConditionCalibrated is present with design.calibrate: True when the A/A
	// control equals the baseline on all primary metrics; False when it
	// differs, so no verdict is reliable; Unknown until then.
	ConditionCalibrated = "Calibrated"
	// ConditionAnnounced is present where the installation names sinks: True when
	// every sink accepted the announcements of completion, stall and changes; Unknown
	// before; False while a sink rejects them, or after the operator gave up on one.
	ConditionAnnounced = "Announced"
)

// ConditionHeld is True on a PerfSchedule while the creation of a due experiment
// is delayed. It is present only while True.
const ConditionHeld = "Held"

// Conditions of a PerfRun, in the order in which they become True.
const (
	// ConditionScriptsAvailable is present with scripts from ConfigMaps: False
	// when one is missing or was changed after an earlier run.
	ConditionScriptsAvailable = "ScriptsAvailable"
	// ConditionImagesAvailable is False when an image of the run can't be
	// pulled.
	ConditionImagesAvailable = "ImagesAvailable"
	// ConditionKafkaReady is True when Kafka and its topics are as declared.
	ConditionKafkaReady = "KafkaReady"
	// ConditionPostgresReady is True when PostgreSQL is as declared.
	ConditionPostgresReady = "PostgresReady"
	// ConditionDataRestored is True when restore has finished, with reset
	// RestoreData.
	ConditionDataRestored = "DataRestored"
	// ConditionModulesReady is True when all pods of all modules are ready and
	// none of an earlier configuration exists.
	ConditionModulesReady = "ModulesReady"
	// ConditionTargetReachable is True when the load's target answers.
	ConditionTargetReachable = "TargetReachable"
	// ConditionPriced is True when the price of every node is known, where a
	// price list is declared; False when the cost is unknown. The run is valid
	// in both cases.
	ConditionPriced = "Priced"
	// ConditionLoadsComplete is True when every load has ended as planned.
	ConditionLoadsComplete = "LoadsComplete"
	// ConditionResultsKept is True when the run's results are stored, False
	// while the cluster refuses them.
	ConditionResultsKept = "ResultsKept"
	// ConditionArchived is True when the archive has the results of the run or the
	// experiment, where the operator has an archive; False while the archive refuses
	// them.
	ConditionArchived = "Archived"
	// ConditionValid is True when the run is valid, False when it is invalid.
	ConditionValid = "Valid"
)

// Reasons of conditions.
const (
	// ReasonProgressing: in progress.
	ReasonProgressing = "Progressing"
	// ReasonComplete: complete.
	ReasonComplete = "Complete"
	// ReasonSuspended: spec.suspend is set.
	ReasonSuspended = "Suspended"
	// ReasonSpecChanged: the spec differs from the one that the runs were
	// planned from.
	ReasonSpecChanged = "SpecChanged"
	// ReasonAttemptsExhausted: a run reached maxAttempts without a valid
	// attempt.
	ReasonAttemptsExhausted = "AttemptsExhausted"
	// ReasonSystemMissing: the referenced PerfSystem does not exist.
	ReasonSystemMissing = "SystemMissing"
	// ReasonSingleFactor: each arm differs in one setting.
	ReasonSingleFactor = "SingleFactor"
	// ReasonConfounded: an arm differs in several settings.
	ReasonConfounded = "Confounded"
	// ReasonTwinAlike: the A/A control equals the baseline.
	ReasonTwinAlike = "TwinAlike"
	// ReasonTwinDiffers: the A/A control differs from the baseline, though both
	// have the same configuration.
	ReasonTwinDiffers = "TwinDiffers"
	// ReasonTooFewBlocks: too few complete blocks for a verdict.
	ReasonTooFewBlocks = "TooFewBlocks"
	// ReasonNoPrimaryMetric: no primary metric to compare.
	ReasonNoPrimaryMetric = "NoPrimaryMetric"
	// ReasonTargetMet: the intervals are as narrow as the target.
	ReasonTargetMet = "TargetMet"
	// ReasonDecided: every primary comparison has a verdict.
	ReasonDecided = "Decided"
	// ReasonHopeless: the remaining blocks are unlikely to change a verdict.
	ReasonHopeless = "Hopeless"
	// ReasonMaxBlocks: the largest number of blocks is done.
	ReasonMaxBlocks = "MaxBlocks"
	// ReasonBudget: a further block would exceed the budget.
	ReasonBudget = "Budget"
	// ReasonArchived: the archive has the results.
	ReasonArchived = "Archived"
	// ReasonArchiveAway: the archive does not answer.
	ReasonArchiveAway = "ArchiveAway"
	// ReasonArchiveForbidden: the archive denies the operator access, or writes.
	ReasonArchiveForbidden = "ArchiveForbidden"
	// ReasonArchiveFull: the archive has no free space.
	ReasonArchiveFull = "ArchiveFull"
	// ReasonArchiveMismatch: the archive's content differs from what was
	// written.
	ReasonArchiveMismatch = "ArchiveMismatch"
	// ReasonArchiveRefused: the archive's configuration is invalid, or it refuses the
	// record.
	ReasonArchiveRefused = "ArchiveRefused"
	// ReasonAnnouncing: the announcements are about to be sent.
	ReasonAnnouncing = "Announcing"
	// ReasonAnnounced: every sink accepted the announcements.
	ReasonAnnounced = "Announced"
	// ReasonSinkAway: a sink does not answer, or answers with a server error.
	ReasonSinkAway = "SinkAway"
	// ReasonSinkRefuses: a sink refuses an announcement.
	ReasonSinkRefuses = "SinkRefuses"
	// ReasonSinkGivenUp: a sink accepted nothing for a day, so the operator
	// stopped sending.
	ReasonSinkGivenUp = "SinkGivenUp"
	// ReasonInvalidSpec: the spec is invalid.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonScheduled: the schedule is active.
	ReasonScheduled = "Scheduled"
	// ReasonConcurrent: an earlier experiment of the schedule is running.
	ReasonConcurrent = "Concurrent"
	// ReasonDeleting: the object is being deleted.
	ReasonDeleting = "Deleting"

	// ReasonReady: the component is as declared.
	ReasonReady = "Ready"
	// ReasonNotDeclared: the system has no such component.
	ReasonNotDeclared = "NotDeclared"
	// ReasonOperatorMissing: the CRDs of the component's operator are not
	// installed.
	ReasonOperatorMissing = "OperatorMissing"
	// ReasonModeNotServed: the installed release of the component's operator
	// does not support the declaration.
	ReasonModeNotServed = "ModeNotServed"
	// ReasonOperatorSilent: the CRDs are installed, but no operator acts on
	// their objects.
	ReasonOperatorSilent = "OperatorSilent"
	// ReasonRestoring: data is being restored, or modules are being stopped for
	// it.
	ReasonRestoring = "Restoring"
	// ReasonRestoreFailed: data could not be restored.
	ReasonRestoreFailed = "RestoreFailed"
	// ReasonReplacing: an earlier configuration is being deleted.
	ReasonReplacing = "Replacing"
	// ReasonCreating: the component is being created.
	ReasonCreating = "Creating"
	// ReasonRolling: the component is rolling out a new configuration.
	ReasonRolling = "Rolling"
	// ReasonRefused: the component's operator, or the API server, refuses the
	// declaration.
	ReasonRefused = "Refused"
	// ReasonNameTaken: an object with the name exists that the experiment did
	// not create. It is left unchanged.
	ReasonNameTaken = "NameTaken"
	// ReasonRetrying: the API server can't serve a request for now.
	ReasonRetrying = "Retrying"
	// ReasonTopicsNotReady: topics are missing or differ from the declaration.
	ReasonTopicsNotReady = "TopicsNotReady"
	// ReasonImagePull: an image can't be pulled.
	ReasonImagePull = "ImagePull"
	// ReasonPulling: images are being pulled.
	ReasonPulling = "Pulling"
	// ReasonCrashing: a container keeps exiting.
	ReasonCrashing = "Crashing"
	// ReasonUnschedulable: no node fits a pod.
	ReasonUnschedulable = "Unschedulable"
	// ReasonConfiguration: a Secret or ConfigMap that a pod refers to is
	// missing.
	ReasonConfiguration = "Configuration"
	// ReasonScriptChanged: a script differs from the one that earlier runs
	// used.
	ReasonScriptChanged = "ScriptChanged"
	// ReasonNotReady: pods run but don't answer their readiness probe yet.
	ReasonNotReady = "NotReady"
	// ReasonWorkloadMissing: a workload to adopt, or its container, does not
	// exist.
	ReasonWorkloadMissing = "WorkloadMissing"
	// ReasonWorkloadRefused: a workload can't be adopted as it is.
	ReasonWorkloadRefused = "WorkloadRefused"
	// ReasonWorkloadTaken: another experiment has adopted a workload.
	ReasonWorkloadTaken = "WorkloadTaken"
	// ReasonWorkloadContested: another client reverts changes to an adopted
	// workload.
	ReasonWorkloadContested = "WorkloadContested"
	// ReasonSecretMissing: a Secret named in the spec does not exist.
	ReasonSecretMissing = "SecretMissing"
	// ReasonSecretForbidden: the operator may not read a Secret named in the
	// spec. The message has the commands that allow it.
	ReasonSecretForbidden = "SecretForbidden"
	// ReasonHostNotAllowed: the annotation of a Secret does not list a host
	// that its login would be sent to. The message has the command that adds
	// it.
	ReasonHostNotAllowed = "HostNotAllowed"
	// ReasonUnreachable: the target, or an existing server, does not answer.
	ReasonUnreachable = "Unreachable"
	// ReasonTargetDenied: the target, or an existing server, has an address that
	// the operator does not connect to. The message has the flag that allows it.
	ReasonTargetDenied = "TargetDenied"
	// ReasonEffectiveConfiguration: the running configuration differs from the
	// declared one.
	ReasonEffectiveConfiguration = "EffectiveConfiguration"
	// ReasonStatusRefused: the API server refuses the status.
	ReasonStatusRefused = "StatusRefused"
	// ReasonDeadline: a wait took longer than its deadline.
	ReasonDeadline = "Deadline"
	// ReasonLoading: loads are running.
	ReasonLoading = "Loading"
	// ReasonLoadFailed: a load did not end as planned.
	ReasonLoadFailed = "LoadFailed"
	// ReasonLoadStuck: a load did not start.
	ReasonLoadStuck = "LoadStuck"
	// ReasonResultsMissing: a runner's results can't be read.
	ReasonResultsMissing = "ResultsMissing"
	// ReasonResultsTooLarge: a log is larger than the operator's limit.
	ReasonResultsTooLarge = "ResultsTooLarge"
	// ReasonResultsForeign: a log has the results of another load, run or pod.
	ReasonResultsForeign = "ResultsForeign"
	// ReasonTooManyErrors: more transactions failed than validity allows.
	ReasonTooManyErrors = "TooManyErrors"
	// ReasonLoadNotHeld: the load was lower than declared.
	ReasonLoadNotHeld = "LoadNotHeld"
	// ReasonGeneratorSaturated: k6 used all its CPUs, so that it measured
	// itself.
	ReasonGeneratorSaturated = "GeneratorSaturated"
	// ReasonCollectorGap: the servers were not sampled for a while.
	ReasonCollectorGap = "CollectorGap"
	// ReasonNodeShared: other workloads used too much CPU of the run's node.
	ReasonNodeShared = "NodeShared"
	// ReasonClockSkew: the clocks of a load's node and the operator's differ.
	ReasonClockSkew = "ClockSkew"
	// ReasonImportIncomplete: an import lost or failed records.
	ReasonImportIncomplete = "ImportIncomplete"
	// ReasonRestarts: containers of modules restarted under load.
	ReasonRestarts = "Restarts"
	// ReasonPriced: every node's price is known.
	ReasonPriced = "Priced"
	// ReasonPriceMissing: the price list does not exist or lacks an instance
	// type.
	ReasonPriceMissing = "PriceMissing"
	// ReasonIncomplete: an artifact was made, but lacks the parts in its message.
	ReasonIncomplete = "Incomplete"
	// ReasonUnusable: an artifact can't be made from the records.
	ReasonUnusable = "Unusable"
	// ReasonValid: the run is valid.
	ReasonValid = "Valid"
)
