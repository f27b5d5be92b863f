// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/inference/stats"
	"perflab.dev/perflab/internal/inference/verdict"
)

// sequentialTrial is a kind of experiment that stops as soon as every arm has a verdict.
type sequentialTrial struct {
	trial
	// interim are the interim analyses. The trial has as many blocks as the last one.
	interim stats.InterimAnalyses
	// naive does not correct for repeated analyses.
	naive bool
	// values draws the values of the runs, by block and arm. If it is nil, the trial draws
	// them.
	values func(*rand.Rand) [][]float64
}

// stopped is the sum of the results of sequential trials. blocks counts the blocks until each
// stopped.
type stopped struct {
	outcome
	blocks int
	// exaggerated is the sum of the estimated effects of arms that differ, as multiples
	// of the true ones.
	exaggerated float64
	apart       int
}

func (o stopped) plus(other stopped) stopped {
	return stopped{o.outcome.plus(other.outcome), o.blocks + other.blocks, o.exaggerated + other.exaggerated, o.apart + other.apart}
}

// many simulates the experiment many times. The seed determines the result.
func (l sequentialTrial) many(experiments int, seed uint64) (stopped, error) {
	return repeat(experiments, seed, l.once, stopped.plus)
}

// once simulates one experiment block by block, and stops at the first interim analysis at
// which every arm has a verdict.
func (l sequentialTrial) once(random *rand.Rand) (stopped, error) {
	options := l.options()
	if !l.naive {
		options.Interim = l.interim
	}
	draw := l.run
	if l.values != nil {
		draw = l.values
	}
	table := comparison.NewTable()
	for block, runs := range draw(random) {
		if err := addBlock(table, block, runs); err != nil {
			return stopped{}, fmt.Errorf("simulating %d arms in %d blocks: %w", l.arms, block+1, err)
		}
		if block+1 < l.interim.First {
			continue
		}
		found, err := table.Compare(options)
		if err != nil {
			return stopped{}, fmt.Errorf("simulating %d arms in %d blocks: %w", l.arms, block+1, err)
		}
		undecided := func(c comparison.Comparison) bool { return !c.Verdict.Decides() }
		if block+1 == l.interim.Last || !slices.ContainsFunc(found, undecided) {
			return l.seen(found, block+1), nil
		}
	}
	return stopped{}, fmt.Errorf("no analysis after %d blocks", l.blocks)
}

func (l sequentialTrial) seen(found []comparison.Comparison, blocks int) stopped {
	seen, falsely := stopped{blocks: blocks}, false
	for i := range found {
		c, effect := &found[i], l.effect(i+1)
		falsely = seen.count(c, effect, i == 0) || falsely
		if apart := c.Verdict == verdict.Better || c.Verdict == verdict.Worse; apart && effect != 0 {
			seen.apart++
			seen.exaggerated += c.Delta / 100 / effect
		}
	}
	seen.anyDifferent.add(falsely)
	return seen
}

// way is a stopping rule of a table's experiments.
type way struct {
	name    string
	interim stats.InterimAnalyses
	naive   bool
}

// otherLines is larger than the number of lines of all other tables.
const otherLines = 1 << 12

// ways have the same maximum number of blocks.
var ways = []way{
	{"all 20 blocks", stats.InterimAnalyses{First: 20, Last: 20}, false},
	{"interim analyses, 6 to 20", stats.InterimAnalyses{First: 6, Last: 20}, false},
	{"naive interim analyses", stats.InterimAnalyses{First: 6, Last: 20}, true},
}

// sequential simulates experiments that stop as soon as every arm has a verdict, experiments
// that run all blocks, and experiments with the same level at each interim analysis.
func (s *suite) sequential() error {
	title := fmt.Sprintf("Stopping at verdicts, margin 5 %%, CV 4 %% (%d experiments per line)", s.experiments)
	header := "noise\tarms\teffect %\tdesign\tblocks\tcoverage %\tfalse differences %\tEquivalent %\tBetter or Worse %\tundecided %\testimate / effect"
	return s.table(title, header, func(line func(string, ...any)) error {
		for _, under := range []noise{normal, skewed, heavy} {
			for _, arms := range []int{2, 4} {
				for _, effect := range []float64{0, 0.025, 0.05, 0.075, 0.1} {
					of := trial{noise: under, cv: 0.04, arms: arms, blocks: 20, marginPercent: 5, effects: []float64{effect}}
					if err := s.endings(of, effect, line); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
}

// endings prints a line for each stopping rule of the same kind of experiment.
func (s *suite) endings(of trial, effect float64, line func(string, ...any)) error {
	for _, ending := range ways {
		s.endingLines++
		found, err := sequentialTrial{trial: of, interim: ending.interim, naive: ending.naive}.many(s.experiments, s.seed<<16+otherLines+s.endingLines)
		if err != nil {
			return err
		}
		line("%s\t%d\t%.1f\t%s\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%s", of.noise.name, of.arms, 100*effect, ending.name,
			float64(found.blocks)/float64(s.experiments), found.covered.percent(), found.anyDifferent.percent(),
			found.equivalent.percent(), found.right.percent()+found.wrong.percent(), found.undecided.percent(), found.exaggeration())
		if !ending.naive {
			s.expectHeld(found, effect, of.marginPercent, fmt.Sprintf("%s, %d arms, %s, effect %.1f %%", of.noise.name, of.arms, ending.name, 100*effect))
		}
	}
	return nil
}

// expectHeld checks that errors stay within the promises with any number of analyses.
func (s *suite) expectHeld(found stopped, effect, margin float64, named string) {
	covered := found.covered.percent()
	s.expect(covered >= leastCovered-s.slack(), "%s: coverage %.1f %%", named, covered)
	if effect == 0 {
		falsely := found.anyDifferent.percent()
		s.expect(falsely <= mostWrong+s.chance(), "%s: %.1f %% have a false positive", named, falsely)
	}
	if 100*effect >= margin {
		falsely := found.equivalent.percent()
		s.expect(falsely <= mostWrong+s.chance(), "%s: %.1f %% Equivalent", named, falsely)
	}
}

// exaggeration is the estimated effect of arms that differ, as a multiple of the true one.
func (o stopped) exaggeration() string {
	if o.apart == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", o.exaggerated/float64(o.apart))
}
