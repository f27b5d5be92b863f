// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"perflab.dev/perflab/internal/inference/capacity"
)

// rivals analyze the same runs with different methods.
var rivals = []method{
	{"all runs in one fit, bootstrap over blocks", bootstrap},
	{"all runs in one fit, jackknife over blocks", jackknife},
	{"one curve per arm, shifted for each run", compareShifts},
	{"PerfLab", compareRuns},
}

func bootstrap(c capacityTrial, random *rand.Rand) compared {
	const resamples = 200
	runs := c.measure(random)
	effects := make([]float64, resamples)
	for i := range effects {
		blocks := make([]int, c.blocks)
		for j := range blocks {
			blocks[j] = random.IntN(c.blocks)
		}
		effects[i] = runs.pooled(blocks)
	}
	return compared{runs.pooled(upTo(c.blocks)), percentile(effects, 0.025), percentile(effects, 0.975)}
}

// jackknife returns the t interval of pseudo-values (Tukey 1958).
func jackknife(c capacityTrial, random *rand.Rand) compared {
	runs := c.measure(random)
	whole := runs.pooled(upTo(c.blocks))
	values := make([]float64, c.blocks)
	for i := range values {
		without := slices.Delete(upTo(c.blocks), i, i+1)
		values[i] = float64(c.blocks)*whole - float64(c.blocks-1)*runs.pooled(without)
	}
	return paired(values)
}

// compareShifts excludes the first block, which searches for the boundary.
func compareShifts(c capacityTrial, random *rand.Rand) compared {
	runs := c.measure(random)
	base, arm := runs.shifts(0), runs.shifts(1)
	floats.Sub(arm, base)
	return paired(arm[1:])
}

// compareRuns compares runs as PerfLab does.
func compareRuns(c capacityTrial, random *rand.Rand) compared {
	runs := c.measure(random)
	var differences []float64
	for block := range c.blocks {
		base, arm := runs.estimates[0][block], runs.estimates[1][block]
		if c.counts(base) && c.counts(arm) {
			differences = append(differences, math.Log(arm.Load/base.Load))
		}
	}
	if len(differences) < 2 || !c.isAnswered(runs.estimates[0], runs.estimates[1]) {
		return compared{effect: math.NaN()}
	}
	return paired(differences)
}

func upTo(count int) []int {
	numbers := make([]int, count)
	for i := range numbers {
		numbers[i] = i
	}
	return numbers
}

// pooled returns the effect from one fit per arm of all levels of some blocks.
func (m measured) pooled(blocks []int) float64 {
	var boundaries [2]float64
	for arm := range boundaries {
		var levels []capacity.Level
		for _, block := range blocks {
			levels = append(levels, m.levels[arm][block]...)
		}
		boundaries[arm] = math.Log(capacity.FromRun(levels).Load)
	}
	return boundaries[1] - boundaries[0]
}

// shifts returns the boundaries of an arm's runs, as logarithms. Each is the shift of a common
// curve that matches the margins of the run best.
func (m measured) shifts(arm int) []float64 {
	const iterations = 4
	found := make([]float64, len(m.levels[arm]))
	for run, estimate := range m.estimates[arm] {
		found[run] = math.Log(estimate.Load)
	}
	for range iterations {
		var aligned []capacity.Level
		for run, levels := range m.levels[arm] {
			for _, level := range levels {
				aligned = append(aligned, capacity.Level{Load: level.Load / math.Exp(found[run]), Margins: level.Margins})
			}
		}
		slices.SortFunc(aligned, func(a, b capacity.Level) int { return cmp.Compare(a.Load, b.Load) })
		common, offset := isotonic(aligned), math.Log(capacity.FromRun(aligned).Load)
		for run, levels := range m.levels[arm] {
			found[run] = bestShift(levels, common, found[run]) + offset
		}
	}
	return found
}

// bestShift returns the shift close to near at which the margins of levels differ least from a
// curve.
func bestShift(levels []capacity.Level, common func(x float64) float64, near float64) float64 {
	const reach, step = 0.25, 0.005
	best, least := near, math.Inf(1)
	for shift := near - reach; shift <= near+reach; shift += step {
		squares := 0.0
		for _, level := range levels {
			difference := slices.Min(level.Margins) - common(math.Log(level.Load)-shift)
			squares += difference * difference
		}
		if squares < least {
			best, least = shift, squares
		}
	}
	return best
}

// isotonic fits decreasing margins over the logarithm of the load.
func isotonic(levels []capacity.Level) func(x float64) float64 {
	var x, y, weights []float64
	for _, level := range levels {
		x, y, weights = append(x, math.Log(level.Load)), append(y, slices.Min(level.Margins)), append(weights, 1)
		for n := len(y); n > 1 && y[n-2] < y[n-1]; n = len(y) {
			weight := weights[n-2] + weights[n-1]
			y[n-2] = (weights[n-2]*y[n-2] + weights[n-1]*y[n-1]) / weight
			x[n-2] = (weights[n-2]*x[n-2] + weights[n-1]*x[n-1]) / weight
			weights[n-2] = weight
			x, y, weights = x[:n-1], y[:n-1], weights[:n-1]
		}
	}
	return func(at float64) float64 {
		next, _ := slices.BinarySearch(x, at)
		switch next {
		case 0:
			return y[0]
		case len(x):
			return y[len(y)-1]
		}
		share := (at - x[next-1]) / (x[next] - x[next-1])
		return y[next-1] + share*(y[next]-y[next-1])
	}
}
