// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"perflab.dev/perflab/internal/inference/capacity"
	"perflab.dev/perflab/internal/inference/stats"
)

// compared is a method's estimate of an arm's effect against the baseline, as logarithms. The
// interval is NaN if the method has none.
type compared struct{ effect, low, high float64 }

// differs reports whether the method claims an effect: its interval excludes 0, or, without an
// interval, the difference is at least 5 %.
func (c compared) differs() bool {
	if math.IsNaN(c.low) {
		return math.Abs(c.effect) >= math.Log(1.05)
	}
	return c.low > 0 || c.high < 0
}

// method compares the capacity of two arms in one experiment. The effect is NaN if the method
// has no answer.
type method struct {
	name    string
	compare func(c capacityTrial, random *rand.Rand) compared
}

// methodOutcome is the result of a method in many experiments.
type methodOutcome struct {
	covered, differs, unanswered share
	errors                       []float64
}

func (o methodOutcome) plus(other methodOutcome) methodOutcome {
	return methodOutcome{o.covered.plus(other.covered), o.differs.plus(other.differs), o.unanswered.plus(other.unanswered), append(o.errors, other.errors...)}
}

// judge compares the arms of many experiments.
func (m method) judge(c capacityTrial, experiments int, seed uint64) (methodOutcome, error) {
	return repeat(experiments, seed, func(random *rand.Rand) (methodOutcome, error) {
		var seen methodOutcome
		found := m.compare(c, random)
		isAnswered := !math.IsNaN(found.effect)
		seen.unanswered.add(!isAnswered)
		if !isAnswered {
			return seen, nil
		}
		truth := math.Log1p(c.effect(1))
		if !math.IsNaN(found.low) {
			seen.covered.add(found.low <= truth && truth <= found.high)
		}
		seen.differs.add(found.differs())
		seen.errors = append(seen.errors, found.effect-truth)
		return seen, nil
	}, methodOutcome.plus)
}

// startCost is the duration of a run's start, reset and warm-up, in levels.
const startCost = 5

// singles returns the number of single-level runs that take as long as the runs of the trial.
func (c capacityTrial) singles() int { return c.blocks * (startCost + c.levels) / (startCost + 1) }

// baselines are the methods to compare with. Each takes as long as the trial.
var baselines = []method{
	{"one ramp, last level before a failure", compareRamps},
	{"bisection, 3 runs per level", func(c capacityTrial, random *rand.Rand) compared {
		return c.bisect(c.singles(), 3, random)
	}},
	{"bisection, 5 runs per level, starts for free", func(c capacityTrial, random *rand.Rand) compared {
		return c.bisect(c.blocks*c.levels, 5, random)
	}},
	{"probabilistic bisection", func(c capacityTrial, random *rand.Rand) compared {
		return c.bisectProbably(c.singles(), random)
	}},
	{"probabilistic bisection, starts for free", func(c capacityTrial, random *rand.Rand) compared {
		return c.bisectProbably(c.blocks*c.levels, random)
	}},
	{"the same ramp in each block, last level before a failure", capacityTrial.fixedRamps},
}

// compareRamps compares a single run per arm.
func compareRamps(c capacityTrial, random *rand.Rand) compared {
	c.levels, c.blocks = c.levels*c.blocks, 1
	runs := c.measure(random)
	return withoutInterval(lastHeld(runs.levels[0][0]), lastHeld(runs.levels[1][0]))
}

func withoutInterval(base, arm float64) compared { return compared{arm - base, math.NaN(), math.NaN()} }

// lastHeld returns the logarithm of the last load before the first that failed. If the lowest
// load failed, it returns half a step below it.
func lastHeld(levels []capacity.Level) float64 {
	failed := slices.IndexFunc(levels, func(l capacity.Level) bool { return slices.Min(l.Margins) < 0 })
	switch failed {
	case -1:
		failed = len(levels)
	case 0:
		return math.Log(levels[0].Load) - 0.5*math.Log(levels[1].Load/levels[0].Load)
	}
	return math.Log(levels[failed-1].Load)
}

