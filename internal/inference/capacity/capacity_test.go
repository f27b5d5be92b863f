// SPDX-License-Identifier: Apache-2.0

package capacity

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"perflab.dev/perflab/internal/testing/expect"
)

func TestMargin(t *testing.T) {
	for name, tc := range map[string]struct {
		value, limit float64
		bound        Bound
		want         float64
	}{
		"half of a maximum":           {500, 1000, Max, math.Ln2},
		"twice a maximum":             {2000, 1000, Max, -math.Ln2},
		"at a maximum":                {1000, 1000, Max, 0},
		"far below a maximum":         {1, 1000, Max, 1},
		"far above a maximum":         {1e6, 1000, Max, -1},
		"endless":                     {math.Inf(1), 1000, Max, -1},
		"half of a minimum":           {5, 10, Min, -math.Ln2},
		"twice a minimum":             {20, 10, Min, math.Ln2},
		"at a minimum":                {10, 10, Min, 0},
		"none of a minimum":           {0, 10, Min, -1},
		"none of a maximum":           {0, 1, Max, 1},
		"negative, with a maximum":    {-3, 1, Max, 1},
		"none, and none may be":       {0, 0, Max, 1},
		"some, and none may be":       {3, 0, Max, -1},
		"a falling lag":               {-2, 0, Max, 1},
		"a minimum of 0":              {0, 0, Min, 1},
		"below a minimum of 0":        {-1, 0, Min, -1},
		"a negative limit that holds": {-5, -2, Max, 1},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Margin(tc.value, tc.limit, tc.bound); math.Abs(got-tc.want) > 1e-12 {
				t.Errorf("%v, want %v", got, tc.want)
			}
		})
	}
	for _, missing := range []float64{Margin(math.NaN(), 1, Max), Margin(1, math.NaN(), Min)} {
		if !math.IsNaN(missing) {
			t.Errorf("%v of what was not measured", missing)
		}
	}
}

// atLoads returns levels of 1, 2, 4 and so on, with a margin of one objective each.
func atLoads(margins ...float64) []Level {
	levels := make([]Level, len(margins))
	for i, margin := range margins {
		levels[i] = Level{Load: math.Pow(2, float64(i)), Margins: []float64{margin}}
	}
	return levels
}

var nan, inf = math.NaN(), math.Inf(1)

func TestFromRun(t *testing.T) {
	for name, tc := range map[string]struct {
		levels []Level
		want   Estimate
	}{
		"between two levels":     {atLoads(1, 0.5, -0.5, -1), Estimate{Load: 2 * math.Sqrt2, Low: 2, High: 4, Side: Within}},
		"at a level":             {atLoads(1, 0, -1), Estimate{Load: 2, Low: 2, High: 4, Side: Within}},
		"a cliff":                {atLoads(1, 1, -1, -1), Estimate{Load: 2 * math.Sqrt2, Low: 2, High: 4, Side: Within}},
		"no level holds":         {atLoads(-0.2, -1), Estimate{Load: 1, Low: 0, High: 1, Side: Below}},
		"all levels hold":        {atLoads(1, 0.2), Estimate{Load: 2, Low: 2, High: inf, Side: Above, Limiting: -1}},
		"one level":              {atLoads(0.3), Estimate{Load: 1, Low: 1, High: inf, Side: Above, Limiting: -1}},
		"no level":               {nil, Estimate{Load: nan, High: inf, Limiting: -1}},
		"nothing measured":       {atLoads(nan, nan), Estimate{Load: nan, High: inf, Limiting: -1}},
		"a level not measured":   {atLoads(1, nan, -1), Estimate{Load: 2, Low: 1, High: 4, Side: Within}},
		"a level fails too soon": {atLoads(1, -0.5, 0.5, -1, -1), Estimate{Load: math.Pow(2, 1.5), Low: 1, High: 8, Side: Within, NonMonotone: true}},
		"a little too soon":      {atLoads(1, -0.05, 0.5, -1), Estimate{Load: math.Pow(2, 1.5+1.5*0.225/1.225), Low: 1, High: 8, Side: Within}},
		"two objectives": {
			[]Level{{1, []float64{1, 0.5}}, {2, []float64{0.9, -0.5}}, {4, []float64{-0.5, -1}}},
			Estimate{Load: math.Sqrt2, Low: 1, High: 2, Side: Within, Limiting: 1},
		},
		"one objective not measured": {
			[]Level{{1, []float64{1, nan}}, {2, []float64{-1, nan}}}, Estimate{Load: math.Sqrt2, Low: 1, High: 2, Side: Within},
		},
		"one of two never holds": {
			[]Level{{1, []float64{1, -1}}, {2, []float64{-1, -1}}}, Estimate{Load: 1, Low: 0, High: 1, Side: Below, Limiting: 1},
		},
		"a level twice": {
			[]Level{{1, []float64{1}}, {2, []float64{0.5}}, {2, []float64{-0.1}}, {4, []float64{-0.2}}},
			Estimate{Load: 2 * math.Sqrt2, Low: 2, High: 4, Side: Within},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := FromRun(tc.levels)
			if math.Abs(got.Load-tc.want.Load) > 1e-9 || math.IsNaN(got.Load) != math.IsNaN(tc.want.Load) {
				t.Errorf("load %v, want %v", got.Load, tc.want.Load)
			}
			got.Load, tc.want.Load = 0, 0
			expect.Equal(t, tc.want, got)
		})
	}
}

