// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"context"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/analysis"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/planning/arms"
)

// Analysis describes the runs and compares the arms. It is stored in the status.
var Analysis Artifact = analyzed{Kind{Name: v1alpha1.ArtifactAnalysis, Title: "the analysis"}}

type analyzed struct{ Kind }

// Source is the digest of the runs that ended. The arms are compared when a block is complete,
// and once more when the experiment is: nothing changes in between.
func (analyzed) Source(_ *Maker, s *Subject) string {
	if s.Plan.Hash == "" {
		return ""
	}
	return naming.Hash(s.Ended, s.Plan.Hash, s.Question.Hash(), s.Complete, s.Final, s.SpecChanged)[:16]
}

// Make describes the runs. It compares the arms unless the recorded comparison has the same
// blocks and question.
func (analyzed) Make(ctx context.Context, m *Maker, s *Subject, _ string) (string, error) {
	full, err := m.FullRuns(ctx, s)
	if err != nil {
		return "", err
	}
	defer m.Telemetry.StartAnalysis()()
	status := &s.Experiment.Status
	status.Results = analysis.Describe(s.Plan.Arms, s.Experiment.Spec.Scenarios, full)
	status.Capacities = analysis.Capacities(s.Plan.Arms, s.Experiment.Spec.Scenarios, full, 1-s.Question.Alpha())
	if s.isComparisonDue() {
		answer := analysis.Analyze(&s.Experiment.Spec, s.Plan.Arms, s.Plan.Seed, full)
		s.Answer = &answer
		s.reportAnswer(status)
	}
	return "", nil
}

func (s *Subject) isComparisonDue() bool {
	recorded := s.Experiment.Status.Analysis
	return !s.SpecChanged &&
		(recorded == nil || recorded.Blocks != s.Complete || recorded.Final != s.Final || recorded.Hash != s.Question.Hash())
}

func (s *Subject) reportAnswer(status *v1alpha1.PerfExperimentStatus) {
	found := s.Answer.Status()
	found.Final = s.Final
	status.Analysis = &found
	status.Verdict = s.Answer.Summary(found.Final)
	status.Comparisons = s.Answer.Bounded()
	status.Pairs = s.Answer.BoundedPairs()
	status.Slowdowns = s.Answer.BoundedSlowdowns()
	status.Effects = s.Answer.BoundedEffects()
}

// Verdicts completes the arms of the status: an arm without a new verdict keeps the earlier
// one.
func (s *Subject) Verdicts(listed, before []v1alpha1.ArmStatus) {
	known := map[string]*v1alpha1.ArmVerdicts{}
	for _, arm := range before {
		known[arm.Name] = arm.Verdicts
	}
	for i := range listed {
		listed[i].Verdicts = known[listed[i].Name]
		if arm, isPlanned := arms.Named(s.Plan.Arms, listed[i].Name); isPlanned && s.Answer != nil {
			listed[i].Verdicts = s.Answer.ArmVerdicts(arm)
		}
	}
}
