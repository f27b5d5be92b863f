// SPDX-License-Identifier: Apache-2.0

// Package changepoint detects changes in a series of measurements at a given false-positive
// rate. It is pure and has no notion of experiments.
package changepoint

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"perflab.dev/perflab/internal/inference/stats"
)

// ErrPoint means that a point can't be used.
var ErrPoint = errors.New("a point of a series needs at least one finite value")

// Point is a measurement at one time, or of one release.
type Point struct {
	// Values of the runs, on an additive scale: logarithms if ratios are compared. Runs of one
	// point share its day and its build: the point is the unit, and more runs only make it more
	// precise.
	Values []float64
}

// Options define the error rate and the test.
type Options struct {
	// ErrorRate is the share of series without any change in which one may be found. Default 0.05.
	ErrorRate float64
	// Permutations per test of a change. Default 999.
	Permutations int
	// LeastPoints on each side of a change. Default 2: a single point is as likely an outlier.
	LeastPoints int
	// Seed of the permutations: the same series and seed yield the same result.
	Seed uint64
}

const (
	defaultErrorRate    = 0.05
	defaultPermutations = 999
	defaultMinPoints    = 2
)

func (o Options) withDefaults() Options {
	o.ErrorRate = cmp.Or(o.ErrorRate, defaultErrorRate)
	o.Permutations = cmp.Or(o.Permutations, defaultPermutations)
	o.LeastPoints = cmp.Or(o.LeastPoints, defaultMinPoints)
	return o
}

// Change is a change in a series.
type Change struct {
	// At is the index of the first point after it.
	At int
	// P is the p-value of the permutation test that found it.
	P float64
	// Delta is the mean of the points from here to the next change, minus that since the previous
	// change, in the points' unit. The error is that of all points around the means of their
	// segments. It ignores the search for the position, which makes intervals somewhat too narrow.
	Delta stats.Estimate
	// Before and After are those two means.
	Before, After float64
}

// Find returns the changes of a series in order.
//
// It is the E-divisive procedure (Matteson and James, A Nonparametric Approach for Multiple
// Change Point Analysis of Multivariate Data, JASA 2014), which MongoDB uses for its
// performance tests (Daly et al., ICPE 2020): the position with the largest energy distance
// between the points before and after it is tested by permuting the points of each segment. If
// few enough permutations are as extreme, it is a change, and the search continues on both
// sides until no position is significant. Permanent and temporary changes are tested
// separately, each at half of ErrorRate. A series of exchangeable points is reported as
// changed with a probability of ErrorRate, whatever the distribution; with drift or serial
// correlation, more often.
//
// Points that vary more because they have fewer runs weigh less: by the inverse of the
// variance between points plus that of the mean of their runs.
func Find(points []Point, options Options) ([]Change, error) {
	options = options.withDefaults()
	centers := make([]float64, len(points))
	for i, point := range points {
		if centers[i] = mean(point.Values); len(point.Values) == 0 || math.IsNaN(centers[i]) || math.IsInf(centers[i], 0) {
			return nil, fmt.Errorf("%w: point %d has %v", ErrPoint, i+1, point.Values)
		}
	}
	search := &search{
		Options: options, centers: centers, cuts: []int{0, len(points)},
		random: rand.New(rand.NewPCG(options.Seed, uint64(len(points)))),
	}
	search.prepare(pointWeights(points, centers))
	search.run()
	return search.changes(), nil
}

// search is the state of the procedure.
type search struct {
	Options
	centers, weights []float64
	// distances between the points, weighted.
	distances [][]float64
	// pairs is a table for bestSplit: at i and j, with i <= j, the distances of the first i points
	// of a segment to its first j. Its row 0 stays empty.
	pairs [][]float64
	// weight of the first i points of a segment, and its reciprocal.
	weight, share []float64
	// cuts are the bounds of the segments so far, both ends included.
	cuts   []int
	p      map[int]float64
	random *rand.Rand
}

// stepKind of a change.
type stepKind int

// A permanent change lasts to the end of the segment. A temporary one is tested with all possible
// ends, which are many more and would hide permanent changes in a common test. Each kind has half
// of the error rate.
const (
	permanentStep stepKind = iota
	temporaryStep
	kinds
)

func (s *search) run() {
	s.p = map[int]float64{}
	for {
		seen := s.largestSteps(s.segments())
		found, p, real := s.test(seen)
		if !real {
			return
		}
		at := s.cuts[seen[found].segment] + seen[found].at
		s.p[at] = p
		s.cuts = slices.Insert(s.cuts, seen[found].segment+1, at)
	}
}

// segments returns the points between the cuts, in order.
func (s *search) segments() [][]int {
	segments := make([][]int, len(s.cuts)-1)
	for i := range segments {
		for point := s.cuts[i]; point < s.cuts[i+1]; point++ {
			segments[i] = append(segments[i], point)
		}
	}
	return segments
}

// test permutes the points within each segment and counts how often the largest energy of any of
// them reaches the observed one. It stops as soon as no further permutation can make any kind
// significant (Besag and Clifford 1991).
func (s *search) test(seen [kinds]candidate) (found stepKind, p float64, real bool) {
	most := int(s.ErrorRate/float64(kinds)*float64(s.Permutations+1)) - 1
	var reached [kinds]int
	segments := s.segments()
	for range s.Permutations {
		for _, segment := range segments {
			s.random.Shuffle(len(segment), func(a, b int) { segment[a], segment[b] = segment[b], segment[a] })
		}
		drawn := s.largestSteps(segments)
		for kind := range drawn {
			// Sums that differ only by rounding are equal.
			if drawn[kind].energy >= seen[kind].energy*(1-1e-10) {
				reached[kind]++
			}
		}
		if min(reached[permanentStep], reached[temporaryStep]) > most {
			return 0, 1, false
		}
	}
	if reached[temporaryStep] < reached[permanentStep] {
		found = temporaryStep
	}
	p = float64(kinds) * float64(reached[found]+1) / float64(s.Permutations+1)
	return found, p, reached[found] <= most
}

