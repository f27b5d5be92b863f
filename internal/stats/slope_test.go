// SPDX-License-Identifier: Apache-2.0

package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"perflab.dev/perflab/internal/stats"
	"perflab.dev/perflab/internal/testing/expect"
)

// line of n points from x on, with a level and a slope of its own, under noise.
func line(random *rand.Rand, n int, x, level, slope, noise float64) stats.Line {
	var drawn stats.Line
	for i := range n {
		at := x + float64(i)/10
		drawn.X, drawn.Y = append(drawn.X, at), append(drawn.Y, level+slope*at+noise*random.NormFloat64())
	}
	return drawn
}

// The levels of parallel lines say nothing of their slope.
func TestCommonSlopeKnowsNoLevels(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	before, after := line(random, 12, 0, 100, 3, 1), line(random, 9, 1.5, 20, 3, 1)
	got, err := stats.CommonSlope(before, after)
	expect.NoError(t, err)
	for i := range after.Y {
		after.Y[i] += 1e4
	}
	shifted, err := stats.CommonSlope(before, after)
	expect.NoError(t, err)
	alike(t, "slope", shifted.Value, got.Value)
	alike(t, "error", shifted.StandardError, got.StandardError)
	if got.DegreesOfFreedom != 12+9-3 {
		t.Errorf("%d degrees of freedom, want those that two levels and a slope leave of 21 points", got.DegreesOfFreedom)
	}
}

// Intervals of the common slope hold the true one as often as they say.
func TestCommonSlopeHoldsTheTruth(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	const draws = 4000
	held := 0
	for range draws {
		got, err := stats.CommonSlope(line(random, 6, 0, 5, 2, 1), line(random, 3, 4, -5, 2, 1), line(random, 1, 9, 0, 2, 1))
		expect.NoError(t, err)
		if low, high := got.Interval(0.95); low <= 2 && 2 <= high {
			held++
		}
	}
	if share := 100 * float64(held) / draws; math.Abs(share-95) > 1.1 {
		t.Errorf("95 %% intervals hold the truth in %.1f %%", share)
	}
}

func TestCommonSlopeRefuses(t *testing.T) {
	for why, lines := range map[string][]stats.Line{
		"no lines":               nil,
		"points, each by itself": {{X: []float64{1}, Y: []float64{2}}, {X: []float64{3}, Y: []float64{4}}},
		"y missing":              {{X: []float64{1, 2}, Y: []float64{2}}},
	} {
		if got, err := stats.CommonSlope(lines...); err == nil {
			t.Errorf("%s have a slope: %v", why, got)
		}
	}
}
