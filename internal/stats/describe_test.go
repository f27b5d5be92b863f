// SPDX-License-Identifier: Apache-2.0

package stats_test

import (
	"math"
	"testing"

	"perflab.dev/perflab/internal/stats"
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
