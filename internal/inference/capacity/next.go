// SPDX-License-Identifier: Apache-2.0

package capacity

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Range is where the levels of runs may lie.
type Range struct {
	// Min and Max are the lowest and the highest level; 0 < Min < Max.
	Min, Max float64
	// Count is the number of levels of a run, at least 2.
	Count int
	// Integer levels, such as numbers of users. Rounding may leave fewer than Count.
	Integer bool
}

// Next returns the levels of an arm's next run, in ascending order. Without an earlier run, they
// span the range by equal factors. Later, they lie around the boundary as earlier runs, in
// their order, show it. They differ from run to run at random, so that the distance between
// levels averages out.
func Next(r Range, earlier []Estimate, random *rand.Rand) []float64 {
	center, half := locate(r, earlier)
	if math.IsNaN(center) {
		return r.spread(math.Log(r.Min), math.Log(r.Max))
	}
	half += step(half, r.Count) * 0.5
	center += step(half, r.Count) * (random.Float64() - 0.5)
	return r.spread(center-half, center+half)
}

func step(half float64, count int) float64 { return 2 * half / float64(count-1) }

// spread returns levels that span two logarithms by equal factors, within the range.
func (r Range) spread(low, high float64) []float64 {
	var levels []float64
	for i := range r.Count {
		load := math.Exp(low + (high-low)*float64(i)/float64(r.Count-1))
		levels = append(levels, r.clamp(load))
	}
	return slices.Compact(levels)
}

func (r Range) clamp(load float64) float64 {
	if r.Integer {
		load = math.Round(load)
	}
	return math.Max(r.Min, math.Min(r.Max, load))
}

const (
	// usual is the deviation between runs that is assumed before they show theirs.
	usual = 0.08
	// reach is how far the levels go on both sides of the boundary, in deviations.
	reach = 2.5
)

// locate returns the boundary as the logarithm of a load, and how far levels go on both sides;
// NaN without an estimate.
func locate(r Range, earlier []Estimate) (center, half float64) {
	var sum, weights float64
	var boundaries, uncertain []float64
	for _, run := range earlier {
		if run.Side == Unknown {
			continue
		}
		x, deviation := r.position(run)
		boundaries, uncertain = append(boundaries, x), append(uncertain, deviation)
		weight := 1 / (deviation*deviation + usual*usual)
		sum, weights = sum+weight*x, weights+weight
	}
	if len(boundaries) == 0 {
		return math.NaN(), math.NaN()
	}
	center = sum / weights
	// The assumed deviation counts as two runs.
	squares, count := 2*usual*usual, 2.0
	for i, x := range boundaries {
		weight := usual * usual / (uncertain[i]*uncertain[i] + usual*usual)
		squares, count = squares+weight*(x-center)*(x-center), count+weight
	}
	return center, reach * math.Sqrt(squares/count+1/weights)
}

// position of a run's boundary and its deviation, as logarithms: a run whose levels miss the
// boundary shows only its direction.
func (r Range) position(run Estimate) (x, deviation float64) {
	const beyond = 0.25
	x = math.Log(run.Load)
	switch run.Side {
	case Below:
		return x - beyond, beyond
	case Above:
		return x + beyond, beyond
	}
	low, high := math.Max(run.Low, r.Min), math.Min(run.High, r.Max)
	return x, math.Log(high/low) / 4
}
