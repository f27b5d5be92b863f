// SPDX-License-Identifier: Apache-2.0

package changepoint

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"perflab.dev/perflab/internal/testing/expect"
)

// noisy returns a point for each mean, with this many runs each, and noise with a deviation of 1.
func noisy(seed uint64, runs int, means ...float64) []Point {
	random := rand.New(rand.NewPCG(seed, 0))
	points := make([]Point, len(means))
	for i, mean := range means {
		for range runs {
			points[i].Values = append(points[i].Values, mean+random.NormFloat64())
		}
	}
	return points
}

// level repeats a mean.
func level(mean float64, times int) []float64 { return slices.Repeat([]float64{mean}, times) }

func findPositions(t *testing.T, points []Point, options Options) []int {
	t.Helper()
	changes, err := Find(points, options)
	expect.NoError(t, err)
	var found []int
	for _, change := range changes {
		found = append(found, change.At)
	}
	return found
}

func TestFind(t *testing.T) {
	for name, tc := range map[string]struct {
		means []float64
		want  []int
	}{
		"nothing changes":               {level(0, 30), nil},
		"a step":                        {slices.Concat(level(0, 12), level(5, 12)), []int{12}},
		"up and down again":             {slices.Concat(level(0, 10), level(6, 10), level(0, 10)), []int{10, 20}},
		"two steps up":                  {slices.Concat(level(0, 10), level(6, 10), level(12, 10)), []int{10, 20}},
		"one point that is out of line": {slices.Concat(level(0, 10), level(9, 1), level(0, 10)), nil},
		"the last two points":           {slices.Concat(level(0, 12), level(9, 2)), []int{12}},
		"too short for any":             {slices.Concat(level(0, 2), level(9, 2)), nil},
		"a single point":                {level(0, 1), nil},
		"no point":                      {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			expect.Equal(t, tc.want, findPositions(t, noisy(7, 4, tc.means...), Options{}))
		})
	}
}

// Equal points have no spread, and no change.
func TestFindWithoutSpread(t *testing.T) {
	if found := findPositions(t, []Point{{[]float64{3}}, {[]float64{3}}, {[]float64{3}}, {[]float64{3}}, {[]float64{3}}}, Options{}); found != nil {
		t.Errorf("found %v", found)
	}
	step := slices.Concat(slices.Repeat([]Point{{[]float64{3}}}, 8), slices.Repeat([]Point{{[]float64{4}}}, 8))
	expect.Equal(t, []int{8}, findPositions(t, step, Options{}))
}

