// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Conditions of both kinds. Ready, Reconciling and Stalled follow kstatus:
// Ready is there from the first pass, Reconciling and Stalled only while true.
const (
	// ConditionReady is True when the object has reached its end, Unknown
	// while it is on the way, False when it can't get there.
	ConditionReady = "Ready"
	// ConditionReconciling is True while there is work to do.
	ConditionReconciling = "Reconciling"
	// ConditionStalled is True when a person has to do something.
	ConditionStalled = "Stalled"
)

// Conditions of a PerfExperiment.
const (
	// ConditionComplete is True when every planned run has a valid attempt,
	// for kubectl wait --for=condition=Complete.
	ConditionComplete = "Complete"
	// ConditionSingleFactor is True when each arm differs from the baseline in
	// one setting alone, False when an effect could come from several.
	ConditionSingleFactor = "SingleFactor"
	// ConditionCalibrated is there with design.calibrate: True when the
	// baseline's twin does not differ from it on any primary metric, False when
	// it does, so that no verdict can be trusted, Unknown before that can be
	// told.
	ConditionCalibrated = "Calibrated"
	// ConditionAnnounced is there where the installation names sinks: True when each
	// was told that the experiment is complete, or stalled, and what changed; Unknown
	// before that; False while one does not take it, or was given up.
	ConditionAnnounced = "Announced"
)

// ConditionHeld is, on a PerfSchedule, True while an experiment is due that is not
// made yet. It is there only while it is True.
const ConditionHeld = "Held"

// Conditions of a PerfRun, in the order in which they come true.
const (
	// ConditionScriptsAvailable is there with scripts from ConfigMaps: False when
	// one is missing, or is not the one that was measured before.
	ConditionScriptsAvailable = "ScriptsAvailable"
	// ConditionImagesAvailable is False when an image the run needs can't be
	// pulled.
	ConditionImagesAvailable = "ImagesAvailable"
	// ConditionKafkaReady is True when Kafka and its topics are as declared.
	ConditionKafkaReady = "KafkaReady"
	// ConditionPostgresReady is True when PostgreSQL is as declared.
	ConditionPostgresReady = "PostgresReady"
	// ConditionDataRestored is True when data is back as restore says, with
	// reset RestoreData.
	ConditionDataRestored = "DataRestored"
	// ConditionModulesReady is True when all pods of all modules are ready
	// and none of an earlier configuration is left.
	ConditionModulesReady = "ModulesReady"
	// ConditionTargetReachable is True when the load's target answers.
	ConditionTargetReachable = "TargetReachable"
	// ConditionPriced is True when the price of every node is known, where a
	// price list is declared; False when a cost can't be told. The run counts
	// all the same.
	ConditionPriced = "Priced"
	// ConditionLoadsComplete is True when every load has ended as planned.
	ConditionLoadsComplete = "LoadsComplete"
	// ConditionResultsKept is True when what the run measured is stored, False
	// while the cluster does not take it.
	ConditionResultsKept = "ResultsKept"
	// ConditionArchived is True when what the run, or the experiment, gave is in the
	// archive, where the operator has one; False while that does not take it.
	ConditionArchived = "Archived"
	// ConditionValid is True when the run counts, False when it does not.
	ConditionValid = "Valid"
)

