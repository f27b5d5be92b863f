// SPDX-License-Identifier: Apache-2.0

package capacity

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// Range limits the levels of runs.
type Range struct {
	// Min and Max are the lowest and the highest level; 0 < Min < Max.
	Min, Max float64
	// Count is the number of levels of a run, at least 2. There are fewer if not all fit into the
	// range. With fewer than 4, most runs are coarse.
	Count int
	// Integer levels, such as numbers of users.
	Integer bool
}

// Next returns the levels of the next run of an arm, given its own earlier runs and those of the
// other arms of the scenario. They are in ascending order, in which they are best visited: an
// overloaded system does not have to recover within the run.
//
// Until a run of the arm shows its boundary, the levels span the range by equal factors. Later,
// they lie around its boundary, far enough on both sides to find it wherever it is in this run:
// levels that are too close draw a run's value towards those of earlier runs, which makes intervals
// too narrow. The distance depends on the spread of the runs of all arms, because different
// distances may look like an effect. Levels are shifted at random by up to half a step, so that the
// distance between them averages out.
func Next(r Range, own []Estimate, others [][]Estimate, random *rand.Rand) []float64 {
	low, high := r.locate(own, others)
	step := (high - low) / float64(r.Count-1)
	shift := 0.0
	if len(own) > 0 {
		shift = random.Float64() - 0.5
	}
	var levels []float64
	for i := range r.Count {
		levels = append(levels, r.clamp(math.Exp(low+(float64(i)+shift)*step)))
	}
	return r.fill(slices.Compact(levels))
}

func (r Range) clamp(load float64) float64 {
	if r.Integer {
		load = math.Round(load)
	}
	return math.Max(r.Min, math.Min(r.Max, load))
}

// fill adds neighbors to integers that coincided when they were rounded.
func (r Range) fill(levels []float64) []float64 {
	for r.Integer && len(levels) < r.Count {
		low, high := levels[0]-1, levels[len(levels)-1]+1
		switch {
		case high <= r.Max && (len(levels)%2 == 0 || low < r.Min):
			levels = append(levels, high)
		case low >= r.Min:
			levels = slices.Insert(levels, 0, low)
		default:
			return levels
		}
	}
	return levels
}

const (
	// assumed is the assumed deviation of runs' boundaries, until they show it. It counts as much
	// as one run.
	assumed = 0.2
	// reach is the distance of the outermost levels from the boundary, in deviations.
	reach = 3
	// farthest distance of a run that counts, so that a disturbed run does not spread the
	// levels of all later ones.
	farthest = 2 * assumed
)

// locate returns the ends of the levels, as logarithms of loads: those of the range, until a run
// shows the boundary.
func (r Range) locate(own []Estimate, others [][]Estimate) (low, high float64) {
	low, high = math.Log(r.Min), math.Log(r.Max)
	known := r.collect(own)
	if !known.isBracketed {
		return low, high
	}
	squares, runs := known.squares()+assumed*assumed, floats.Sum(known.weights)+1
	for _, other := range others {
		if beside := r.collect(other); beside.isBracketed {
			squares, runs = squares+beside.squares(), runs+floats.Sum(beside.weights)
		}
	}
	half := reach * math.Sqrt(squares/runs+assumed*assumed/floats.Sum(known.weights))
	center := math.Max(low, math.Min(high, known.center()))
	return math.Max(low, center-half), math.Min(high, center+half)
}

// boundaries are the logarithms of those of an arm's runs, in ascending order, with weights: 1
// if it is known exactly.
type boundaries struct {
	values, weights []float64
	// isBracketed means that the levels of a run enclosed it.
	isBracketed bool
}

func (r Range) collect(runs []Estimate) boundaries {
	var known boundaries
	for _, run := range runs {
		if weight := r.weight(run); weight > 0 {
			known.values, known.weights = append(known.values, math.Log(run.Load)), append(known.weights, weight)
		}
		known.isBracketed = known.isBracketed || run.Side == Within
	}
	stat.SortWeighted(known.values, known.weights)
	return known
}

// center is the weighted median.
func (b boundaries) center() float64 { return stat.Quantile(0.5, stat.Empirical, b.values, b.weights) }

// squares of the distances to the center, weighted.
func (b boundaries) squares() (sum float64) {
	center := b.center()
	for i, value := range b.values {
		distance := math.Min(math.Abs(value-center), farthest)
		sum += b.weights[i] * distance * distance
	}
	return sum
}

// weight of a run's boundary.
func (r Range) weight(run Estimate) float64 {
	if run.Side == Unknown {
		return 0
	}
	// The deviation of a boundary that the levels did not enclose is a guess.
	deviation := assumed
	if run.Side == Within {
		deviation = math.Log(math.Min(run.High, r.Max)/math.Max(run.Low, r.Min)) / (2 * reach)
	}
	return assumed * assumed / (deviation*deviation + assumed*assumed)
}
