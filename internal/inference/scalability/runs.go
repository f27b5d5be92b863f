// SPDX-License-Identifier: Apache-2.0

package scalability

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"perflab.dev/perflab/internal/inference/stats"
)

// freeFit has the coefficients of a fit without bounds, and their covariance.
type freeFit struct {
	value      []float64
	covariance *mat.Dense
	degrees    int
}

// fitFree fits the first terms; false with too few runs or levels.
//
// The relative deviation of a throughput is that of its run plus that of its level (Searle, Casella
// and McCulloch, Variance Components, 1992). A run deviates at all of its levels, and only the
// first run of an arm has low levels: coefficients would otherwise look far more precise.
func (s sample) fitFree(terms int) (freeFit, bool) {
	chosen := make([]int, terms)
	for i := range chosen {
		chosen[i] = i
	}
	value, known := s.solve(chosen...)
	if !known || len(s.runs) < minRuns || len(s.points()) <= terms {
		return freeFit{}, false
	}
	spread, known := s.spread(value)
	return freeFit{value, spread, len(s.runs) - 1}, known
}

// spread is the covariance of the coefficients of a fit.
func (s sample) spread(value []float64) (*mat.Dense, bool) {
	terms, points := len(value), float64(len(s.points()))
	// All are sums over the rows of the equations: of squares, of squares of the runs' sums, and
	// of squares within runs.
	all, ofRuns, within := mat.NewDense(terms, terms, nil), mat.NewDense(terms, terms, nil), mat.NewDense(terms, terms, nil)
	var deviations, deviationsWithin float64
	for _, run := range s.runs {
		row, deviation, known := s.rows(run, value)
		if !known {
			return nil, false
		}
		var squares, outer mat.Dense
		squares.Mul(row.T(), row)
		sum := make([]float64, terms)
		for i := range run {
			floats.Add(sum, row.RawRowView(i))
		}
		outer.Outer(1, mat.NewVecDense(terms, sum), mat.NewVecDense(terms, sum))
		all.Add(all, &squares)
		ofRuns.Add(ofRuns, &outer)
		outer.Scale(1/float64(len(run)), &outer)
		squares.Sub(&squares, &outer)
		within.Add(within, &squares)
		total := floats.Sum(deviation)
		deviations += floats.Dot(deviation, deviation)
		deviationsWithin += floats.Dot(deviation, deviation) - total*total/float64(len(run))
	}
	var inverse, runsShare, withinShare, both mat.Dense
	if err := inverse.Inverse(all); err != nil {
		return nil, false
	}
	runsShare.Mul(&inverse, ofRuns)
	withinShare.Mul(&inverse, within)
	both.Mul(&withinShare, &runsShare)
	ofLevel, ofRun := components(
		[2]float64{points - float64(len(s.runs)) - mat.Trace(&withinShare), mat.Trace(&both)},
		[2]float64{points - float64(terms), points - mat.Trace(&runsShare)},
		deviationsWithin, deviations)
	var middle, covariance mat.Dense
	middle.Scale(ofRun, ofRuns)
	all.Scale(ofLevel, all)
	middle.Add(&middle, all)
	covariance.Product(&inverse, &middle, &inverse)
	return &covariance, true
}

// rows of a run's equations, whose sums are N/X over that of the fit, and their deviations; false
// if the fit is not positive.
func (s sample) rows(run []Point, value []float64) (*mat.Dense, []float64, bool) {
	rows, deviations := mat.NewDense(len(run), len(value), nil), make([]float64, len(run))
	for i, at := range run {
		terms := s.terms(at)
		own := terms[:len(value)]
		share := floats.Dot(own, value)
		if !(share > 0) {
			return nil, nil, false
		}
		deviations[i] = 1/share - 1
		for j := range own {
			rows.Set(i, j, own[j]/share)
		}
	}
	return rows, deviations, true
}

// components are the variances of levels and runs, from sums of squares within runs and of all,
// whose expectations are these multiples of both.
func components(within, all [2]float64, squaresWithin, squares float64) (ofLevel, ofRun float64) {
	ofRun = (squares*within[0] - squaresWithin*all[0]) / (all[1]*within[0] - within[1]*all[0])
	if !(ofRun > 0) {
		return squares / all[0], 0
	}
	return math.Max(0, (squares-ofRun*all[1])/all[0]), ofRun
}

// coefficient of a term.
func (f freeFit) coefficient(term int) stats.Estimate {
	return stats.Estimate{Value: f.value[term], StandardError: math.Sqrt(f.covariance.At(term, term)), DegreesOfFreedom: f.degrees}
}

// ratio of two sums of coefficients with these weights.
func (f freeFit) ratio(top, bottom []float64) normal {
	over, under := mat.NewVecDense(len(top), top), mat.NewVecDense(len(bottom), bottom)
	return normal{
		top: floats.Dot(top, f.value), bottom: floats.Dot(bottom, f.value),
		topVariance: mat.Inner(over, f.covariance, over), bottomVariance: mat.Inner(under, f.covariance, under),
		covariance: mat.Inner(over, f.covariance, under),
	}
}