// Reasons of conditions.
const (
	// ReasonProgressing: on the way.
	ReasonProgressing = "Progressing"
	// ReasonComplete: reached the end.
	ReasonComplete = "Complete"
	// ReasonSuspended: spec.suspend is set.
	ReasonSuspended = "Suspended"
	// ReasonSpecChanged: the spec is not the one the runs were planned from.
	ReasonSpecChanged = "SpecChanged"
	// ReasonAttemptsExhausted: a run was invalid as often as allowed.
	ReasonAttemptsExhausted = "AttemptsExhausted"
	// ReasonSystemMissing: the PerfSystem the experiment refers to is not
	// there.
	ReasonSystemMissing = "SystemMissing"
	// ReasonSingleFactor: each arm differs in one setting.
	ReasonSingleFactor = "SingleFactor"
	// ReasonConfounded: an arm differs in several settings.
	ReasonConfounded = "Confounded"
	// ReasonTwinAlike: the baseline's twin does not differ from it.
	ReasonTwinAlike = "TwinAlike"
	// ReasonTwinDiffers: the baseline's twin differs from it, though both are
	// configured alike.
	ReasonTwinDiffers = "TwinDiffers"
	// ReasonTooFewBlocks: fewer blocks are complete than a verdict takes.
	ReasonTooFewBlocks = "TooFewBlocks"
	// ReasonNoPrimaryMetric: there is no primary metric to tell it from.
	ReasonNoPrimaryMetric = "NoPrimaryMetric"
	// ReasonTargetMet: the intervals are as narrow as was asked.
	ReasonTargetMet = "TargetMet"
	// ReasonDecided: every primary comparison has a verdict.
	ReasonDecided = "Decided"
	// ReasonHopeless: the blocks that are left would hardly give another verdict.
	ReasonHopeless = "Hopeless"
	// ReasonMaxBlocks: as many blocks as allowed are done.
	ReasonMaxBlocks = "MaxBlocks"
	// ReasonBudget: the budget has no room for a further block.
	ReasonBudget = "Budget"
	// ReasonArchived: the archive has it.
	ReasonArchived = "Archived"
	// ReasonArchiveAway: the archive does not answer.
	ReasonArchiveAway = "ArchiveAway"
	// ReasonArchiveForbidden: the archive lets the operator not in, or not write.
	ReasonArchiveForbidden = "ArchiveForbidden"
	// ReasonArchiveFull: the archive has no space left.
	ReasonArchiveFull = "ArchiveFull"
	// ReasonArchiveMismatch: the archive holds other bytes than were written.
	ReasonArchiveMismatch = "ArchiveMismatch"
	// ReasonArchiveRefused: the archive can't be used as it is configured, or what is
	// to be kept is no record that it takes.
	ReasonArchiveRefused = "ArchiveRefused"
	// ReasonAnnouncing: the announcements are about to be sent.
	ReasonAnnouncing = "Announcing"
	// ReasonAnnounced: every sink was told.
	ReasonAnnounced = "Announced"
	// ReasonSinkAway: a sink does not answer, or with an error of its own.
	ReasonSinkAway = "SinkAway"
	// ReasonSinkRefuses: a sink does not take what it is told.
	ReasonSinkRefuses = "SinkRefuses"
	// ReasonSinkGivenUp: a sink took nothing for a day, and is not told any more.
	ReasonSinkGivenUp = "SinkGivenUp"
	// ReasonInvalidSpec: the declaration can't work.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonScheduled: the schedule is in force.
	ReasonScheduled = "Scheduled"
	// ReasonConcurrent: an earlier experiment of the schedule is on.
	ReasonConcurrent = "Concurrent"
	// ReasonDeleting: the object is being deleted.
	ReasonDeleting = "Deleting"

	// ReasonReady: the component is as declared.
	ReasonReady = "Ready"
	// ReasonNotDeclared: the system has no such component.
	ReasonNotDeclared = "NotDeclared"
	// ReasonOperatorMissing: the kinds of the component's operator are not
	// installed.
	ReasonOperatorMissing = "OperatorMissing"
	// ReasonModeNotServed: the component's operator is installed in a release
	// that can't make what is declared.
	ReasonModeNotServed = "ModeNotServed"
	// ReasonOperatorSilent: the kinds are installed, but nobody acts on them.
	ReasonOperatorSilent = "OperatorSilent"
	// ReasonRestoring: data is being brought back, or the modules are being
	// taken down for it.
	ReasonRestoring = "Restoring"
	// ReasonRestoreFailed: data could not be brought back.
	ReasonRestoreFailed = "RestoreFailed"
	// ReasonReplacing: an earlier configuration is being taken down.
	ReasonReplacing = "Replacing"
	// ReasonCreating: the component is being built.
	ReasonCreating = "Creating"
	// ReasonRolling: the component is changing over to a new configuration.
	ReasonRolling = "Rolling"
	// ReasonRefused: the component's operator, or the API server, refuses what
	// is declared.
	ReasonRefused = "Refused"
	// ReasonNameTaken: an object of the name is there that the experiment did
	// not make. It is left as it is.
	ReasonNameTaken = "NameTaken"
	// ReasonRetrying: the API server can't do for now what it is asked.
	ReasonRetrying = "Retrying"
	// ReasonTopicsNotReady: topics are missing or not as declared.
	ReasonTopicsNotReady = "TopicsNotReady"
	// ReasonImagePull: an image can't be pulled.
	ReasonImagePull = "ImagePull"
	// ReasonPulling: images are being pulled.
	ReasonPulling = "Pulling"
	// ReasonCrashing: a container keeps ending.
	ReasonCrashing = "Crashing"
	// ReasonUnschedulable: no node takes a pod.
	ReasonUnschedulable = "Unschedulable"
	// ReasonConfiguration: a Secret or ConfigMap a pod refers to is missing.
	ReasonConfiguration = "Configuration"
	// ReasonScriptChanged: a script is not the one that was measured before.
	ReasonScriptChanged = "ScriptChanged"
	// ReasonNotReady: pods run but don't answer their readiness probe yet.
	ReasonNotReady = "NotReady"
	// ReasonWorkloadMissing: a workload to borrow, or its container, is not
	// there.
	ReasonWorkloadMissing = "WorkloadMissing"
	// ReasonWorkloadRefused: a workload can't be borrowed as it is.
	ReasonWorkloadRefused = "WorkloadRefused"
	// ReasonWorkloadTaken: another experiment has borrowed a workload.
	ReasonWorkloadTaken = "WorkloadTaken"
	// ReasonWorkloadContested: somebody else changes a borrowed workload
	// back.
	ReasonWorkloadContested = "WorkloadContested"
	// ReasonSecretMissing: a Secret named in the spec is not there.
	ReasonSecretMissing = "SecretMissing"
	// ReasonSecretForbidden: the operator may not read a Secret named in the
	// spec. The message has the commands that allow it.
	ReasonSecretForbidden = "SecretForbidden"
	// ReasonHostNotAllowed: a Secret does not name a host that its login is to
	// be sent to. The message has the command that adds it.
	ReasonHostNotAllowed = "HostNotAllowed"
	// ReasonUnreachable: the target, or an existing server, does
	// not answer.
	ReasonUnreachable = "Unreachable"
	// ReasonTargetDenied: the target, or an existing server, has an
	// address that the operator does not connect to. The message has the flag that
	// allows it.
	ReasonTargetDenied = "TargetDenied"
	// ReasonEffectiveConfiguration: what runs is not what was declared.
	ReasonEffectiveConfiguration = "EffectiveConfiguration"
	// ReasonStatusRefused: the API server refuses what is to be written into the
	// status.
	ReasonStatusRefused = "StatusRefused"
	// ReasonDeadline: a wait took longer than its deadline.
	ReasonDeadline = "Deadline"
	// ReasonLoading: loads are on.
	ReasonLoading = "Loading"
	// ReasonLoadFailed: a load did not end as planned.
	ReasonLoadFailed = "LoadFailed"
	// ReasonLoadStuck: a load did not start.
	ReasonLoadStuck = "LoadStuck"
	// ReasonResultsMissing: a runner's results can't be read.
	ReasonResultsMissing = "ResultsMissing"
	// ReasonResultsTooLarge: a log holds more than the operator reads.
	ReasonResultsTooLarge = "ResultsTooLarge"
	// ReasonResultsForeign: a log holds the results of another load, run or pod.
	ReasonResultsForeign = "ResultsForeign"
	// ReasonTooManyErrors: more transactions failed than allowed.
	ReasonTooManyErrors = "TooManyErrors"
	// ReasonLoadNotHeld: less load was put on than was meant.
	ReasonLoadNotHeld = "LoadNotHeld"
	// ReasonGeneratorSaturated: k6 used up its CPUs, so it measured itself.
	ReasonGeneratorSaturated = "GeneratorSaturated"
	// ReasonCollectorGap: the servers were not sampled for a while.
	ReasonCollectorGap = "CollectorGap"
	// ReasonNodeShared: others left the run too little CPU of its node.
	ReasonNodeShared = "NodeShared"
	// ReasonClockSkew: the clocks of a load's node and the operator's differ.
	ReasonClockSkew = "ClockSkew"
	// ReasonImportIncomplete: an import lost or failed records.
	ReasonImportIncomplete = "ImportIncomplete"
	// ReasonRestarts: containers of modules ended while load was on.
	ReasonRestarts = "Restarts"
	// ReasonPriced: every node's price is known.
	ReasonPriced = "Priced"
	// ReasonPriceMissing: the price list lacks an instance type, or is not
	// there.
	ReasonPriceMissing = "PriceMissing"
	// ReasonIncomplete: an artifact was made, and lacks something that its message names.
	ReasonIncomplete = "Incomplete"
	// ReasonUnusable: an artifact can't be made from what was recorded.
	ReasonUnusable = "Unusable"
	// ReasonValid: the run counts.
	ReasonValid = "Valid"
)
