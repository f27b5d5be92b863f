// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/inference/stats"
	"perflab.dev/perflab/internal/kube/sizelimit"
	"perflab.dev/perflab/internal/text/decimal"
	"perflab.dev/perflab/internal/text/prose"
)

// Limits of the status.
const (
	maxComparisons = 300
	maxSlowdowns   = 100
	maxEffects     = 100
	maxWarnings    = 20
	// maxOwnWarnings is the limit for one comparison.
	maxOwnWarnings = 5
	maxSentence    = 240
)

// Status returns the state of the analysis for the status.
func (a *Answer) Status() v1alpha1.AnalysisStatus {
	status := a.Question.Status()
	status.Twin, status.Blocks, status.Runs = a.Twin, a.Blocks, a.Runs
	status.Comparisons = int32(len(a.Comparisons))
	status.Warnings = bounded(a.Warnings, maxWarnings)
	return status
}

// Bounded returns the comparisons that fit into a status: every primary one, then those of
// guardrails, then the most significant exploratory ones. The A/A control appears with primary
// metrics only.
func (a *Answer) Bounded() []v1alpha1.Comparison {
	const primary, guard, exploratory, none = 0, 1, 2, 3
	class := func(c *comparison.Comparison) int {
		switch {
		case c.Primary:
			return primary
		case c.Twin:
			return none
		case a.Question.IsGuard(c.Metric):
			return guard
		}
		return exploratory
	}
	var listed []*comparison.Comparison
	for i := range a.Comparisons {
		if class(&a.Comparisons[i]) != none {
			listed = append(listed, &a.Comparisons[i])
		}
	}
	slices.SortStableFunc(listed, func(x, y *comparison.Comparison) int {
		if order := cmp.Compare(class(x), class(y)); order != 0 || class(x) != exploratory {
			return order
		}
		return -cmp.Compare(x.Size(), y.Size())
	})
	rows := make([]v1alpha1.Comparison, 0, min(len(listed), maxComparisons))
	for _, c := range listed[:min(len(listed), maxComparisons)] {
		rows = append(rows, row(c))
	}
	return sizelimit.Within(rows, sizelimit.Comparisons)
}

// BoundedPairs returns the pairs that fit into a status.
func (a *Answer) BoundedPairs() []v1alpha1.Comparison {
	var rows []v1alpha1.Comparison
	for i := range a.Pairs[:min(len(a.Pairs), maxComparisons)] {
		one := row(&a.Pairs[i])
		one.Against = a.Pairs[i].Baseline
		rows = append(rows, one)
	}
	return sizelimit.Within(rows, sizelimit.Pairs)
}

func row(c *comparison.Comparison) v1alpha1.Comparison {
	shown := v1alpha1.Comparison{
		Scenario: c.Scenario, Metric: c.Metric, Arm: c.Arm, Unit: c.Unit, Primary: c.Primary, Twin: c.Twin,
		Blocks: int32(c.Blocks), Scale: string(c.Scale),
		BaselineCenter: number(c.BaselineCenter), ArmCenter: number(c.ArmCenter),
		Delta: number(c.Delta), Low: number(c.Low), High: number(c.High),
		EquivalenceLow: number(c.EquivalenceLow), EquivalenceHigh: number(c.EquivalenceHigh),
		PValue: probability(c.P), PPermutation: probability(c.Permutation), PAdjusted: probability(c.Adjusted),
		FurtherBlocks: int32(c.FurtherBlocks),
	}
	if !c.Twin {
		shown.Verdict, shown.Withheld = v1alpha1.Verdict(c.Verdict), v1alpha1.WithheldReason(c.Withheld.Code)
	}
	// The field primary already shows which are exploratory.
	shown.Warnings = bounded(comparison.Messages(c.Warnings, comparison.CodeExploratory), maxOwnWarnings)
	return shown
}

// BoundedSlowdowns returns the slowdowns that fit into a status.
func (a *Answer) BoundedSlowdowns() []v1alpha1.Slowdown {
	var rows []v1alpha1.Slowdown
	for _, found := range a.Slowdowns[:min(len(a.Slowdowns), maxSlowdowns)] {
		row := v1alpha1.Slowdown{
			Scenario: found.Scenario, Metric: found.Metric, During: found.During, Arm: found.Arm,
			PValue: probability(a.currentAnalysis().Adjust(found.More.P())),
		}
		row.BaselinePercent, row.BaselineLow, row.BaselineHigh = a.interval(comparison.Ratio, found.Baseline)
		row.MorePercent, row.Low, row.High = a.interval(comparison.Ratio, found.More)
		rows = append(rows, row)
	}
	return sizelimit.Within(rows, sizelimit.Slowdowns)
}

// BoundedEffects returns the effects that fit into a status.
func (a *Answer) BoundedEffects() []v1alpha1.FactorEffect {
	var rows []v1alpha1.FactorEffect
	for _, found := range a.Effects[:min(len(a.Effects), maxEffects)] {
		row := v1alpha1.FactorEffect{
			Scenario: found.Scenario, Metric: found.Metric, Effect: found.Name, Scale: string(found.Scale),
			PValue: probability(a.currentAnalysis().Adjust(found.Estimate.P())),
		}
		row.Delta, row.Low, row.High = a.interval(found.Scale, found.Estimate)
		rows = append(rows, row)
	}
	return sizelimit.Within(rows, sizelimit.Effects)
}

// interval formats an estimate with its interval.
func (a *Answer) interval(scale comparison.Scale, estimate stats.Estimate) (value, low, high string) {
	from, to := estimate.Interval(1 - a.Level())
	return number(scale.Display(estimate.Value)), number(scale.Display(from)), number(scale.Display(to))
}

// number formats a value; empty if unknown.
func number(value float64) string {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return ""
	}
	// Adding zero removes the sign of a zero.
	return decimal.Format(value + 0)
}

// probability never formats a value as zero.
func probability(p float64) string {
	const places, least = 6, 1e-6
	if math.IsNaN(p) {
		return ""
	}
	return strconv.FormatFloat(math.Round(math.Max(p, least)/least)*least, 'f', places, 64)
}

// bounded limits a list of sentences, and each of them.
func bounded(sentences []string, limit int) []string {
	var kept []string
	for i, sentence := range sentences {
		if i == limit-1 && len(sentences) > limit {
			return append(kept, "and "+strconv.Itoa(len(sentences)-i)+" more")
		}
		kept = append(kept, prose.Cut(sentence, maxSentence))
	}
	return kept
}