// margin returns the smallest margin of all objectives in a run at a single load.
func (c capacityTrial) margin(load, truth float64, random *rand.Rand) float64 {
	return slices.Min(c.visit([]float64{load}, truth, random)[0].Margins)
}

// bisect searches for the highest load that holds. It decides by the median of repeated runs at
// each load. The number of runs limits the number of possible loads. Theodolite (Henning and
// Hasselbring, Empirical Software Engineering 2022) searches this way.
func (c capacityTrial) bisect(count, repetitions int, random *rand.Rand) compared {
	within := c.draw(1, random)
	c.blocks = count
	runs := c.run(random)
	steps := count / repetitions
	loads := 1<<steps - 1
	var found [2]float64
	for arm := range found {
		low, high := -1, loads
		for step := range steps {
			middle := (low + high) / 2
			load := within.Min * math.Pow(c.span, float64(middle)/float64(loads-1))
			margins := make([]float64, repetitions)
			for i := range margins {
				margins[i] = c.margin(load, runs[step*repetitions+i][arm]/center, random)
			}
			slices.Sort(margins)
			if margins[repetitions/2] >= 0 {
				low = middle
			} else {
				high = middle
			}
		}
		found[arm] = float64(low) / float64(loads-1) * math.Log(c.span)
	}
	return withoutInterval(found[0], found[1])
}

// bisectProbably updates the posterior of the boundary with the result at its median, which is
// right with a fixed probability (Waeber, Frazier and Henderson, SIAM Journal on Control and
// Optimization 2013). Each result comes from a new run.
func (c capacityTrial) bisectProbably(count int, random *rand.Rand) compared {
	const cells, right, draws = 256, 0.7, 400
	within := c.draw(1, random)
	c.blocks = count
	runs := c.run(random)
	var medians [2]float64
	var drawn [2][]float64
	for arm := range medians {
		posterior := slices.Repeat([]float64{1.0 / cells}, cells)
		for _, run := range runs {
			median := quantileCell(posterior, 0.5)
			load := within.Min * math.Pow(c.span, (float64(median)+0.5)/cells)
			holds := c.margin(load, run[arm]/center, random) >= 0
			for i := range posterior {
				if (i > median) == holds {
					posterior[i] *= right
				} else {
					posterior[i] *= 1 - right
				}
			}
			floats.Scale(1/floats.Sum(posterior), posterior)
		}
		step := math.Log(c.span) / cells
		medians[arm] = float64(quantileCell(posterior, 0.5)) * step
		for range draws {
			drawn[arm] = append(drawn[arm], float64(quantileCell(posterior, random.Float64()))*step)
		}
	}
	floats.Sub(drawn[1], drawn[0])
	return compared{medians[1] - medians[0], percentile(drawn[1], 0.025), percentile(drawn[1], 0.975)}
}

// quantileCell returns the index of the cell in which a distribution reaches a probability.
func quantileCell(distribution []float64, probability float64) int {
	for i, share := range distribution {
		if probability -= share; probability <= 0 {
			return i
		}
	}
	return len(distribution) - 1
}

// percentile sorts values and returns their quantile at a probability.
func percentile(values []float64, probability float64) float64 {
	slices.Sort(values)
	return stat.Quantile(probability, stat.Empirical, values, nil)
}

// fixedRamps visits the same levels in each run.
func (c capacityTrial) fixedRamps(random *rand.Rand) compared {
	within := c.draw(1, random)
	ramp := capacity.Next(within, nil, nil, random)
	var differences []float64
	for _, runs := range c.run(random) {
		base := lastHeld(c.visit(ramp, runs[0]/center, random))
		arm := lastHeld(c.visit(ramp, runs[1]/center, random))
		differences = append(differences, arm-base)
	}
	return paired(differences)
}

// paired returns the t interval of differences.
func paired(differences []float64) compared {
	mean := stats.Mean(differences)
	low, high := mean.Interval(1 - alpha)
	return compared{mean.Value, low, high}
}
