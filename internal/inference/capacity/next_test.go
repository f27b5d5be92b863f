// SPDX-License-Identifier: Apache-2.0

package capacity

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"perflab.dev/perflab/internal/testing/expect"
)

func rounded(levels []float64) []float64 {
	for i, level := range levels {
		levels[i] = math.Round(1e9*level) / 1e9
	}
	return levels
}

// at returns a run with precise levels around this boundary.
func at(load float64) Estimate {
	return Estimate{Load: load, Low: load / 1.01, High: load * 1.01, Side: Within}
}

// span of levels, as a factor.
func span(levels []float64) float64 { return levels[len(levels)-1] / levels[0] }

func TestFirstLevelsSpanRange(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	wide := Range{Min: 1, Max: 16, Count: 5}
	for name, others := range map[string][][]Estimate{"the first arm": nil, "another arm has runs": {{at(3)}}} {
		t.Run(name, func(t *testing.T) {
			expect.Equal(t, []float64{1, 2, 4, 8, 16}, rounded(Next(wide, nil, others, random)))
		})
	}
	expect.Equal(t, []float64{1, 2, 3}, Next(Range{Min: 1, Max: 3, Count: 5, Integer: true}, nil, nil, random))
}

// Without a boundary, the next run searches the range at other levels.
func TestSearchGoesOn(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for name, run := range map[string]Estimate{"nothing measured": {Load: nan}, "below": {Load: 0.9, High: 1, Side: Below}, "above": {Load: 17, Low: 16, High: inf, Side: Above}} {
		t.Run(name, func(t *testing.T) {
			levels := Next(Range{Min: 1, Max: 16, Count: 5}, []Estimate{run}, nil, random)
			if levels[len(levels)-1]/levels[0] < 8 || slices.Contains(levels, 4) {
				t.Errorf("%v", levels)
			}
		})
	}
}

// Levels ascend within the range, whatever earlier runs showed.
func TestNextStaysInRange(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 1))
	for range 2000 {
		r := Range{Min: 1 + float64(random.IntN(50)), Count: 2 + random.IntN(8), Integer: random.IntN(2) == 0}
		r.Max = r.Min + 1 + float64(random.IntN(500))
		var runs [3][]Estimate
		for arm := range runs {
			for range random.IntN(5) {
				margins := make([]float64, 4)
				for i := range margins {
					margins[i] = random.NormFloat64()
				}
				runs[arm] = append(runs[arm], FromRun(atLoads(margins...)))
			}
		}
		levels := Next(r, runs[0], runs[1:], random)
		if len(levels) == 0 || len(levels) > r.Count || levels[0] < r.Min || levels[len(levels)-1] > r.Max {
			t.Fatalf("%+v after %+v: %v", r, runs, levels)
		}
		for i, level := range levels {
			if r.Integer && level != math.Round(level) || i > 0 && level <= levels[i-1] {
				t.Fatalf("%+v: %v", r, levels)
			}
		}
	}
}

func TestIntegersAreFilled(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	runs := slices.Repeat([]Estimate{at(3)}, 40)
	for _, tc := range []struct {
		min, max float64
		want     []float64
	}{{1, 100, []float64{1, 2, 3, 4, 5}}, {3, 100, []float64{3, 4, 5, 6, 7}}, {1, 4, []float64{1, 2, 3, 4}}} {
		expect.Equal(t, tc.want, Next(Range{Min: tc.min, Max: tc.max, Count: 5, Integer: true}, runs, nil, random))
	}
}

// The levels lie around the arm's own boundary, with the spread of the runs of all arms.
func TestLevelsFollowRuns(t *testing.T) {
	r := Range{Min: 1, Max: 1000, Count: 5}
	calm, spread := slices.Repeat([]Estimate{at(50)}, 8), []Estimate{at(75), at(150), at(100), at(70), at(140), at(100)}
	for name, tc := range map[string]struct {
		own           []Estimate
		others        [][]Estimate
		center        float64
		least, widest float64
	}{
		"runs alike":               {calm, nil, 50, 1.3, 1.8},
		"runs that spread":         {spread, nil, 100, 4, 8},
		"another arm that spreads": {calm, [][]Estimate{spread}, 50, 2.4, 4},
		"another arm, alike":       {calm, [][]Estimate{slices.Repeat([]Estimate{at(500)}, 8)}, 50, 1.3, 1.7},
		"one run":                  {calm[:1], nil, 50, 4, 6},
		"one disturbed run":        {append(slices.Clone(calm), Estimate{Load: 3, Low: 1, High: 1000, Side: Within}), nil, 50, 1.3, 1.9},
	} {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(3, 1))
			var centers, spans float64
			const count = 400
			for range count {
				levels := Next(r, tc.own, tc.others, random)
				centers += math.Log(levels[2]) / count
				spans += math.Log(span(levels)) / count
			}
			if center := math.Exp(centers); math.Abs(math.Log(center/tc.center)) > 0.03 {
				t.Errorf("around %v, want %v", center, tc.center)
			}
			if got := math.Exp(spans); got < tc.least || got > tc.widest {
				t.Errorf("a span of %v, want %v to %v", got, tc.least, tc.widest)
			}
		})
	}
}

// Levels approach the boundary of a system that fails at a fixed load, without bias.
func TestRunsConverge(t *testing.T) {
	for _, capacity := range []float64{15, 77, 333} {
		random := rand.New(rand.NewPCG(3, uint64(capacity)))
		r := Range{Min: 10, Max: 500, Count: 5}
		var runs []Estimate
		var late float64
		const first, count = 20, 200
		for i := range first + count {
			var levels []Level
			for _, load := range Next(r, runs, nil, random) {
				margin := 1.0
				if load > capacity {
					margin = -1
				}
				levels = append(levels, Level{Load: load, Margins: []float64{margin}})
			}
			runs = append(runs, FromRun(levels))
			if i >= first {
				late += math.Log(runs[i].Load/capacity) / count
			}
		}
		if last := runs[len(runs)-1]; last.High/last.Low > 1.1 || math.Abs(late) > 0.01 {
			t.Errorf("capacity %v: %+v, off by %.1f %%", capacity, last, 100*late)
		}
	}
}
