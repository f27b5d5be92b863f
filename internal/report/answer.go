// SPDX-License-Identifier: Apache-2.0

package report

import (
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/analysis"
	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/planning/arms"
)

// answer is what the runs say on the experiment's question, and how sure one
// wanted to be.
type answer struct {
	analysis.Answer
	marginPercent, confidencePercent float64
	// compared are all comparisons, ready to be written.
	compared []shownComparison
	// pairs are those with other arms than the baseline, ready to be written.
	pairs []shownComparison
	// uncalibrated are the primary metrics in which the twin differs.
	uncalibrated []comparison.Comparison
}

// answerOf asks again what the operator has asked: the status holds only so
// many comparisons, the runs hold all. Faults are those of reading them.
func answerOf(r *record, faults []string) *answer {
	seed := int64(1)
	if recorded := r.Experiment.Status.Seed; recorded != nil {
		seed = *recorded
	}
	a := &answer{Answer: analysis.Analyze(&r.Experiment.Spec, arms.Recorded(armsAsDeclared(r)), seed, r.Runs)}
	a.marginPercent, a.confidencePercent = float64(a.Question.MarginPercent), float64(a.Question.ConfidencePercent)
	a.uncalibrated = a.Uncalibrated()
	for i := range a.Comparisons {
		a.compared = append(a.compared, show(&a.Comparisons[i]))
	}
	for i := range a.Pairs {
		a.pairs = append(a.pairs, show(&a.Pairs[i]))
	}
	for _, fault := range faults {
		// The answer, too, has read what the status holds.
		if !slices.Contains(a.Warnings, fault) {
			a.Warnings = append(a.Warnings, fault)
		}
	}
	return a
}

// armsAsDeclared are the arms in the order of the declaration, on which the
// numbering of a matrix's levels rests.
func armsAsDeclared(r *record) []v1alpha1.ArmStatus {
	if len(r.Experiment.Status.Arms) > 0 {
		return r.Experiment.Status.Arms
	}
	declared := make([]v1alpha1.ArmStatus, 0, len(r.arms))
	for _, arm := range r.arms {
		declared = append(declared, arm.ArmStatus)
	}
	return declared
}

// where keeps the comparisons that are wanted, by scenario, metric and arm.
func (a *answer) where(wanted func(shownComparison) bool) []shownComparison {
	var found []shownComparison
	for _, c := range a.compared {
		if wanted(c) {
			found = append(found, c)
		}
	}
	return found
}

// confidence at which intervals are computed, as a share: more than asked where they
// hold at several looks together.
func (a *answer) confidence() float64 { return 1 - a.Level() }
