// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"
)

// Design is an experiment in complete blocks, for planning.
type Design struct {
	// Arms include the reference.
	Arms, Blocks int
	// Deviation is that of the residual, on the scale of the effects. On
	// logarithms it is about the coefficient of variation of a run.
	Deviation float64
	// Alpha is the allowed error rate, such as 0.05.
	Alpha float64
	// Family is the number of comparisons that share alpha by Holm's
	// procedure; 0 counts as 1. Planning takes the strictest step.
	Family int
	// Analysis is the planned analysis: the last of several has a stricter level than a single one.
	// Detections by earlier analyses are not counted.
	Analysis Analysis
}

const (
	// maxBlocks limits the search for a number of blocks.
	maxBlocks = 1000
	// maxFlipBlocks is the number of blocks up to which the sign-flip test, whose p-values are
	// coarse there, reduces the power of the t test.
	maxFlipBlocks = 12
	// syntheticExperiments is the number of simulated experiments for this reduction. The share
	// is accurate to two points.
	syntheticExperiments = 4000
)

// degrees are those of the residual.
func (d Design) degrees() int { return (d.Arms - 1) * (d.Blocks - 1) }

func (d Design) level() float64 { return d.Analysis.Level(d.Alpha / float64(max(d.Family, 1))) }

func (d Design) standardError() float64 { return d.Deviation * math.Sqrt(2/float64(d.Blocks)) }

// HalfWidth returns the expected half-width of an effect's interval at confidence 1-alpha; infinite
// without degrees of freedom.
func (d Design) HalfWidth() float64 {
	if d.degrees() < 1 {
		return math.Inf(1)
	}
	return TQuantile(1-d.Analysis.Level(d.Alpha)/2, d.degrees()) * d.standardError()
}

// Power returns the probability of detecting an effect of the given size: that the t test is below
// alpha (adjusted for the family) and the sign-flip test at most alpha. The t test's is by the
// noncentral t distribution (Cohen, Statistical Power Analysis, 1988); if the sign-flip test
// reduces the power, by synthetic experiments with normal noise, the same at every call.
func (d Design) Power(effect float64) float64 {
	if d.degrees() < 1 {
		return 0
	}
	if d.Deviation == 0 {
		if effect == 0 || !d.flippable() {
			return 0
		}
		return 1
	}
	if d.Blocks > maxFlipBlocks {
		return noncentralPower(math.Abs(effect)/d.standardError(), d.degrees(), d.level())
	}
	return d.draw(math.Abs(effect) / d.Deviation)
}

// flippable reports whether the sign-flip test can reach alpha.
func (d Design) flippable() bool { return math.Ldexp(2, -d.Blocks) <= d.Analysis.Level(d.Alpha) }

// draw returns the share of synthetic experiments that detect an effect, given in residual
// deviations.
func (d Design) draw(effect float64) float64 {
	if !d.flippable() {
		return 0
	}
	shown := 0
	d.experiments(effect, func(seen syntheticExperiment) {
		if seen.isApart {
			shown++
		}
	})
	return float64(shown) / syntheticExperiments
}

// Chances are the probabilities of the verdicts on one comparison; the remainder is that of
// Inconclusive.
type Chances struct {
	// Equivalent is the probability that the effect is shown to lie within the margin.
	Equivalent float64
	// Apart is the probability of a difference whose equivalence interval leaves the margin.
	Apart float64
}

// Chances returns the probabilities of verdicts on an effect with the margin from low to high, on
// the scale of the effect: by synthetic experiments with normal noise, the same at every call. All
// are 0 without degrees of freedom.
func (d Design) Chances(effect, low, high float64) Chances {
	if d.degrees() < 1 || d.Deviation == 0 {
		return Chances{}
	}
	var found Chances
	reach := TQuantile(1-d.Analysis.Level(2*d.Alpha)/2, d.degrees())
	d.experiments(effect/d.Deviation, func(seen syntheticExperiment) {
		switch {
		case d.Deviation*(seen.mean-reach*seen.err) >= low && d.Deviation*(seen.mean+reach*seen.err) <= high:
			found.Equivalent += 1. / syntheticExperiments
		case seen.isApart:
			found.Apart += 1. / syntheticExperiments
		}
	})
	return found
}

