// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// The comments here are docs/reasons.md: make generate writes it. The first
// sentence of a block's comment is a heading. A constant's comment has its meaning,
// then, in lines of their own, "Fix:" and "On:" (if its conditions differ from those of
// its block). A path such as docs/reset.md#keepwarm becomes a link.

// Conditions. Ready, Reconciling and Stalled follow kstatus. Those of a run's components are
// on the run, in the order in which they become true, and the experiment shows those of its
// current run.
const (
	// ConditionReady: True when the object has reached its end, Unknown on the way, False if
	// it cannot reach it.
	// On: PerfExperiment, PerfRun, PerfSchedule.
	ConditionReady = "Ready"
	// ConditionReconciling: present, and True, while there is work to do.
	// On: PerfExperiment, PerfRun, PerfSchedule.
	ConditionReconciling = "Reconciling"
	// ConditionStalled: present, and True, if manual action is required.
	// On: PerfExperiment, PerfRun, PerfSchedule.
	ConditionStalled = "Stalled"
	// ConditionComplete: True when every planned run has a valid attempt, for
	// `kubectl wait --for=condition=Complete`.
	// On: PerfExperiment.
	ConditionComplete = "Complete"
	// ConditionSingleFactor: True if each arm differs from the baseline in one setting,
	// False if several settings may cause an effect.
	// On: PerfExperiment.
	ConditionSingleFactor = "SingleFactor"
	// ConditionCalibrated: present with design.calibrate. True if the A/A control does not
	// differ from the baseline on any primary metric, False if it does, Unknown before that
	// is known.
	// On: PerfExperiment.
	ConditionCalibrated = "Calibrated"
	// ConditionAnnounced: present if the installation configures docs/announcements.md. True
	// when every server has received what happened, Unknown before, False while one does not
	// accept it. Nothing waits for it.
	// On: PerfExperiment.
	ConditionAnnounced = "Announced"
	// ConditionHeld: present, and True, while an experiment is due and cannot start.
	// On: PerfSchedule.
	ConditionHeld = "Held"
	// ConditionScriptsAvailable: present with scripts from ConfigMaps. False if one is missing
	// or has changed since an earlier run.
	// On: PerfRun.
	ConditionScriptsAvailable = "ScriptsAvailable"
	// ConditionImagesAvailable: False if an image that the run needs cannot be pulled.
	// On: PerfRun.
	ConditionImagesAvailable = "ImagesAvailable"
	// ConditionKafkaReady: True when Kafka and its topics are as declared.
	// On: PerfRun.
	ConditionKafkaReady = "KafkaReady"
	// ConditionPostgresReady: True when PostgreSQL is as declared.
	// On: PerfRun.
	ConditionPostgresReady = "PostgresReady"
	// ConditionDataRestored: True when data is restored, with `reset: RestoreData`.
	// On: PerfRun.
	ConditionDataRestored = "DataRestored"
	// ConditionModulesReady: True when all pods of all modules are ready, and none of an
	// earlier configuration is left.
	// On: PerfRun.
	ConditionModulesReady = "ModulesReady"
	// ConditionTargetReachable: True when the target of the loads answers.
	// On: PerfRun.
	ConditionTargetReachable = "TargetReachable"
	// ConditionPriced: present with a price list. True if the price of every node is known. The
	// run is valid without it.
	// On: PerfRun.
	ConditionPriced = "Priced"
	// ConditionLoadsComplete: True when every load has ended as planned.
	// On: PerfRun.
	ConditionLoadsComplete = "LoadsComplete"
	// ConditionResultsKept: True when the results are stored, False while the cluster does
	// not accept them.
	// On: PerfRun.
	ConditionResultsKept = "ResultsKept"
	// ConditionArchived: present if the installation has an archive. True when it has the
	// record. Until then, a run waits, and a complete experiment keeps its data. The operator
	// retries every 30 s.
	// On: PerfExperiment, PerfRun.
	ConditionArchived = "Archived"
	// ConditionValid: True if the run is valid, False if it is invalid.
	// On: PerfRun.
	ConditionValid = "Valid"
)

