// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/artifact"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/environment/kafka"
	"perflab.dev/perflab/internal/kube/sizelimit"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/planning/schedule"
	"perflab.dev/perflab/internal/releases/regression"
	"perflab.dev/perflab/internal/runs/earlier"
	"perflab.dev/perflab/internal/runs/runfilter"
	"perflab.dev/perflab/internal/text/prose"
)

// maxInvalidRuns bounds the list in the status; older ones are in the list of runs.
const maxInvalidRuns = 100

// reportExperiment turns the scope into the status, except for what artifacts add.
func reportExperiment(s *scope) {
	status := &s.Experiment.Status
	status.ObservedGeneration = s.Experiment.Generation
	if s.Experiment.DeletionTimestamp == nil && s.Plan.Hash != "" {
		reportPlan(s)
		reportRuns(s)
		reportStopped(s)
	}
	earlier.Artifacts(status)
	if s.spec.isMade {
		status.SpecWarnings = bounded(s.spec.warnings.Sentences())
		status.DesignWarnings = bounded(s.spec.warnings.AboutDesign().Sentences())
	}
	reportWarnings(s)
	status.Phase = experimentPhase(s)
	status.WaitingFor = waitingFor(s)
	setExperimentConditions(s)
}

// reportWarnings lists the warnings about the spec, about runs and about artifacts. They are for
// users only.
func reportWarnings(s *scope) {
	status := &s.Experiment.Status
	status.Truncated = ""
	s.Notices = slices.Concat(status.SpecWarnings, runWarnings(s))
	status.Warnings = bounded(slices.Concat(s.Notices, artifact.Warnings(status)))
}

// maxIgnored is how many ignored runs are listed; perflab lists the others.
const maxIgnored = 5

// runWarnings describe the ignored runs, and one that lost its label.
func runWarnings(s *scope) []string {
	var warnings []string
	if i := slices.IndexFunc(s.Runs, func(run v1alpha1.PerfRun) bool { return run.Labels[v1alpha1.LabelExperiment] != s.Experiment.Name }); i >= 0 {
		run := &s.Runs[i]
		warnings = append(warnings, fmt.Sprintf("without its label: PerfRun %q is part of the experiment, but perflab does not list it: kubectl label perfrun %s -n %s --overwrite %s=%s",
			run.Name, run.Name, run.Namespace, v1alpha1.LabelExperiment, s.Experiment.Name))
	}
	for _, ignored := range s.ignored[:min(len(s.ignored), maxIgnored)] {
		warnings = append(warnings, ignored.String())
	}
	if more := len(s.ignored) - maxIgnored; more > 0 {
		warnings = append(warnings, fmt.Sprintf("%ss that are not listed here: %d", runfilter.LeftOut, more))
	}
	return warnings
}

// reportPlan records the plan with the first run.
func reportPlan(s *scope) {
	status := &s.Experiment.Status
	if s.SpecChanged || s.started == nil && len(s.Runs) == 0 {
		return
	}
	listed := slices.Clone(s.design.arms)
	s.Verdicts(listed, status.Arms)
	status.Arms = listed
	status.PlanHash = s.Plan.Hash
	status.Seed = &s.Plan.Seed
	if status.StartTime == nil {
		status.StartTime = &metav1.Time{Time: s.Now}
	}
	if s.decision.Action != schedule.Finish {
		// More blocks reopen a complete experiment.
		status.CompletionTime, status.TornDown, status.History, status.Changes, status.HistoryDigest = nil, nil, nil, nil, ""
		return
	}
	if status.CompletionTime == nil {
		status.CompletionTime = &metav1.Time{Time: s.Now}
	}
}

// maxDifferences bounds the list in the status; the arms' systems are in the runs.
const maxDifferences = 100

