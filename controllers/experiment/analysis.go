// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/inference/analysis"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/planning/schedule"
)

// extend plans further blocks where the design asks for them. It follows from
// the runs alone, so that an operator that has just started decides the same.
func (r *Reconciler) extend(ctx context.Context, s *scope) error {
	design := s.experiment.Spec.DesignOrDefault()
	progress := schedule.Progress{Complete: s.complete, Started: begun(s.runs)}
	if design.Target != nil && s.complete >= max(design.Blocks, progress.Started) {
		full, err := r.fullRuns(ctx, s)
		if err != nil {
			return err
		}
		progress.Elapsed = analysis.Elapsed(s.runs, s.complete)
		if design.Target.Verdicts {
			progress.Verdicts = analysis.StandingOf(&s.experiment.Spec, s.planned.Arms, s.planned.Seed, full, s.complete)
		} else {
			progress.Precision = analysis.PrecisionOf(&s.experiment.Spec, s.planned.Arms, full, s.complete)
		}
	}
	s.extent = schedule.Extend(design, progress)
	s.planned.Grow(&s.experiment.Spec, s.extent.Blocks)
	return nil
}

// begun is the last block that has a run.
func begun(runs []v1alpha1.PerfRun) int32 {
	var last int32
	for i := range runs {
		last = max(last, runs[i].Spec.Block)
	}
	return last
}

// analyze sums up what the runs gave when there is another one, and compares the
// arms when a block has been completed since the last time, and once more when the
// experiment is. In between nothing would change.
func (r *Reconciler) analyze(ctx context.Context, s *scope) error {
	s.described = s.known.described == s.ended
	if s.described && !s.isDue() {
		return nil
	}
	full, err := r.fullRuns(ctx, s)
	if err != nil {
		return err
	}
	defer r.Telemetry.StartAnalysis()()
	s.results, s.described = analysis.Describe(s.planned.Arms, s.experiment.Spec.Scenarios, full), true
	if s.isDue() {
		answer := analysis.Of(&s.experiment.Spec, s.planned.Arms, s.planned.Seed, full)
		s.answer = &answer
	}
	return nil
}

// isDue: the arms are to be compared.
func (s *scope) isDue() bool {
	recorded, final := s.experiment.Status.Analysis, s.decision.Action == schedule.Finish
	return !s.specChanged &&
		(recorded == nil || recorded.Blocks != s.complete || recorded.Final != final || recorded.Hash != s.question.Hash())
}

// reportAnalysis writes the question down, before the first run, and what has
// been found since.
func reportAnalysis(s *scope) {
	status := &s.experiment.Status
	if s.specChanged {
		return
	}
	if s.answer != nil {
		found := s.answer.Status()
		found.Final = s.decision.Action == schedule.Finish
		status.Analysis = &found
		status.Verdict = s.answer.Summary(found.Final)
		status.Comparisons = s.answer.Bounded()
		status.Pairs = s.answer.BoundedPairs()
		status.Slowdowns = s.answer.BoundedSlowdowns()
		status.Effects = s.answer.BoundedEffects()
	}
	if status.Analysis == nil {
		return
	}
	status.Analysis.Stopped = nil
	if s.extent.Reason != "" {
		status.Analysis.Stopped = &v1alpha1.Stopped{Reason: s.extent.Reason, Message: s.extent.Message}
	}
}

// reportVerdicts keeps what each arm shows beside what it is.
func reportVerdicts(s *scope, listed, before []v1alpha1.ArmStatus) {
	known := map[string]*v1alpha1.ArmVerdicts{}
	for _, arm := range before {
		known[arm.Name] = arm.Verdicts
	}
	for i := range listed {
		listed[i].Verdicts = known[listed[i].Name]
		if arm, planned := arms.Named(s.planned.Arms, listed[i].Name); planned && s.answer != nil {
			listed[i].Verdicts = s.answer.ArmVerdicts(arm)
		}
	}
}

// setCalibrated says whether the baseline's twin differs from it.
func setCalibrated(s *scope, set component.SetCondition) {
	if !s.experiment.Spec.Design.Calibrate {
		meta.RemoveStatusCondition(&s.experiment.Status.Conditions, v1alpha1.ConditionCalibrated)
		return
	}
	if s.answer == nil {
		// What was found stands; the generation is the only thing that moves on.
		if known := meta.FindStatusCondition(s.experiment.Status.Conditions, v1alpha1.ConditionCalibrated); known != nil {
			set(known.Type, known.Status, known.Reason, known.Message)
		}
		return
	}
	found, status := s.answer.Calibration(), metav1.ConditionUnknown
	switch {
	case found.Known && found.Calibrated:
		status = metav1.ConditionTrue
	case found.Known:
		status = metav1.ConditionFalse
	}
	set(v1alpha1.ConditionCalibrated, status, found.Reason, found.Message)
}

// announceVerdicts tells what came out of a complete experiment.
func (r *Reconciler) announceVerdicts(s *scope) {
	if s.answer == nil {
		return
	}
	if differing := s.answer.Uncalibrated(); len(differing) > 0 {
		r.Events.Eventf(s.experiment, nil, corev1.EventTypeWarning, "NotCalibrated", "Analyze", "%s", s.answer.Calibration().Message)
	}
	if sentences := s.answer.Sentences(s.planned.Arms); len(sentences) > 0 {
		r.Events.Eventf(s.experiment, nil, corev1.EventTypeNormal, "Verdict", "Analyze", "%s",
			fmt.Sprintf("Against the baseline %q: %s", s.answer.Baseline, strings.Join(sentences, "; ")))
	}
}
