// SPDX-License-Identifier: Apache-2.0

package comparison

import (
	"math"

	"perflab.dev/perflab/internal/inference/stats"
	"perflab.dev/perflab/internal/measure/metric"
)

// Scale defines how an arm's value is compared with the baseline's.
type Scale string

// Ratio compares logarithms and reports percent of the baseline. Difference compares plain
// values and reports the metric's unit.
const (
	Ratio      Scale = "ratio"
	Difference Scale = "difference"
)

// ChooseScale returns the scale of values in a unit: logarithms if all are above zero, because
// effects on times and rates are shares and the spread grows with the value. NaN is no value.
func ChooseScale(unit string, values []float64) Scale {
	if unit == metric.UnitPercent {
		return Difference
	}
	for _, value := range values {
		if value <= 0 {
			return Difference
		}
	}
	return Ratio
}

// Transform converts values to the scale.
func (s Scale) Transform(values []float64) []float64 {
	if s != Ratio {
		return values
	}
	logs := make([]float64, len(values))
	for i, value := range values {
		logs[i] = math.Log(value)
	}
	return logs
}

// Center returns the geometric mean of values on the ratio scale, else their mean.
func (s Scale) Center(values []float64) float64 {
	if s == Ratio {
		return stats.GeometricMean(values)
	}
	return stats.Describe(values).Mean
}

// CenterWord describes what the center is.
func (s Scale) CenterWord() string {
	if s == Ratio {
		return "geometric mean"
	}
	return "mean"
}

// Margin converts the equivalence margin, in percent of the baseline's center, to the scale.
func (s Scale) Margin(marginPercent, center float64) (low, high float64) {
	share := marginPercent / 100
	if s == Ratio {
		// A margin of 100 % has no lower end: no value falls by more.
		return math.Log(math.Max(1-share, 0)), math.Log1p(share)
	}
	high = share * math.Abs(center)
	return -high, high
}

// Display converts an effect on the scale of a fit for users: percent, or the metric's unit.
func (s Scale) Display(effect float64) float64 {
	if s == Ratio {
		return 100 * math.Expm1(effect)
	}
	return effect
}
