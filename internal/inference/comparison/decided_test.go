// SPDX-License-Identifier: Apache-2.0

package comparison_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/inference/stats"
	"perflab.dev/perflab/internal/inference/verdict"
)

// No interval contradicts its verdict, for any data.
func TestIntervalsAgreeWithVerdicts(t *testing.T) {
	seen := map[verdict.Verdict]int{}
	for seed := range uint64(300) {
		drawn := drawExperiment(rand.New(rand.NewPCG(seed, 17)))
		found, err := drawn.table.Compare(drawn.options)
		if err != nil {
			t.Fatalf("experiment %d: %v", seed, err)
		}
		for i := range found {
			c := &found[i]
			seen[c.Verdict]++
			if complaint := contradicts(c, drawn.options.MarginPercent); complaint != "" {
				t.Errorf("experiment %d, %s of %s: %s: %q %+.6g (%+.6g to %+.6g), p %g, sign-flip %g, adjusted %g",
					seed, c.Metric, c.Arm, complaint, c.Verdict, c.Delta, c.Low, c.High, c.P, c.Permutation, c.Adjusted)
			}
		}
	}
	for _, each := range []verdict.Verdict{verdict.Better, verdict.Worse, verdict.Equivalent, verdict.Inconclusive, verdict.None} {
		if seen[each] < 20 {
			t.Errorf("%q came %d times: the experiments drawn show little", each, seen[each])
		}
	}
}

// contradicts describes how an interval contradicts its verdict; empty if it does not.
func contradicts(c *comparison.Comparison, marginPercent float64) string {
	if math.IsNaN(c.Low) {
		if c.Verdict != verdict.None {
			return "a verdict without an interval"
		}
		return ""
	}
	margin := marginPercent
	if c.Scale == comparison.Difference {
		margin *= math.Abs(c.BaselineCenter) / 100
	}
	const rounding = 1e-9
	within := c.Low >= -margin-rounding && c.High <= margin+rounding
	excludes := c.Low > 0 || c.High < 0
	rises := c.Delta > 0
	switch {
	case c.Low > c.Delta || c.High < c.Delta:
		return "the delta is outside of its interval"
	case c.Verdict == verdict.Equivalent && !within:
		return "Equivalent beyond the margin"
	case c.Verdict == verdict.Inconclusive && (within || excludes):
		return "Inconclusive, and the interval decides"
	case (c.Verdict == verdict.Better || c.Verdict == verdict.Worse) && !excludes:
		return "a significant difference, and the interval includes 0"
	case c.Verdict == verdict.Better && rises != (c.Metric[0] == 'h'), c.Verdict == verdict.Worse && rises == (c.Metric[0] == 'h'):
		return "the wrong way"
	}
	return ""
}

type drawnExperiment struct {
	table   *comparison.Table
	options comparison.Options
}

// drawExperiment generates arms, metrics and blocks, some of them missing, effects from none to
// large, noise with and without outliers, and interim analyses.
func drawExperiment(random *rand.Rand) drawnExperiment {
	arms, metrics, blocks := 2+random.IntN(3), 1+random.IntN(8), 4+random.IntN(12)
	drawn := drawnExperiment{comparison.NewTable(), comparison.Options{
		Baseline: "arm-0", MarginPercent: float64(1 + random.IntN(10)), ConfidencePercent: []float64{90, 95, 99}[random.IntN(3)],
		Primary:   func(name string) bool { return name[1] == 'p' },
		Direction: func(name, _ string) verdict.Direction { return verdict.NewDirection(name[0] == 'h', true) },
		Seed:      random.Uint64(),
	}}
	if arms > 2 && random.IntN(2) == 0 {
		drawn.options.Twin = "arm-1"
	}
	if random.IntN(3) == 0 {
		drawn.options.Interim = stats.InterimAnalyses{First: 6, Last: 6 + random.IntN(10)}
	}
	for number := range metrics {
		name := fmt.Sprintf("%c%c-%d", "lh"[random.IntN(2)], "pe"[random.IntN(2)], number)
		draw := drawSeries(random, arms)
		for block := range blocks {
			for arm := range arms {
				if random.IntN(30) > 0 || block == 0 {
					drawn.add(block, arm, name, draw(block, arm))
				}
			}
		}
	}
	return drawn
}

func (d drawnExperiment) add(block, arm int, name string, value float64) {
	err := d.table.Add(comparison.Observation{
		Block: strconv.Itoa(block), Arm: "arm-" + strconv.Itoa(arm), Scenario: "s", Metric: name, Unit: "ms", Value: value,
	})
	if err != nil {
		panic(err)
	}
}

// drawSeries generates the value of a metric in each run.
func drawSeries(random *rand.Rand, arms int) func(block, arm int) float64 {
	spread := []float64{0, 0.002, 0.02, 0.1}[random.IntN(4)]
	center := []float64{100, 0.001, 0}[random.IntN(3)]
	effects := make([]float64, arms)
	for arm := range arms {
		effects[arm] = []float64{0, 0.01, -0.05, 0.2}[random.IntN(4)]
	}
	hasOutliers := random.IntN(3) == 0
	return func(block, arm int) float64 {
		noise := spread * random.NormFloat64()
		if hasOutliers && random.IntN(8) == 0 {
			noise *= 20
		}
		return center + math.Max(center, 1)*(effects[arm]+noise+0.01*float64(block%3))
	}
}
