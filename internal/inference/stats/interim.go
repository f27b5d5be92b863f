// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"sync"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/interp"
	"gonum.org/v1/gonum/stat/distuv"
)

// InterimAnalyses is a plan to compare arms after every block from the first to the last, and to
// stop as soon as the result is conclusive. Testing repeatedly with the same test eventually finds
// a difference even if there is none; so each analysis has its own level, and all together have the
// error rate of a single one.
//
// When the share t of the last analysis' blocks is complete, the share t² of the error rate
// may be spent (Kim and DeMets 1987, after Lan and DeMets 1983). The levels follow from the
// joint normal distribution of the estimates at all analyses, by integration from analysis to
// analysis (Armitage, McPherson and Rowe 1969), and hold for t tests as levels of significance
// (Jennison and Turnbull, Group Sequential Methods, 2000, chapters 7 and 9).
type InterimAnalyses struct{ First, Last int }

// Analysis is one of several with growing data. The zero value is a single analysis.
type Analysis struct{ levels *levels }

// At returns the analysis after the given number of blocks: the last one beyond it, a single one if
// there is just one. Before the first analysis there is no verdict; the result describes the data
// as a single analysis would.
func (l InterimAnalyses) At(blocks int) Analysis {
	if l.First >= l.Last || blocks < l.First {
		return Analysis{}
	}
	return Analysis{l.levels()[min(blocks, l.Last)-l.First]}
}

// Level returns the level of this analysis for which all analyses together have the given error
// rate. Tests and intervals are two-sided.
func (l Analysis) Level(all float64) float64 {
	if l.levels == nil {
		return all
	}
	return twoSided(l.levels.own.Predict(twoSidedQuantile(all)))
}

// Adjust returns the smallest error rate of all interim analyses at which this one would reject
// with its p-value: the repeated p-value (Jennison and Turnbull 1984). NaN stays NaN.
func (l Analysis) Adjust(p float64) float64 {
	if l.levels == nil || math.IsNaN(p) {
		return p
	}
	if p >= l.levels.largest {
		return 1
	}
	return twoSided(l.levels.all.Predict(twoSidedQuantile(p)))
}

// levels of one analysis. Both curves are of normal quantiles, between which they are nearly
// straight.
type levels struct {
	// own is the analysis' level as a function of the total error rate; all is the inverse.
	own, all interp.FritschButland
	// largest level that was computed.
	largest float64
}

// Quantiles for which levels are computed; curves interpolate them.
const (
	minQuantile  = 0.05
	maxQuantile  = 7.25
	quantileStep = 0.4
)

// planned caches the levels of plans: a plan of a hundred interim analyses takes a second, and
// every comparison needs the same ones.
var planned sync.Map

func (l InterimAnalyses) levels() []*levels {
	if known, found := planned.Load(l); found {
		return known.([]*levels)
	}
	var quantiles []float64
	own := make([][]float64, l.Last-l.First+1)
	for z := minQuantile; z <= maxQuantile; z += quantileStep {
		quantiles = append(quantiles, z)
		for analysis, boundary := range l.boundaries(twoSided(z)) {
			own[analysis] = append(own[analysis], boundary)
		}
	}
	found := make([]*levels, len(own))
	for analysis, boundaries := range own {
		found[analysis] = &levels{largest: twoSided(boundaries[0])}
		fit(&found[analysis].own, quantiles, boundaries)
		fit(&found[analysis].all, boundaries, quantiles)
	}
	planned.Store(l, found)
	return found
}

// fit fails only for lists of different lengths.
func fit(curve *interp.FritschButland, x, y []float64) {
	if err := curve.Fit(x, y); err != nil {
		panic(fmt.Sprintf("fitting the levels of interim analyses: %v", err))
	}
}

// spentAlpha returns the share of the error rate that is spent at a share of the blocks.
func spentAlpha(t float64) float64 { return t * t }

// boundaries returns the smallest absolute values of a normal statistic that reject, by analysis,
// if all analyses together have the given error rate.
func (l InterimAnalyses) boundaries(all float64) []float64 {
	share := float64(l.First) / float64(l.Last)
	boundary := twoSidedQuantile(all * spentAlpha(share))
	found := []float64{boundary}
	going := newSumDensity(boundary, share)
	for blocks := l.First + 1; blocks <= l.Last; blocks++ {
		next := float64(blocks) / float64(l.Last)
		going.step = math.Sqrt(next - share)
		boundary = going.boundary(all/2*(spentAlpha(next)-spentAlpha(share)), math.Sqrt(next))
		found = append(found, boundary)
		going, share = going.next(boundary*math.Sqrt(next)), next
	}
	return found
}

// sumDensity is the density of the sum of all blocks, in units of its deviation at the last
// analysis, among experiments that have not stopped. It is even, and stored from 0 on.
type sumDensity struct {
	at, weight, density []float64
	// step is the deviation of the blocks that the next analysis adds.
	step float64
}

// nodesPerStep resolve the distribution that one analysis adds.
const (
	nodesPerStep = 2.5
	minNodes     = 64
)

// newSumDensity returns the density after the first analysis, at a share of the blocks.
func newSumDensity(boundary, share float64) sumDensity {
	deviation := math.Sqrt(share)
	// The resolution is that of a later analysis.
	started := newGrid(boundary*deviation, deviation/8)
	for i, at := range started.at {
		started.density[i] = distuv.Normal{Sigma: deviation}.Prob(at)
	}
	return started
}