func TestFindRejectsInvalidPoints(t *testing.T) {
	for name, bad := range map[string][]float64{"no run": nil, "not a number": {1, math.NaN()}, "infinite": {math.Inf(1)}} {
		if _, err := Find([]Point{{[]float64{1}}, {bad}}, Options{}); !errors.Is(err, ErrPoint) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDelta(t *testing.T) {
	changes, err := Find(noisy(3, 4, slices.Concat(level(1, 15), level(4, 20))...), Options{})
	if err != nil || len(changes) != 1 {
		t.Fatal(changes, err)
	}
	got := changes[0]
	// Four runs with a spread of 1 each: 0.5 per point, and this many points on each side.
	wanted := 0.5 * math.Sqrt(1.0/15+1.0/20)
	if math.Abs(got.Delta.Value-3) > 3*wanted || got.Delta.DegreesOfFreedom != 33 || math.Abs(got.Delta.StandardError/wanted-1) > 0.4 {
		t.Errorf("%+v, want 3 with an error of about %.2f", got.Delta, wanted)
	}
	if got.After-got.Before != got.Delta.Value || got.P > 0.01 {
		t.Errorf("%+v", got)
	}
}

// The fast computation of the energy agrees with its definition.
func TestBestSplitMatchesDefinition(t *testing.T) {
	points := noisy(5, 3, slices.Concat(level(0, 6), level(2, 5), level(1, 4))...)
	points[3].Values, points[8].Values = points[3].Values[:1], points[8].Values[:2]
	centers := make([]float64, len(points))
	order := make([]int, len(points))
	for i := range points {
		centers[i], order[i] = mean(points[i].Values), i
	}
	s := &search{Options: Options{}.withDefaults(), centers: centers}
	s.prepare(pointWeights(points, centers))
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
	var want [kinds]candidate
	for at := s.LeastPoints; at+s.LeastPoints <= len(order); at++ {
		for end := at + s.LeastPoints; end <= len(order); end++ {
			energy := s.energy(order[:at], order[at:end])
			if energy > want[temporaryStep].energy {
				want[temporaryStep] = candidate{at: at, energy: energy}
			}
			if end == len(order) && energy > want[permanentStep].energy {
				want[permanentStep] = candidate{at: at, energy: energy}
			}
		}
	}
	for kind, got := range s.bestSplit(order) {
		if got.at != want[kind].at || math.Abs(got.energy-want[kind].energy) > 1e-9 {
			t.Errorf("%+v, want %+v", got, want[kind])
		}
	}
}

// energy is twice the mean distance between points of both, minus the mean distances within each,
// times the harmonic sum of their weights.
func (s *search) energy(left, right []int) float64 {
	distance := func(a, b []int) (sum, weight float64) {
		for _, i := range a {
			for _, j := range b {
				w := s.weights[i] * s.weights[j]
				sum, weight = sum+w*math.Abs(s.centers[i]-s.centers[j]), weight+w
			}
		}
		return sum, weight
	}
	mean := func(a, b []int) float64 { sum, weight := distance(a, b); return sum / weight }
	_, l := distance(left, left)
	_, r := distance(right, right)
	l, r = math.Sqrt(l), math.Sqrt(r)
	return l * r / (l + r) * (2*mean(left, right) - mean(left, left) - mean(right, right))
}

func TestWeights(t *testing.T) {
	points := noisy(9, 4, level(0, 40)...)
	for i := range points[:20] {
		points[i].Values = points[i].Values[:1]
	}
	centers := make([]float64, len(points))
	for i := range points {
		centers[i] = mean(points[i].Values)
	}
	weights := pointWeights(points, centers)
	if ratio := weights[39] / weights[0]; ratio < 1.5 || ratio > 4.01 {
		t.Errorf("a point of four runs weighs %.2f times one of a single run, want up to 4", ratio)
	}
	if sum := mean(weights); math.Abs(sum-1) > 1e-9 {
		t.Errorf("weights are %.3f on average", sum)
	}
}

// The same series and seed yield the same result, on any linear scale.
func TestFindIsReproducible(t *testing.T) {
	points := noisy(11, 3, slices.Concat(level(0, 9), level(1.5, 9), level(0, 9))...)
	first := findPositions(t, points, Options{Seed: 4})
	expect.Equal(t, first, findPositions(t, points, Options{Seed: 4}))
	scaled := make([]Point, len(points))
	for i, point := range points {
		for _, value := range point.Values {
			scaled[i].Values = append(scaled[i].Values, -2*value+100)
		}
	}
	expect.Equal(t, first, findPositions(t, scaled, Options{Seed: 4}))
}

// Of series without change, at most the requested share is reported to have one.
func TestFindFalsePositiveRate(t *testing.T) {
	const series, asked = 400, 0.1
	alarms := 0
	for seed := range uint64(series) {
		if findPositions(t, noisy(1000+seed, 2, level(0, 16)...), Options{ErrorRate: asked, Permutations: 199, Seed: seed}) != nil {
			alarms++
		}
	}
	// Four standard errors of a share of 0.1 in 400.
	if most := int(series * (asked + 4*math.Sqrt(asked*(1-asked)/series))); alarms > most || alarms < series/50 {
		t.Errorf("%d alarms in %d series without change, want about %d", alarms, series, int(series*asked))
	}
}

// BenchmarkFind uses series of two changes, and of none, for which most of the permutations are
// skipped.
func BenchmarkFind(b *testing.B) {
	for _, count := range []int{12, 48, 192} {
		for name, height := range map[string]float64{"none": 0, "two": 4} {
			points := noisy(1, 3, slices.Concat(level(0, count/3), level(height, count/3), level(0, count/3))...)
			b.Run(fmt.Sprintf("%s/%d", name, count), func(b *testing.B) {
				for b.Loop() {
					if _, err := Find(points, Options{}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
