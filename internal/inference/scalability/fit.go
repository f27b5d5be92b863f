// SPDX-License-Identifier: Apache-2.0

package scalability

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"perflab.dev/perflab/internal/inference/stats"
)

// Reasons why a law is unknown.
var (
	ErrFewLevels = errors.New("throughput is known at fewer than 4 levels")
	ErrMisfit    = errors.New("throughput differs systematically from the law")
)

// Point is the throughput of a number of users, at least 1.
type Point struct{ Users, Throughput float64 }

// Fit is the law of a system, with intervals.
type Fit struct {
	Law
	LambdaInterval, SigmaInterval, KappaInterval, PeakInterval Interval
	// Deviation is the root mean square of throughput over the law, less 1.
	Deviation float64
	// Runs and Points that were fitted.
	Runs, Points int
}

const (
	// minLevels is the number of levels that a test of three parameters requires.
	minLevels = 4
	// minRuns is the number of runs that an interval requires.
	minRuns = 3
	// parameters of the law. The next term of the polynomial tests the fit.
	parameters, withTest = 3, 4
	// negligible is a systematic relative difference that does not matter.
	negligible = 0.02
)

// FromRuns fits the law to the levels of all runs.
//
// Gunther's transformation makes it linear: N/X = 1/λ + σ/λ (N-1) + κ/λ N(N-1). The weights are
// the squares of X/N, since throughput varies by a share of itself: the sum of the squares of
// X/X(N)-1 is minimal (Carroll and Ruppert, Transformation and Weighting in Regression, 1988,
// chapter 2). No coefficient is negative.
//
// The runs are the unit: intervals have the t distribution of their number, and are of the fit
// without the bounds. The error is ErrMisfit if the next term of the polynomial is different from 0
// (Ramsey, Tests for Specification Errors, Journal of the Royal Statistical Society B, 1969), or a
// coefficient is below 0.
func FromRuns(runs [][]Point, confidence float64) (Fit, error) {
	data := newSample(runs)
	if data.levels() < minLevels {
		return Fit{}, ErrFewLevels
	}
	bounded, known := data.fitBounded()
	if !known || bounded[0] <= 0 {
		return Fit{}, ErrMisfit
	}
	fit := Fit{Law: data.law(bounded), Runs: len(data.runs), Points: len(data.points())}
	fit.LambdaInterval, fit.SigmaInterval, fit.KappaInterval, fit.PeakInterval = unknown, unknown, unknown, unknown
	fit.Deviation = rootMeanSquare(data.residuals(bounded))
	free, known := data.fitFree(parameters)
	if !known {
		return fit, nil
	}
	if data.misfits(bounded, free, confidence) {
		return fit, ErrMisfit
	}
	fit.setIntervals(data.most, free, confidence)
	return fit, nil
}

// setIntervals of the parameters, which are ratios of coefficients.
func (f *Fit) setIntervals(most float64, of freeFit, confidence float64) {
	t := stats.TQuantile((1+confidence)/2, of.degrees)
	a, b, c := []float64{1, 0, 0}, []float64{0, 1 / most, 0}, []float64{0, 0, 1 / most / most}
	inverse := normal{top: 1, bottom: of.value[0], bottomVariance: of.covariance.At(0, 0)}
	f.LambdaInterval = inverse.ratio(t).notNegative().around(f.Lambda)
	f.SigmaInterval = of.ratio(b, a).ratio(t).notNegative().around(f.Sigma)
	f.KappaInterval = of.ratio(c, a).ratio(t).notNegative().around(f.Kappa)
	f.PeakInterval = of.ratio([]float64{1, -1 / most, 0}, c).ratio(t).notNegative().sqrt().around(f.Peak())
}

// sample has the points of each run.
type sample struct {
	runs [][]Point
	// most users of a point; it keeps the columns of the equations alike in size.
	most float64
}

