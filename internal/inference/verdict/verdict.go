// SPDX-License-Identifier: Apache-2.0

// Package verdict classifies the result of a comparison. It is pure: it judges estimates and
// has no notion of metrics or arms.
package verdict

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"perflab.dev/perflab/internal/inference/stats"
)

// Verdict is the result of a comparison of an arm with the baseline.
type Verdict string

// The verdicts. The result is None below MinimumBlocks, and if the numbers must not be compared.
const (
	Better       Verdict = "Better"
	Worse        Verdict = "Worse"
	Equivalent   Verdict = "Equivalent"
	Inconclusive Verdict = "Inconclusive"
	None         Verdict = ""
)

// Decides reports whether the verdict is conclusive.
func (v Verdict) Decides() bool { return v != None && v != Inconclusive }

// MinimumBlocks is the smallest number of blocks for a verdict: with fewer, the sign-flip test
// can't reach 5 % whatever the effect.
const MinimumBlocks = 6

// Direction defines which values of a metric are better.
type Direction int

// Latencies, errors and resource use are better when lower; throughput is better when higher.
// Without a declared direction, a difference is neither.
const (
	LowerIsBetter Direction = iota
	HigherIsBetter
	UnknownDirection
)

// NoDirectionReason describes why a difference of UnknownDirection has no verdict.
const NoDirectionReason = "it is unknown whether higher or lower is better"

// NewDirection returns the direction of a metric: whether higher is better, if that is known.
func NewDirection(higher, known bool) Direction {
	switch {
	case !known:
		return UnknownDirection
	case higher:
		return HigherIsBetter
	}
	return LowerIsBetter
}

// Evidence is the input of a verdict on one arm against the baseline, for one metric of one
// scenario.
type Evidence struct {
	// Effect is the estimated difference from the baseline.
	Effect stats.Estimate
	// Low and High are the equivalence margin, on the scale of Effect.
	Low, High float64
	// Adjusted is the p-value of Effect, adjusted for all interim analyses and then for its family,
	// with the level of its interval.
	Adjusted stats.Adjusted
	// Permutation is the p-value of the sign-flip test, adjusted for all interim analyses.
	Permutation float64
	// Analysis is the interim analysis of these numbers.
	Analysis stats.Analysis
	// Blocks is the number of blocks with both the arm and the baseline.
	Blocks int
	// Direction is the metric's.
	Direction Direction
}

// Decision is a verdict with its interval.
type Decision struct {
	Verdict Verdict
	// Low and High are the ends of the interval, on the scale of the effect. NaN if the effect has
	// none.
	Low, High float64
	// Confidence of the interval, between 0 and 1, over all interim analyses.
	Confidence float64
}

// Decide returns the verdict at an error rate such as 0.05. It first tests whether the arms
// are equivalent (the 1-2*alpha interval lies within the margin, which is two one-sided
// tests), then whether both the t test and the sign-flip test distinguish them. A significant
// difference within the margin is thus Equivalent. With interim analyses, both tests use the
// level of this analysis. A difference of unknown direction has no verdict.
//
// The interval never contradicts the verdict: that of Equivalent lies within the margin, those
// of Better and Worse exclude 0, and that of Inconclusive does neither.
func Decide(evidence Evidence, alpha float64) Decision {
	if evidence.Blocks < MinimumBlocks {
		return Describe(evidence, alpha)
	}
	if alike := evidence.at(2*alpha, Equivalent); alike.Low >= evidence.Low && alike.High <= evidence.High {
		return alike
	}
	return DecideDifference(evidence, alpha)
}

// DecideDifference tests only whether the arms differ, by any amount: Better, Worse or
// Inconclusive, with the intervals of Decide.
func DecideDifference(evidence Evidence, alpha float64) Decision {
	if !evidence.Effect.HasInterval() {
		return Describe(evidence, alpha)
	}
	decided := evidence.at(evidence.Adjusted.Level, Inconclusive)
	if evidence.Adjusted.P >= alpha || evidence.Permutation > alpha {
		// Not all tests exclude zero, so the interval extends to it.
		decided.Low, decided.High = math.Min(decided.Low, 0), math.Max(decided.High, 0)
	}
	switch {
	case decided.Low <= 0 && decided.High >= 0:
	case evidence.Direction == UnknownDirection:
		decided.Verdict = None
	case (evidence.Effect.Value < 0) == (evidence.Direction == LowerIsBetter):
		decided.Verdict = Better
	default:
		decided.Verdict = Worse
	}
	return decided
}

