// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"math"
	"testing"

	"perflab.dev/perflab/internal/inference/stats"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/testing/expect"
)

// quick is the number of experiments that measures a share near 5 % to within one percentage
// point.
const quick = 1500

func mustSimulate(t *testing.T, of trial) outcome {
	t.Helper()
	found, err := simulate(of, quick, 7)
	expect.NoError(t, err)
	return found
}

func within(t *testing.T, what string, got, low, high float64) {
	t.Helper()
	if math.IsNaN(got) || got < low || got > high {
		t.Errorf("%s is %.2f %%, want %v to %v", what, got, low, high)
	}
}

// The intervals cover the effect, and at most 5 % of the experiments without an effect
// show one.
func TestNoEffect(t *testing.T) {
	for _, of := range []trial{
		{noise: normal, cv: 0.02, arms: 2, blocks: 3},
		{noise: normal, cv: 0.04, arms: 4, blocks: 6},
		{noise: skewed, cv: 0.10, arms: 8, blocks: 12},
		{noise: normal, cv: 0.04, arms: 4, blocks: 9, missing: 0.1},
		{noise: normal, cv: 0.02, arms: 4, blocks: 12, drift: 0.1},
	} {
		t.Run(fmt.Sprintf("%s_%d_arms_%d_blocks_missing_%v_drift_%v", of.noise.name, of.arms, of.blocks, of.missing, of.drift), func(t *testing.T) {
			found := mustSimulate(t, of)
			within(t, "coverage", found.covered.percent(), 93.5, 96.5)
			within(t, "the share of experiments with a false difference", found.anyDifferent.percent(), 0, 6)
		})
	}
}

// Few of the intervals of Better and Worse verdicts miss the effect, for any number of
// arms with verdicts.
func TestVerdictIntervalsCover(t *testing.T) {
	for _, effect := range []float64{0.06, 0.2} {
		found := mustSimulate(t, trial{noise: normal, cv: 0.04, arms: 8, blocks: 8, marginPercent: 2, effects: []float64{effect, 0, effect, 0, effect, 0, effect}})
		within(t, "the share of intervals that miss", found.missedPercent(), 0.05, 6)
	}
}

func TestEquivalentAtMargin(t *testing.T) {
	for _, effect := range []float64{0.05, -0.05} {
		found := mustSimulate(t, trial{noise: normal, cv: 0.02, arms: 4, blocks: 8, marginPercent: 5, effects: []float64{effect}})
		within(t, "false Equivalent", found.equivalent.percent(), 3, 6)
	}
	alike := mustSimulate(t, trial{noise: normal, cv: 0.02, arms: 4, blocks: 8, marginPercent: 5})
	within(t, "right Equivalent", alike.equivalent.percent(), 95, 100)
}

func TestPowerMatchesPlan(t *testing.T) {
	for _, size := range [][2]int{{2, 6}, {2, 10}, {4, 6}, {8, 8}} {
		run := &suite{out: io.Discard, experiments: quick, seed: 7}
		_, found, err := run.measurePower(normal, 0.04, size[0], size[1])
		expect.NoError(t, err)
		within(t, fmt.Sprintf("power of %d arms in %d blocks", size[0], size[1]), found, 75, 85)
	}
}

// Stopping at verdicts has no more errors than a single analysis, and needs fewer blocks;
// interim analyses without a correction have more errors.
func TestStoppingAtVerdicts(t *testing.T) {
	sequential := sequentialTrial{interim: stats.InterimAnalyses{First: 6, Last: 20}}
	of := func(effect float64, naive bool) stopped {
		sequential.naive = naive
		sequential.trial = trial{noise: normal, cv: 0.04, arms: 2, blocks: 20, marginPercent: 5, effects: []float64{effect}}
		found, err := sequential.many(quick, 7)
		expect.NoError(t, err)
		return found
	}
	none, edge := of(0, false), of(0.05, false)
	within(t, "coverage", none.covered.percent(), 93.5, 99)
	within(t, "false differences", none.anyDifferent.percent(), 0, 6)
	within(t, "false Equivalent", edge.equivalent.percent(), 2, 6.5)
	within(t, "false Equivalent of naive interim analyses", of(0.05, true).equivalent.percent(), 7, 30)
	if mean := float64(none.blocks) / quick; mean < 7 || mean > 15 {
		t.Errorf("without an effect: %.1f blocks", mean)
	}
}