// newSample omits points without throughput, and runs without points.
func newSample(runs [][]Point) sample {
	var data sample
	for _, run := range runs {
		own := slices.DeleteFunc(slices.Clone(run), func(at Point) bool { return !(at.Users >= 1) || !(at.Throughput > 0) })
		for _, at := range own {
			data.most = math.Max(data.most, at.Users)
		}
		if len(own) > 0 {
			data.runs = append(data.runs, own)
		}
	}
	return data
}

func (s sample) points() []Point { return slices.Concat(s.runs...) }

// levels counts the different ones.
func (s sample) levels() int {
	different := map[float64]bool{}
	for _, at := range s.points() {
		different[at.Users] = true
	}
	return len(different)
}

// terms of the polynomial at a point: 1, N-1, N(N-1) and N(N-1)(N-2), in multiples of the most
// users, as shares of N/X.
func (s sample) terms(at Point) [withTest]float64 {
	n, share := at.Users, at.Throughput/at.Users
	first, second := (n-1)/s.most, n/s.most*(n-1)/s.most
	return [withTest]float64{share, first * share, second * share, second * (n - 2) / s.most * share}
}

// solve fits some terms: the squares of their sums less 1 are minimal.
func (s sample) solve(terms ...int) (coefficients []float64, known bool) {
	points := s.points()
	if len(points) < len(terms) {
		return nil, false
	}
	left, right := mat.NewDense(len(points), len(terms), nil), mat.NewVecDense(len(points), nil)
	for i, at := range points {
		all := s.terms(at)
		for j, term := range terms {
			left.Set(i, j, all[term])
		}
		right.SetVec(i, 1)
	}
	var solved mat.VecDense
	if err := solved.SolveVec(left, right); err != nil {
		return nil, false
	}
	return solved.RawVector().Data, true
}

// fitBounded returns the coefficients of the best fit without negative ones. It is among the fits
// in which some are 0, because the problem is convex.
func (s sample) fitBounded() (best []float64, known bool) {
	least := math.Inf(1)
	for chosen := 1; chosen < 1<<parameters; chosen++ {
		var terms []int
		for term := range parameters {
			if chosen>>term&1 == 1 {
				terms = append(terms, term)
			}
		}
		solved, is := s.solve(terms...)
		if !is || floats.Min(solved) < 0 {
			continue
		}
		fit := make([]float64, parameters)
		for i, term := range terms {
			fit[term] = solved[i]
		}
		if deviation := rootMeanSquare(s.residuals(fit)); deviation < least {
			least, best = deviation, fit
		}
	}
	return best, best != nil
}

// residuals are throughput over that of a fit, less 1.
func (s sample) residuals(coefficients []float64) []float64 {
	var all []float64
	for _, at := range s.points() {
		terms := s.terms(at)
		all = append(all, floats.Dot(terms[:len(coefficients)], coefficients)-1)
	}
	return all
}

func rootMeanSquare(values []float64) float64 {
	return floats.Norm(values, 2) / math.Sqrt(float64(len(values)))
}

func (s sample) law(coefficients []float64) Law {
	a, b, c := coefficients[0], coefficients[1]/s.most, coefficients[2]/s.most/s.most
	return Law{Lambda: 1 / a, Sigma: b / a, Kappa: c / a}
}

// misfits reports whether the runs contradict the law by more than what is negligible.
func (s sample) misfits(bounded []float64, free freeFit, confidence float64) bool {
	isNegative := func(term int) bool {
		_, high := free.coefficient(term).Interval(confidence)
		return high < 0
	}
	if (isNegative(1) || isNegative(2)) && s.differ(bounded, free.value) {
		return true
	}
	tested, known := s.fitFree(withTest)
	return known && tested.coefficient(parameters).P() < 1-confidence && s.differ(bounded, tested.value)
}

// differ reports whether two fits are different by more than what is negligible.
func (s sample) differ(bounded, other []float64) bool {
	difference := s.residuals(bounded)
	floats.Sub(difference, s.residuals(other))
	return rootMeanSquare(difference) > negligible
}
