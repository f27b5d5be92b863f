// SPDX-License-Identifier: Apache-2.0

package verdict_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"perflab.dev/perflab/internal/inference/stats"
	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/testing/expect"
)

const alpha = 0.05

// evidence has ten blocks: the 90 % interval is 1.833 errors to either side.
func evidence(value, deviation float64, change func(*verdict.Evidence)) verdict.Evidence {
	made := verdict.Evidence{
		Effect: stats.Estimate{Value: value, StandardError: deviation, DegreesOfFreedom: 9},
		Low:    -0.05, High: 0.05, Blocks: 10, Permutation: 0.002,
	}
	made.Adjusted = stats.Adjusted{P: made.Effect.P(), Level: alpha}
	if change != nil {
		change(&made)
	}
	return made
}

func TestDecide(t *testing.T) {
	cases := map[string]struct {
		evidence verdict.Evidence
		want     verdict.Verdict
	}{
		"slower":                  {evidence(0.10, 0.01, nil), verdict.Worse},
		"faster":                  {evidence(-0.10, 0.01, nil), verdict.Better},
		"more throughput":         {evidence(0.10, 0.01, func(e *verdict.Evidence) { e.Direction = verdict.HigherIsBetter }), verdict.Better},
		"unknown direction":       {evidence(0.10, 0.01, func(e *verdict.Evidence) { e.Direction = verdict.UnknownDirection }), verdict.None},
		"less throughput":         {evidence(-0.10, 0.01, func(e *verdict.Evidence) { e.Direction = verdict.HigherIsBetter }), verdict.Worse},
		"alike":                   {evidence(0.00, 0.01, nil), verdict.Equivalent},
		"sure but too small":      {evidence(0.02, 0.001, nil), verdict.Equivalent},
		"just inside the margin":  {evidence(0.05-0.01834, 0.01, nil), verdict.Equivalent},
		"just outside the margin": {evidence(0.05-0.01832, 0.01, func(e *verdict.Evidence) { e.Adjusted.P = 1 }), verdict.Inconclusive},
		"noise":                   {evidence(0.04, 0.05, nil), verdict.Inconclusive},
		"adjusted at alpha":       {evidence(0.10, 0.01, func(e *verdict.Evidence) { e.Adjusted.P = 0.05 }), verdict.Inconclusive},
		"sign-flip at alpha":      {evidence(0.10, 0.01, func(e *verdict.Evidence) { e.Permutation = 0.05 }), verdict.Worse},
		"sign-flip above alpha":   {evidence(0.10, 0.01, func(e *verdict.Evidence) { e.Permutation = 0.051 }), verdict.Inconclusive},
		"five blocks":             {evidence(0.10, 0.01, func(e *verdict.Evidence) { e.Blocks = 5 }), verdict.None},
		"six blocks":              {evidence(0.10, 0.01, func(e *verdict.Evidence) { e.Blocks = 6 }), verdict.Worse},
		"no interval":             {evidence(0.10, math.NaN(), nil), verdict.None},
		"no spread, no change":    {evidence(0, 0, func(e *verdict.Evidence) { e.Low, e.High = 0, 0 }), verdict.Equivalent},
	}
	for name, tc := range cases {
		expect.Equal(t, tc.want, verdict.Decide(tc.evidence, alpha).Verdict, "%s", name)
	}
}