func armsStatus(all []arms.Arm) []v1alpha1.ArmStatus {
	baseline, _ := arms.Baseline(all)
	statuses := make([]v1alpha1.ArmStatus, 0, len(all))
	for _, arm := range all {
		differences := arms.Differences(baseline.System, arm.System)
		listed := len(sizelimit.Within(differences[:min(len(differences), maxDifferences)], sizelimit.Differences/len(all)))
		statuses = append(statuses, v1alpha1.ArmStatus{
			Name:            arm.Name,
			Baseline:        arm.Baseline,
			Twin:            arm.Twin,
			Differences:     differences[:listed],
			MoreDifferences: int32(len(differences) - listed),
		})
	}
	return statuses
}

func reportRuns(s *scope) {
	status := &s.Experiment.Status
	status.Runs = &v1alpha1.RunCounts{
		Planned: int32(len(s.Plan.Runs)),
		Done:    s.decision.Done,
		Invalid: s.decision.Invalid,
	}
	status.Progress = fmt.Sprintf("%d/%d", status.Runs.Done, status.Runs.Planned)
	status.Current = currentRun(s)
	status.Lane = s.place.Status
	status.InvalidRuns = invalidRuns(s.Runs)
}

// maxLedgers bounds the list in the status; an experiment has one for each set of external brokers
// that its arms name.
const maxLedgers = 64

// noteLedgers records which ConfigMaps name external brokers, while there are runs to read it from.
func noteLedgers(s *scope) {
	status := &s.Experiment.Status
	for i := range s.Runs {
		ledger := kafka.NewLedgerRef(&s.Runs[i])
		if ledger != nil && len(status.TopicLedgers) < maxLedgers && !slices.Contains(status.TopicLedgers, *ledger) {
			status.TopicLedgers = append(status.TopicLedgers, *ledger)
		}
	}
}

// maxPositions bounds the list of attempts as the schema does.
const maxPositions = 25600

// maxDeletions bounds the list of reasons; runs beyond it are deleted without one.
const maxDeletions = 100

// noteAttempts records which runs were created, and the reasons for deleting them: nothing else has
// them after the deletion.
func noteAttempts(status *v1alpha1.PerfExperimentStatus, runs []v1alpha1.PerfRun) {
	for i := range runs {
		run := &runs[i]
		at := int(run.Spec.Position) - 1
		if at < 0 || at >= maxPositions {
			continue
		}
		if missing := at + 1 - len(status.Attempts); missing > 0 {
			status.Attempts = append(status.Attempts, make([]int32, missing)...)
		}
		status.Attempts[at] = max(status.Attempts[at], run.Spec.Attempt)
		noteDeletion(status, run)
	}
}

func noteDeletion(status *v1alpha1.PerfExperimentStatus, run *v1alpha1.PerfRun) {
	reason := component.TruncateMessage(strings.TrimSpace(run.Annotations[v1alpha1.AnnotationDeletionReason]))
	at := slices.IndexFunc(status.Deletions, func(known v1alpha1.RunDeletion) bool {
		return known.Position == run.Spec.Position && known.Attempt == run.Spec.Attempt
	})
	switch {
	case reason == "":
	case at >= 0:
		status.Deletions[at].Reason = reason
	case len(status.Deletions) < maxDeletions:
		status.Deletions = append(status.Deletions, v1alpha1.RunDeletion{Position: run.Spec.Position, Attempt: run.Spec.Attempt, Reason: reason})
	}
}

func currentRun(s *scope) *v1alpha1.CurrentRun {
	if s.started != nil {
		return &v1alpha1.CurrentRun{Run: s.started.Name, Phase: v1alpha1.RunPending}
	}
	if run := s.activeRun(); run != nil {
		return &v1alpha1.CurrentRun{Run: run.Name, Phase: run.Status.Phase, Message: component.RunMessage(run)}
	}
	return nil
}

// activeRun is the run that the decision waits for; nil if it waits for none.
func (s *scope) activeRun() *v1alpha1.PerfRun {
	for i := range s.Runs {
		if run := &s.Runs[i]; run.Name == s.decision.Active {
			return run
		}
	}
	return nil
}

