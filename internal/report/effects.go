// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
	"slices"

	"perflab.dev/perflab/internal/comparison"
	"perflab.dev/perflab/internal/metric"
	"perflab.dev/perflab/internal/stats"
)

// slowdowns tell what a background load does to a metric, and how much more it
// does in each arm.
func (r *record) slowdowns() []block {
	made := &table{
		Caption: fmt.Sprintf("What other load adds to a metric in %s, and how much more in an arm, %%", r.baseline()),
		Columns: slices.Concat(words("Scenario", "Metric", "During", "Arm"), numbers("In "+r.baseline(), "Interval", "More in the arm", "Interval", "p")),
		Note:    "Both are ratios of the metric while the other load was on and alone: exploratory, and p is not adjusted.",
	}
	for _, one := range r.answer.Slowdowns {
		base, baseInterval := r.estimate(one.Baseline, comparison.Ratio)
		more, moreInterval := r.estimate(one.More, comparison.Ratio)
		made.Rows = append(made.Rows, row{Cells: []cell{
			name(one.Scenario), name(one.Metric), name(one.During), name(one.Arm),
			{Text: base},
			{Text: baseInterval},
			{Text: more},
			{Text: moreInterval},
			{Text: probability(one.More.P())},
		}})
	}
	if len(made.Rows) == 0 {
		return nil
	}
	return []block{heading("Under other load"), {Table: made}}
}

// effects of a matrix's factors, and of two of their levels together.
func (r *record) effects() []block {
	made := &table{
		Caption: "What each level does on average over the other factors, and what two do together beyond that",
		Columns: slices.Concat(words("Scenario", "Metric", "Level"), numbers("Effect", "Interval"), words("In"), numbers("p")),
		Note:    "Effects are exploratory, and p is not adjusted.",
	}
	for _, one := range r.answer.Effects {
		value, interval := r.estimate(one.Estimate, one.Scale)
		unit := metric.UnitPercent
		if one.Scale != comparison.Ratio {
			unit = shownUnit(r.unit(one.Scenario, one.Metric))
		}
		made.Rows = append(made.Rows, row{Cells: []cell{
			name(one.Scenario), name(one.Metric), {Text: one.Name}, {Text: value}, {Text: interval}, {Text: unit}, {Text: probability(one.Estimate.P())},
		}})
	}
	if len(made.Rows) == 0 {
		return nil
	}
	return []block{heading("Factors"), {Table: made}}
}

// estimate writes an effect and its interval: in percent on the ratio scale.
func (r *record) estimate(of stats.Estimate, scale comparison.Scale) (value, interval string) {
	low, high := of.Interval(r.confidence())
	middle := of.Value
	if scale == comparison.Ratio {
		middle, low, high = percentOf(middle), percentOf(low), percentOf(high)
	}
	places := decimals(middle, (high-low)/2)
	if math.IsNaN(low) {
		return signed(middle, places), dash
	}
	return signed(middle, places), signed(low, places) + " to " + signed(high, places)
}

func percentOf(logarithm float64) float64 { return 100 * math.Expm1(logarithm) }