// Normal states. Nothing to do.
const (
	// ReasonProgressing: the message counts finished runs.
	// On: Ready, Reconciling.
	ReasonProgressing = "Progressing"
	// ReasonComplete: all runs are finished, or the run is.
	// On: Ready, Complete, events.
	ReasonComplete = "Complete"
	// ReasonReady: the component is as declared.
	// On: components.
	ReasonReady = "Ready"
	// ReasonNotDeclared: the system has no such component.
	// On: components.
	ReasonNotDeclared = "NotDeclared"
	// ReasonLoading: loads are running; status.message has names and times.
	// On: LoadsComplete, events.
	ReasonLoading = "Loading"
	// ReasonFaultBegan: a fault of the run's scenario has started; the message names what it strikes.
	// On: events.
	ReasonFaultBegan = "FaultBegan"
	// ReasonValid: the run is valid.
	// On: Valid.
	ReasonValid = "Valid"
	// ReasonScheduled: the schedule is active; the message has its times.
	// On: Ready.
	ReasonScheduled = "Scheduled"
	// ReasonDeleting: the environment is being deleted; the message lists the remaining objects.
	// On: Ready, Reconciling.
	ReasonDeleting = "Deleting"
	// ReasonSuspended: spec.suspend is set. After the current run, nothing starts.
	// Fix: `perflab resume NAME`, or `schedule/NAME`, continues.
	// On: Ready, Reconciling, events.
	ReasonSuspended = "Suspended"
)

// Manual action required. `Stalled` is True, and no run starts.
const (
	// ReasonInvalidSpec: the manifest is invalid, and was stored while the webhook was down or
	// before its PerfSystem.
	// Fix: fix what the message, or `perflab plan -f`, names, and apply again.
	// On: Stalled, Ready.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonSpecChanged: the spec differs from that of the planned runs.
	// Fix: restore it, or use a new name. If you need none of the runs, delete the experiment and
	// apply the new spec.
	// On: Stalled, Ready.
	ReasonSpecChanged = "SpecChanged"
	// ReasonAttemptsExhausted: a run was invalid as often as validity.maxAttempts (3) allows, or
	// failed twice alike before any load or in its script.
	// Fix: fix the last cause, which is in the message, then delete the PerfRuns of that place in
	// the plan.
	// On: Stalled, Ready.
	ReasonAttemptsExhausted = "AttemptsExhausted"
	// ReasonStatusRefused: the API server refuses the status that the operator writes. A run is
	// invalid, an experiment stalls. Values that are only too large are cut
	// (docs/network-and-data-security.md#limits-of-logs-and-files).
	// Fix: report it with the message or event. Any change of an experiment's spec, such as
	// `perflab suspend` and `perflab resume`, retries.
	// On: Stalled, Ready, Valid, events.
	ReasonStatusRefused = "StatusRefused"
)

// Waiting experiments and schedules. What is missing may still come.
const (
	// ReasonSystemMissing: the namespace lacks the PerfSystem of systemRef.
	// Fix: apply it.
	// On: Ready, Reconciling.
	ReasonSystemMissing = "SystemMissing"
	// ReasonConcurrent: an experiment is due before the schedule's earlier one has finished. The
	// message names a stalled one.
	// Fix: wait, or change concurrencyPolicy or startingDeadlineSeconds (docs/schedules.md#times).
	// On: Held.
	ReasonConcurrent = "Concurrent"
)

