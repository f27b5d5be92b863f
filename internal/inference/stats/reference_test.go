// SPDX-License-Identifier: Apache-2.0

package stats_test

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"perflab.dev/perflab/internal/inference/stats"
	"perflab.dev/perflab/internal/testing/expect"
)

// The reference values are from scipy and statsmodels: see testdata/reference.py.
type (
	effect struct {
		Arm                                              int
		Value, Error, P, Low95, High95, Low90, High90, T float64
	}
	reference struct {
		Packages    map[string]string
		BlockModels []struct {
			Name      string
			Cells     []stats.Cell
			Degrees   int
			Deviation float64
			Effects   []effect
		}
		Paired struct {
			Cells                           []stats.Cell
			P, Low95, High95, Tost, Mean, T float64
		}
		SignFlips []struct {
			Differences []float64
			P           float64
		}
		Factorial struct {
			Cells              []stats.Cell
			Levels             [][]int
			Main, Interactions []effect
		}
		Background struct {
			Alone, Loaded []stats.Cell
			Reference     effect
			Effects       []effect
		}
		Slope struct {
			effect
			X, Y []float64
		}
		CarryOver struct {
			Cells           []stats.Cell
			Levels          []int
			F, P            float64
			Between, Within int
		}
		Families []struct{ P, Holm, BenjaminiHochberg []float64 }
		// Independent samples: WelchP is at the fractional degrees of freedom.
		Independent []struct {
			effect
			First, Second []float64
			Degrees       int
			WelchP        float64
		}
		Power []struct {
			Blocks        int
			Effect, Power float64
		}
		// Looks are plans of them: boundaries of a normal statistic, to four digits.
		Looks []struct {
			First, Last int
			Alpha       float64
			Boundaries  []float64
		}
	}
)

func readReference(t *testing.T) reference {
	t.Helper()
	text, err := os.ReadFile("testdata/reference.json")
	expect.NoError(t, err)
	var read reference
	expect.NoError(t, json.Unmarshal(text, &read))
	if read.Packages["statsmodels"] == "" || len(read.BlockModels) == 0 || len(read.SignFlips) == 0 || len(read.Power) == 0 || len(read.Looks) == 0 {
		t.Fatalf("the reference is not whole: %v", read.Packages)
	}
	return read
}

// checkEqual compares to eight digits, which correct algorithms share.
func checkEqual(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > 1e-8*math.Max(math.Abs(want), 1e-3) {
		t.Errorf("%s is %.12g, want %.12g", what, got, want)
	}
}

func fit(t *testing.T, cells []stats.Cell, logarithms bool) stats.BlockModel {
	t.Helper()
	arms, blocks := 0, 0
	scaled := slices.Clone(cells)
	for i := range scaled {
		arms, blocks = max(arms, scaled[i].Arm+1), max(blocks, scaled[i].Block+1)
		if logarithms {
			scaled[i].Value = math.Log(scaled[i].Value)
		}
	}
	model, err := stats.FitBlocks(scaled, arms, blocks, 0)
	expect.NoError(t, err)
	return model
}

func TestBlockModelAgainstReference(t *testing.T) {
	for _, want := range readReference(t).BlockModels {
		t.Run(want.Name, func(t *testing.T) {
			model := fit(t, want.Cells, true)
			if model.DegreesOfFreedom != want.Degrees {
				t.Errorf("%d degrees of freedom, want %d", model.DegreesOfFreedom, want.Degrees)
			}
			checkEqual(t, "deviation", model.Deviation, want.Deviation)
			for _, effect := range want.Effects {
				got := model.Effect(effect.Arm)
				check(t, got, effect)
				low, high := got.Interval(0.90)
				checkEqual(t, "low90", low, effect.Low90)
				checkEqual(t, "high90", high, effect.High90)
				checkEqual(t, "error", got.StandardError, effect.Error)
			}
		})
	}
}

func check(t *testing.T, got stats.Estimate, want effect) {
	t.Helper()
	checkEqual(t, "value", got.Value, want.Value)
	low, high := got.Interval(0.95)
	checkEqual(t, "low95", low, want.Low95)
	checkEqual(t, "high95", high, want.High95)
	if want.P != 0 {
		checkEqual(t, "p", got.P(), want.P)
	}
}

func TestTwoArmsAreThePairedT(t *testing.T) {
	want := readReference(t).Paired
	model := fit(t, want.Cells, true)
	got := model.Effect(1)
	check(t, got, effect{Value: want.Mean, P: want.P, Low95: want.Low95, High95: want.High95})
	checkEqual(t, "equivalence p", got.Equivalence(math.Log(0.95), math.Log(1.05)), want.Tost)
}