func TestWins(t *testing.T) {
	const b, w, e, i = verdict.Better, verdict.Worse, verdict.Equivalent, verdict.Inconclusive
	cases := map[string]struct {
		primary, guarded []verdict.Verdict
		want             bool
	}{
		"better":               {[]verdict.Verdict{b, e}, []verdict.Verdict{e, i}, true},
		"guard is worse":       {[]verdict.Verdict{b, b}, []verdict.Verdict{e, w}, false},
		"a primary is worse":   {[]verdict.Verdict{b, w}, nil, false},
		"nothing better":       {[]verdict.Verdict{e, i}, []verdict.Verdict{b}, false},
		"nothing known at all": {nil, nil, false},
	}
	for name, tc := range cases {
		if got := verdict.Wins(tc.primary, tc.guarded); got != tc.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// The chance of a verdict is the share of continued experiments that get one, if the truth is
// distributed around the estimate like the estimate around the truth.
func TestChance(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	interim := stats.InterimAnalyses{First: 6, Last: 20}
	at := func(value, deviation float64) verdict.Evidence {
		made := evidence(value, deviation, nil)
		made.Effect.DegreesOfFreedom, made.Analysis = 200, interim.At(10)
		made.Adjusted.P = made.Analysis.Adjust(made.Effect.P())
		return made
	}
	for _, of := range []verdict.Evidence{at(0, 0.03), at(0.03, 0.03), at(0.05, 0.02), at(0.1, 0.04), at(0.02, 0.06)} {
		const draws = 20000
		decided := 0
		for range draws {
			truth := of.Effect.Value + of.Effect.StandardError*random.NormFloat64()
			// The number of blocks doubles.
			rest := truth + of.Effect.StandardError*random.NormFloat64()
			final := of
			final.Blocks, final.Analysis = 20, interim.At(20)
			final.Effect.Value = (of.Effect.Value + rest) / 2
			final.Effect.StandardError /= math.Sqrt2
			final.Adjusted.P, final.Permutation = final.Analysis.Adjust(final.Effect.P()), 0
			if verdict.Decide(final, alpha).Verdict != verdict.Inconclusive {
				decided++
			}
		}
		if got, want := verdict.Chance(of, interim.At(20), 20, alpha), float64(decided)/draws; math.Abs(got-want) > 0.015 {
			t.Errorf("%+v: chance %.3f, want %.3f", of.Effect, got, want)
		}
	}
	if none := verdict.Chance(at(0, 0.03), interim.At(20), 10, alpha); none != 0 {
		t.Errorf("without further blocks the chance is %v", none)
	}
}

// At an early interim analysis the same numbers are less conclusive.
func TestDecideAtInterimAnalysis(t *testing.T) {
	interim := stats.InterimAnalyses{First: 6, Last: 20}
	alike, apart := evidence(0, 0.02, nil), evidence(0.2, 0.08, nil)
	if verdict.Decide(alike, alpha).Verdict != verdict.Equivalent || verdict.Decide(apart, alpha).Verdict != verdict.Worse {
		t.Fatal("a single analysis does not decide")
	}
	for _, early := range []verdict.Evidence{alike, apart} {
		early.Analysis = interim.At(10)
		early.Adjusted.P = early.Analysis.Adjust(early.Effect.P())
		if got := verdict.Decide(early, alpha).Verdict; got != verdict.Inconclusive {
			t.Errorf("one of several analyses at %+v says %q", early.Effect, got)
		}
	}
}

// The further blocks agree with the planning of package stats.
func TestFurtherBlocks(t *testing.T) {
	const deviation = 0.04
	at := func(value float64, blocks int) verdict.Evidence {
		made := evidence(value, deviation*math.Sqrt(2/float64(blocks)), nil)
		made.Blocks, made.Effect.DegreesOfFreedom = blocks, blocks-1
		made.Adjusted.P = made.Effect.P()
		return made
	}
	// 0.10 is beyond the margin, so only a difference can decide it.
	apart := at(0.10, 6)
	further, known := verdict.FurtherBlocks(at(0.06, 6), alpha)
	want, _ := stats.Design{Arms: 2, Deviation: deviation, Alpha: alpha}.BlocksForEffect(0.06, 0.8)
	if !known || math.Abs(float64(6+further-want)) > 1 {
		t.Errorf("%d blocks, want about %d", 6+further, want)
	}
	if few, _ := verdict.FurtherBlocks(apart, alpha); few >= further {
		t.Errorf("a larger effect takes %d blocks, a smaller %d", few, further)
	}
	// A zero effect is decided as equivalent.
	if alike, known := verdict.FurtherBlocks(at(0, 6), alpha); !known || alike < 1 {
		t.Errorf("no effect takes %d blocks, %t", alike, known)
	}
	// At the margin only the difference can be shown; adjusting costs blocks.
	strict := at(0.06, 6)
	strict.Adjusted = stats.Adjusted{P: 10 * strict.Effect.P(), Level: alpha / 10}
	if more, _ := verdict.FurtherBlocks(strict, alpha); more <= further {
		t.Errorf("ten comparisons take %d blocks, one %d", more, further)
	}
	nothing := at(0, 6)
	nothing.Low, nothing.High = 0, 0
	if _, known := verdict.FurtherBlocks(nothing, alpha); known {
		t.Error("no effect within no margin can be settled")
	}
	if _, known := verdict.FurtherBlocks(at(0.0001, 6), alpha); !known {
		t.Error("a tiny effect can't be settled as equivalent")
	}
}
