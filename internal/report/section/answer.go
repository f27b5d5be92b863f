// SPDX-License-Identifier: Apache-2.0

package section

import (
	"perflab.dev/perflab/internal/inference/analysis"
	"perflab.dev/perflab/internal/inference/comparison"
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

// filter keeps the comparisons that are wanted, by scenario, metric and arm.
func (a *answer) filter(wanted func(shownComparison) bool) []shownComparison {
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
