// SPDX-License-Identifier: Apache-2.0

package section

import (
	"perflab.dev/perflab/internal/inference/analysis"
	"perflab.dev/perflab/internal/inference/comparison"
)

// answer is the result for the experiment's question, with the requested confidence.
type answer struct {
	analysis.Answer
	marginPercent, confidencePercent float64
	// compared are all comparisons, ready to be written.
	compared []shownComparison
	// pairs are the comparisons with arms other than the baseline, ready to be written.
	pairs []shownComparison
	// uncalibrated are the primary metrics in which the A/A control differs.
	uncalibrated []comparison.Comparison
}

// filter keeps the comparisons for which wanted returns true.
func (a *answer) filter(wanted func(shownComparison) bool) []shownComparison {
	var found []shownComparison
	for _, c := range a.compared {
		if wanted(c) {
			found = append(found, c)
		}
	}
	return found
}

// confidence of intervals, as a share: higher than requested if they hold at several interim
// analyses together.
func (a *answer) confidence() float64 { return 1 - a.Level() }
