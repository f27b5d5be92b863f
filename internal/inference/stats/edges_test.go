// SPDX-License-Identifier: Apache-2.0

package stats_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"perflab.dev/perflab/internal/inference/stats"
	"perflab.dev/perflab/internal/testing/expect"
)

// Shuffled cells, and blocks shifted by a constant, yield the same effects.
func TestBlockModelIgnoresOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	var cells []stats.Cell
	for arm := range 4 {
		for block := range 6 {
			if arm != 2 || block != 3 {
				cells = append(cells, stats.Cell{Arm: arm, Block: block, Value: float64(arm) + random.NormFloat64()})
			}
		}
	}
	before := fit(t, cells, false)
	moved := slices.Clone(cells)
	random.Shuffle(len(moved), func(i, j int) { moved[i], moved[j] = moved[j], moved[i] })
	for i := range moved {
		moved[i].Value += 100 * float64(moved[i].Block)
	}
	after := fit(t, moved, false)
	for arm := range 4 {
		a, b := before.Effect(arm), after.Effect(arm)
		if math.Abs(a.Value-b.Value) > 1e-9 || math.Abs(a.StandardError-b.StandardError) > 1e-9 {
			t.Errorf("arm %d: %+v became %+v", arm, a, b)
		}
	}
}

func TestBlockModelWithoutInterval(t *testing.T) {
	one := fit(t, []stats.Cell{{Arm: 0, Value: 1}, {Arm: 1, Value: 3}}, false)
	got := one.Effect(1)
	if math.Abs(got.Value-2) > 1e-12 || got.HasInterval() || !math.IsNaN(got.P()) || !slices.Contains(got.Warnings, stats.WarningNoInterval) {
		t.Errorf("one block gives %+v", got)
	}
	if low, _ := got.Interval(0.95); !math.IsNaN(low) {
		t.Errorf("one block has an interval from %v", low)
	}
}

// Arm 2 shares no block with the reference, arm 1 does; arm 3 shares one with arm 1.
func TestBlockModelConnection(t *testing.T) {
	model := fit(t, []stats.Cell{
		{Arm: 0, Block: 0, Value: 1},
		{Arm: 1, Block: 0, Value: 2},
		{Arm: 1, Block: 1, Value: 5},
		{Arm: 3, Block: 1, Value: 9},
		{Arm: 2, Block: 2, Value: 4},
	}, false)
	if got := model.Effect(3).Value; math.Abs(got-5) > 1e-12 {
		t.Errorf("by way of arm 1, arm 3 is %v, want 5", got)
	}
	got := model.Effect(2)
	if !math.IsNaN(got.Value) || !slices.Contains(got.Warnings, stats.WarningUnconnected) {
		t.Errorf("an arm apart gives %+v", got)
	}
}

func TestBlockModelWithoutSpread(t *testing.T) {
	var cells []stats.Cell
	for block := range 6 {
		// Tenths are not exact in binary.
		cells = append(cells, stats.Cell{Arm: 0, Block: block, Value: 0.1 * float64(block)}, stats.Cell{Arm: 1, Block: block, Value: 0.1*float64(block) + 0.3})
	}
	model := fit(t, cells, false)
	got := model.Effect(1)
	if got.StandardError != 0 || got.P() != 0 || !slices.Contains(got.Warnings, stats.WarningNoSpread) {
		t.Errorf("got %+v, p %v", got, got.P())
	}
	same := model.Contrast(map[int]float64{0: 1})
	if same.P() != 1 || same.Equivalence(-1, 1) != 0 {
		t.Errorf("the reference against itself: p %v, equivalence %v", same.P(), same.Equivalence(-1, 1))
	}
}

func TestBlockModelRejectsInvalidInput(t *testing.T) {
	for name, try := range map[string]func() error{
		"reference": func() error { _, err := stats.FitBlocks(nil, 2, 1, 2); return err },
		"arm":       func() error { _, err := stats.FitBlocks([]stats.Cell{{Arm: 2}}, 2, 1, 0); return err },
		"block":     func() error { _, err := stats.FitBlocks([]stats.Cell{{Block: -1}}, 2, 1, 0); return err },
	} {
		if try() == nil {
			t.Errorf("%s out of range was taken", name)
		}
	}
}