func TestSignFlipAgainstReference(t *testing.T) {
	for _, want := range readReference(t).SignFlips {
		checkEqual(t, "p", stats.SignFlip(want.Differences, 0), want.P)
	}
}

func TestFactorialAgainstReference(t *testing.T) {
	want := readReference(t).Factorial
	model := fit(t, want.Cells, true)
	main, err := stats.MainEffects(&model, want.Levels)
	expect.NoError(t, err)
	interactions, err := stats.Interactions(&model, want.Levels)
	expect.NoError(t, err)
	if len(main) != len(want.Main) || len(interactions) != len(want.Interactions) {
		t.Fatalf("%d main effects and %d interactions", len(main), len(interactions))
	}
	// Both models fit all arm means, so they share the residual.
	for i := range main {
		check(t, main[i].Estimate, want.Main[i])
	}
	for i := range interactions {
		check(t, interactions[i].Estimate, want.Interactions[i])
	}
}

func TestBackgroundAgainstReference(t *testing.T) {
	want := readReference(t).Background
	slowdown, err := stats.DifferenceInDifferences(want.Alone, want.Loaded, 3, 7, 0)
	expect.NoError(t, err)
	check(t, slowdown.Reference, want.Reference)
	for i, effect := range want.Effects {
		got := slowdown.Model.Effect(i + 1)
		checkEqual(t, "value", got.Value, effect.Value)
		checkEqual(t, "p", got.P(), effect.P)
	}
}

func TestSlopeAgainstReference(t *testing.T) {
	want := readReference(t).Slope
	got, err := stats.Slope(want.X, want.Y)
	expect.NoError(t, err)
	check(t, got, want.effect)
	checkEqual(t, "error", got.StandardError, want.Error)
}

func TestCarryOverAgainstReference(t *testing.T) {
	want := readReference(t).CarryOver
	cells := slices.Clone(want.Cells)
	for i := range cells {
		cells[i].Value = math.Log(cells[i].Value)
	}
	got, err := stats.AddedFactor(cells, want.Levels, 4, 7, 0)
	expect.NoError(t, err)
	if got.Between != want.Between || got.Within != want.Within {
		t.Errorf("degrees of freedom %d and %d, want %d and %d", got.Between, got.Within, want.Between, want.Within)
	}
	checkEqual(t, "F", got.F, want.F)
	checkEqual(t, "p", got.P, want.P)
}

func TestFamiliesAgainstReference(t *testing.T) {
	for _, want := range readReference(t).Families {
		holm, hochberg := stats.Holm(want.P, 0.05), stats.BenjaminiHochberg(want.P, 0.05)
		for i := range want.P {
			checkEqual(t, "Holm", holm[i].P, want.Holm[i])
			checkEqual(t, "Benjamini-Hochberg", hochberg[i].P, want.BenjaminiHochberg[i])
		}
	}
}

func TestPowerAgainstReference(t *testing.T) {
	for _, want := range readReference(t).Power {
		got := stats.Design{Arms: 2, Blocks: want.Blocks, Deviation: 1, Alpha: 0.05}.Power(want.Effect)
		if math.Abs(got-want.Power) > 1e-4 {
			t.Errorf("power of %d blocks for %g is %.6f, want %.6f", want.Blocks, want.Effect, got, want.Power)
		}
	}
}

func TestDifferenceAgainstReference(t *testing.T) {
	independent := readReference(t).Independent
	if len(independent) == 0 {
		t.Fatal("the reference holds no independent samples")
	}
	for _, want := range independent {
		got := stats.Difference(stats.Mean(want.Second), stats.Mean(want.First))
		check(t, got, want.effect)
		checkEqual(t, "error", got.StandardError, want.Error)
		if got.DegreesOfFreedom != want.Degrees {
			t.Errorf("%d degrees of freedom, want %d", got.DegreesOfFreedom, want.Degrees)
		}
		if got.P() < want.WelchP || got.P() > 1.1*want.WelchP {
			t.Errorf("p is %g, want Welch's %g or little more", got.P(), want.WelchP)
		}
	}
}

func TestDifferenceWithoutInterval(t *testing.T) {
	one := stats.Mean([]float64{5})
	several := stats.Mean([]float64{5, 6, 7})
	for _, got := range []stats.Estimate{stats.Difference(one, several), stats.Difference(several, one)} {
		if got.HasInterval() || !slices.Contains(got.Warnings, stats.WarningNoInterval) {
			t.Errorf("a single run gives %+v", got)
		}
	}
	same := stats.Mean([]float64{5, 5})
	if got := stats.Difference(same, same); !slices.Contains(got.Warnings, stats.WarningNoSpread) || got.DegreesOfFreedom != 1 {
		t.Errorf("runs without spread give %+v", got)
	}
}
