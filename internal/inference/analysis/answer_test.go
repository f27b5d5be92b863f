// SPDX-License-Identifier: Apache-2.0

package analysis_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/analysis"
	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/inference/verdict"
)

const checkIn, checkOut = "cico/Check-In/average", "cico/Check-Out/average"

func containsPart(sentences []string, part string) bool {
	return slices.ContainsFunc(sentences, func(sentence string) bool { return strings.Contains(sentence, part) })
}

func findComparison(t *testing.T, answer analysis.Answer, metric, arm string) comparison.Comparison {
	t.Helper()
	for _, c := range answer.Comparisons {
		if c.Metric == metric && c.Arm == arm {
			return c
		}
	}
	t.Fatalf("no comparison of %s in %s", metric, arm)
	return comparison.Comparison{}
}

func tenth(at position) float64 {
	if at.arm == "slow" {
		return 440
	}
	return 400
}

func TestAnalyzeUsesValidRunsOfCompleteBlocks(t *testing.T) {
	made := bench{arms: newArms("base", "slow"), scenarios: []string{"s"}, blocks: 8, metrics: []string{checkIn}, spread: 0.01, value: tenth}
	runs := made.runs()
	// A run of the last block is still running, and one of the first had a failed attempt.
	runs[15].Status.Phase = v1alpha1.RunLoading
	vain := *runs[0].DeepCopy()
	vain.Name, vain.Status.Phase, vain.Status.Observations[0].Value = "vain", v1alpha1.RunInvalid, "1"
	runs[0].Spec.Attempt = 2
	answer := analysis.Analyze(made.spec(), made.arms, 1, append(runs, vain))
	got := findComparison(t, answer, checkIn, "slow")
	if answer.Blocks != 7 || answer.Runs != 14 || got.Blocks != 7 || got.Verdict != verdict.Worse || !got.Primary {
		t.Errorf("%d blocks, %d runs, %+v", answer.Blocks, answer.Runs, got)
	}
	if !containsPart(answer.Warnings, `no run has the primary metric "cico/Check-Out/average"`) {
		t.Errorf("warnings %q do not name the metric that is not there", answer.Warnings)
	}
	slices.Reverse(runs)
	again := analysis.Analyze(made.spec(), made.arms, 1, append(runs, vain))
	if diff := cmp.Diff(answer, again, cmpopts.IgnoreUnexported(comparison.Comparison{}), cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("the same runs in another order:\n%s", diff)
	}
}

func TestAnalyzeWarnsOfUnreadableValues(t *testing.T) {
	made := bench{arms: newArms("base", "slow"), scenarios: []string{"s"}, blocks: 6, metrics: []string{checkIn, checkOut}, spread: 0.01}
	runs := made.runs()
	runs[2].Status.Observations[0].Value = "many"
	runs[3].Status.Observations[1].Unit = "s"
	answer := analysis.Analyze(made.spec(), made.arms, 1, runs)
	if !containsPart(answer.Warnings, `run "run-3" is omitted: metric "cico/Check-In/average": reading "many"`) || !containsPart(answer.Warnings, `run "run-4" is omitted`) {
		t.Errorf("warnings %q", answer.Warnings)
	}
	if c := findComparison(t, answer, checkIn, "slow"); c.Blocks != 5 || c.Verdict != verdict.None {
		t.Errorf("a metric that lacks a run: %+v", c)
	}
}

func TestAnalyzeWithoutBlocks(t *testing.T) {
	none := bench{arms: newArms("base", "slow"), scenarios: []string{"s"}}
	if answer := analysis.Analyze(none.spec(), none.arms, 1, nil); answer.Summary(false) != "" || answer.Question.Hash() == "" || len(answer.Warnings) != 0 {
		t.Errorf("before the first run: %+v", answer)
	}
	alone := bench{arms: newArms("base"), scenarios: []string{"s"}, blocks: 6, metrics: []string{checkIn}}
	if answer := analysis.Analyze(alone.spec(), alone.arms, 1, alone.runs()); len(answer.Comparisons) != 0 || len(answer.Warnings) != 0 {
		t.Errorf("one arm: %+v", answer)
	}
}

func TestAnalyzeDetectsCarryOver(t *testing.T) {
	made := bench{arms: newArms("base", "slow", "hungry"), scenarios: []string{"s"}, blocks: 10, metrics: []string{checkIn, checkOut}, spread: 0.01}
	made.value = func(at position) float64 {
		switch {
		case at.metric == checkIn && at.before == "hungry":
			return 440
		case at.metric == checkOut && at.position == 1:
			return 440
		}
		return 400
	}
	answer := analysis.Analyze(made.spec(), made.arms, 1, made.runs())
	for metric, part := range map[string]string{
		checkIn:  "carry-over: the previous arm explains part of Check-In average response time under s",
		checkOut: "carry-over: the position of a run in its block explains part of Check-Out average response time under s",
	} {
		if !containsPart(answer.Warnings, part) || !containsPart(comparison.Messages(findComparison(t, answer, metric, "slow").Warnings), part) {
			t.Errorf("%q is not told among %q", part, answer.Warnings)
		}
	}
	if containsPart(answer.Warnings, "drift") {
		t.Errorf("warnings %q: nothing drifts", answer.Warnings)
	}
}

