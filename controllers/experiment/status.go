// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/environment/kafka"
	"perflab.dev/perflab/internal/kube/sizelimit"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/planning/schedule"
	"perflab.dev/perflab/internal/publish/announcement"
	"perflab.dev/perflab/internal/runs/runfilter"
	"perflab.dev/perflab/internal/text/prose"
)

// maxInvalidRuns bounds the list in status; older ones are still in the
// list of runs.
const maxInvalidRuns = 100

// reportExperiment turns what a pass has learnt into status. Nothing else but
// reportStored writes it.
func reportExperiment(s *scope) {
	status := &s.experiment.Status
	status.ObservedGeneration = s.experiment.Generation
	if s.experiment.DeletionTimestamp == nil && s.planned.Hash != "" {
		reportPlan(s)
		reportRuns(s)
		reportAnalysis(s)
		status.Results = s.results
	}
	if s.judged {
		earlier := slices.DeleteFunc(slices.Clone(status.Warnings), func(warning string) bool { return !isAboutHistory(warning) })
		status.Warnings = boundedWarnings(slices.Concat(s.warnings, earlier))
	}
	reportForeign(s)
	status.Phase = experimentPhase(s)
	status.WaitingFor = waitingFor(s)
	setExperimentConditions(s)
}

// maxForeign are named in the status; the list of runs has the others.
const maxForeign = 5

// unlabelled begins the warning about a run that has lost its label.
const unlabelled = "without its label: PerfRun"

// reportForeign names the runs that are left out, and one that others don't see.
func reportForeign(s *scope) {
	status := &s.experiment.Status
	status.Warnings = slices.DeleteFunc(slices.Clone(status.Warnings), func(known string) bool {
		return strings.HasPrefix(known, runfilter.LeftOut) || strings.HasPrefix(known, unlabelled)
	})
	if i := slices.IndexFunc(s.runs, func(run v1alpha1.PerfRun) bool { return run.Labels[v1alpha1.LabelExperiment] != s.experiment.Name }); i >= 0 {
		run := &s.runs[i]
		status.Warnings = append(status.Warnings, fmt.Sprintf("%s %q counts, but perflab does not list it: kubectl label perfrun %s -n %s --overwrite %s=%s",
			unlabelled, run.Name, run.Name, run.Namespace, v1alpha1.LabelExperiment, s.experiment.Name))
	}
	for _, foreign := range s.foreign[:min(len(s.foreign), maxForeign)] {
		status.Warnings = append(status.Warnings, foreign.String())
	}
	if more := len(s.foreign) - maxForeign; more > 0 {
		status.Warnings = append(status.Warnings, fmt.Sprintf("%ss that are not named here: %d", runfilter.LeftOut, more))
	}
	status.Warnings = boundedWarnings(status.Warnings)
}

// reportStored names the report, which is rendered from the rest of the status.
func reportStored(s *scope) {
	status := &s.experiment.Status
	if s.evidence != nil {
		status.Evidence = s.evidence
	}
	if s.stored == "" && s.unstored == "" {
		return
	}
	if s.evidence == nil && s.unproved == "" {
		// Said when the report was written, which was before this pass.
		s.unproved = known(status.Warnings, aboutManifest)
	}
	if !s.rendered {
		s.lacking, s.unshown = known(status.Warnings, aboutRaw), known(status.Warnings, aboutNotes)
	}
	status.Warnings = withoutReport(status.Warnings)
	for _, warning := range []string{s.unproved, s.lacking, s.unshown, s.unstored} {
		if warning != "" {
			status.Warnings = boundedWarnings(append(status.Warnings, warning))
		}
	}
	if s.unstored == "" {
		status.Report = s.stored
	}
}

// reportPlan records the plan with the first run.
func reportPlan(s *scope) {
	status := &s.experiment.Status
	if s.specChanged || s.started == nil && len(s.runs) == 0 {
		return
	}
	listed := slices.Clone(s.arms)
	reportVerdicts(s, listed, status.Arms)
	status.Arms = listed
	status.PlanHash = s.planned.Hash
	status.Seed = &s.planned.Seed
	if status.StartTime == nil {
		status.StartTime = &metav1.Time{Time: s.now}
	}
	if s.decision.Action != schedule.Finish {
		// More blocks reopen a complete experiment.
		status.CompletionTime, status.TornDown, status.History, status.Changes, status.HistoryDigest = nil, nil, nil, nil, ""
		return
	}
	if status.CompletionTime == nil {
		status.CompletionTime = &metav1.Time{Time: s.now}
	}
}