// The environment is not ready. On each component's condition. The run retries for
// deadlines.environment (15m).
const (
	// ReasonScriptChanged: a script, or a file beside it in its ConfigMap, differs from what an
	// earlier run measured.
	// Fix: restore the ConfigMap from that named `RUN-scripts`, or create a new experiment
	// (docs/loads.md#a-k6-script).
	// On: ScriptsAvailable.
	ReasonScriptChanged = "ScriptChanged"
	// ReasonOperatorMissing: the CRDs of Strimzi, CloudNativePG, k6-operator or a fault's operator are missing.
	// Fix: install them with the commands of `perflab doctor` (they need the internet). PerfLab
	// notices within 10 s.
	// On: KafkaReady, PostgresReady, LoadsComplete.
	ReasonOperatorMissing = "OperatorMissing"
	// ReasonOperatorSilent: the component's operator has not touched the object for 15 s, or has
	// not continued for 25 s with no pod starting.
	// Fix: check that its pod runs and watches this namespace. Strimzi may take a minute on a busy
	// machine.
	// On: KafkaReady, PostgresReady, LoadsComplete.
	ReasonOperatorSilent = "OperatorSilent"
	// ReasonModeNotServed: kafka.mode is `ZooKeeper`, and the installed Strimzi serves only KRaft.
	// Fix: use `mode: KRaft`, or Strimzi 0.45.2 in its own cluster (docs/kafka.md#modes).
	// On: KafkaReady.
	ReasonModeNotServed = "ModeNotServed"
	// ReasonRefused: an operator, the brokers or the API server refuse the object or its pods. A
	// schedule stalls with it if it cannot create an experiment.
	// Fix: fix the field, quota or policy in the quoted error; the operator retries. For
	// `perflab-fence`, label the namespace (docs/security.md#recommended-settings); for a
	// ServiceAccount, run the command in the message (docs/permissions.md#act-as-the-author).
	// On: components, LoadsComplete, Stalled.
	ReasonRefused = "Refused"
	// ReasonNameTaken: an object of another owner has the name. PerfLab never changes or deletes
	// it.
	// Fix: delete it if it is not needed, or rename the experiment. If it is the operator's own
	// run that lost its label, run the command in the message.
	// On: components, Ready, Stalled.
	ReasonNameTaken = "NameTaken"
	// ReasonRetrying: the API server cannot process a write, for example because another
	// operator's webhook does not answer. PerfLab retries at least twice a minute.
	// Fix: check the services behind `kubectl get
	// validatingwebhookconfigurations,mutatingwebhookconfigurations`.
	// On: components, Ready, Reconciling.
	ReasonRetrying = "Retrying"
	// ReasonImagePull: an image cannot be pulled.
	// Fix: check name, tag, pull secret, and the nodes' access to the registry. A `StartError` of
	// the pod `EXPERIMENT-images-…` is normal: it only pulls.
	// On: ImagesAvailable, components, LoadsComplete.
	ReasonImagePull = "ImagePull"
	// ReasonPulling: the images of loads and collector are being pulled, before any load.
	// Fix: wait, once for each node.
	// On: ImagesAvailable.
	ReasonPulling = "Pulling"
	// ReasonConfiguration: a script or a container lacks a Secret, ConfigMap or key, or an image
	// names its user.
	// Fix: create what the message names, or set the module's runAsUser.
	// On: ScriptsAvailable, components.
	ReasonConfiguration = "Configuration"
	// ReasonCrashing: a container keeps exiting. The message quotes the last log line of a module
	// that PerfLab deployed, without possible secrets.
	// Fix: see `kubectl logs POD --previous`. `OOMKilled`: raise the limit or lower the heap.
	// On: components.
	ReasonCrashing = "Crashing"
	// ReasonUnschedulable: no node accepts the pod, for more than 5 s.
	// Fix: check requests, `placement` and volumes with `kubectl describe pod POD`.
	// On: components.
	ReasonUnschedulable = "Unschedulable"
	// ReasonNotReady: pods fail their probes (the message has the response after 20 s), replicas
	// lag, or a heap cannot be read yet.
	// Fix: check the module's healthPath and port, and the pod's log.
	// On: components.
	ReasonNotReady = "NotReady"
	// ReasonCreating: the component is being created.
	// Fix: wait; for large images, raise deadlines.environment.
	// On: components.
	ReasonCreating = "Creating"
	// ReasonReplacing: what an earlier arm needed is being deleted.
	// Fix: wait. If every run takes long, use keepWarm (docs/reset.md#keepwarm).
	// On: components.
	ReasonReplacing = "Replacing"
	// ReasonRolling: pods of an earlier configuration still exist.
	// Fix: wait. A pod that stays has a finalizer or a long grace period.
	// On: components.
	ReasonRolling = "Rolling"
	// ReasonTopicsNotReady: topics are missing or not as declared; the message counts them.
	// Fix: wait. If the count does not change, read the brokers' logs.
	// On: KafkaReady.
	ReasonTopicsNotReady = "TopicsNotReady"
	// ReasonSecretMissing: a Secret for existing brokers, or its key, is missing.
	// Fix: create it as the message says.
	// On: KafkaReady.
	ReasonSecretMissing = "SecretMissing"
	// ReasonSecretForbidden: the operator may not read that Secret.
	// Fix: run the two commands in the message (docs/kafka.md#existing-brokers).
	// On: KafkaReady.
	ReasonSecretForbidden = "SecretForbidden"
	// ReasonHostNotAllowed: the Secret's annotation `perflab.dev/hosts` lacks a host of
	// bootstrapServers or of the brokers' list.
	// Fix: verify the host, then run the command in the message.
	// On: KafkaReady.
	ReasonHostNotAllowed = "HostNotAllowed"
	// ReasonUnreachable: the target, external brokers or database do not answer the operator's
	// pod.
	// Fix: check host, port, firewall and NetworkPolicy.
	// On: TargetReachable, KafkaReady, PostgresReady.
	ReasonUnreachable = "Unreachable"
	// ReasonTargetDenied: the operator does not connect to the address of the target, a broker or
	// a database (docs/network-and-data-security.md#connections-of-the-operator).
	// Fix: name an address that pods of the namespace reach, or ask your administrator for the
	// `--allow-targets` in the message.
	// On: TargetReachable, KafkaReady, PostgresReady.
	ReasonTargetDenied = "TargetDenied"
	// ReasonRestoring: data is being restored, or modules are being deleted for it.
	// Fix: wait.
	// On: DataRestored.
	ReasonRestoring = "Restoring"
	// ReasonWorkloadMissing: the workload or its container does not exist. A schedule stalls with
	// it for a workload of onImageChange; its times continue.
	// Fix: install it, or fix workloadRef or onImageChange.
	// On: ModulesReady, Stalled.
	ReasonWorkloadMissing = "WorkloadMissing"
	// ReasonWorkloadRefused: the workload is paused, uses `OnDelete` or a partition, has no
	// replicas, or takes a variable from a Secret.
	// Fix: change it as the message says.
	// On: ModulesReady.
	ReasonWorkloadRefused = "WorkloadRefused"
	// ReasonWorkloadTaken: another experiment has adopted the workload.
	// Fix: wait until that experiment releases it, or delete the experiment.
	// On: ModulesReady.
	ReasonWorkloadTaken = "WorkloadTaken"
)

