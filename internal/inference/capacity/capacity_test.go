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
		"half of a maximum":           {500, 1000, Max, 1},
		"twice a maximum":             {2000, 1000, Max, -0.5},
		"below a maximum":             {800, 1000, Max, 0.25},
		"at a maximum":                {1000, 1000, Max, 0},
		"far below a maximum":         {1, 1000, Max, 1},
		"far above a maximum":         {1e6, 1000, Max, -0.999},
		"endless":                     {math.Inf(1), 1000, Max, -1},
		"half of a minimum":           {5, 10, Min, -0.5},
		"twice a minimum":             {20, 10, Min, 1},
		"above a minimum":             {11, 10, Min, 0.1},
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
		"between two levels": {atLoads(1, 0.5, -0.5, -1), Estimate{Load: 2 * math.Sqrt2, Low: 2, High: 4, Side: Within, Coarse: true}},
		"near a level":       {atLoads(1, 0.1, -0.9), Estimate{Load: 2 * math.Pow(2, 0.1), Low: 2, High: 4, Side: Within, Coarse: true}},
		"at a level":         {atLoads(1, 0, -1), Estimate{Load: 2, Low: 2, High: 4, Side: Within, Coarse: true}},
		"a cliff":            {atLoads(1, 1, -1, -1), Estimate{Load: 2 * math.Sqrt2, Low: 2, High: 4, Side: Within, Coarse: true}},
		"levels close together": {
			[]Level{{10, []float64{0.5}}, {12, []float64{0.1}}, {15, []float64{-0.2}}},
			Estimate{Load: 12 * math.Pow(1.25, 1.0/3), Low: 12, High: 15, Side: Within},
		},
		"no level holds":           {atLoads(-0.25, -1), Estimate{Load: math.Pow(2, -0.2), Low: 0, High: 1, Side: Below, Coarse: true}},
		"no level holds by far":    {atLoads(-1, -1), Estimate{Load: math.Pow(2, -0.5), Low: 0, High: 1, Side: Below, Coarse: true}},
		"all levels hold":          {atLoads(1, 0.25), Estimate{Load: 2 * math.Pow(2, 0.2), Low: 2, High: inf, Side: Above, Limiting: -1, Coarse: true}},
		"all levels hold by far":   {atLoads(1, 1), Estimate{Load: 2 * math.Sqrt2, Low: 2, High: inf, Side: Above, Limiting: -1, Coarse: true}},
		"one level, which holds":   {atLoads(1), Estimate{Load: math.Sqrt(coarseStep), Low: 1, High: inf, Side: Above, Limiting: -1, Coarse: true}},
		"one level, which fails":   {atLoads(-1), Estimate{Load: 1 / math.Sqrt(coarseStep), Low: 0, High: 1, Side: Below, Coarse: true}},
		"no level":                 {nil, Estimate{Load: nan, High: inf, Limiting: -1}},
		"nothing measured":         {atLoads(nan, nan), Estimate{Load: nan, High: inf, Limiting: -1}},
		"no objective":             {[]Level{{1, nil}}, Estimate{Load: nan, High: inf, Limiting: -1}},
		"a level not measured":     {atLoads(1, nan, -1), Estimate{Load: 2, Low: 1, High: 4, Side: Within, Coarse: true}},
		"a level fails too soon":   {atLoads(1, -0.5, 0.75, -1, -1), Estimate{Load: 4 * math.Pow(2, 0.125/1.125), Low: 4, High: 8, Side: Within, NonMonotone: true, Coarse: true}},
		"a level fails for good":   {atLoads(1, -0.5, 0.25, -1, -1), Estimate{Load: math.Pow(2, 1/1.125), Low: 1, High: 2, Side: Within, NonMonotone: true, Coarse: true}},
		"a little too soon":        {atLoads(1, -0.05, 0.5, -1), Estimate{Load: 4 * math.Pow(2, 0.225/1.225), Low: 4, High: 8, Side: Within, Coarse: true}},
		"the lowest level fails":   {atLoads(-0.2, 1, 1, -1), Estimate{Load: 4 * math.Pow(2, 0.6/1.6), Low: 4, High: 8, Side: Within, NonMonotone: true, Coarse: true}},
		"holds again at the top":   {atLoads(1, -1, -1, 0.2), Estimate{Load: math.Pow(2, 1/1.6), Low: 1, High: 2, Side: Within, NonMonotone: true, Coarse: true}},
		"two objectives":           {[]Level{{1, []float64{1, 0.5}}, {2, []float64{0.9, -0.5}}, {4, []float64{-0.5, -1}}}, Estimate{Load: math.Sqrt2, Low: 1, High: 2, Side: Within, Limiting: 1, Coarse: true}},
		"one objective unmeasured": {[]Level{{1, []float64{nan, 1}}, {2, []float64{nan, -1}}}, Estimate{Load: math.Sqrt2, Low: 1, High: 2, Side: Within, Limiting: 1, Coarse: true}},
		"one of two never holds":   {[]Level{{1, []float64{1, -1}}, {2, []float64{-1, -1}}}, Estimate{Load: math.Sqrt(0.5), Low: 0, High: 1, Side: Below, Limiting: 1, Coarse: true}},
		"one of two always holds":  {[]Level{{1, []float64{1, 1}}, {2, []float64{-1, 1}}}, Estimate{Load: math.Sqrt2, Low: 1, High: 2, Side: Within, Coarse: true}},
		"a level twice":            {[]Level{{1, []float64{1}}, {2, []float64{0.5}}, {2, []float64{-0.1}}, {4, []float64{-0.2}}}, Estimate{Load: 2 * math.Sqrt2, Low: 2, High: 4, Side: Within, Coarse: true}},
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

// The order of levels does not matter, and does not change.
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

// The boundary lies in its bracket, beyond the levels only if none or all held, and scales with
// the loads.
func TestFromRunProperties(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		margins := make([]float64, 2+random.IntN(6))
		for i := range margins {
			margins[i] = math.Max(-1, math.Min(1, 2-float64(i)+random.NormFloat64()))
		}
		levels := atLoads(margins...)
		run := FromRun(levels)
		if run.Low > run.Load || run.High < run.Load {
			t.Fatalf("%v: %+v", margins, run)
		}
		if above := run.Load > levels[len(levels)-1].Load; above != (run.Side == Above) && run.Load != levels[len(levels)-1].Load {
			t.Fatalf("%v: %+v", margins, run)
		}
		for i := range levels {
			levels[i].Load *= 10
		}
		if scaled := FromRun(levels); math.Abs(scaled.Load/run.Load-10) > 1e-9 {
			t.Fatalf("%v: %v, and %v at ten times the load", margins, run.Load, scaled.Load)
		}
	}
}

func TestOutside(t *testing.T) {
	within, below, above := Estimate{Side: Within}, Estimate{Side: Below}, Estimate{Side: Above}
	for name, tc := range map[string]struct {
		runs []Estimate
		want Side
	}{
		"no run":       {nil, Unknown},
		"all within":   {slices.Repeat([]Estimate{within}, 3), Within},
		"one in three": {[]Estimate{within, above, within}, Within},
		"two in five":  {[]Estimate{within, above, above, within, within}, Above},
		"all below":    {slices.Repeat([]Estimate{below}, 6), Below},
		"both sides":   {[]Estimate{within, below, above, below}, Below},
		"not measured": {[]Estimate{{}, {}}, Unknown},
		"one measured": {[]Estimate{{}, {}, within}, Within},
	} {
		t.Run(name, func(t *testing.T) { expect.Equal(t, tc.want, Outside(tc.runs)) })
	}
}
