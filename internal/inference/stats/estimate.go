// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"math"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/stat/distuv"
)

// Warning is a limit of a number. It accompanies the number.
type Warning string

// Warnings of this package.
const (
	// WarningNoInterval: no residual degrees of freedom are left, so the
	// spread is unknown.
	WarningNoInterval Warning = "NoInterval"
	// WarningNoSpread: the model fits without any residual. The interval has no width: the values
	// are alike, which does not mean that they are certain.
	WarningNoSpread Warning = "NoSpread"
	// WarningUnconnected: no chain of shared blocks leads to the reference.
	WarningUnconnected Warning = "Unconnected"
)

var messages = map[Warning]string{
	WarningNoInterval:  "too few runs for an interval",
	WarningNoSpread:    "the runs show no spread at all",
	WarningUnconnected: "shares no block with the baseline, directly or through other arms",
}

// Message returns the warning for users.
func (w Warning) Message() string { return messages[w] }

// Estimate is an effect with its uncertainty.
type Estimate struct {
	// Value is the estimated effect, in the unit of the model (a difference of logarithms or of
	// plain values). NaN if there is none.
	Value float64
	// StandardError of Value; NaN without degrees of freedom.
	StandardError float64
	// DegreesOfFreedom of the residual that estimates the error.
	DegreesOfFreedom int
	// Warnings about limits of the estimate.
	Warnings []Warning
}

// HasInterval reports whether the estimate has an interval.
func (e Estimate) HasInterval() bool {
	return e.DegreesOfFreedom > 0 && !math.IsNaN(e.Value) && !math.IsNaN(e.StandardError)
}

// Interval returns the two-sided t interval (Student 1908) at a confidence between 0 and 1. Both
// ends are NaN if the estimate has none.
func (e Estimate) Interval(confidence float64) (low, high float64) {
	if !e.HasInterval() {
		return math.NaN(), math.NaN()
	}
	half := TQuantile((1+confidence)/2, e.DegreesOfFreedom) * e.StandardError
	return e.Value - half, e.Value + half
}

// P returns the two-sided p-value of the t test against zero; NaN if the estimate has no interval.
func (e Estimate) P() float64 {
	if !e.HasInterval() {
		return math.NaN()
	}
	return 2 * upperTail(math.Abs(e.Value), e.StandardError, e.DegreesOfFreedom)
}

// Equivalence returns the p-value of two one-sided tests (Schuirmann 1987): the larger of the
// p-values against "at most low" and "at least high". It is at most alpha exactly if the 1-2*alpha
// interval lies within the bounds.
func (e Estimate) Equivalence(low, high float64) float64 {
	if !e.HasInterval() {
		return math.NaN()
	}
	return math.Max(
		upperTail(e.Value-low, e.StandardError, e.DegreesOfFreedom),
		upperTail(high-e.Value, e.StandardError, e.DegreesOfFreedom),
	)
}

// upperTail returns the probability of a t statistic of at least distance/deviation.
func upperTail(distance, deviation float64, degrees int) float64 {
	if deviation == 0 {
		switch {
		case distance > 0:
			return 0
		case distance < 0:
			return 1
		}
		return 0.5
	}
	// The lower tail keeps its digits where the upper would round to 0.
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(degrees)}.CDF(-distance / deviation)
}

// TQuantile returns the quantile of Student's t distribution.
func TQuantile(probability float64, degrees int) float64 {
	key := quantile{probability, degrees}
	if known, found := quantiles.Load(key); found {
		return known.(float64)
	}
	value := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(degrees)}.Quantile(probability)
	if quantileCount.Add(1) <= maxQuantiles {
		quantiles.Store(key, value)
	}
	return value
}

// A quantile takes long to compute, and an experiment needs the same few for each of its metrics.
type quantile struct {
	probability float64
	degrees     int
}

const maxQuantiles = 1 << 14

var (
	quantiles     sync.Map
	quantileCount atomic.Int64
)

// Difference returns the difference of two estimates that share no data, such as the effects in two
// experiments: value minus base. The errors may differ (Welch 1947); the degrees of freedom are
// Satterthwaite's (1946), rounded down, which widens the interval. For two sample means this is
// Welch's t test.
func Difference(value, base Estimate) Estimate {
	difference := Estimate{Value: value.Value - base.Value, StandardError: math.NaN()}
	if !value.HasInterval() || !base.HasInterval() {
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
	// Rounding errors must not make it fewer than the smaller experiment's.
	difference.DegreesOfFreedom = max(int(degrees+1e-9), min(value.DegreesOfFreedom, base.DegreesOfFreedom))
	return difference
}