// The run is invalid. Invalid runs are listed and never averaged (docs/loads.md#invalid-runs).
const (
	// ReasonDeadline: the environment was not ready within deadlines.environment, loads did not
	// start within deadlines.loadStart, or results were not stored within five minutes.
	// Fix: fix the component in the message, or raise the deadline.
	// On: Valid.
	ReasonDeadline = "Deadline"
	// ReasonEffectiveConfiguration: what ran differs from the declaration; the message lists
	// all differences.
	// Fix: see how Kafka (docs/kafka.md#verification), PostgreSQL
	// (docs/postgresql.md#verification), heaps (docs/modules.md#verification-of-the-heap) and
	// nodes (docs/modules.md#placement) are verified.
	// On: Valid.
	ReasonEffectiveConfiguration = "EffectiveConfiguration"
	// ReasonRestoreFailed: the hook that restores data failed.
	// Fix: see `kubectl logs job/RUN-restore`. The Job stays until the run is deleted
	// (docs/reset.md).
	// On: DataRestored, Valid.
	ReasonRestoreFailed = "RestoreFailed"
	// ReasonWorkloadContested: another client, named in the message, reverts the change of an
	// adopted workload. The run is invalid if loads were running.
	// Fix: with Argo CD, set ignoreDifferences (docs/existing-workloads.md#argo-cd). With an
	// autoscaler, do not declare replicas.
	// On: ModulesReady, Valid.
	ReasonWorkloadContested = "WorkloadContested"
	// ReasonLoadStuck: a load did not start within deadlines.loadStart (5m), or its image has been
	// missing for 30 s.
	// Fix: check k6-operator, and whether nodes accept the runners: `kubectl describe testrun`.
	// On: Valid.
	ReasonLoadStuck = "LoadStuck"
	// ReasonLoadFailed: k6 exited with an error.
	// Fix: see the message, `perflab logs RUN` and the exit codes in k6/README.md#how-a-load-ends.
	// Errors of other k6 images, or of a killed k6, are only in the pod's log.
	// On: Valid.
	ReasonLoadFailed = "LoadFailed"
	// ReasonResultsMissing: a runner was killed, its log is gone, or the window has no
	// transaction.
	// Fix: look for a drained node or `OOMKilled`. No transactions: use a longer load, a shorter
	// warmUp or, for a script without groups, `transactions: {by: Tag, tag: name}`.
	// On: Valid.
	ReasonResultsMissing = "ResultsMissing"
	// ReasonResultsTooLarge: the log of a runner or the collector exceeds a limit
	// (docs/network-and-data-security.md#limits-of-logs-and-files).
	// Fix: group the script's transactions or custom metrics, and do not print lines that begin
	// with `perflab-payload`.
	// On: Valid.
	ReasonResultsTooLarge = "ResultsTooLarge"
	// ReasonResultsForeign: a log names another run, load or pod.
	// Fix: remove `PERFLAB_RUN`, `PERFLAB_LOAD` and `PERFLAB_RUNNER` from the runner's `env`, do
	// not print other results, and use a k6 image as new as the operator.
	// On: Valid.
	ReasonResultsForeign = "ResultsForeign"
	// ReasonTooManyErrors: more than validity.maxErrorPercent (1) of the transactions failed; for
	// a script, more than maxFailedRequestsPercent of the requests or maxFailedChecksPercent of
	// the checks.
	// Fix: read `perflab logs RUN` and the modules' logs. Check login and test data (items to
	// lend, job profiles). Declare expected responses (docs/loads.md#a-k6-script).
	// On: Valid.
	ReasonTooManyErrors = "TooManyErrors"
	// ReasonImportIncomplete: an import, one of its jobs, or records failed; of several imports,
	// more than validity.maxFailedImports (0).
	// Fix: read the job's log in the system; check disk and memory of the modules.
	// On: Valid.
	ReasonImportIncomplete = "ImportIncomplete"
	// ReasonFaultNotInjected: a fault of the scenario did not happen as declared, or the loads
	// ended before its observation did.
	// Fix: the message names the fault. Lengthen the loads, or correct the fault's target or times.
	// On: Valid.
	ReasonFaultNotInjected = "FaultNotInjected"
	// ReasonLoadNotHeld: k6 dropped iterations.
	// Fix: add users (maxVUs) or runners (`parallelism`).
	// On: Valid.
	ReasonLoadNotHeld = "LoadNotHeld"
	// ReasonGeneratorSaturated: k6 used more than 80 % of its CPUs, which distorts its times.
	// Fix: raise the CPU in the load's `resources`, or add runners.
	// On: Valid.
	ReasonGeneratorSaturated = "GeneratorSaturated"
	// ReasonCollectorGap: gaps of more than three intervals between samples of the servers take
	// more than validity.maxGapPercent (0) of the time.
	// Fix: read the collector's log; check its node's load.
	// On: Valid.
	ReasonCollectorGap = "CollectorGap"
	// ReasonNodeShared: the collector's node runs pods of the run, was full, and other pods used
	// more than validity.maxOtherCPUPercent (50) of its CPUs
	// (docs/server-metrics.md#the-collectors-node).
	// Fix: wait for the pods in the message, separate them by placement
	// (docs/modules.md#placement), or raise the limit.
	// On: Valid.
	ReasonNodeShared = "NodeShared"
	// ReasonClockSkew: the clocks of a load's node and of the operator differ by more than 5 s, or
	// one jumped.
	// Fix: synchronize the nodes (NTP).
	// On: Valid.
	ReasonClockSkew = "ClockSkew"
	// ReasonRestarts: more than validity.maxRestarts (0) restarts of modules, Kafka or PostgreSQL
	// under load (docs/modules.md#restarts).
	// Fix: fix the cause in the message. `OOMKilled` is a result: this arm does not sustain this
	// load.
	// On: Valid.
	ReasonRestarts = "Restarts"
)