// maxDifferences bounds the list in status; the arms' systems are in the runs.
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
	status := &s.experiment.Status
	status.Runs = &v1alpha1.RunCounts{
		Planned: int32(len(s.planned.Runs)),
		Done:    s.decision.Done,
		Invalid: s.decision.Invalid,
	}
	status.Progress = fmt.Sprintf("%d/%d", status.Runs.Done, status.Runs.Planned)
	status.Current = currentRun(s)
	status.Lane = s.place
	status.InvalidRuns = invalidRuns(s.runs)
}

// maxLedgers bounds the list in status; an experiment has one for each set of external
// brokers that its arms name.
const maxLedgers = 64

// noteLedgers notes which ConfigMaps name external brokers, while there are runs to read
// it from.
func noteLedgers(s *scope) {
	status := &s.experiment.Status
	for i := range s.runs {
		ledger := kafka.NewLedgerRef(&s.runs[i])
		if ledger != nil && len(status.TopicLedgers) < maxLedgers && !slices.Contains(status.TopicLedgers, *ledger) {
			status.TopicLedgers = append(status.TopicLedgers, *ledger)
		}
	}
}

// maxPositions bounds the list of attempts as the schema does.
const maxPositions = 25600

// maxDeletions bounds the list of reasons; runs beyond it are deleted without one.
const maxDeletions = 100