// The test counts patterns one by one, by the definition.
func TestSignFlipCountsAllPatterns(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	for n := 1; n <= 12; n++ {
		differences := make([]float64, n)
		for i := range differences {
			// Whole numbers make many ties.
			differences[i] = float64(random.IntN(9) - 3)
		}
		var seen float64
		for _, difference := range differences {
			seen += difference
		}
		count := 0
		for pattern := range 1 << n {
			var sum float64
			for i, difference := range differences {
				if pattern>>i&1 == 1 {
					difference = -difference
				}
				sum += difference
			}
			if math.Abs(sum) >= math.Abs(seen) {
				count++
			}
		}
		want := float64(count) / float64(int(1)<<n)
		expect.Equal(t, want, stats.SignFlip(differences, 0), "%v: p", differences)
	}
}

func TestSignFlipSmallest(t *testing.T) {
	if got := stats.SignFlip([]float64{1, 2, 3, 4, 5, 6}, 0); got != 2.0/64 {
		t.Errorf("six alike signs give %v", got)
	}
	if got := stats.SignFlip(make([]float64, 7), 0); got != 1 {
		t.Errorf("no difference gives %v", got)
	}
	if !math.IsNaN(stats.SignFlip(nil, 0)) {
		t.Error("no block gives a number")
	}
}

// The observed pattern is one of the patterns, so no p-value is zero.
func TestSignFlipSamplesAreNeverZero(t *testing.T) {
	differences := make([]float64, 40)
	for i := range differences {
		differences[i] = 1
	}
	if got := stats.SignFlip(differences, 1); got != 1.0/10000 {
		t.Errorf("forty alike signs give %v", got)
	}
}

// Twenty differences are counted exactly, twenty-one sampled: both are near the normal
// approximation, and the samples depend only on the seed.
func TestSignFlipSamples(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 8))
	differences := make([]float64, 70)
	var sum, squares float64
	for i := range differences {
		differences[i] = 0.25 + random.NormFloat64()
		sum += differences[i]
		squares += differences[i] * differences[i]
	}
	want := math.Erfc(math.Abs(sum) / math.Sqrt(2*squares))
	got := stats.SignFlip(differences, 1)
	if math.Abs(got-want) > 0.01 || want < 0.01 || want > 0.2 {
		t.Errorf("p is %v, want about %v", got, want)
	}
	if again := stats.SignFlip(differences, 1); again != got {
		t.Errorf("the same seed gave %v, then %v", got, again)
	}
	if other := stats.SignFlip(differences, 2); other == got {
		t.Error("another seed gave the same draw")
	}
}

func TestFamiliesKeepGaps(t *testing.T) {
	p := []float64{math.NaN(), 0.02, 0.6}
	for name, got := range map[string][]stats.Adjusted{"Holm": stats.Holm(p, 0.05), "Benjamini-Hochberg": stats.BenjaminiHochberg(p, 0.05)} {
		if !math.IsNaN(got[0].P) || got[1].P != 0.04 || got[2].P != 0.6 {
			t.Errorf("%s: %v", name, got)
		}
	}
	if p[1] != 0.02 {
		t.Error("the caller's numbers were changed")
	}
}