// The archive. See docs/archive.md.
const (
	// ReasonArchived: the archive has the record.
	// On: Archived.
	ReasonArchived = "Archived"
	// ReasonArchiveUnavailable: the store does not answer, or answers with a server error.
	// Fix: check the store and the operator's NetworkPolicy.
	// On: Archived.
	ReasonArchiveUnavailable = "ArchiveUnavailable"
	// ReasonArchiveForbidden: the store refuses the login or the write.
	// Fix: check the permissions of the identity, or archive.credentialsSecret.
	// On: Archived.
	ReasonArchiveForbidden = "ArchiveForbidden"
	// ReasonArchiveFull: the store has no space or quota left.
	// Fix: free space: `perflab archive gc --dry-run` lists what can be deleted.
	// On: Archived.
	ReasonArchiveFull = "ArchiveFull"
	// ReasonArchiveMismatch: the store returned other bytes than were written.
	// Fix: check the store first; the message names the object.
	// On: Archived.
	ReasonArchiveMismatch = "ArchiveMismatch"
	// ReasonArchiveRefused: the store has no such bucket, does not support conditional writes, or
	// does not accept the record.
	// Fix: check archive.url.
	// On: Archived.
	ReasonArchiveRefused = "ArchiveRefused"
)

// Announcements. See docs/announcements.md.
const (
	// ReasonAnnouncing: announcements are pending.
	// On: Announced.
	ReasonAnnouncing = "Announcing"
	// ReasonAnnounced: every server has received them.
	// On: Announced.
	ReasonAnnounced = "Announced"
	// ReasonSinkUnavailable: a server does not answer, or answers with a server error. The operator
	// retries for a day.
	// Fix: check the server in the message (by its name in `announce`), NetworkPolicy, proxy, and
	// `ca.crt`.
	// On: Announced.
	ReasonSinkUnavailable = "SinkUnavailable"
	// ReasonSinkRefuses: a server refuses the announcement or redirects it. The operator retries
	// for a day.
	// Fix: 401, 403: check its Secret. 404, redirect: check its URL.
	// On: Announced.
	ReasonSinkRefuses = "SinkRefuses"
	// ReasonSinkGivenUp: a server accepted nothing for a day.
	// Fix: see the report or status.changes.
	// On: Announced.
	ReasonSinkGivenUp = "SinkGivenUp"
)