func invalidRuns(runs []v1alpha1.PerfRun) []v1alpha1.InvalidRun {
	ordered := slices.Clone(runs)
	slices.SortFunc(ordered, func(a, b v1alpha1.PerfRun) int {
		return a.CreationTimestamp.Compare(b.CreationTimestamp.Time)
	})
	var invalid []v1alpha1.InvalidRun
	for i := range ordered {
		run := &ordered[i]
		if run.Status.Phase != v1alpha1.RunInvalid {
			continue
		}
		found := v1alpha1.InvalidRun{Run: run.Name, Message: run.Status.Message}
		if fault := component.RecordedFault(run); fault != nil {
			found.Reason = fault.Reason
		}
		invalid = append(invalid, found)
	}
	slices.Reverse(invalid)
	last := sizelimit.Within(invalid[:min(len(invalid), maxInvalidRuns)], sizelimit.InvalidRuns)
	slices.Reverse(last)
	return last
}

func experimentPhase(s *scope) v1alpha1.ExperimentPhase {
	switch {
	case s.Experiment.DeletionTimestamp != nil:
		return v1alpha1.ExperimentDeleting
	case s.isStalled():
		return v1alpha1.ExperimentStalled
	case s.decision.Action == schedule.Finish:
		return v1alpha1.ExperimentComplete
	case s.decision.Action == schedule.Hold:
		return v1alpha1.ExperimentSuspended
	case s.spec.isSystemMissing || s.blocker != "" || s.place.IsWaiting() || s.started == nil && len(s.Runs) == 0:
		return v1alpha1.ExperimentPending
	default:
		return v1alpha1.ExperimentRunning
	}
}

func waitingFor(s *scope) string {
	current := s.Experiment.Status.Current
	switch {
	case s.refusal != nil:
		return s.refusal.Message
	case s.teardown.obstacle != "":
		return s.teardown.obstacle
	case s.teardown.isActive:
		return "waiting for the environment to be deleted"
	case s.Experiment.DeletionTimestamp != nil:
		return ""
	case s.isStalled():
		return "manual action required: " + stalledMessage(s)
	case s.spec.isSystemMissing:
		return fmt.Sprintf("waiting for PerfSystem %q: not found in the namespace", s.Experiment.Spec.SystemRef.Name)
	case s.place.IsWaiting():
		return s.place.Message()
	case s.blocker != "":
		return "waiting for run " + s.blocker + " of another experiment"
	case s.decision.Action == schedule.Hold:
		return "suspended until spec.suspend is false"
	case s.decision.Action == schedule.Wait && current != nil:
		return strings.TrimSuffix(fmt.Sprintf("%s: %s", current.Phase, current.Message), ": ")
	default:
		return ""
	}
}

func stalledReason(s *scope) string {
	switch {
	case len(s.spec.faults) > 0:
		return v1alpha1.ReasonInvalidSpec
	case s.unwritten != "":
		return v1alpha1.ReasonStatusRefused
	case s.SpecChanged:
		return v1alpha1.ReasonSpecChanged
	default:
		return v1alpha1.ReasonAttemptsExhausted
	}
}

func stalledMessage(s *scope) string {
	if len(s.spec.faults) > 0 {
		return faultMessage(s.spec.faults)
	}
	if s.unwritten != "" {
		return s.unwritten
	}
	if s.SpecChanged {
		return "the spec has changed since the runs were planned: restore it, or apply the new spec under another name; if you don't need the runs, delete the experiment and apply the new spec"
	}
	invalid := s.Experiment.Status.InvalidRuns
	last := ""
	if len(invalid) > 0 {
		last = "; last cause: " + invalid[len(invalid)-1].Message
	}
	alike := ""
	if s.decision.SameCause {
		alike = " for the same reason, which a retry would not change"
	}
	return fmt.Sprintf("block %d, arm %s, scenario %s was invalid %s%s%s",
		s.decision.Run.Block, s.decision.Run.Arm, s.decision.Run.Scenario, prose.Counted(s.decision.Attempt-1, "time"), alike, last)
}

