// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
	"slices"

	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/inference/stats"
)

// slowdowns tell what a background load does to a metric, and how much more it
// does in each arm.
func slowdowns(a *answer) []block {
	result := &table{
		Folded:  true,
		Caption: fmt.Sprintf("Effect of other load on each metric in %s, and how much larger it is in the other arms, %%", a.Baseline),
		Columns: slices.Concat(words("Scenario", "Metric", "During", "Arm"), numbers(a.Baseline, "Interval", "More in the arm", "Interval", "p")),
		Note:    "Ratios of the metric under the other load and without it. Exploratory; p is not adjusted.",
	}
	for _, one := range a.Slowdowns {
		if math.IsNaN(one.Baseline.Value) && math.IsNaN(one.More.Value) {
			continue
		}
		base, baseInterval := a.estimate(one.Baseline, comparison.Ratio)
		more, moreInterval := a.estimate(one.More, comparison.Ratio)
		result.Rows = append(result.Rows, row{Cells: append(
			append(names(one.Scenario, one.Metric, one.During), ofArm(one.Arm)),
			texts(base, baseInterval, more, moreInterval, probability(one.More.P()))...)})
	}
	return titled("Under other load", a.withoutSureness(result).blocks())
}

// withoutSureness takes away what too few blocks can't tell.
func (a *answer) withoutSureness(t *table) *table {
	if a.Enough() {
		return t
	}
	t.Note = ""
	return t.without("Interval", "p")
}

// estimate writes a ratio or difference and its interval: in percent on the ratio scale.
func (a *answer) estimate(of stats.Estimate, scale comparison.Scale) (value, interval string) {
	low, high := of.Interval(a.confidence())
	middle := of.Value
	if scale == comparison.Ratio {
		middle, low, high = percentOf(middle), percentOf(low), percentOf(high)
	}
	places := decimals(middle, (high-low)/2)
	return signed(middle, places), signedInterval(low, high, places)
}

func percentOf(logarithm float64) float64 { return 100 * math.Expm1(logarithm) }
