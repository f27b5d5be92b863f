// SPDX-License-Identifier: Apache-2.0

// Package stats describes and compares samples of numbers. It has no notion of experiments.
package stats

import "math"

// Summary describes a sample of runs. It makes no claim beyond the sample.
type Summary struct {
	// N is the number of values.
	N int
	// Mean is the arithmetic mean; NaN without values.
	Mean float64
	// StandardDeviation is that of the sample (divisor N-1); NaN for fewer than two values.
	StandardDeviation float64
}

// Describe summarises values by Welford's method, which stays exact for values that are large
// compared with their spread.
func Describe(values []float64) Summary {
	if len(values) == 0 {
		return Summary{Mean: math.NaN(), StandardDeviation: math.NaN()}
	}
	var mean, squares float64
	for i, value := range values {
		distance := value - mean
		mean += distance / float64(i+1)
		squares += distance * (value - mean)
	}
	deviation := math.NaN()
	if len(values) > 1 {
		deviation = math.Sqrt(squares / float64(len(values)-1))
	}
	return Summary{N: len(values), Mean: mean, StandardDeviation: deviation}
}

// DeltaPercent returns the difference between value and base in percent of base; false if base is
// zero or either is not a number.
func DeltaPercent(value, base float64) (float64, bool) {
	if base == 0 || math.IsNaN(base) || math.IsNaN(value) {
		return 0, false
	}
	return 100 * (value - base) / math.Abs(base), true
}

// GeometricMean returns the exponential of the mean logarithm; NaN without values or if one is not
// above zero.
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