func setExperimentConditions(s *scope) {
	status := &s.Experiment.Status
	set := component.ConditionSetter(&status.Conditions, s.Experiment.Generation)
	switch status.Phase {
	case v1alpha1.ExperimentComplete:
		message := "every planned run has a valid attempt"
		if status.Verdict != "" {
			message += "; verdict: " + status.Verdict
		}
		set(v1alpha1.ConditionComplete, metav1.ConditionTrue, v1alpha1.ReasonComplete, message)
		meta.RemoveStatusCondition(&status.Conditions, v1alpha1.ConditionStalled)
		if s.refusal != nil {
			// Its results are complete, but its cleanup is not.
			set(v1alpha1.ConditionReady, metav1.ConditionUnknown, s.refusal.Reason, s.refusal.Message)
			set(v1alpha1.ConditionReconciling, metav1.ConditionTrue, s.refusal.Reason, s.refusal.Message)
			break
		}
		set(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonComplete, message)
		meta.RemoveStatusCondition(&status.Conditions, v1alpha1.ConditionReconciling)
	case v1alpha1.ExperimentStalled:
		reason := stalledReason(s)
		set(v1alpha1.ConditionComplete, metav1.ConditionFalse, reason, stalledMessage(s))
		set(v1alpha1.ConditionReady, metav1.ConditionFalse, reason, stalledMessage(s))
		set(v1alpha1.ConditionStalled, metav1.ConditionTrue, reason, stalledMessage(s))
		meta.RemoveStatusCondition(&status.Conditions, v1alpha1.ConditionReconciling)
	default:
		reason, message := progress(s)
		set(v1alpha1.ConditionComplete, metav1.ConditionFalse, reason, message)
		set(v1alpha1.ConditionReady, metav1.ConditionUnknown, reason, message)
		set(v1alpha1.ConditionReconciling, metav1.ConditionTrue, reason, message)
		meta.RemoveStatusCondition(&status.Conditions, v1alpha1.ConditionStalled)
	}
	setSingleFactor(s, set)
	setCalibrated(s, set)
	mirrorTrouble(s, set)
}

// setSingleFactor reports whether each arm differs from the baseline in one factor. It stops
// nothing: two whole systems can be compared, but their differences can't be separated.
func setSingleFactor(s *scope, set component.SetCondition) {
	if s.Experiment.DeletionTimestamp != nil || s.Plan.Hash == "" {
		return
	}
	if len(s.design.confounded) == 0 {
		set(v1alpha1.ConditionSingleFactor, metav1.ConditionTrue, v1alpha1.ReasonSingleFactor, "each arm differs from the baseline in one factor")
		return
	}
	sentences := make([]string, 0, len(s.design.confounded))
	for _, confounded := range s.design.confounded {
		sentences = append(sentences, confounded.String())
	}
	set(v1alpha1.ConditionSingleFactor, metav1.ConditionFalse, v1alpha1.ReasonConfounded,
		"an effect could come from any of these: "+prose.Enumerate(sentences))
}

func progress(s *scope) (reason, message string) {
	if s.refusal != nil {
		return s.refusal.Reason, s.refusal.Message
	}
	switch s.Experiment.Status.Phase {
	case v1alpha1.ExperimentSuspended:
		return v1alpha1.ReasonSuspended, "no further run starts while spec.suspend is set"
	case v1alpha1.ExperimentDeleting:
		return v1alpha1.ReasonDeleting, "the environment is being deleted"
	default:
		if s.spec.isSystemMissing {
			return v1alpha1.ReasonSystemMissing, fmt.Sprintf("PerfSystem %q not found in namespace %q: apply it, or set spec.systemRef to another one",
				s.Experiment.Spec.SystemRef.Name, s.Experiment.Namespace)
		}
		return v1alpha1.ReasonProgressing, prose.Partly(int(s.decision.Done), len(s.Plan.Runs), "run") + " done"
	}
}