// noteAttempts notes that runs were made, and why those are to be deleted that say it:
// once they are gone nothing else tells.
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
	reason := component.Cut(strings.TrimSpace(run.Annotations[v1alpha1.AnnotationDeletionReason]))
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
	for i := range s.runs {
		if run := &s.runs[i]; run.Name == s.decision.Active {
			return &v1alpha1.CurrentRun{Run: run.Name, Phase: run.Status.Phase, Message: component.MessageOf(run)}
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
		if fault := component.FaultOf(run); fault != nil {
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
	case s.experiment.DeletionTimestamp != nil:
		return v1alpha1.ExperimentDeleting
	case s.stalled():
		return v1alpha1.ExperimentStalled
	case s.decision.Action == schedule.Finish:
		return v1alpha1.ExperimentComplete
	case s.decision.Action == schedule.Hold:
		return v1alpha1.ExperimentSuspended
	case s.unknownSystem || s.blocker != "" || s.isInLine() || s.started == nil && len(s.runs) == 0:
		return v1alpha1.ExperimentPending
	default:
		return v1alpha1.ExperimentRunning
	}
}

func waitingFor(s *scope) string {
	current := s.experiment.Status.Current
	switch {
	case s.refusal != nil:
		return s.refusal.Message
	case s.leftover != "":
		return s.leftover
	case s.tearingDown:
		return "waiting for the environment to be deleted"
	case s.experiment.DeletionTimestamp != nil:
		return ""
	case s.stalled():
		return "manual action required: " + stalledMessage(s)
	case s.unknownSystem:
		return fmt.Sprintf("waiting for PerfSystem %q, which is not in the namespace", s.experiment.Spec.SystemRef.Name)
	case s.isInLine():
		return s.turnWaitedFor()
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

// stalled: only a person can help.
func (s *scope) stalled() bool {
	return len(s.faults) > 0 || s.unwritten != "" || s.specChanged || s.decision.Action == schedule.GiveUp
}

func stalledReason(s *scope) string {
	switch {
	case len(s.faults) > 0:
		return v1alpha1.ReasonInvalidSpec
	case s.unwritten != "":
		return v1alpha1.ReasonStatusRefused
	case s.specChanged:
		return v1alpha1.ReasonSpecChanged
	default:
		return v1alpha1.ReasonAttemptsExhausted
	}
}

func stalledMessage(s *scope) string {
	if len(s.faults) > 0 {
		return faultMessage(s.faults)
	}
	if s.unwritten != "" {
		return s.unwritten
	}
	if s.specChanged {
		return "the spec is not the one the runs were planned from; put it back, or give the new one a new name; where none of its runs is to be kept, delete the experiment and apply the new one"
	}
	invalid := s.experiment.Status.InvalidRuns
	last := ""
	if len(invalid) > 0 {
		last = "; the last time: " + invalid[len(invalid)-1].Message
	}
	alike := ""
	if s.decision.SameCause {
		alike = " in the same way, which another attempt would not change"
	}
	return fmt.Sprintf("block %d, arm %s, scenario %s was invalid %s%s%s",
		s.decision.Run.Block, s.decision.Run.Arm, s.decision.Run.Scenario, prose.Counted(s.decision.Attempt-1, "time"), alike, last)
}

func setExperimentConditions(s *scope) {
	status := &s.experiment.Status
	set := component.ConditionSetter(&status.Conditions, s.experiment.Generation)
	switch status.Phase {
	case v1alpha1.ExperimentComplete:
		message := "every planned run has a valid attempt"
		if status.Verdict != "" {
			message += "; verdict: " + status.Verdict
		}
		set(v1alpha1.ConditionComplete, metav1.ConditionTrue, v1alpha1.ReasonComplete, message)
		meta.RemoveStatusCondition(&status.Conditions, v1alpha1.ConditionStalled)
		if s.refusal != nil {
			// Its results are there, and something of it is still to be taken away.
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

// setSingleFactor says whether an effect could come from one thing alone. It
// stops nothing: who means to compare two whole systems may do so, but reads
// here what the comparison can't tell apart.
func setSingleFactor(s *scope, set component.SetCondition) {
	if s.experiment.DeletionTimestamp != nil || s.planned.Hash == "" {
		return
	}
	if len(s.confounded) == 0 {
		set(v1alpha1.ConditionSingleFactor, metav1.ConditionTrue, v1alpha1.ReasonSingleFactor, "each arm differs from the baseline in one thing")
		return
	}
	sentences := make([]string, 0, len(s.confounded))
	for _, confounded := range s.confounded {
		sentences = append(sentences, confounded.String())
	}
	set(v1alpha1.ConditionSingleFactor, metav1.ConditionFalse, v1alpha1.ReasonConfounded,
		"an effect could come from any of these: "+prose.Enumerate(sentences))
}

func progress(s *scope) (reason, message string) {
	if s.refusal != nil {
		return s.refusal.Reason, s.refusal.Message
	}
	switch s.experiment.Status.Phase {
	case v1alpha1.ExperimentSuspended:
		return v1alpha1.ReasonSuspended, "no further run is started while spec.suspend is set"
	case v1alpha1.ExperimentDeleting:
		return v1alpha1.ReasonDeleting, "the environment is being taken down"
	default:
		if s.unknownSystem {
			return v1alpha1.ReasonSystemMissing, fmt.Sprintf("there is no PerfSystem %q in namespace %q: apply it, or name another one in spec.systemRef",
				s.experiment.Spec.SystemRef.Name, s.experiment.Namespace)
		}
		return v1alpha1.ReasonProgressing, prose.Partly(int(s.decision.Done), len(s.planned.Runs), "run") + " done"
	}
}

// mirrorTrouble shows on the experiment which part of the current run's
// environment is not ready, so that one look at the experiment is enough.
func mirrorTrouble(s *scope, set component.SetCondition) {
	var current *v1alpha1.PerfRun
	for i := range s.runs {
		if s.runs[i].Name == s.decision.Active {
			current = &s.runs[i]
		}
	}
	for _, part := range component.All {
		conditionType := part.About().Condition
		var found *metav1.Condition
		if current != nil {
			found = meta.FindStatusCondition(current.Status.Conditions, conditionType)
		}
		if found == nil {
			meta.RemoveStatusCondition(&s.experiment.Status.Conditions, conditionType)
			continue
		}
		set(conditionType, found.Status, found.Reason, found.Message)
	}
}

// reportOccasion notes what there is to announce together with what it is about, so
// that neither is there without the other. Telling it is the announcer's.
func reportOccasion(s *scope, anybody bool) {
	status := &s.experiment.Status
	if status.Phase != v1alpha1.ExperimentComplete && status.Phase != v1alpha1.ExperimentStalled {
		status.Announcement = nil
		meta.RemoveStatusCondition(&status.Conditions, v1alpha1.ConditionAnnounced)
		return
	}
	known := s.described && (s.reported != "" || s.unstored != "") && (s.hasLookedBack() || s.unkept != "")
	occasion := announcement.Occasion(s.experiment, known)
	if !anybody || occasion == nil || announcement.IsSame(status.Announcement, occasion) {
		return
	}
	if s.now.Sub(occasion.Time.Time) > announcement.Deadline {
		// It came about before there was anybody to tell.
		return
	}
	status.Announcement = occasion
	component.ConditionSetter(&status.Conditions, s.experiment.Generation)(
		v1alpha1.ConditionAnnounced, metav1.ConditionUnknown, v1alpha1.ReasonAnnouncing, "the announcements are about to be sent")
}

// writeStatus writes the status if it changed. What merely tells how far the current run
// is may have to wait, for which another pass is asked.
func (r *Reconciler) writeStatus(ctx context.Context, before *v1alpha1.PerfExperiment, s *scope) error {
	after := s.experiment
	if equality.Semantic.DeepEqual(before.Status, after.Status) {
		return nil
	}
	if left := r.Words.Left(after.UID, r.Now()); left > 0 && merelyTells(&before.Status, &after.Status) {
		s.again(left)
		return nil
	}
	if err := component.PatchStatus(ctx, r.Cluster, "experiment", before, after); err != nil {
		return err
	}
	r.Words.Wrote(after.UID, r.Now())
	return nil
}

// merelyTells: of two statuses of an experiment the later one says something else of the
// current run alone, which tells it itself.
func merelyTells(before, after *v1alpha1.PerfExperimentStatus) bool {
	own := func(status *v1alpha1.PerfExperimentStatus) v1alpha1.PerfExperimentStatus {
		rest := *status
		rest.Current, rest.WaitingFor = nil, ""
		rest.Conditions = slices.DeleteFunc(slices.Clone(status.Conditions), func(condition metav1.Condition) bool {
			return slices.ContainsFunc(component.All, func(part component.Component) bool { return part.About().Condition == condition.Type })
		})
		return rest
	}
	return before.Phase == v1alpha1.ExperimentRunning && equality.Semantic.DeepEqual(own(before), own(after))
}

// announce tells people what happened, after it has been written down.
func (r *Reconciler) announce(before *v1alpha1.PerfExperiment, s *scope) {
	after := s.experiment
	r.announceManifest(before, after)
	if s.started != nil {
		r.Events.Eventf(after, s.started, corev1.EventTypeNormal, "RunStarted", "Start", "Run %s: block %d, arm %s, scenario %s",
			s.started.Name, s.started.Spec.Block, s.started.Spec.Arm, s.started.Spec.Scenario.Name)
	}
	r.announceChanges(before, after)
	if before.Status.Phase == after.Status.Phase {
		return
	}
	switch after.Status.Phase {
	case v1alpha1.ExperimentComplete:
		r.Events.Eventf(after, nil, corev1.EventTypeNormal, "Complete", "Finish", "%s done", prose.Partly(after.Status.Runs.Planned, after.Status.Runs.Planned, "run"))
		r.announceVerdicts(s)
	case v1alpha1.ExperimentStalled:
		r.Events.Eventf(after, nil, corev1.EventTypeWarning, "Stalled", "Stall", "%s", stalledMessage(s))
	case v1alpha1.ExperimentSuspended:
		r.Events.Eventf(after, nil, corev1.EventTypeNormal, "Suspended", "Suspend", "No further run is started")
	default:
		// The other phases go without saying.
	}
}

// announceChanges tells of changes on the experiment at whose end they were found.
func (r *Reconciler) announceChanges(before, after *v1alpha1.PerfExperiment) {
	if equality.Semantic.DeepEqual(before.Status.Changes, after.Status.Changes) {
		return
	}
	for i := range after.Status.Changes {
		change, kind := &after.Status.Changes[i], corev1.EventTypeNormal
		if change.Verdict == v1alpha1.VerdictWorse {
			kind = corev1.EventTypeWarning
		}
		r.Events.Eventf(after, nil, kind, "SeriesChanged", "Compare", "%s", prose.Printable(fmt.Sprintf("%s: %s", change.Sentence, change.Verdict)))
	}
}

// announceManifest tells a manifest's digest where the experiment can't take it
// back: in an event and in the operator's log.
func (r *Reconciler) announceManifest(before, after *v1alpha1.PerfExperiment) {
	kept := after.Status.Evidence
	if kept == nil || before.Status.Evidence != nil && before.Status.Evidence.SHA256 == kept.SHA256 {
		return
	}
	r.Events.Eventf(after, nil, corev1.EventTypeNormal, "EvidenceKept", "Record", "The manifest of what was recorded has SHA-256 %s", kept.SHA256)
}

// refused notes what is in the way of an experiment's next write. Other errors
// are passed on, and those that may pass as well.
func (s *scope) refused(err error) error {
	readiness, refused := component.RefusalOf(err)
	if !refused {
		return err
	}
	s.refusal = &readiness
	if readiness.Reason == v1alpha1.ReasonRetrying {
		return err
	}
	s.after = component.RefusedPause
	return nil
}
