// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"math"
	"slices"
)

// A12 is the chance that a value drawn from a is larger than one drawn from b,
// ties counted half (Vargha and Delaney 2000): 0.5 says no difference. It is
// from ranks, so it says how often, not how much. NaN where either is empty.
func A12(a, b []float64) float64 {
	if len(a) == 0 || len(b) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(b))
	var wins float64
	for _, value := range a {
		below, _ := slices.BinarySearch(sorted, value)
		upTo := below
		for upTo < len(sorted) && sorted[upTo] == value {
			upTo++
		}
		wins += float64(below) + float64(upTo-below)/2
	}
	return wins / float64(len(a)) / float64(len(b))
}

// GeometricMean is the exponential of the mean logarithm; NaN without values
// or where one is not above zero.
func GeometricMean(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	logs := make([]float64, len(values))
	for i, value := range values {
		if value <= 0 {
			return math.NaN()
		}
		logs[i] = math.Log(value)
	}
	return math.Exp(Describe(logs).Mean)
}