// mirrorTrouble shows on the experiment which part of the current run's
// environment is not ready.
func mirrorTrouble(s *scope, set component.SetCondition) {
	var current *v1alpha1.PerfRun
	for i := range s.Runs {
		if s.Runs[i].Name == s.decision.Active {
			current = &s.Runs[i]
		}
	}
	for _, part := range component.All {
		conditionType := part.Describe().Condition
		var found *metav1.Condition
		if current != nil {
			found = meta.FindStatusCondition(current.Status.Conditions, conditionType)
		}
		if found == nil {
			meta.RemoveStatusCondition(&s.Experiment.Status.Conditions, conditionType)
			continue
		}
		set(conditionType, found.Status, found.Reason, found.Message)
	}
}

// reportStopped records why no further blocks are planned.
func reportStopped(s *scope) {
	recorded := s.Experiment.Status.Analysis
	if s.SpecChanged || recorded == nil {
		return
	}
	recorded.Stopped = nil
	if s.extent.Reason != "" {
		recorded.Stopped = &v1alpha1.Stopped{Reason: s.extent.Reason, Message: s.extent.Message}
	}
}

// reportSettled records that nothing is left to do but to delete the environment at a set time.
func (r *Reconciler) reportSettled(s *scope, err error) {
	status := &s.Experiment.Status
	status.Settled = ""
	if err == nil && s.refusal == nil && status.Phase == v1alpha1.ExperimentComplete && r.artifacts.AreCurrent(&s.Subject) {
		status.Settled = s.seen
		status.HistoryDigest = cmp.Or(status.HistoryDigest, regression.NoDigest)
	}
}

// setCalibrated reports whether the A/A control differs from the baseline.
func setCalibrated(s *scope, set component.SetCondition) {
	if !s.Experiment.Spec.Design.Calibrate {
		meta.RemoveStatusCondition(&s.Experiment.Status.Conditions, v1alpha1.ConditionCalibrated)
		return
	}
	if s.Answer == nil {
		// The earlier answer holds for this generation as well.
		if known := meta.FindStatusCondition(s.Experiment.Status.Conditions, v1alpha1.ConditionCalibrated); known != nil {
			set(known.Type, known.Status, known.Reason, known.Message)
		}
		return
	}
	found, status := s.Answer.Calibration(), metav1.ConditionUnknown
	switch {
	case found.Known && found.Calibrated:
		status = metav1.ConditionTrue
	case found.Known:
		status = metav1.ConditionFalse
	}
	set(v1alpha1.ConditionCalibrated, status, found.Reason, found.Message)
}

// writeStatus writes the status if it changed. The progress of the current run alone is written
// at intervals.
func (r *Reconciler) writeStatus(ctx context.Context, before *v1alpha1.PerfExperiment, s *scope) error {
	after := s.Experiment
	if equality.Semantic.DeepEqual(before.Status, after.Status) {
		return nil
	}
	if left := r.StatusThrottle.Remaining(after.UID, r.Now()); left > 0 && isProgress(&before.Status, &after.Status) {
		s.Requeue(left)
		return nil
	}
	if err := component.PatchStatus(ctx, r.Cluster, "experiment", before, after); err != nil {
		return err
	}
	r.StatusThrottle.RecordWrite(after.UID, r.Now())
	return nil
}

// isProgress reports whether two statuses of an experiment differ only in the progress of the
// current run, which has it in its own status.
func isProgress(before, after *v1alpha1.PerfExperimentStatus) bool {
	own := func(status *v1alpha1.PerfExperimentStatus) v1alpha1.PerfExperimentStatus {
		rest := *status
		rest.Current, rest.WaitingFor = nil, ""
		rest.Conditions = slices.DeleteFunc(slices.Clone(status.Conditions), func(condition metav1.Condition) bool {
			return slices.ContainsFunc(component.All, func(part component.Component) bool { return part.Describe().Condition == condition.Type })
		})
		return rest
	}
	return before.Phase == v1alpha1.ExperimentRunning && equality.Semantic.DeepEqual(own(before), own(after))
}