// Artifacts. In status.artifacts of an experiment: what the operator makes from what was
// recorded, such as the report.
const (
	// ReasonIncomplete: the artifact was made, and lacks what its message names.
	// Fix: see status.warnings for the cause.
	// On: status.artifacts.
	ReasonIncomplete = "Incomplete"
	// ReasonUnusable: the artifact cannot be made from what was recorded.
	// Fix: see its message. The operator retries when the source changes.
	// On: status.artifacts.
	ReasonUnusable = "Unusable"
)

// Limits of the result. These stop nothing.
const (
	// ReasonSingleFactor: each arm differs from the baseline in one setting.
	// On: SingleFactor.
	ReasonSingleFactor = "SingleFactor"
	// ReasonConfounded: an arm differs in several settings, and any may cause the effect.
	// Fix: keep one, or use a matrix.
	// On: SingleFactor.
	ReasonConfounded = "Confounded"
	// ReasonTwinAlike: the A/A control does not differ from the baseline.
	// On: Calibrated.
	ReasonTwinAlike = "TwinAlike"
	// ReasonTwinDiffers: the A/A control differs from the baseline, so there are no verdicts.
	// Something else changes between runs: neighbors on the nodes, growing data, caches.
	// Fix: try `reset: RestoreData` or dedicated nodes.
	// On: Calibrated, status.comparisons.
	ReasonTwinDiffers = "TwinDiffers"
	// ReasonTooFewBlocks: fewer than 6 blocks are complete.
	// Fix: wait, or declare more.
	// On: Calibrated, status.comparisons.
	ReasonTooFewBlocks = "TooFewBlocks"
	// ReasonNoPrimaryMetric: no primary metric was measured in both arms.
	// Fix: compare analysis.primary with status.results.
	// On: Calibrated, status.analysis.stopped.
	ReasonNoPrimaryMetric = "NoPrimaryMetric"
	// ReasonPriced: the price of every node is known.
	// On: Priced.
	ReasonPriced = "Priced"
	// ReasonPriceMissing: the price list, or a node's type in it, is missing. The run is valid and
	// has no cost (docs/modules.md#cost).
	// Fix: add it to the price list.
	// On: Priced.
	ReasonPriceMissing = "PriceMissing"
)