// Describe returns no verdict, and the interval at confidence 1-alpha.
func Describe(evidence Evidence, alpha float64) Decision { return evidence.at(alpha, None) }

// at returns a verdict with the t interval at a level of all interim analyses.
func (e Evidence) at(level float64, verdict Verdict) Decision {
	low, high := e.Effect.Interval(1 - e.Analysis.Level(level))
	return Decision{verdict, low, high, 1 - level}
}

// Wins is the guardrail rule: an arm wins with a Better primary metric and only if neither a
// primary nor a guarded metric is Worse.
func Wins(primary, guarded []Verdict) bool {
	better := false
	for _, verdict := range primary {
		if verdict == Worse {
			return false
		}
		better = better || verdict == Better
	}
	for _, verdict := range guarded {
		if verdict == Worse {
			return false
		}
	}
	return better
}

const (
	// maxFurtherBlocks is the largest number of further blocks to recommend.
	maxFurtherBlocks = 1000
	// settled is the statistical power required of the larger experiment.
	settled = 0.8
	// normal is the number of degrees of freedom from which Student's distribution counts as
	// normal, for planning only.
	normal = 500
)

// FurtherBlocks returns the approximate number of blocks to add until an inconclusive comparison is
// decided with a probability of 80 %, either way, if effect and spread are as estimated. It returns
// false if that takes more than a thousand, or if no number suffices.
func FurtherBlocks(evidence Evidence, alpha float64) (int, bool) {
	effect := evidence.Effect
	if !effect.HasInterval() || evidence.Blocks < 2 {
		return 0, false
	}
	apart := blocksFor(evidence, math.Abs(effect.Value), 1-evidence.Adjusted.Level/2)
	room := math.Min(evidence.High-effect.Value, effect.Value-evidence.Low)
	alike := blocksFor(evidence, room, 1-alpha)
	needed := math.Max(math.Min(apart, alike), MinimumBlocks)
	if math.IsInf(needed, 1) || needed > float64(evidence.Blocks+maxFurtherBlocks) {
		return 0, false
	}
	return max(int(needed)-evidence.Blocks, 1), true
}

// Chance returns the probability of a conclusive verdict at the last analysis, after the given
// blocks, if effect and spread are as estimated: the predictive power of Spiegelhalter, Freedman
// and Blackburn (1986), with the normal distribution for the remaining blocks. It is 0 without
// further blocks and without spread.
func Chance(evidence Evidence, last stats.Analysis, blocks int, alpha float64) float64 {
	effect := evidence.Effect
	if !effect.HasInterval() || effect.StandardError == 0 || evidence.Blocks < 1 || blocks <= evidence.Blocks {
		return 0
	}
	share := float64(evidence.Blocks) / float64(blocks)
	deviation := effect.StandardError * math.Sqrt(share)
	degrees := float64(effect.DegreesOfFreedom) * float64(blocks-1) / float64(max(evidence.Blocks-1, 1))
	apart := deviation * studentQuantile(1-last.Level(evidence.Adjusted.Level)/2, degrees)
	reach := deviation * studentQuantile(1-last.Level(2*alpha)/2, degrees)
	low, high := evidence.Low+reach, evidence.High-reach
	final := distuv.Normal{Mu: effect.Value, Sigma: effect.StandardError * math.Sqrt(1-share)}
	between := func(from, to float64) float64 { return math.Max(0, final.CDF(to)-final.CDF(from)) }
	if low >= high {
		return 1 - between(-apart, apart)
	}
	return 1 - between(-apart, low) - between(high, apart)
}

// blocksFor returns the number of blocks at which the distance equals the sum of the quantiles of
// the test and of the power; infinite for zero distance.
func blocksFor(evidence Evidence, distance, quantile float64) float64 {
	if distance <= 0 {
		return math.Inf(1)
	}
	perBlock := evidence.Effect.StandardError * math.Sqrt(float64(evidence.Blocks)) / distance
	degreesPerBlock := float64(evidence.Effect.DegreesOfFreedom) / float64(evidence.Blocks-1)
	degrees, needed := float64(normal), 0.0
	// The quantiles depend slightly on the number of blocks.
	for range 3 {
		reach := perBlock * (studentQuantile(quantile, degrees) + studentQuantile(settled, degrees))
		needed = math.Ceil(reach * reach)
		degrees = math.Max(degreesPerBlock*(needed-1), 1)
	}
	return needed
}

func studentQuantile(probability, degrees float64) float64 {
	if degrees >= normal {
		return distuv.UnitNormal.Quantile(probability)
	}
	return stats.TQuantile(probability, int(degrees))
}
