// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
)

// Line is y over x, in any order.
type Line struct{ X, Y []float64 }

// Slope returns the change of y per unit of x by simple linear regression, with its t interval
// (Draper and Smith, Applied Regression Analysis, chapter 1). It shows drift over blocks or growth
// over time. Values that are close in time depend on each other, which makes the interval too
// narrow. It fails if x and y differ in length or x does not vary.
func Slope(x, y []float64) (Estimate, error) { return CommonSlope(Line{x, y}) }

// CommonSlope returns the common slope of several lines with different levels: parallel lines
// (Draper and Smith, chapter 14), for series that continue at another level after an interruption.
// It fails like Slope, if x varies in no line.
func CommonSlope(lines ...Line) (Estimate, error) {
	var points int
	var varied, together, size float64
	for _, line := range lines {
		if len(line.X) != len(line.Y) {
			return Estimate{}, fmt.Errorf("a slope needs as many x as y, not %d and %d", len(line.X), len(line.Y))
		}
		points += len(line.X)
		x, y := stat.Mean(line.X, nil), stat.Mean(line.Y, nil)
		for i := range line.X {
			varied += (line.X[i] - x) * (line.X[i] - x)
			together += (line.X[i] - x) * (line.Y[i] - y)
			size = math.Max(size, math.Abs(line.Y[i]))
		}
	}
	if varied == 0 {
		return Estimate{}, fmt.Errorf("a slope needs at least two different x")
	}
	estimate := Estimate{Value: together / varied, StandardError: math.NaN(), DegreesOfFreedom: points - len(lines) - 1}
	if estimate.DegreesOfFreedom <= 0 {
		estimate.DegreesOfFreedom, estimate.Warnings = 0, []Warning{WarningNoInterval}
		return estimate, nil
	}
	deviation := math.Sqrt(residualSquares(estimate.Value, lines) / float64(estimate.DegreesOfFreedom))
	if deviation <= noise*size {
		deviation = 0
		estimate.Warnings = []Warning{WarningNoSpread}
	}
	estimate.StandardError = deviation / math.Sqrt(varied)
	return estimate, nil
}

// residualSquares of parallel lines of the slope, each through its own mean.
func residualSquares(slope float64, lines []Line) float64 {
	var squares float64
	for _, line := range lines {
		x, y := stat.Mean(line.X, nil), stat.Mean(line.Y, nil)
		for i := range line.X {
			residual := line.Y[i] - y - slope*(line.X[i]-x)
			squares += residual * residual
		}
	}
	return squares
}