func newGrid(end, resolved float64) sumDensity {
	nodes := max(minNodes, int(math.Ceil(nodesPerStep*end/resolved)))
	made := sumDensity{at: make([]float64, nodes), weight: make([]float64, nodes), density: make([]float64, nodes)}
	quad.Legendre{}.FixedLocations(made.at, made.weight, 0, end)
	// Nodes are in ascending order; they and their weights are symmetric.
	if made.at[0] > made.at[nodes-1] {
		slices.Reverse(made.at)
	}
	return made
}

// boundary returns the boundary of the next analysis' statistic, with the given share beyond it on
// either side. deviation is that of the sum.
func (w sumDensity) boundary(beyond, deviation float64) float64 {
	low, high := 0.0, 12.0
	for range 50 {
		middle := (low + high) / 2
		if w.beyond(middle*deviation) > beyond {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// beyond returns the share above a sum at the next analysis.
func (w sumDensity) beyond(sum float64) float64 {
	total := 0.0
	// Sums further below than one step reaches add nothing.
	for i := w.from(sum - reach*w.step); i < len(w.at); i++ {
		total += w.weight[i] * w.density[i] * (upperNormalTail((sum-w.at[i])/w.step) + upperNormalTail((sum+w.at[i])/w.step))
	}
	return total
}

// next returns the density after the next analysis, of experiments within the end.
func (w sumDensity) next(end float64) sumDensity {
	next := newGrid(end, w.step)
	for i, to := range next.at {
		sum := 0.0
		for j := w.from(to - reach*w.step); j < len(w.at) && w.at[j] < to+reach*w.step; j++ {
			down, up := (to-w.at[j])/w.step, (to+w.at[j])/w.step
			sum += w.weight[j] * w.density[j] * (math.Exp(-down*down/2) + math.Exp(-up*up/2))
		}
		next.density[i] = sum / (w.step * math.Sqrt(2*math.Pi))
	}
	return next
}

// reach is the number of deviations at which the normal distribution is truncated.
const reach = 9

// from returns the first index that is not below.
func (w sumDensity) from(at float64) int { return sort.SearchFloat64s(w.at, at) }

// upperNormalTail returns the share of a normal distribution above z. It keeps its digits if it is
// small.
func upperNormalTail(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }

func twoSided(z float64) float64 { return 2 * upperNormalTail(z) }

// twoSidedQuantile returns the quantile of a two-sided probability.
func twoSidedQuantile(p float64) float64 { return -distuv.UnitNormal.Quantile(p / 2) }

// stopped is the number of simulated experiments for MeanBlocks.
const stopped = 1000

// MeanBlocks returns the mean number of blocks of experiments that stop at the first analysis at
// which every comparison of the family is decided, and the share of them that are decided by the
// last analysis, if each has the same effect: by synthetic experiments with normal noise, the same
// at every call. A comparison is decided if it lies within the margin, or if both the t test and
// the sign-flip test detect a difference. Low and high are the margin's ends, on the scale of the
// effect.
func (d Design) MeanBlocks(interim InterimAnalyses, effect, low, high float64) (blocks, decided float64) {
	random := rand.New(rand.NewPCG(3, 4))
	rules := d.rules(interim, low, high)
	for range stopped {
		family := make([][]float64, max(d.Family, 1))
		at, all := 0, false
		for at < interim.Last && !all {
			at++
			for i := range family {
				family[i] = append(family[i], effect+d.Deviation*math.Sqrt2*random.NormFloat64())
			}
			if at >= interim.First {
				all = !slices.ContainsFunc(family, func(one []float64) bool { return !rules[at-interim.First].decides(one) })
			}
		}
		blocks += float64(at)
		if all {
			decided++
		}
	}
	return blocks / stopped, decided / stopped
}

// rule decides at an analysis: quantiles for an effect and for the margin, and the level of the
// sign-flip test.
type rule struct{ apart, reach, flips, low, high float64 }

func (d Design) rules(interim InterimAnalyses, low, high float64) []rule {
	rules := make([]rule, 0, interim.Last-interim.First+1)
	for blocks := interim.First; blocks <= interim.Last; blocks++ {
		d.Analysis = interim.At(blocks)
		rules = append(rules, rule{
			apart: TQuantile(1-d.level()/2, blocks-1), reach: TQuantile(1-d.Analysis.Level(2*d.Alpha)/2, blocks-1),
			flips: d.Analysis.Level(d.Alpha), low: low, high: high,
		})
	}
	return rules
}

// decides reports whether differences within blocks lie within the margin, or show an effect.
// Beyond a few blocks the sign-flip test adds nothing to the t test.
func (r rule) decides(differences []float64) bool {
	summary := Describe(differences)
	deviation := summary.StandardDeviation / math.Sqrt(float64(len(differences)))
	if summary.Mean-r.reach*deviation >= r.low && summary.Mean+r.reach*deviation <= r.high {
		return true
	}
	return math.Abs(summary.Mean) > r.apart*deviation && (len(differences) > maxFlipBlocks || SignFlip(differences, 0) <= r.flips)
}