// BlocksForVerdicts returns the smallest number of blocks with which either verdict has the given
// probability if it is right: Equivalent without an effect, apart with an effect as large as the
// margin's upper end. It returns false beyond a thousand.
func (d Design) BlocksForVerdicts(low, high, chance float64) (int, bool) {
	blocks, can := d.BlocksForEffect(high, chance)
	if !can {
		return 0, false
	}
	// Distinguishing arms mostly takes as many blocks as showing that they are equivalent.
	for d.Blocks = blocks; d.Blocks <= maxBlocks; d.Blocks++ {
		if d.Answers(low, high, chance) {
			return d.Blocks, true
		}
	}
	return 0, false
}

// Answers reports whether either verdict has the given probability if it is right.
func (d Design) Answers(low, high, chance float64) bool {
	return d.Chances(0, low, high).Equivalent >= chance && d.Chances(high, low, high).Apart >= chance
}

// syntheticExperiment is the result of a synthetic experiment for one arm, in residual deviations.
type syntheticExperiment struct {
	mean, err float64
	// isApart means that both tests detect the effect.
	isApart bool
}

// experiments generates synthetic experiments whose effect is given in residual deviations.
func (d Design) experiments(effect float64, see func(syntheticExperiment)) {
	random := rand.New(rand.NewPCG(1, 2))
	critical, flips := TQuantile(1-d.level()/2, d.degrees()), d.Analysis.Level(d.Alpha)
	var rest *distuv.ChiSquared
	if others := (d.Arms - 2) * (d.Blocks - 1); others > 0 {
		rest = &distuv.ChiSquared{K: float64(others), Src: random}
	}
	differences := make([]float64, d.Blocks)
	for range syntheticExperiments {
		for i := range differences {
			differences[i] = effect + math.Sqrt2*random.NormFloat64()
		}
		summary := Describe(differences)
		squares := summary.StandardDeviation * summary.StandardDeviation * float64(d.Blocks-1) / 2
		if rest != nil {
			squares += rest.Rand()
		}
		seen := syntheticExperiment{mean: summary.Mean, err: math.Sqrt(squares / float64(d.degrees()) * 2 / float64(d.Blocks))}
		seen.isApart = math.Abs(seen.mean) > critical*seen.err && (d.Blocks > maxFlipBlocks || SignFlip(differences, 0) <= flips)
		see(seen)
	}
}

// noncentralPower returns the power of the two-sided t test, integrated over the distribution of
// the residual's deviation.
func noncentralPower(noncentrality float64, degrees int, level float64) float64 {
	critical := TQuantile(1-level/2, degrees)
	spread := distuv.ChiSquared{K: float64(degrees)}
	rejected := func(probability float64) float64 {
		bound := critical * math.Sqrt(spread.Quantile(probability)/float64(degrees))
		return distuv.UnitNormal.CDF(noncentrality-bound) + distuv.UnitNormal.CDF(-noncentrality-bound)
	}
	return quad.Fixed(rejected, 0, 1, 60, quad.Legendre{}, 1)
}

// Detectable returns the smallest effect that the design detects with the given power, such as 0.8;
// infinite if it can't detect any.
func (d Design) Detectable(power float64) float64 {
	if d.degrees() < 1 || !d.flippable() {
		return math.Inf(1)
	}
	low, high := 0.0, d.Deviation
	for d.Power(high) < power {
		low, high = high, 2*high
		if math.IsInf(high, 1) || high == 0 {
			return high
		}
	}
	for range 30 {
		middle := (low + high) / 2
		if d.Power(middle) < power {
			low = middle
		} else {
			high = middle
		}
		if high-low < 1e-4*high {
			break
		}
	}
	return high
}

// BlocksForEffect returns the smallest number of blocks that detects the effect with the given
// power; false beyond a thousand.
func (d Design) BlocksForEffect(effect, power float64) (int, bool) {
	return d.smallest(func(tried Design) bool { return tried.Power(effect) >= power })
}

// BlocksForHalfWidth returns the smallest number of blocks at which the expected half-width of the
// interval meets the target; false beyond a thousand.
func (d Design) BlocksForHalfWidth(target float64) (int, bool) {
	return d.smallest(func(tried Design) bool { return tried.HalfWidth() <= target })
}

// smallest searches the number of blocks by bisection: more blocks are never less precise.
func (d Design) smallest(suffices func(Design) bool) (int, bool) {
	with := func(blocks int) Design {
		d.Blocks = blocks
		return d
	}
	if !suffices(with(maxBlocks)) {
		return 0, false
	}
	low, high := 1, maxBlocks
	for high-low > 1 {
		if middle := (low + high) / 2; suffices(with(middle)) {
			high = middle
		} else {
			low = middle
		}
	}
	return high, true
}
