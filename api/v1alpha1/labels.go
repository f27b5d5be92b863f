// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Labels on objects that the operator creates.
const (
	// LabelExperiment names the experiment an object belongs to.
	LabelExperiment = "perflab.dev/experiment"
	// LabelSchedule names, on an experiment, the PerfSchedule that created it.
	LabelSchedule = "perflab.dev/schedule"
	// LabelRun names the run an object belongs to.
	LabelRun = "perflab.dev/run"
	// LabelTurn marks the Leases of experiments that queue for a lane.
	LabelTurn = "perflab.dev/turn"
	// LabelArm names the arm of a run.
	LabelArm = "perflab.dev/arm"
	// LabelScenario names the scenario of a run.
	LabelScenario = "perflab.dev/scenario"
	// LabelLoad names the load a TestRun or its pods belong to.
	LabelLoad = "perflab.dev/load"
	// LabelComponent is the part of the system that an object belongs to:
	// kafka, topic, postgres, module or images.
	LabelComponent = "perflab.dev/component"
	// LabelModule names the module of a Deployment, Service or pod.
	LabelModule = "perflab.dev/module"
	// LabelSeries is the prefix of labels on a complete experiment's stored history:
	// one for each scenario, with the digest of its declaration.
	LabelSeries = "series.perflab.dev/"
)

const (
	// AnnotationFingerprint holds the fingerprint of the declaration an object
	// was built from. An object with another fingerprint is rebuilt before the
	// next run.
	AnnotationFingerprint = "perflab.dev/fingerprint"
	// AnnotationBorrowedBy names, on an existing workload, the experiment that
	// has adopted it, as <namespace>/<name>.
	AnnotationBorrowedBy = "perflab.dev/borrowed-by"
	// AnnotationOriginal holds the original spec of an adopted workload, as
	// JSON.
	AnnotationOriginal = "perflab.dev/original"
	// AnnotationRun names, on the pods of an adopted workload, the run that
	// they were restarted for.
	AnnotationRun = "perflab.dev/run"
	// AnnotationEnd makes the pod of a collector exit after it has printed the
	// remaining samples.
	AnnotationEnd = "perflab.dev/end"
	// AnnotationReportOf holds, on a stored report, the digest of its source.
	AnnotationReportOf = "perflab.dev/report-of"
	// AnnotationEvidence holds, on a stored report, the digest of the manifest it
	// prints and its own, separated by a space.
	AnnotationEvidence = "perflab.dev/evidence"
	// AnnotationHistoryOf holds, on a stored history, the digest of its source.
	AnnotationHistoryOf = "perflab.dev/history-of"
	// AnnotationBegan holds, on a stored history, when the first load began.
	AnnotationBegan = "perflab.dev/began"
	// AnnotationLeftOut names, on a stored object, the parts that were too
	// large to store, or that come from the archive, separated by commas.
	AnnotationLeftOut = "perflab.dev/left-out"
	// AnnotationImported is, on an imported experiment and its runs, their
	// origin, as <namespace>/<name> <UID> <time>. They are read-only records,
	// and the operator ignores them.
	AnnotationImported = "perflab.dev/imported"
	// AnnotationElsewhere names, on an experiment that PerfLab did not measure, the
	// files it was converted from and, on each of its runs, the file and its
	// SHA-256.
	AnnotationElsewhere = "perflab.dev/elsewhere"
	// AnnotationDeletionReason is, on a finished PerfRun, why it is to be deleted. Reports
	// print it.
	AnnotationDeletionReason = "perflab.dev/deletion-reason"

	// AnnotationRelease names, on an experiment, the release that it measures: the
	// name of its points in perflab history.
	AnnotationRelease = "perflab.dev/release"
	// AnnotationTrigger is, on an experiment of a PerfSchedule, what triggered
	// it: Schedule, ImageChange, or Manual for perflab run.
	AnnotationTrigger = "perflab.dev/trigger"
	// AnnotationOperator names, on an experiment, the operator responsible for
	// it, by its namespace. Other operators ignore the experiment.
	AnnotationOperator = "perflab.dev/operator"
	// AnnotationHosts lists, on a Secret with a login, the hosts that the
	// operator may send it to: host, host:port or *.domain, separated by
	// commas.
	AnnotationHosts = "perflab.dev/hosts"
	// Finalizer lets the operator delete the environment in the order that
	// third-party operators need: topics before their Kafka.
	Finalizer = "perflab.dev/environment"
)
