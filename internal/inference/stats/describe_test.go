// SPDX-License-Identifier: Apache-2.0

package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"perflab.dev/perflab/internal/inference/stats"
	"perflab.dev/perflab/internal/testing/expect"
)

func TestDescribe(t *testing.T) {
	cases := map[string]struct {
		values          []float64
		mean, deviation float64
	}{
		"textbook":                 {[]float64{2, 4, 4, 4, 5, 5, 7, 9}, 5, 2.138089935299395},
		"alike":                    {[]float64{3, 3, 3}, 3, 0},
		"one":                      {[]float64{7}, 7, math.NaN()},
		"none":                     {nil, math.NaN(), math.NaN()},
		"large against its spread": {[]float64{1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16}, 1e9 + 10, math.Sqrt(30)},
	}
	for name, test := range cases {
		got := stats.Describe(test.values)
		if got.N != len(test.values) || !near(got.Mean, test.mean) || !near(got.StandardDeviation, test.deviation) {
			t.Errorf("%s: got %+v, want mean %v and deviation %v", name, got, test.mean, test.deviation)
		}
	}
}

func TestDeltaPercent(t *testing.T) {
	cases := []struct {
		value, base, want float64
		ok                bool
	}{
		{110, 100, 10, true},
		{90, 100, -10, true},
		{-90, -100, 10, true},
		{5, 0, 0, false},
		{math.NaN(), 1, 0, false},
		{1, math.NaN(), 0, false},
	}
	for _, test := range cases {
		got, ok := stats.DeltaPercent(test.value, test.base)
		if ok != test.ok || !near(got, test.want) {
			t.Errorf("DeltaPercent(%v, %v) = %v, %v, want %v, %v", test.value, test.base, got, ok, test.want, test.ok)
		}
	}
}

func near(a, b float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-9*math.Max(1, math.Abs(b))
}

// newLine has n points from x on, with a level and a slope, and noise.
func newLine(random *rand.Rand, n int, x, level, slope, noise float64) stats.Line {
	var drawn stats.Line
	for i := range n {
		at := x + float64(i)/10
		drawn.X, drawn.Y = append(drawn.X, at), append(drawn.Y, level+slope*at+noise*random.NormFloat64())
	}
	return drawn
}

// The levels of parallel lines do not affect their slope.
func TestCommonSlopeIgnoresLevels(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	before, after := newLine(random, 12, 0, 100, 3, 1), newLine(random, 9, 1.5, 20, 3, 1)
	got, err := stats.CommonSlope(before, after)
	expect.NoError(t, err)
	for i := range after.Y {
		after.Y[i] += 1e4
	}
	shifted, err := stats.CommonSlope(before, after)
	expect.NoError(t, err)
	checkEqual(t, "slope", shifted.Value, got.Value)
	checkEqual(t, "error", shifted.StandardError, got.StandardError)
	if got.DegreesOfFreedom != 12+9-3 {
		t.Errorf("%d degrees of freedom, want those that two levels and a slope leave of 21 points", got.DegreesOfFreedom)
	}
}

// Intervals of the common slope contain the true one at the requested rate.
func TestCommonSlopeCoverage(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	const draws = 4000
	held := 0
	for range draws {
		got, err := stats.CommonSlope(newLine(random, 6, 0, 5, 2, 1), newLine(random, 3, 4, -5, 2, 1), newLine(random, 1, 9, 0, 2, 1))
		expect.NoError(t, err)
		if low, high := got.Interval(0.95); low <= 2 && 2 <= high {
			held++
		}
	}
	if share := 100 * float64(held) / draws; math.Abs(share-95) > 1.1 {
		t.Errorf("95 %% intervals hold the truth in %.1f %%", share)
	}
}

func TestCommonSlopeRejectsInvalidInput(t *testing.T) {
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
