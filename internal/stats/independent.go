// SPDX-License-Identifier: Apache-2.0

package stats

import "math"

// Difference of two estimates that share no data, such as the effects that two
// experiments found: value minus base. The errors need not be alike (Welch
// 1947); the degrees of freedom are Satterthwaite's (1946), rounded down, which
// widens the interval. Of two sample means this is Welch's t test.
func Difference(value, base Estimate) Estimate {
	difference := Estimate{Value: value.Value - base.Value, StandardError: math.NaN()}
	if !value.Sure() || !base.Sure() {
		difference.Warnings = []Warning{WarningNoInterval}
		return difference
	}
	own, other := value.StandardError*value.StandardError, base.StandardError*base.StandardError
	difference.StandardError = math.Sqrt(own + other)
	if difference.StandardError == 0 {
		difference.DegreesOfFreedom = min(value.DegreesOfFreedom, base.DegreesOfFreedom)
		difference.Warnings = []Warning{WarningNoSpread}
		return difference
	}
	degrees := (own + other) * (own + other) /
		(own*own/float64(value.DegreesOfFreedom) + other*other/float64(base.DegreesOfFreedom))
	// Never fewer than the smaller experiment's, but for a rounding error.
	difference.DegreesOfFreedom = max(int(degrees+1e-9), min(value.DegreesOfFreedom, base.DegreesOfFreedom))
	return difference
}
