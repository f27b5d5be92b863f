// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
)

// Slope is the change of y per unit of x by simple linear regression, with its
// t interval (Draper and Smith, Applied Regression Analysis, chapter 1). It
// tells drift over blocks or growth over time from noise. Values that follow
// each other closely in time depend on each other, which makes the interval
// too narrow. It fails where x and y differ in length or x does not vary.
func Slope(x, y []float64) (Estimate, error) {
	if len(x) != len(y) {
		return Estimate{}, fmt.Errorf("a slope needs as many x as y, not %d and %d", len(x), len(y))
	}
	if len(x) < 2 || stat.Variance(x, nil) == 0 {
		return Estimate{}, fmt.Errorf("a slope needs at least two different x")
	}
	intercept, slope := stat.LinearRegression(x, y, nil, false)
	estimate := Estimate{Value: slope, StandardError: math.NaN(), DegreesOfFreedom: len(x) - 2}
	if estimate.DegreesOfFreedom == 0 {
		estimate.Warnings = []Warning{WarningNoInterval}
		return estimate, nil
	}
	var squares, size float64
	for i := range x {
		residual := y[i] - intercept - slope*x[i]
		squares += residual * residual
		size = math.Max(size, math.Abs(y[i]))
	}
	deviation := math.Sqrt(squares / float64(estimate.DegreesOfFreedom))
	if deviation <= noise*size {
		deviation = 0
		estimate.Warnings = []Warning{WarningNoSpread}
	}
	estimate.StandardError = deviation / math.Sqrt(stat.Variance(x, nil)*float64(len(x)-1))
	return estimate, nil
}