// The order of levels does not matter, and they stay as they are.
func TestFromRunOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		levels := atLoads(1, 0.8, 0.3, -0.4, -1)
		for i := range levels {
			levels[i].Margins[0] += 0.5 * random.NormFloat64()
		}
		want := FromRun(levels)
		random.Shuffle(len(levels), func(i, j int) { levels[i], levels[j] = levels[j], levels[i] })
		before := slices.Clone(levels)
		expect.Equal(t, want, FromRun(levels))
		expect.Equal(t, before, levels)
	}
}

func TestFirstLevelsSpanRange(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	expect.Equal(t, []float64{1, 2, 4, 8, 16}, rounded(Next(Range{Min: 1, Max: 16, Count: 5}, nil, random)))
	expect.Equal(t, []float64{1, 2, 3}, Next(Range{Min: 1, Max: 3, Count: 5, Integer: true}, nil, random))
	unknown := []Estimate{{Load: nan}}
	expect.Equal(t, []float64{10, 20, 40}, rounded(Next(Range{Min: 10, Max: 40, Count: 3}, unknown, random)))
}

func rounded(levels []float64) []float64 {
	for i, level := range levels {
		levels[i] = math.Round(1e9*level) / 1e9
	}
	return levels
}

// Levels ascend within the range, whatever earlier runs showed.
func TestNextStaysInRange(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 1))
	for range 2000 {
		r := Range{Min: 1 + float64(random.IntN(50)), Count: 2 + random.IntN(8), Integer: random.IntN(2) == 0}
		r.Max = r.Min + 1 + float64(random.IntN(500))
		var earlier []Estimate
		for range random.IntN(5) {
			margins := make([]float64, 4)
			for i := range margins {
				margins[i] = random.NormFloat64()
			}
			earlier = append(earlier, FromRun(atLoads(margins...)))
		}
		levels := Next(r, earlier, random)
		if len(levels) == 0 || len(levels) > r.Count || levels[0] < r.Min || levels[len(levels)-1] > r.Max || !slices.IsSorted(levels) {
			t.Fatalf("%+v after %+v: %v", r, earlier, levels)
		}
		for i, level := range levels {
			if r.Integer && level != math.Round(level) || i > 0 && level == levels[i-1] {
				t.Fatalf("%+v: %v", r, levels)
			}
		}
	}
}

// A system that gives way at a fixed load is bracketed ever closer, and its capacity found
// without bias.
func TestRunsConverge(t *testing.T) {
	for _, capacity := range []float64{15, 77, 333} {
		random := rand.New(rand.NewPCG(3, uint64(capacity)))
		r := Range{Min: 10, Max: 500, Count: 5}
		var runs []Estimate
		for range 12 {
			var levels []Level
			for _, load := range Next(r, runs, random) {
				levels = append(levels, Level{Load: load, Margins: []float64{Margin(load, capacity, Max)}})
			}
			runs = append(runs, FromRun(levels))
		}
		for _, run := range runs[2:] {
			if math.Abs(math.Log(run.Load/capacity)) > 0.01 || run.High/run.Low > 1.6 {
				t.Errorf("capacity %v: %+v", capacity, run)
			}
		}
	}
}
