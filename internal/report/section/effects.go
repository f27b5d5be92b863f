// SPDX-License-Identifier: Apache-2.0

package section

import (
	"fmt"
	"math"
	"slices"

	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/inference/stats"
	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/digits"
)

// slowdowns shows the effect of a background load on a metric, and how much larger it is in each
// arm.
func slowdowns(a *answer) []document.Block {
	result := &document.Table{
		Folded:  true,
		Caption: fmt.Sprintf("Effect of background load on each metric in %s, and its increase in the other arms, %%", a.Baseline),
		Columns: slices.Concat(document.TextColumns("Scenario", "Metric", "During", "Arm"), document.NumberColumns(a.Baseline, "Interval", "Increase in the arm", "Interval", "p")),
		Note:    "Ratios of the metric with background load to the metric without it. Exploratory; p is not adjusted.",
	}
	for _, one := range a.Slowdowns {
		if math.IsNaN(one.Baseline.Value) && math.IsNaN(one.More.Value) {
			continue
		}
		base, baseInterval := a.estimate(one.Baseline, comparison.Ratio)
		more, moreInterval := a.estimate(one.More, comparison.Ratio)
		result.Rows = append(result.Rows, document.Row{Cells: append(
			append(nameCells(one.Scenario, one.Metric, one.During), armCell(one.Arm)),
			document.TextCells(base, baseInterval, more, moreInterval, digits.PValue(one.More.P()))...)})
	}
	return document.Titled("Effect of background load", a.withoutSureness(result).Blocks())
}

// withoutSureness drops intervals and p if there are too few blocks.
func (a *answer) withoutSureness(t *document.Table) *document.Table {
	if a.Enough() {
		return t
	}
	t.Note = ""
	return t.Without("Interval", "p")
}

// estimate formats a ratio or difference and its interval: in percent on the ratio scale.
func (a *answer) estimate(of stats.Estimate, scale comparison.Scale) (value, interval string) {
	low, high := of.Interval(a.confidence())
	middle := of.Value
	if scale == comparison.Ratio {
		middle, low, high = percentOf(middle), percentOf(low), percentOf(high)
	}
	places := digits.Decimals(middle, (high-low)/2)
	return digits.Signed(middle, places), digits.Interval(low, high, places)
}

func percentOf(logarithm float64) float64 { return 100 * math.Expm1(logarithm) }