func TestAnalyzeDetectsAndRemovesDrift(t *testing.T) {
	made := bench{arms: newArms("base", "slow"), scenarios: []string{"s"}, blocks: 8, metrics: []string{checkIn}, spread: 0.005}
	made.value = func(at position) float64 { return tenth(at) * math.Pow(1.05, float64(at.block)) }
	answer := analysis.Analyze(made.spec(), made.arms, 1, made.runs())
	if !containsPart(answer.Warnings, "drift: Check-In average response time under s changes by +5 % from block to block") {
		t.Errorf("warnings %q", answer.Warnings)
	}
	if c := findComparison(t, answer, checkIn, "slow"); !(c.Low < 10 && c.High > 10 && c.High-c.Low < 3) {
		t.Errorf("the drift is in the delta: %+v", c)
	}
}

// An experiment without drift is suspected at most once in twenty.
func TestDriftFalsePositiveRate(t *testing.T) {
	suspected := 0
	const experiments = 40
	for n := range experiments {
		made := bench{arms: newArms("base", "slow"), scenarios: []string{"s"}, blocks: 8, metrics: []string{checkIn, checkOut}, spread: 0.03}
		runs := made.runs()
		// Swapped values make other runs for each experiment.
		for i := range runs {
			for j := range runs[i].Status.Observations {
				other := &runs[(i*7+n*3+j)%len(runs)]
				runs[i].Status.Observations[j].Value, other.Status.Observations[j].Value = other.Status.Observations[j].Value, runs[i].Status.Observations[j].Value
			}
		}
		if answer := analysis.Analyze(made.spec(), made.arms, 1, runs); len(answer.Warnings) > 0 {
			suspected++
		}
	}
	// At 5 %, more than 7 of 40 occur once in a thousand times.
	if suspected > 7 {
		t.Errorf("%d of %d sound experiments are suspected", suspected, experiments)
	}
}

func TestSlowdownUnderBackgroundLoad(t *testing.T) {
	alone, during := checkIn+"@alone", checkIn+"@during-create-5k"
	made := bench{arms: newArms("base", "slow", "twin"), scenarios: []string{"s"}, blocks: 8, metrics: []string{checkIn, alone, during}, spread: 0.01}
	made.value = func(at position) float64 {
		value := 400.0
		if at.metric == during {
			value *= 1.5
			if at.arm == "slow" {
				value *= 1.2
			}
		}
		return value
	}
	answer := analysis.Analyze(made.spec(), made.arms, 1, made.runs())
	got := answer.BoundedSlowdowns()
	if len(got) != 1 || got[0].Metric != checkIn || got[0].During != "create-5k" || got[0].Arm != "slow" {
		t.Fatalf("slowdowns %+v, want one of the arm", got)
	}
	inside := func(low, high string, truth float64) bool { return number(t, low) < truth && truth < number(t, high) }
	if !inside(got[0].BaselineLow, got[0].BaselineHigh, 50) || !inside(got[0].Low, got[0].High, 20) || number(t, got[0].PValue) > 0.001 {
		t.Errorf("got %+v, want 50 %% in the baseline and 20 %% more in the arm", got[0])
	}
	if !answer.Slowdowns[0].Primary {
		t.Error("the slowdown of a primary metric is not primary")
	}
}