// Why a comparison has no verdict. In `withheld` of status.comparisons and status.pairs, beside
// `TooFewBlocks` and `TwinDiffers`.
const (
	// ReasonBeforeFirstAnalysis: the first interim analysis (design.target.verdicts) is still to
	// come.
	// On: status.comparisons.
	ReasonBeforeFirstAnalysis = "BeforeFirstAnalysis"
	// ReasonErrorRatesDiffer: the error rates of the arms differ, so the values are not of the same
	// requests.
	// Fix: find out why requests fail.
	// On: status.comparisons.
	ReasonErrorRatesDiffer = "ErrorRatesDiffer"
	// ReasonChangedBySettings: the settings of the arms change the metric directly, so a difference
	// is neither better nor worse.
	// On: status.comparisons.
	ReasonChangedBySettings = "ChangedBySettings"
	// ReasonDirectionUnknown: it is unknown whether lower or higher values of the metric are
	// better.
	// Fix: declare the metric in analysis.higherIsBetter.
	// On: status.comparisons.
	ReasonDirectionUnknown = "DirectionUnknown"
	// ReasonNoInterval: the runs are too few for an interval.
	// On: status.comparisons.
	ReasonNoInterval = "NoInterval"
)

// Why no further block is planned. In status.analysis.stopped.
const (
	// ReasonTargetMet: the intervals are as narrow as design.target requires.
	// On: status.analysis.stopped.
	ReasonTargetMet = "TargetMet"
	// ReasonDecided: every primary metric has a verdict in every arm (design.target.verdicts).
	// On: status.analysis.stopped.
	ReasonDecided = "Decided"
	// ReasonFutility: the remaining blocks are unlikely to change the verdict in the message.
	// Fix: a larger margin, fewer primary metrics or more blocks need a new experiment.
	// On: status.analysis.stopped.
	ReasonFutility = "Futility"
	// ReasonMaxBlocks: maxBlocks are done, and intervals are too wide or verdicts are missing.
	// Fix: raise maxBlocks, unless `verdicts` is set.
	// On: status.analysis.stopped.
	ReasonMaxBlocks = "MaxBlocks"
	// ReasonBudget: the `budget` does not allow another block.
	// Fix: raise `budget`.
	// On: status.analysis.stopped.
	ReasonBudget = "Budget"
)

