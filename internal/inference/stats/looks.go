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

// Looks is a plan to compare arms after every block from the first to the last, and
// to stop as soon as they tell enough. Who looks again and again with one and the same
// test finds a difference sooner or later, be there one or not; so each look gets a
// level of its own, and all looks together err as often as a single one would.
//
// By the time the share t of the last look's blocks is done, the share t² of the error
// may have been spent (Kim and DeMets 1987, after Lan and DeMets 1983). The levels
// follow from the joint normal distribution of the estimates at all looks, by
// integration from look to look (Armitage, McPherson and Rowe 1969), and hold for t
// tests as levels of significance (Jennison and Turnbull, Group Sequential Methods,
// 2000, chapters 7 and 9).
type Looks struct{ First, Last int }

// Look is one of several at growing data. The zero value is the only one.
type Look struct{ levels *levels }

// At is the look after so many blocks: the last one beyond it, the only one where there
// is just one. Before the first there is none, and no verdict to be had; what At gives
// there describes, as an only look would.
func (l Looks) At(blocks int) Look {
	if l.First >= l.Last || blocks < l.First {
		return Look{}
	}
	return Look{l.levels()[min(blocks, l.Last)-l.First]}
}

// Level at which this look tests, so that all looks together err with the given chance.
// Tests, and intervals, are two-sided.
func (l Look) Level(all float64) float64 {
	if l.levels == nil {
		return all
	}
	return twoSided(l.levels.own.Predict(quantileOf(all)))
}

// Adjust is the smallest chance of error of all looks at which this one would reject
// with the p-value that it found: the repeated p-value (Jennison and Turnbull 1984).
// NaN stays NaN.
func (l Look) Adjust(p float64) float64 {
	if l.levels == nil || math.IsNaN(p) {
		return p
	}
	if p >= l.levels.largest {
		return 1
	}
	return twoSided(l.levels.all.Predict(quantileOf(p)))
}

// levels are those of one look. Both curves are of normal quantiles, between which
// they are nearly straight.
type levels struct {
	// own is the look's level over that of all looks, all the other way round.
	own, all interp.FritschButland
	// largest level that was computed.
	largest float64
}

// Quantiles for which levels are computed; curves run between.
const (
	leastQuantile    = 0.05
	greatestQuantile = 7.25
	quantileStep     = 0.4
)

// planned are the levels of plans that were asked for: a second is much for a plan of
// a hundred looks, and the same is asked for at every comparison.
var planned sync.Map

func (l Looks) levels() []*levels {
	if known, found := planned.Load(l); found {
		return known.([]*levels)
	}
	var quantiles []float64
	own := make([][]float64, l.Last-l.First+1)
	for z := leastQuantile; z <= greatestQuantile; z += quantileStep {
		quantiles = append(quantiles, z)
		for look, boundary := range l.boundaries(twoSided(z)) {
			own[look] = append(own[look], boundary)
		}
	}
	found := make([]*levels, len(own))
	for look, boundaries := range own {
		found[look] = &levels{largest: twoSided(boundaries[0])}
		fit(&found[look].own, quantiles, boundaries)
		fit(&found[look].all, boundaries, quantiles)
	}
	planned.Store(l, found)
	return found
}

// fit can fail by lists of different lengths alone.
func fit(curve *interp.FritschButland, x, y []float64) {
	if err := curve.Fit(x, y); err != nil {
		panic(fmt.Sprintf("fitting the levels of looks: %v", err))
	}
}

// spent is the share of the error that may have been at a share of the blocks.
func spent(t float64) float64 { return t * t }

// boundaries are the smallest absolute values of a normal statistic that reject, by
// look, if all looks together err with the given chance where there is no effect.
func (l Looks) boundaries(all float64) []float64 {
	share := float64(l.First) / float64(l.Last)
	boundary := quantileOf(all * spent(share))
	found := []float64{boundary}
	going := startOf(boundary, share)
	for blocks := l.First + 1; blocks <= l.Last; blocks++ {
		next := float64(blocks) / float64(l.Last)
		going.step = math.Sqrt(next - share)
		boundary = going.boundary(all/2*(spent(next)-spent(share)), math.Sqrt(next))
		found = append(found, boundary)
		going, share = going.onwards(boundary*math.Sqrt(next)), next
	}
	return found
}

// walk is the density of the sum of all blocks, in units of its deviation at the last
// look, among experiments that have not stopped. It is even, and kept from 0 on.
type walk struct {
	at, weight, density []float64
	// step is the deviation of what the next look adds.
	step float64
}

// nodesPerStep resolve what one look adds.
const (
	nodesPerStep = 2.5
	leastNodes   = 64
)

