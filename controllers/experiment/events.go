// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/text/prose"
)

// sendEvents reports what happened, after the status is written.
func (r *Reconciler) sendEvents(before *v1alpha1.PerfExperiment, s *scope) {
	after := s.Experiment
	r.sendManifest(before, after)
	if s.started != nil {
		r.Events.Eventf(after, s.started, corev1.EventTypeNormal, "RunStarted", "Start", "Started run %s: block %d, arm %s, scenario %s",
			s.started.Name, s.started.Spec.Block, s.started.Spec.Arm, s.started.Spec.Scenario.Name)
	}
	r.sendChanges(before, after)
	if before.Status.Phase == after.Status.Phase {
		return
	}
	switch after.Status.Phase {
	case v1alpha1.ExperimentComplete:
		r.Events.Eventf(after, nil, corev1.EventTypeNormal, "Complete", "Finish", "%s finished", prose.Partly(after.Status.Runs.Planned, after.Status.Runs.Planned, "run"))
		r.sendVerdicts(s)
	case v1alpha1.ExperimentStalled:
		r.Events.Eventf(after, nil, corev1.EventTypeWarning, "Stalled", "Stall", "%s", stalledMessage(s))
	case v1alpha1.ExperimentSuspended:
		r.Events.Eventf(after, nil, corev1.EventTypeNormal, "Suspended", "Suspend", "Suspended the experiment: no further run starts")
	default:
		// The other phases need no event.
	}
}

// sendChanges reports the changes that were found at the end of the experiment.
func (r *Reconciler) sendChanges(before, after *v1alpha1.PerfExperiment) {
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

// sendManifest reports the digest of a manifest in an event, which an edit of the experiment does
// not change.
func (r *Reconciler) sendManifest(before, after *v1alpha1.PerfExperiment) {
	kept := after.Status.Evidence
	if kept == nil || before.Status.Evidence != nil && before.Status.Evidence.SHA256 == kept.SHA256 {
		return
	}
	r.Events.Eventf(after, nil, corev1.EventTypeNormal, "EvidenceKept", "Record", "Recorded the manifest of digests with SHA-256 %s", kept.SHA256)
}

// sendVerdicts reports the verdicts of a complete experiment.
func (r *Reconciler) sendVerdicts(s *scope) {
	if s.Answer == nil {
		return
	}
	if differing := s.Answer.Uncalibrated(); len(differing) > 0 {
		r.Events.Eventf(s.Experiment, nil, corev1.EventTypeWarning, "NotCalibrated", "Analyze", "%s", s.Answer.Calibration().Message)
	}
	if sentences := s.Answer.Sentences(s.Plan.Arms); len(sentences) > 0 {
		r.Events.Eventf(s.Experiment, nil, corev1.EventTypeNormal, "Verdict", "Analyze", "%s",
			fmt.Sprintf("Against the baseline %q: %s", s.Answer.Baseline, strings.Join(sentences, "; ")))
	}
}