// candidate is the best split of a segment: before its point number at.
type candidate struct {
	segment, at int
	energy      float64
}

// largestSteps returns the candidate with the largest energy in all segments, by kind.
func (s *search) largestSteps(segments [][]int) [kinds]candidate {
	var widest [kinds]candidate
	for i, segment := range segments {
		for kind, one := range s.bestSplit(segment) {
			if one.energy > widest[kind].energy {
				one.segment = i
				widest[kind] = one
			}
		}
	}
	return widest
}

// prepare allocates what all permutations share, because there are tens of thousands of them.
func (s *search) prepare(weights []float64) {
	count := len(s.centers)
	s.weights, s.weight, s.share = weights, make([]float64, count+1), make([]float64, count+1)
	s.distances, s.pairs = square(count), square(count+1)
	for i := range s.distances {
		for j := range s.distances {
			s.distances[i][j] = weights[i] * weights[j] * math.Abs(s.centers[i]-s.centers[j])
		}
	}
}

func square(count int) [][]float64 {
	rows, flat := make([][]float64, count), make([]float64, count*count)
	for i := range rows {
		rows[i], flat = flat[:count:count], flat[count:]
	}
	return rows
}

// bestSplit computes the energy of each split of a segment, by Matteson and James:
// left*right/(left+right) * (2*between/(left*right) - inside/left² - within/right²), expanded, so
// that each split needs only one division.
func (s *search) bestSplit(points []int) [kinds]candidate {
	var best [kinds]candidate
	count := len(points)
	if count < 2*s.LeastPoints {
		return best
	}
	s.sum(points)
	for at := s.LeastPoints; at+s.LeastPoints <= count; at++ {
		row, left, inside := s.pairs[at], s.weight[at], s.pairs[at][at]
		insidePerLeft := inside / left
		for end := at + s.LeastPoints; end <= count; end++ {
			right := s.weight[end] - left
			within := s.pairs[end][end] - 2*row[end] + inside
			energy := (2*(row[end]-inside) - insidePerLeft*right - within*left/right) * s.share[end]
			if energy > best[temporaryStep].energy {
				best[temporaryStep] = candidate{at: at, energy: energy}
			}
			if end == count && energy > best[permanentStep].energy {
				best[permanentStep] = candidate{at: at, energy: energy}
			}
		}
	}
	return best
}

// sum fills pairs, weight and share for the points of a segment.
func (s *search) sum(points []int) {
	for i, one := range points {
		s.weight[i+1] = s.weight[i] + s.weights[one]
		s.share[i+1] = 1 / s.weight[i+1]
		distances, before, row := s.distances[one], s.pairs[i], s.pairs[i+1]
		sum := 0.0
		for _, other := range points[:i] {
			sum += distances[other]
		}
		for j, other := range points[i:] {
			sum += distances[other]
			row[i+j+1] = before[i+j+1] + sum
		}
	}
}

// changes compares the segments' means.
func (s *search) changes() []Change {
	segments := len(s.cuts) - 1
	means := make([]float64, segments)
	var squares float64
	for i := range segments {
		points := s.centers[s.cuts[i]:s.cuts[i+1]]
		means[i] = mean(points)
		for _, value := range points {
			squares += (value - means[i]) * (value - means[i])
		}
	}
	degrees := len(s.centers) - segments
	var found []Change
	for i := 1; i < segments; i++ {
		before, after := s.cuts[i]-s.cuts[i-1], s.cuts[i+1]-s.cuts[i]
		variance := squares / float64(degrees)
		found = append(found, Change{
			At: s.cuts[i], P: s.p[s.cuts[i]], Before: means[i-1], After: means[i],
			Delta: stats.Estimate{
				Value:            means[i] - means[i-1],
				StandardError:    math.Sqrt(variance/float64(before) + variance/float64(after)),
				DegreesOfFreedom: degrees,
			},
		})
	}
	return found
}

// pointWeights returns the inverse variances of the points' means, 1 on average. The variance
// between points is that of neighbours (Rice 1984), few of which differ by a change; that within
// points is from all of them.
func pointWeights(points []Point, centers []float64) []float64 {
	within, share := withinVariance(points, centers)
	between := 0.0
	for i := 1; i < len(centers); i++ {
		between += (centers[i] - centers[i-1]) * (centers[i] - centers[i-1])
	}
	if len(centers) > 1 {
		between = max(0, between/float64(2*(len(centers)-1))-within*share)
	}
	weights := make([]float64, len(points))
	sum := 0.0
	for i, point := range points {
		weights[i] = 1
		if variance := between + within/float64(len(point.Values)); variance > 0 {
			weights[i] = 1 / variance
		}
		sum += weights[i]
	}
	for i := range weights {
		weights[i] *= float64(len(weights)) / sum
	}
	return weights
}

// withinVariance returns the variance of runs around their point's mean, and the average share of
// it in such a mean.
func withinVariance(points []Point, centers []float64) (variance, share float64) {
	squares, degrees := 0.0, 0
	for i, point := range points {
		for _, value := range point.Values {
			squares += (value - centers[i]) * (value - centers[i])
		}
		degrees += len(point.Values) - 1
		share += 1 / float64(len(point.Values)) / float64(len(points))
	}
	if degrees == 0 {
		return 0, share
	}
	return squares / float64(degrees), share
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, value := range values {
		sum += value
	}
	return sum / float64(len(values))
}