// startOf is the walk after the first look, at a share of the blocks.
func startOf(boundary, share float64) walk {
	deviation := math.Sqrt(share)
	// As fine as for a later look.
	started := walkTo(boundary*deviation, deviation/8)
	for i, at := range started.at {
		started.density[i] = distuv.Normal{Sigma: deviation}.Prob(at)
	}
	return started
}

func walkTo(end, resolved float64) walk {
	nodes := max(leastNodes, int(math.Ceil(nodesPerStep*end/resolved)))
	made := walk{at: make([]float64, nodes), weight: make([]float64, nodes), density: make([]float64, nodes)}
	quad.Legendre{}.FixedLocations(made.at, made.weight, 0, end)
	// From the lowest on; the nodes lie alike on both sides of the middle, as do their weights.
	if made.at[0] > made.at[nodes-1] {
		slices.Reverse(made.at)
	}
	return made
}

// boundary of the next look's statistic, which that many go beyond on either side. The
// sum's deviation there is given.
func (w walk) boundary(beyond, deviation float64) float64 {
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

// beyond is the share that goes above a sum with the next look.
func (w walk) beyond(sum float64) float64 {
	total := 0.0
	// What is further below than one step goes adds nothing.
	for i := w.from(sum - reach*w.step); i < len(w.at); i++ {
		total += w.weight[i] * w.density[i] * (above((sum-w.at[i])/w.step) + above((sum+w.at[i])/w.step))
	}
	return total
}

// onwards is the walk after the next look, of those within an end.
func (w walk) onwards(end float64) walk {
	next := walkTo(end, w.step)
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

// reach is beyond how many deviations a normal distribution ends for our purposes.
const reach = 9

// from is the first place that is not below.
func (w walk) from(at float64) int { return sort.SearchFloat64s(w.at, at) }

// above is the share of a normal distribution above z. It keeps its digits where it is
// small.
func above(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }

func twoSided(z float64) float64 { return 2 * above(z) }

// quantileOf a two-sided chance.
func quantileOf(p float64) float64 { return -distuv.UnitNormal.Quantile(p / 2) }

// stopped is the number of experiments drawn to tell when looks stop them.
const stopped = 1000

// MeanBlocks is the mean number of blocks of experiments that stop at the first look at
// which every comparison of the family is decided, and the share of them that are so by
// the last look, where each has the same effect: by synthetic experiments with normal
// noise, the same at every call. Decided is what lies within the margin, or what both the
// t test and the sign-flip test tell from none. Low and high are the margin's ends, on the
// scale of the effect.
func (d Design) MeanBlocks(looks Looks, effect, low, high float64) (blocks, decided float64) {
	random := rand.New(rand.NewPCG(3, 4))
	rules := d.rules(looks, low, high)
	for range stopped {
		family := make([][]float64, max(d.Family, 1))
		at, all := 0, false
		for at < looks.Last && !all {
			at++
			for i := range family {
				family[i] = append(family[i], effect+d.Deviation*math.Sqrt2*random.NormFloat64())
			}
			if at >= looks.First {
				all = !slices.ContainsFunc(family, func(one []float64) bool { return !rules[at-looks.First].decides(one) })
			}
		}
		blocks += float64(at)
		if all {
			decided++
		}
	}
	return blocks / stopped, decided / stopped
}

// rule is what decides at a look: quantiles for an effect and for the margin, and the
// level of the sign-flip test.
type rule struct{ apart, reach, flips, low, high float64 }

func (d Design) rules(looks Looks, low, high float64) []rule {
	rules := make([]rule, 0, looks.Last-looks.First+1)
	for blocks := looks.First; blocks <= looks.Last; blocks++ {
		d.Look = looks.At(blocks)
		rules = append(rules, rule{
			apart: TQuantile(1-d.level()/2, blocks-1), reach: TQuantile(1-d.Look.Level(2*d.Alpha)/2, blocks-1),
			flips: d.Look.Level(d.Alpha), low: low, high: high,
		})
	}
	return rules
}

// decides reports whether differences within blocks lie within the margin, or tell an
// effect from none. Beyond a few blocks the sign-flip test adds nothing to the t test.
func (r rule) decides(differences []float64) bool {
	summary := Describe(differences)
	deviation := summary.StandardDeviation / math.Sqrt(float64(len(differences)))
	if summary.Mean-r.reach*deviation >= r.low && summary.Mean+r.reach*deviation <= r.high {
		return true
	}
	return math.Abs(summary.Mean) > r.apart*deviation && (len(differences) > maxFlipBlocks || SignFlip(differences, 0) <= r.flips)
}