// One run per arm finds effects where there are none, most of the time. This also shows
// that the simulation detects errors.
func TestOneRunPerArmHasFalsePositives(t *testing.T) {
	found := onceEach(trial{noise: normal, cv: 0.04, arms: 4}, 5, quick, 7)
	within(t, "false claims of one run per arm", found.wrong.percent(), 40, 60)
	uneven := mustSimulate(t, trial{noise: normal, cv: 0.04, arms: 8, blocks: 6, uneven: 3})
	within(t, "coverage of an arm that spreads three times as much", uneven.coveredFirst.percent(), 60, 90)
}

func TestSameSeedSameOutcome(t *testing.T) {
	of := trial{noise: skewed, cv: 0.04, arms: 3, blocks: 6, missing: 0.1, marginPercent: 5}
	if a, b := mustSimulate(t, of), mustSimulate(t, of); a != b {
		t.Errorf("%+v became %+v", a, b)
	}
}

// The planning and the synthetic experiments share no code for the noise, so that each
// checks the other: twice the spread needs twice the effect.
func TestDetectableEffectScalesWithSpread(t *testing.T) {
	small := stats.Design{Arms: 3, Blocks: 8, Deviation: 0.02, Alpha: 0.05}
	large := small
	large.Deviation = 0.04
	if ratio := large.Detectable(0.8) / small.Detectable(0.8); math.Abs(ratio-2) > 0.01 {
		t.Errorf("the ratio is %v", ratio)
	}
}

// The false-positive rate of histories without change is the specified one, and a large step is
// found at its position.
func TestChanges(t *testing.T) {
	const count = 300
	none, err := course{noise: heavy, points: 20}.judge(count, 3, ours)
	expect.NoError(t, err)
	within(t, "the share of histories with a false change", none.other.percent(), 0.5, 5+300*0.218/math.Sqrt(count))
	step, err := course{noise: normal, points: 20, at: 12, step: 4}.judge(count, 4, ours)
	expect.NoError(t, err)
	within(t, "the share of steps that are found", step.place.percent(), 95, 100)
}

// Intervals of capacities cover the effect, although the levels of runs depend on earlier runs.
// Equal arms seldom differ.
func TestCapacity(t *testing.T) {
	for name, change := range map[string]func(c *capacityTrial){
		"queue":          func(*capacityTrial) {},
		"cliff":          func(c *capacityTrial) { c.system, c.cv = sudden, 0.1 },
		"plateau":        func(c *capacityTrial) { c.system, c.blocks = flat, 25 },
		"effect of 50 %": func(c *capacityTrial) { c.effects = []float64{0.5} },
		"wide, 4 arms":   func(c *capacityTrial) { c.span, c.arms = 256, 4 },
		"integers":       func(c *capacityTrial) { c.users = 4 },
	} {
		t.Run(name, func(t *testing.T) {
			of := usualCapacity(several, 0.05)
			change(&of)
			found, err := repeat(of.experiments(quick), 7, of.once, capacityOutcome.plus)
			expect.NoError(t, err)
			within(t, "coverage", found.covered.percent(), 93, 98)
			within(t, "the share of experiments with a false difference", found.anyDifferent.percent(), 0, 6)
			within(t, "the share without an answer", found.unanswered.percent(), 0, 5)
		})
	}
}

// A comparison of capacities beyond the range has no answer. It does not report the limit of
// the range.
func TestCapacityBeyondRange(t *testing.T) {
	of := usualCapacity(several, 0.05)
	of.place = 1.05
	found, err := repeat(quick, 7, of.once, capacityOutcome.plus)
	expect.NoError(t, err)
	within(t, "the share without an answer", found.unanswered.percent(), 99, 100)
}

// Intervals cover the cost of a fault, and equal arms rarely differ, although the lengths of
// outages vary.
func TestEqualFaults(t *testing.T) {
	of := faultTrial{trial: trial{noise: normal, cv: 0.2, arms: 2, blocks: 8, marginPercent: 5}, base: 10, rate: 20, statistic: metric.LostTime}
	found, err := repeat(300, 7, of.once, faultOutcome.plus)
	expect.NoError(t, err)
	within(t, "coverage", found.covered.percent(), 91, 99)
	within(t, "the share of experiments with a false difference", found.anyDifferent.percent(), 0, 9)
}
