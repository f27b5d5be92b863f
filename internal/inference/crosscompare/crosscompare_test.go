// SPDX-License-Identifier: Apache-2.0

package crosscompare_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/inference/crosscompare"
	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/recorded"
)

func newRecord(of recorded.Truth) crosscompare.ExperimentRuns {
	experiment, runs := of.Draw()
	return crosscompare.ExperimentRuns{Experiment: experiment, Runs: runs}
}

// defaultTruth is an experiment with effects that it detects.
func defaultTruth(seed uint64, small float64) recorded.Truth {
	return recorded.Truth{Seed: seed, Blocks: 8, Baseline: 400, Spread: 0.005, Users: 8, Image: "users:1", Arms: map[string]float64{"small": small}}
}

func compare(t *testing.T, first, second recorded.Truth, options crosscompare.Options) *crosscompare.Result {
	t.Helper()
	result, err := crosscompare.Compare(newRecord(first), newRecord(second), options)
	expect.NoError(t, err)
	return result
}

func TestCompareArmsOverEquivalentBaselines(t *testing.T) {
	for _, c := range []struct {
		name          string
		first, second float64
		want          verdict.Verdict
	}{
		{"alike", 1.2, 1.2, verdict.Equivalent},
		{"worse", 1.2, 1.35, verdict.Worse},
		{"better", 1.2, 1.05, verdict.Better},
	} {
		t.Run(c.name, func(t *testing.T) {
			result := compare(t, defaultTruth(1, c.first), defaultTruth(2, c.second), crosscompare.Options{})
			if !result.Alike || len(result.Baselines) != 2 || len(result.Arms) != 2 {
				t.Fatalf("alike %v, %d baselines, %d arms", result.Alike, len(result.Baselines), len(result.Arms))
			}
			truly := 100 * (c.second/c.first - 1)
			for _, arm := range result.Arms {
				if arm.Verdict != c.want || arm.Low > truly || arm.High < truly {
					t.Errorf("%s: %q, %.1f %% (%.1f to %.1f), truly %.1f", arm.Metric, arm.Verdict, arm.Delta, arm.Low, arm.High, truly)
				}
			}
			if len(result.Notes) != 0 {
				t.Errorf("notes of two that are declared alike: %q", result.Notes)
			}
		})
	}
}

func TestCompareSkipsArmsIfBaselinesDiffer(t *testing.T) {
	slower := defaultTruth(2, 1.2)
	slower.Baseline *= 1.2
	result := compare(t, defaultTruth(1, 1.2), slower, crosscompare.Options{})
	if result.Alike || len(result.Arms) != 0 {
		t.Errorf("alike %v, %d arms", result.Alike, len(result.Arms))
	}
	for _, c := range result.Baselines {
		if c.Low > 20 || c.High < 20 || c.Verdict != verdict.None {
			t.Errorf("the baselines' %s differ by %.1f %% (%.1f to %.1f), %q, truly 20", c.Metric, c.Delta, c.Low, c.High, c.Verdict)
		}
	}
	if wide := compare(t, defaultTruth(1, 1.2), slower, crosscompare.Options{MarginPercent: 30}); !wide.Alike || len(wide.Arms) != 2 {
		t.Errorf("with a margin of 30 %% alike is %v", wide.Alike)
	}
}

// TestCompareNoisyBaselines: indistinguishable baselines are not necessarily equivalent.
func TestCompareNoisyBaselines(t *testing.T) {
	first, second := defaultTruth(1, 1), defaultTruth(2, 1)
	first.Spread, second.Spread = 0.1, 0.1
	if result := compare(t, first, second, crosscompare.Options{}); result.Alike {
		t.Errorf("runs that spread by 10 %% are taken as alike: %+v", result.Baselines)
	}
}

// TestCompareAtMargin: baselines that differ by exactly the margin are equivalent at most at the
// error rate.
func TestCompareAtMargin(t *testing.T) {
	const pairs = 600
	found := 0
	for i := range uint64(pairs) {
		first, second := defaultTruth(2*i+1, 1), defaultTruth(2*i+2, 1)
		first.Spread, second.Spread = 0.01, 0.01
		second.Baseline *= 1.05
		result := compare(t, first, second, crosscompare.Options{})
		for _, c := range result.Baselines[:1] {
			if c.Verdict == verdict.Equivalent {
				found++
			}
		}
	}
	// 5 %, and three standard deviations of a count of 600.
	if share := float64(found) / pairs; share > 0.05+3*math.Sqrt(0.05*0.95/pairs) || share < 0.01 {
		t.Errorf("%.1f %% of pairs at the margin's edge are taken as alike, want about 5 %%", 100*share)
	}
}

