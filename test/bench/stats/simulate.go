// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"

	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/inference/verdict"
)

// noise draws the error of a run, with mean 0 and deviation 1.
type noise struct {
	name string
	draw func(*rand.Rand) float64
}

var (
	normal = noise{"normal", (*rand.Rand).NormFloat64}
	// skewed is a gamma distribution of shape 2: some runs are much slower, none is much
	// faster.
	skewed = noise{"skewed", func(r *rand.Rand) float64 { return (r.ExpFloat64() + r.ExpFloat64() - 2) / math.Sqrt2 }}
	// heavy is Student's t with 3 degrees of freedom: outliers in both directions.
	heavy = noise{"heavy-tailed", func(r *rand.Rand) float64 {
		chi := 0.0
		for range 3 {
			z := r.NormFloat64()
			chi += z * z
		}
		return r.NormFloat64() / math.Sqrt(chi/3) / math.Sqrt(3)
	}}
)

// trial is a kind of experiment, to be simulated many times.
type trial struct {
	noise        noise
	cv           float64
	arms, blocks int
	// effects are those of the arms other than the baseline, as ratios less one; the last
	// applies to all further arms.
	effects []float64
	// missing is the share of runs that are lost.
	missing float64
	// drift is how much the system slows over the whole experiment.
	drift float64
	// uneven multiplies the spread of the first arm other than the baseline; 0 counts
	// as 1.
	uneven        float64
	marginPercent float64
}

func (t trial) effect(arm int) float64 {
	if arm == 0 || len(t.effects) == 0 {
		return 0
	}
	return t.effects[min(arm, len(t.effects))-1]
}

// share counts cases, and hits among them.
type share struct{ hits, cases int }

func (s *share) add(hit bool) {
	s.cases++
	if hit {
		s.hits++
	}
}

// percent is NaN if there are no cases.
func (s share) percent() float64 { return 100 * float64(s.hits) / float64(s.cases) }

func (s share) plus(other share) share { return share{s.hits + other.hits, s.cases + other.cases} }

// outcome is the result of many experiments of a kind.
type outcome struct {
	// covered counts unadjusted 95 % intervals that contain the true effect. coveredFirst
	// counts only those of the first arm other than the baseline.
	covered, coveredFirst share
	// missed is the share of the intervals of Better and Worse verdicts that miss the true
	// effect, summed over experiments. Experiments without such a verdict add nothing.
	missed float64
	// different counts arms that differ from the baseline, by both tests and after Holm's
	// correction. anyDifferent counts experiments in which an arm differs that truly equals the
	// baseline. first counts only the first arm other than the baseline.
	different, anyDifferent, first share
	// equivalent counts Equivalent verdicts. wrong counts Better and Worse verdicts without an
	// effect or in the wrong direction.
	equivalent, wrong, right, undecided share
	halfWidth                           float64
}

func (o outcome) plus(other outcome) outcome {
	return outcome{
		covered: o.covered.plus(other.covered), coveredFirst: o.coveredFirst.plus(other.coveredFirst), different: o.different.plus(other.different),
		anyDifferent: o.anyDifferent.plus(other.anyDifferent), first: o.first.plus(other.first),
		equivalent: o.equivalent.plus(other.equivalent), wrong: o.wrong.plus(other.wrong),
		right: o.right.plus(other.right), undecided: o.undecided.plus(other.undecided),
		halfWidth: o.halfWidth + other.halfWidth, missed: o.missed + other.missed,
	}
}

// missedPercent is the false coverage rate of the intervals of Better and Worse verdicts.
func (o outcome) missedPercent() float64 { return 100 * o.missed / float64(o.anyDifferent.cases) }

// meanHalfWidth returns the mean half-width of the intervals, in percent.
func (o outcome) meanHalfWidth() float64 { return o.halfWidth / float64(o.covered.cases) }

// simulate simulates the experiment many times. The seed determines the result.
func simulate(of trial, experiments int, seed uint64) (outcome, error) {
	return repeat(experiments, seed, of.once, outcome.plus)
}

// repeat sums the results of many experiments. The seed determines the result.
func repeat[T any](experiments int, seed uint64, once func(*rand.Rand) (T, error), plus func(T, T) T) (total T, err error) {
	parts := make([]T, experiments)
	err = parallel(experiments, func(i int) (err error) {
		parts[i], err = once(rand.New(rand.NewPCG(seed, uint64(i))))
		return err
	})
	if err != nil {
		return total, err
	}
	for _, part := range parts {
		total = plus(total, part)
	}
	return total, nil
}