func TestFactorsOfAMatrix(t *testing.T) {
	matrix := &v1alpha1.Matrix{Factors: []v1alpha1.Factor{
		{Name: "partitions", Levels: []v1alpha1.Level{{Name: "two"}, {Name: "one", Baseline: true}}},
		{Name: "split", Levels: []v1alpha1.Level{{Name: "off"}, {Name: "on"}}},
	}}
	made := bench{arms: newArms("one-off", "two-off", "two-on", "one-on", "twin"), scenarios: []string{"s"}, blocks: 8, metrics: []string{checkIn}, spread: 0.01}
	// The order of the matrix: two-off, two-on, one-off, one-on.
	made.arms = append(slices.Clone(made.arms[1:3]), made.arms[0], made.arms[3], made.arms[4])
	made.value = func(at position) float64 {
		value := 400.0
		if strings.HasPrefix(at.arm, "two") {
			value *= 1.1
		}
		if strings.HasSuffix(at.arm, "on") {
			value *= 0.8
		}
		if at.arm == "two-on" {
			value *= 1.3
		}
		return value
	}
	spec := made.spec()
	spec.Matrix = matrix
	answer := analysis.Analyze(spec, made.arms, 1, made.runs())
	// Main effects are averages over the other factor: each includes half of the interaction.
	half := math.Sqrt(1.3)
	want := map[string]float64{"partitions=two": 1.1 * half, "split=on": 0.8 * half, "partitions=two x split=on": 1.3}
	got := answer.BoundedEffects()
	if len(got) != len(want) {
		t.Fatalf("effects %+v", got)
	}
	for _, effect := range got {
		truth := 100 * (want[effect.Effect] - 1)
		if !(number(t, effect.Low) < truth && truth < number(t, effect.High)) || effect.Scale != "ratio" {
			t.Errorf("%s is %s (%s to %s), want %.1f", effect.Effect, effect.Delta, effect.Low, effect.High, truth)
		}
	}
	spec.Matrix.Exclude = []map[string]string{{"partitions": "two", "split": "on"}}
	made.arms = slices.Delete(made.arms, 1, 2)
	if fewer := analysis.Analyze(spec, made.arms, 1, made.runs()); !containsPart(fewer.Warnings, "no main effects of the factors: the matrix has 3 of 4 combinations") {
		t.Errorf("warnings %q do not say why there are no main effects", fewer.Warnings)
	}
}

// Verdicts are missing until an interim analysis; guardrails and the control don't count.
func TestStanding(t *testing.T) {
	made := bench{arms: newArms("base", "slow", "twin"), scenarios: []string{"s"}, blocks: 20, metrics: []string{checkIn, "cico/Check-In/p95"}, spread: 0.02}
	made.value = func(at position) float64 {
		if at.arm == "slow" {
			return 440
		}
		return 400
	}
	runs, spec := made.runs(), made.spec()
	spec.Design = v1alpha1.Design{Blocks: 6, Target: &v1alpha1.PrecisionTarget{Verdicts: true, MaxBlocks: 20}}
	spec.Analysis.Primary = []string{checkIn}
	early := analysis.ComputeStanding(spec, made.arms, 1, runs, 6)
	if early.Compared != 1 || early.Undecided != 1 || early.Arm != "slow" || early.Metric != checkIn || early.Chance < 0.9 {
		t.Errorf("the first analysis, whose level no sign-flip test of 6 blocks can reach: %+v", early)
	}
	if later := analysis.ComputeStanding(spec, made.arms, 1, runs, 14); later.Compared != 1 || later.Undecided != 0 {
		t.Errorf("a difference of five deviations after 14 blocks: %+v", later)
	}
	answer := analysis.Analyze(spec, made.arms, 1, runs)
	fixed := *spec
	fixed.Design.Target = nil
	at, once := findComparison(t, answer, checkIn, "slow"), findComparison(t, analysis.Analyze(&fixed, made.arms, 1, runs), checkIn, "slow")
	if !(at.High-at.Low > once.High-once.Low) || !(at.P > once.P) || answer.Level() >= 0.05 {
		t.Errorf("with interim analyses %+v (level %v), without %+v", at, answer.Level(), once)
	}
	spec.Analysis.Primary = []string{"cico/Check-In/p50"}
	if none := analysis.ComputeStanding(spec, made.arms, 1, runs, 6); none.Compared != 0 {
		t.Errorf("a metric that is not there gives %+v", none)
	}
}

func TestPrecision(t *testing.T) {
	made := bench{arms: newArms("base", "slow", "twin"), scenarios: []string{"s"}, blocks: 6, metrics: []string{checkIn, "cico/Check-In/p99"}, spread: 0.02}
	runs := made.runs()
	got := analysis.ComputePrecision(made.spec(), made.arms, runs, 6)
	answer := analysis.Analyze(made.spec(), made.arms, 1, runs)
	// The precision is that of the unadjusted interval, whichever decided.
	c := findComparison(t, answer, checkIn, "slow")
	low, high := c.Interval(95)
	if want := (high - low) / 2; !got.Measured || got.Arm != "slow" || got.Metric != checkIn || math.Abs(got.HalfWidthPercent-want) > 1e-9 {
		t.Errorf("got %+v, want %v of %s in slow", got, want, checkIn)
	}
	if fewer := analysis.ComputePrecision(made.spec(), made.arms, runs, 3); !(fewer.HalfWidthPercent > got.HalfWidthPercent) {
		t.Errorf("three blocks give %v, six %v", fewer.HalfWidthPercent, got.HalfWidthPercent)
	}
	if one := analysis.ComputePrecision(made.spec(), made.arms[:2], runs, 1); !math.IsInf(one.HalfWidthPercent, 1) {
		t.Errorf("one block gives %+v", one)
	}
	scripted := made.spec()
	scripted.Analysis.Primary = []string{"cico/Check-In/p50"}
	if none := analysis.ComputePrecision(scripted, made.arms, runs, 6); none.Measured {
		t.Errorf("a metric that is not there gives %+v", none)
	}
}