func codes(c crosscompare.Comparison) []comparison.Code {
	var all []comparison.Code
	for _, warning := range c.Warnings {
		all = append(all, warning.Code)
	}
	return all
}

func TestCompareTooFewBlocks(t *testing.T) {
	first, second := defaultTruth(1, 1.2), defaultTruth(2, 1.5)
	second.Blocks = 5
	result := compare(t, first, second, crosscompare.Options{})
	if !result.Alike || len(result.Arms) == 0 {
		t.Fatalf("alike %v", result.Alike)
	}
	for _, arm := range result.Arms {
		if arm.Verdict != verdict.None || !slices.Contains(codes(arm), comparison.CodeTooFewBlocks) {
			t.Errorf("%q %q", arm.Verdict, arm.Warnings)
		}
	}
}

func TestUncalibratedExperiments(t *testing.T) {
	first, second := defaultTruth(1, 1.2), defaultTruth(2, 1.5)
	second.Arms["twin"] = 1.3
	for _, arm := range compare(t, first, second, crosscompare.Options{}).Arms {
		if arm.Verdict != verdict.None || !slices.Contains(codes(arm), comparison.CodeNotCalibrated) {
			t.Errorf("%q %q", arm.Verdict, arm.Warnings)
		}
	}
}

func TestPairs(t *testing.T) {
	first, second := defaultTruth(1, 1.2), defaultTruth(2, 1.2)
	second.Arms = map[string]float64{"medium": 1.1, "large": 0.9}
	if got := compare(t, first, second, crosscompare.Options{}).Arms; len(got) != 4 {
		t.Errorf("%d comparisons of one arm with two in two metrics", len(got))
	}
	got := compare(t, first, second, crosscompare.Options{Pairs: []crosscompare.Pair{{First: "small", Second: "large"}}}).Arms
	if len(got) != 2 || got[0].Second != "large" || got[0].Verdict != verdict.Better {
		t.Errorf("small against large: %+v", got)
	}
	_, err := crosscompare.Compare(newRecord(first), newRecord(second), crosscompare.Options{Pairs: []crosscompare.Pair{{First: "small", Second: "huge"}}})
	if !errors.Is(err, crosscompare.ErrNothingToCompare) || !strings.Contains(err.Error(), `no arm "huge"`) {
		t.Errorf("an arm that is not there: %v", err)
	}
}

func TestCompareNotesDifferences(t *testing.T) {
	first, second := defaultTruth(1, 1.2), defaultTruth(2, 1.2)
	second.Image = "users:2"
	notes := strings.Join(compare(t, first, second, crosscompare.Options{}).Notes, "\n")
	if want := "the baselines differ in modules.image (mod-users): users:1, then users:2"; notes != want {
		t.Errorf("the notes are %q, want %q once", notes, want)
	}
	later := newRecord(second)
	for i := range later.Runs {
		if later.Runs[i].Spec.Arm == "small" {
			later.Runs[i].Spec.System.Modules[0].Image = "users:3"
		}
	}
	result, err := crosscompare.Compare(newRecord(first), later, crosscompare.Options{})
	if want := `the arms "small" differ in modules.image (mod-users): users:1, then users:3`; err != nil || !slices.Contains(result.Notes, want) {
		t.Errorf("%v, the notes are %q, want %q among them", err, result.Notes, want)
	}
}

func TestCompareWithoutSharedSeries(t *testing.T) {
	first, other := defaultTruth(1, 1.2), defaultTruth(2, 1.2)
	other.Users = 20
	begun, bare := defaultTruth(3, 1), crosscompare.ExperimentRuns{Experiment: &v1alpha1.PerfExperiment{}}
	begun.Blocks = 0
	for want, second := range map[string]crosscompare.ExperimentRuns{
		`scenario "cico" is declared differently`: newRecord(other),
		"has not started":                         bare,
		"has no complete block":                   newRecord(begun),
	} {
		if _, err := crosscompare.Compare(newRecord(first), second, crosscompare.Options{}); !errors.Is(err, crosscompare.ErrNothingToCompare) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestCompareIsAntisymmetric: the same comparison from the other side.
func TestCompareIsAntisymmetric(t *testing.T) {
	forth, back := compare(t, defaultTruth(1, 1.2), defaultTruth(2, 1.35), crosscompare.Options{}), compare(t, defaultTruth(2, 1.35), defaultTruth(1, 1.2), crosscompare.Options{})
	for i := range forth.Arms {
		a, b := forth.Arms[i], back.Arms[i]
		if math.Abs((1+a.Delta/100)*(1+b.Delta/100)-1) > 1e-12 || math.Abs(a.P-b.P) > 1e-12 {
			t.Errorf("%+v and %+v", a, b)
		}
	}
}
