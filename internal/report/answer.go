// SPDX-License-Identifier: Apache-2.0

package report

import (
	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/analysis"
	"perflab.dev/perflab/internal/arms"
	"perflab.dev/perflab/internal/comparison"
)

// answered is what the runs say on the experiment's question, and how sure one
// wanted to be.
type answered struct {
	analysis.Answer
	marginPercent, confidencePercent float64
	// uncalibrated are the primary metrics in which the twin differs.
	uncalibrated []comparison.Comparison
}

// answerOf asks again what the operator has asked: the status holds only so
// many comparisons, the runs hold all.
func answerOf(r *record) answered {
	spec := &r.Experiment.Spec
	seed := int64(1)
	if recorded := r.Experiment.Status.Seed; recorded != nil {
		seed = *recorded
	}
	made := answered{Answer: analysis.Of(spec, arms.Recorded(r.armsAsDeclared()), seed, r.Runs)}
	made.marginPercent, made.confidencePercent = float64(made.Question.MarginPercent), float64(made.Question.ConfidencePercent)
	made.uncalibrated = made.Uncalibrated()
	return made
}

// armsAsDeclared are the arms in the order of the declaration, on which the
// numbering of a matrix's levels rests.
func (r *record) armsAsDeclared() []v1alpha1.ArmStatus {
	if len(r.Experiment.Status.Arms) > 0 {
		return r.Experiment.Status.Arms
	}
	declared := make([]v1alpha1.ArmStatus, 0, len(r.arms))
	for _, arm := range r.arms {
		declared = append(declared, arm.ArmStatus)
	}
	return declared
}