// The interval at its level excludes zero exactly if the comparison is rejected, in every family.
// No level is above alpha, nor, with R of m rejected, above alpha*R/m.
func TestLevelsAgreeWithAdjustedP(t *testing.T) {
	const alpha = 0.05
	random := rand.New(rand.NewPCG(8, 9))
	for range 2000 {
		p := make([]float64, 1+random.IntN(12))
		for i := range p {
			p[i] = math.Pow(random.Float64(), float64(1+random.IntN(6)))
		}
		for name, family := range map[string][]stats.Adjusted{"Holm": stats.Holm(p, alpha), "Benjamini-Hochberg": stats.BenjaminiHochberg(p, alpha)} {
			rejected := 0.0
			for _, one := range family {
				if one.P < alpha {
					rejected++
				}
			}
			for i, one := range family {
				most := alpha * rejected / float64(len(p)) * (1 + 1e-12)
				if one.P < alpha && one.Level > most {
					t.Fatalf("%s: of %v, %+v is above %v", name, p, one, most)
				}
				if (p[i] < one.Level) != (one.P < alpha) || one.Level > alpha*(1+1e-12) {
					t.Fatalf("%s: p %v of %v is adjusted to %+v", name, p[i], p, one)
				}
			}
		}
	}
}

func TestEffectsNeedFullMatrix(t *testing.T) {
	model := fit(t, []stats.Cell{{Arm: 0, Value: 1}, {Arm: 1, Value: 1}, {Arm: 2, Value: 1}}, false)
	for name, levels := range map[string][][]int{
		"missing": {{0, 0}, {0, 1}, {1, 0}}, "twice": {{0}, {1}, {1}}, "ragged": {{0, 0}, {1}}, "none": {}, "negative": {{0}, {-1}},
	} {
		if _, err := stats.MainEffects(&model, levels); err == nil {
			t.Errorf("%s: the matrix was taken", name)
		}
		if _, err := stats.Interactions(&model, levels); err == nil {
			t.Errorf("%s: the matrix was taken", name)
		}
	}
}

func TestAddedFactorNotEstimable(t *testing.T) {
	var cells []stats.Cell
	var byArm, byCell []int
	for arm := range 3 {
		for block := range 4 {
			cells = append(cells, stats.Cell{Arm: arm, Block: block, Value: float64(arm*block%5) + 0.1*float64(block)})
			byArm = append(byArm, arm)
			byCell = append(byCell, len(byCell))
		}
	}
	for name, levels := range map[string][]int{"it is the arm": byArm, "each cell is its own": byCell} {
		got, err := stats.AddedFactor(cells, levels, 3, 4, 0)
		if err != nil || !math.IsNaN(got.P) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if _, err := stats.AddedFactor(cells, byArm[:3], 3, 4, 0); err == nil {
		t.Error("too few levels were taken")
	}
}

func TestGeometricMean(t *testing.T) {
	if got := stats.GeometricMean([]float64{1, 100}); math.Abs(got-10) > 1e-12 {
		t.Errorf("got %v", got)
	}
	if !math.IsNaN(stats.GeometricMean([]float64{1, 0})) || !math.IsNaN(stats.GeometricMean(nil)) {
		t.Error("zero or nothing has a geometric mean")
	}
}

func TestDesign(t *testing.T) {
	design := stats.Design{Arms: 2, Blocks: 10, Deviation: 0.02, Alpha: 0.05}
	detectable := design.Detectable(0.8)
	if power := design.Power(detectable); power < 0.8 || power > 0.82 {
		t.Errorf("the detectable effect %v has power %v", detectable, power)
	}
	blocks, found := design.BlocksForEffect(detectable, 0.8)
	if !found || blocks != 10 {
		t.Errorf("it takes %d blocks, want 10", blocks)
	}
	// t(0.975, 9) = 2.2622, times 0.02 * sqrt(2/10).
	if got := design.HalfWidth(); math.Abs(got-0.020233) > 1e-6 {
		t.Errorf("half-width %v", got)
	}
	if blocks, _ := design.BlocksForHalfWidth(0.0203); blocks != 10 {
		t.Errorf("the half-width takes %d blocks, want 10", blocks)
	}
	few := design
	few.Blocks = 5
	if !math.IsInf(few.Detectable(0.8), 1) {
		t.Error("five blocks show an effect, though the sign-flip test can't reach 5 %")
	}
	family := design
	family.Family = 10
	if family.Detectable(0.8) <= detectable {
		t.Error("a larger family costs nothing")
	}
	if _, found := design.BlocksForEffect(0, 0.8); found {
		t.Error("no effect is found")
	}
}