// Events. Reasons of events that are no reasons of conditions.
const (
	// EventRunStarted: the operator started a run; the message has block, arm and scenario.
	// On: PerfExperiment.
	EventRunStarted = "RunStarted"
	// EventSucceeded: the run is valid; the message counts its observations.
	// On: PerfRun.
	EventSucceeded = "Succeeded"
	// EventInvalid: the run is invalid; the message has the cause.
	// Fix: see the reason of its condition `Valid`.
	// On: PerfRun.
	EventInvalid = "Invalid"
	// EventNotTidied: what a finished run no longer needs cannot be deleted.
	// Fix: fix what the message quotes. The operator retries every minute.
	// On: PerfRun.
	EventNotTidied = "NotTidied"
	// EventStalled: manual action is required.
	// Fix: see the reason of the condition `Stalled`.
	// On: PerfExperiment, PerfSchedule.
	EventStalled = "Stalled"
	// EventVerdict: the experiment is complete; the message has the verdicts.
	// On: PerfExperiment.
	EventVerdict = "Verdict"
	// EventNotCalibrated: the A/A control differs from the baseline, so there are no verdicts.
	// Fix: see `TwinDiffers`.
	// On: PerfExperiment.
	EventNotCalibrated = "NotCalibrated"
	// EventSeriesChanged: a primary metric changed since earlier experiments; the message says
	// where (docs/history.md).
	// On: PerfExperiment.
	EventSeriesChanged = "SeriesChanged"
	// EventEvidenceKept: the message has the SHA-256 of the manifest of digests
	// (docs/records.md#verify-results).
	// On: PerfExperiment.
	EventEvidenceKept = "EvidenceKept"
	// EventHeldByAnother: another operator has the experiment: two watch the namespace
	// (docs/install.md#one-operator-per-namespace), or its operator has moved. Until the fix, the
	// experiment neither continues nor can be deleted.
	// Fix: if the other operator is gone, run the command in the message.
	// On: PerfExperiment.
	EventHeldByAnother = "HeldByAnother"
	// EventTopicsLeft: external brokers did not delete the experiment's topics.
	// Fix: delete those named `EXPERIMENT-…`.
	// On: PerfExperiment.
	EventTopicsLeft = "TopicsLeft"
	// EventGivenBack: an adopted workload is released, and as it was.
	// On: PerfExperiment, the workload.
	EventGivenBack = "GivenBack"
	// EventGivenBackChanged: an adopted workload is released. The changes that others made
	// meanwhile, listed in the message, stay.
	// Fix: check them.
	// On: PerfExperiment, the workload.
	EventGivenBackChanged = "GivenBackChanged"
	// EventNotGivenBack: an adopted workload cannot be released, because the API server refuses
	// the write.
	// Fix: fix what the message quotes, or release it by hand
	// (docs/existing-workloads.md#release-by-hand).
	// On: the workload.
	EventNotGivenBack = "NotGivenBack"
	// EventExperimentMade: the schedule created an experiment.
	// On: PerfSchedule.
	EventExperimentMade = "ExperimentMade"
	// EventExperimentHeld: an experiment is due and cannot start; the message has the cause.
	// Fix: see `Concurrent`.
	// On: PerfSchedule.
	EventExperimentHeld = "ExperimentHeld"
	// EventExperimentLate: an experiment could not start within startingDeadlineSeconds and is
	// skipped.
	// Fix: raise it, or schedule less often.
	// On: PerfSchedule.
	EventExperimentLate = "ExperimentLate"
	// EventExperimentReplaced: a running experiment is deleted for the next one
	// (`concurrencyPolicy: Replace`).
	// On: PerfSchedule.
	EventExperimentReplaced = "ExperimentReplaced"
	// EventExperimentOutlived: an experiment is deleted by the limits of history.
	// On: PerfSchedule.
	EventExperimentOutlived = "ExperimentOutlived"
	// EventTimesMissed: the schedule missed times; it creates one experiment for all of them.
	// On: PerfSchedule.
	EventTimesMissed = "TimesMissed"
	// EventTooManyMissed: the schedule missed more than a hundred times; it creates one experiment
	// for all of them.
	// Fix: check startingDeadlineSeconds, how long an experiment takes, and the operator's clock.
	// On: PerfSchedule.
	EventTooManyMissed = "TooManyMissed"
)
