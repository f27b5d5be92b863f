// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Labels on everything the operator makes.
const (
	// LabelExperiment names the experiment an object belongs to.
	LabelExperiment = "perflab.dev/experiment"
	// LabelSchedule names, on an experiment, the PerfSchedule that made it.
	LabelSchedule = "perflab.dev/schedule"
	// LabelRun names the run an object belongs to.
	LabelRun = "perflab.dev/run"
	// LabelTurn marks the Leases in which experiments wait for their turns.
	LabelTurn = "perflab.dev/turn"
	// LabelArm names the arm of a run.
	LabelArm = "perflab.dev/arm"
	// LabelScenario names the scenario of a run.
	LabelScenario = "perflab.dev/scenario"
	// LabelLoad names the load a TestRun or its pods belong to.
	LabelLoad = "perflab.dev/load"
	// LabelComponent says which part of the system an object is: kafka,
	// topic, postgres, module or images.
	LabelComponent = "perflab.dev/component"
	// LabelModule names the module of a Deployment, Service or pod.
	LabelModule = "perflab.dev/module"
	// LabelSeries begins, on what is kept of a complete experiment for its history, one
	// label for each of its scenarios: a digest of what is declared of it.
	LabelSeries = "series.perflab.dev/"
)

const (
	// AnnotationFingerprint holds the fingerprint of the component's
	// declaration an object was built from. An object with another
	// fingerprint is rebuilt before the next run.
	AnnotationFingerprint = "perflab.dev/fingerprint"
	// AnnotationBorrowedBy names, on a workload that was there before, the
	// experiment that has borrowed it, as <namespace>/<name>.
	AnnotationBorrowedBy = "perflab.dev/borrowed-by"
	// AnnotationOriginal holds what a borrowed workload was, as JSON.
	AnnotationOriginal = "perflab.dev/original"
	// AnnotationRun names, on the pods of a borrowed workload, the run for
	// which they were started anew.
	AnnotationRun = "perflab.dev/run"
	// AnnotationEnd tells the pod of a collector to end and to print what it
	// has not printed yet.
	AnnotationEnd = "perflab.dev/end"
	// AnnotationReportOf holds, on a stored report, the digest of what it was
	// rendered from.
	AnnotationReportOf = "perflab.dev/report-of"
	// AnnotationEvidence holds, on a stored report, the digest of the manifest it
	// prints and its own, separated by a space.
	AnnotationEvidence = "perflab.dev/evidence"
	// AnnotationHistoryOf holds, on what is kept for histories, the digest of what it was
	// taken from.
	AnnotationHistoryOf = "perflab.dev/history-of"
	// AnnotationBegan holds, on what is kept for histories, when the first load began.
	AnnotationBegan = "perflab.dev/began"
	// AnnotationLeftOut names, on what is stored, the parts that were too large
	// to be stored as well, or that come from the archive, separated by commas.
	AnnotationLeftOut = "perflab.dev/left-out"
	// AnnotationImported says of an experiment, and of its runs, where and when
	// they came from, as <namespace>/<name> <UID> <time>. They are a record of
	// what was measured there, and the operator leaves them alone.
	AnnotationImported = "perflab.dev/imported"
	// AnnotationElsewhere names, on an experiment that PerfLab did not measure, the
	// files it was read from and, on each of its runs, the one and its SHA-256.
	AnnotationElsewhere = "perflab.dev/elsewhere"
	// AnnotationDeletionReason says, on a PerfRun that has ended, why it is to be deleted.
	// Reports print it.
	AnnotationDeletionReason = "perflab.dev/deletion-reason"

	// AnnotationRelease names, on an experiment, the release that it measures: its
	// points in perflab history bear this name.
	AnnotationRelease = "perflab.dev/release"
	// AnnotationTrigger says, on an experiment of a PerfSchedule, what brought it
	// about: Schedule or ImageChange; Manual, if perflab run did.
	AnnotationTrigger = "perflab.dev/trigger"
	// AnnotationOperator names, on an experiment, the operator that works on it,
	// by the namespace that runs it. Others leave the experiment alone.
	AnnotationOperator = "perflab.dev/operator"
	// AnnotationHosts says, on a Secret with a login, which hosts the operator
	// may send it to: host, host:port or *.domain, separated by commas.
	AnnotationHosts = "perflab.dev/hosts"
	// Finalizer lets the operator take the environment down in the order the
	// foreign operators need: topics before their Kafka.
	Finalizer = "perflab.dev/environment"
)