// parallel runs do for each i on all processors. Each worker stops at its first error.
func parallel(times int, do func(i int) error) error {
	workers := runtime.GOMAXPROCS(0)
	faults := make([]error, workers)
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			for i := worker; i < times && faults[worker] == nil; i += workers {
				faults[worker] = do(i)
			}
		})
	}
	group.Wait()
	return errors.Join(faults...)
}

// once simulates one experiment and compares its arms as perflab does.
func (t trial) once(random *rand.Rand) (outcome, error) {
	table := comparison.NewTable()
	for block, runs := range t.run(random) {
		if err := addBlock(table, block, runs); err != nil {
			return outcome{}, fmt.Errorf("simulating %d arms in %d blocks: %w", t.arms, t.blocks, err)
		}
	}
	found, err := table.Compare(t.options())
	if err != nil {
		return outcome{}, fmt.Errorf("simulating %d arms in %d blocks: %w", t.arms, t.blocks, err)
	}
	var seen outcome
	falsely := false
	var missed share
	for i := range found {
		effect := t.effect(i + 1)
		falsely = seen.count(&found[i], effect, i == 0) || falsely
		if decided := found[i].Verdict; decided == verdict.Better || decided == verdict.Worse {
			missed.add(100*effect < found[i].Low || 100*effect > found[i].High)
		}
	}
	seen.anyDifferent.add(falsely)
	seen.missed = float64(missed.hits) / float64(max(missed.cases, 1))
	return seen, nil
}

// options returns PerfLab's options of comparison.
func (t trial) options() comparison.Options {
	return comparison.Options{Baseline: "0", MarginPercent: t.marginPercent, ConfidencePercent: 95}
}

// addBlock adds the runs of a block that are not lost.
func addBlock(table *comparison.Table, block int, runs []float64) error {
	for arm, value := range runs {
		if math.IsNaN(value) {
			continue
		}
		err := table.Add(comparison.Observation{
			Block: strconv.Itoa(block), Arm: strconv.Itoa(arm), Scenario: "s", Metric: "m", Unit: "ms", Value: value,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// center is the value of the baseline's runs without noise.
const center = 400

// run draws the values by block and arm. Lost runs are NaN.
func (t trial) run(random *rand.Rand) [][]float64 {
	sigma := math.Sqrt(math.Log1p(t.cv * t.cv))
	blocks := make([][]float64, t.blocks)
	position := 0
	for block := range blocks {
		blocks[block] = make([]float64, t.arms)
		// The deviation between blocks is as large as that between runs.
		shared := sigma * random.NormFloat64()
		for _, arm := range random.Perm(t.arms) {
			slowed := math.Log1p(t.drift) * float64(position) / float64(t.arms*t.blocks)
			position++
			spread := sigma
			if arm == 1 && t.uneven > 0 {
				spread *= t.uneven
			}
			logarithm := math.Log1p(t.effect(arm)) + shared + slowed + spread*t.noise.draw(random)
			blocks[block][arm] = center * math.Exp(logarithm)
		}
	}
	for range int(math.Round(t.missing * float64(t.arms*t.blocks))) {
		blocks[random.IntN(t.blocks)][random.IntN(t.arms)] = math.NaN()
	}
	return blocks
}

const alpha = 0.05

// count adds one comparison and reports whether it is a false positive.
func (o *outcome) count(c *comparison.Comparison, effect float64, first bool) bool {
	low, high := c.Interval(100 * (1 - alpha))
	if math.IsNaN(low) {
		return false
	}
	covered := low <= 100*effect && 100*effect <= high
	o.covered.add(covered)
	o.halfWidth += (high - low) / 2
	different := c.Blocks >= verdict.MinimumBlocks && c.Differs(alpha)
	o.different.add(different)
	if first {
		o.coveredFirst.add(covered)
		o.first.add(different)
	}
	if c.Verdict == verdict.None {
		return different && effect == 0
	}
	slower := c.Verdict == verdict.Worse
	decided := slower || c.Verdict == verdict.Better
	o.equivalent.add(c.Verdict == verdict.Equivalent)
	o.wrong.add(decided && (effect == 0 || slower != (effect > 0)))
	o.right.add(decided && effect != 0 && slower == (effect > 0))
	o.undecided.add(c.Verdict == verdict.Inconclusive)
	return different && effect == 0
}
