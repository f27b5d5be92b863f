// SPDX-License-Identifier: Apache-2.0

// Package scalability fits the Universal Scalability Law to throughput at several levels of a
// closed load (Gunther, Guerrilla Capacity Planning, 2007, chapters 4 and 5). It is pure and has no
// notion of experiments.
package scalability

import "math"

// Law is the throughput X(N) = λN / (1 + σ(N-1) + κN(N-1)) of N users.
type Law struct {
	// Lambda is λ, the throughput of one user.
	Lambda float64
	// Sigma is σ, the share of the work that only one user can do at a time (contention).
	Sigma float64
	// Kappa is κ, the share of the work by which each pair of users delays each other (coherency).
	Kappa float64
}

// At returns the throughput of a number of users.
func (l Law) At(users float64) float64 {
	return l.Lambda * users / (1 + l.Sigma*(users-1) + l.Kappa*users*(users-1))
}

// Peak returns the number of users with the largest throughput; infinite if it always grows.
func (l Law) Peak() float64 {
	if l.Sigma >= 1 {
		return 1
	}
	return math.Max(1, math.Sqrt((1-l.Sigma)/l.Kappa))
}

// Interval is a confidence interval. Both ends are NaN if it is unknown; High is infinite if there
// is no upper end.
type Interval struct{ Low, High float64 }

// unknown is the interval for too few runs.
var unknown = Interval{math.NaN(), math.NaN()}

// sqrt is the interval of the square root.
func (i Interval) sqrt() Interval { return Interval{math.Sqrt(i.Low), math.Sqrt(i.High)} }

// around is the interval, widened to a value: that of a fit with bounds may be outside the interval
// of one without.
func (i Interval) around(value float64) Interval {
	return Interval{math.Min(i.Low, value), math.Max(i.High, value)}
}

// notNegative returns the part of an interval that is not negative.
func (i Interval) notNegative() Interval { return Interval{math.Max(0, i.Low), math.Max(0, i.High)} }

// normal is the joint distribution of a numerator and a denominator.
type normal struct{ top, bottom, topVariance, bottomVariance, covariance float64 }

// ratio is the interval of a ratio whose denominator is positive (Fieller, Some Problems in
// Interval Estimation, Journal of the Royal Statistical Society B, 1954): the ratios r for which
// top - r bottom is within t deviations of 0. It has no end where the denominator may be 0.
func (n normal) ratio(t float64) Interval {
	a := n.bottom*n.bottom - t*t*n.bottomVariance
	b := n.top*n.bottom - t*t*n.covariance
	c := n.top*n.top - t*t*n.topVariance
	root := math.Sqrt(b*b - a*c)
	low, high := (b-root)/a, (b+root)/a
	switch {
	case a > 0 && math.IsNaN(root): // Rounded: the interval has no width.
		return Interval{b / a, b / a}
	case a > 0:
		return Interval{low, high}
	case math.IsNaN(root) || a == 0:
		return Interval{math.Inf(-1), math.Inf(1)}
	case n.top*n.bottomVariance > n.covariance*n.bottom: // The numerator is positive where the denominator is 0.
		return Interval{math.Max(low, high), math.Inf(1)}
	}
	return Interval{math.Inf(-1), math.Min(low, high)}
}
