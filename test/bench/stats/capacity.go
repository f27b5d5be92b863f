// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"perflab.dev/perflab/internal/inference/capacity"
	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/inference/stats"
)

// capacityTrial is a kind of experiment that compares the capacity of arms. The trial's values
// are the true capacities of its runs.
type capacityTrial struct {
	trial
	system loaded
	// levels is the number of levels of a run. The highest load is span times the lowest.
	levels int
	span   float64
	// place is the position of the capacity in the span, from 0 to 1 on the logarithmic scale.
	// 0 means a random position between 0.15 and 0.85.
	place float64
	// users is the number of users at the capacity. 0 means that the load is a rate.
	users float64
	// isShuffled visits the levels in random order.
	isShuffled bool
	// keepsCoarse includes coarse runs in comparisons.
	keepsCoarse bool
	// outside is the treatment of runs whose levels do not enclose the boundary.
	outside treatment
}

// treatment determines how to use runs whose levels do not enclose the boundary.
type treatment int

const (
	// refused uses their values, but an arm with many such runs has no answer.
	refused treatment = iota
	used
	omitted
)

// measured holds the runs of an experiment, by arm and block.
type measured struct {
	levels    [][][]capacity.Level
	estimates [][]capacity.Estimate
	truths    [][]float64
}

// measure simulates the runs of an experiment. Earlier runs determine the levels of each run.
func (c capacityTrial) measure(random *rand.Rand) measured {
	unit := 1.0
	if c.users > 0 {
		unit = c.users
	}
	within := c.draw(unit, random)
	m := measured{make([][][]capacity.Level, c.arms), make([][]capacity.Estimate, c.arms), make([][]float64, c.arms)}
	for _, runs := range c.run(random) {
		for arm, value := range runs {
			truth := unit * value / center
			others := slices.Delete(slices.Clone(m.estimates), arm, arm+1)
			levels := c.visit(capacity.Next(within, m.estimates[arm], others, random), truth, random)
			m.levels[arm] = append(m.levels[arm], levels)
			m.estimates[arm] = append(m.estimates[arm], capacity.FromRun(levels))
			m.truths[arm] = append(m.truths[arm], truth)
		}
	}
	return m
}

// draw returns the range of loads of an experiment.
func (c capacityTrial) draw(unit float64, random *rand.Rand) capacity.Range {
	place := c.place
	if place == 0 {
		place = 0.15 + 0.7*random.Float64()
	}
	low := unit * math.Pow(c.span, -place)
	within := capacity.Range{Min: low, Max: low * c.span, Count: c.levels, Integer: c.users > 0}
	if within.Integer {
		within.Min, within.Max = math.Max(1, math.Round(within.Min)), math.Round(within.Max)
	}
	return within
}

// visit simulates the levels of a run with a given capacity.
func (c capacityTrial) visit(loads []float64, truth float64, random *rand.Rand) []capacity.Level {
	loads = slices.Clone(loads)
	if c.isShuffled {
		random.Shuffle(len(loads), func(i, j int) { loads[i], loads[j] = loads[j], loads[i] })
	}
	relative := make([]float64, len(loads))
	for i, load := range loads {
		relative[i] = load / truth
	}
	levels := make([]capacity.Level, len(loads))
	for i, margins := range c.system.visit(relative, random) {
		levels[i] = capacity.Level{Load: loads[i], Margins: margins}
	}
	return levels
}

// counts reports whether the value of a run takes part in comparisons.
func (c capacityTrial) counts(run capacity.Estimate) bool {
	return (c.keepsCoarse || !run.Coarse) && (c.outside != omitted || run.Side == capacity.Within)
}

// capacityOutcome is the result of many experiments.
type capacityOutcome struct {
	outcome
	// errors are the errors of the estimated effects, as logarithms.
	errors []float64
	// variance is the residual variance, summed over comparisons.
	variance float64
	// bias is the mean error of the runs' capacities.
	bias mean
	// missed counts runs whose levels do not enclose the boundary. nonMonotone counts runs that
	// are reported as non-monotone. unanswered counts comparisons without an answer.
	missed, nonMonotone, unanswered share
}

// mean is the mean of ratios, given as logarithms.
type mean struct {
	sum   float64
	count int
}

func (m *mean) add(logarithm float64) { m.sum, m.count = m.sum+logarithm, m.count+1 }

func (m mean) plus(other mean) mean { return mean{m.sum + other.sum, m.count + other.count} }

// percent returns the difference between the mean ratio and 1, in percent.
func (m mean) percent() float64 { return 100 * math.Expm1(m.sum/float64(m.count)) }

func (o capacityOutcome) plus(other capacityOutcome) capacityOutcome {
	return capacityOutcome{
		outcome: o.outcome.plus(other.outcome), errors: append(o.errors, other.errors...),
		variance: o.variance + other.variance, bias: o.bias.plus(other.bias),
		missed: o.missed.plus(other.missed), nonMonotone: o.nonMonotone.plus(other.nonMonotone),
		unanswered: o.unanswered.plus(other.unanswered),
	}
}

// once simulates one experiment and compares its arms as perflab does.
func (c capacityTrial) once(random *rand.Rand) (capacityOutcome, error) {
	var seen capacityOutcome
	runs := c.measure(random)
	table := comparison.NewTable()
	for block := range c.blocks {
		values := make([]float64, c.arms)
		for arm := range values {
			run := runs.estimates[arm][block]
			values[arm] = math.NaN()
			if c.counts(run) {
				values[arm] = run.Load
				seen.add(run, runs.truths[arm][block])
			}
		}
		if err := addBlock(table, block, values); err != nil {
			return seen, fmt.Errorf("simulating %s: %w", c.system.name, err)
		}
	}
	if len(table.Arms()) < c.arms {
		seen.unanswered.add(true)
		return seen, nil
	}
	found, err := table.Compare(c.options())
	if err != nil {
		return seen, fmt.Errorf("simulating %s: %w", c.system.name, err)
	}
	c.judge(&seen, found, runs.estimates)
	return seen, nil
}

// values returns the values that take part in comparisons, by block and arm. Others are NaN.
func (c capacityTrial) values(random *rand.Rand) [][]float64 {
	runs := c.measure(random)
	values := make([][]float64, c.blocks)
	for block := range values {
		values[block] = slices.Repeat([]float64{math.NaN()}, c.arms)
		for arm := range c.arms {
			if run := runs.estimates[arm][block]; c.counts(run) {
				values[block][arm] = run.Load
			}
		}
	}
	return values
}

// add adds a run with a known capacity.
func (o *capacityOutcome) add(run capacity.Estimate, truth float64) {
	o.missed.add(run.Side != capacity.Within)
	o.nonMonotone.add(run.NonMonotone)
	o.bias.add(math.Log(run.Load / truth))
}

// judge counts the comparisons that have an answer.
func (c capacityTrial) judge(seen *capacityOutcome, found []comparison.Comparison, runs [][]capacity.Estimate) {
	falsely := false
	for i := range found {
		effect, estimate := c.effect(i+1), found[i].Effect()
		isAnswered := estimate.HasInterval() && c.isAnswered(runs[0], runs[i+1])
		seen.unanswered.add(!isAnswered)
		if !isAnswered {
			continue
		}
		falsely = seen.count(&found[i], effect, i == 0) || falsely
		seen.errors = append(seen.errors, estimate.Value-math.Log1p(effect))
		seen.variance += estimate.StandardError * estimate.StandardError * float64(found[i].Blocks) / 2
	}
	seen.anyDifferent.add(falsely)
}

// isAnswered reports whether the runs of two arms are compared.
func (c capacityTrial) isAnswered(base, arm []capacity.Estimate) bool {
	return c.outside != refused || capacity.Outside(base) == capacity.Within && capacity.Outside(arm) == capacity.Within
}

// quantile95 returns the 95 % quantile of the absolute errors, as a ratio in percent.
func quantile95(errors []float64) float64 {
	if len(errors) == 0 {
		return math.NaN()
	}
	sizes := make([]float64, len(errors))
	for i, e := range errors {
		sizes[i] = math.Abs(e)
	}
	slices.Sort(sizes)
	return 100 * math.Expm1(sizes[len(sizes)*95/100])
}

// meanError returns the mean error of effects, as a ratio in percent.
func meanError(errors []float64) float64 {
	var all mean
	for _, e := range errors {
		all.add(e)
	}
	return all.percent()
}

// blocksUntil returns the number of blocks from which the expected half-width of an effect's
// interval is at most a share.
func (o capacityOutcome) blocksUntil(share float64, arms int) string {
	deviation := math.Sqrt(o.variance / float64(len(o.errors)))
	const most = 200
	for blocks := 2; blocks <= most; blocks++ {
		design := stats.Design{Arms: arms, Blocks: blocks, Deviation: deviation, Alpha: alpha}
		if design.HalfWidth() <= math.Log1p(share) {
			return fmt.Sprint(blocks)
		}
	}
	return fmt.Sprintf("over %d", most)
}

var (
	one     = memoryless("M/M/1, limit 3 x idle", queue(1, 3))
	several = memoryless("M/M/8, limit 2 x idle", queue(8, 2))
	many    = memoryless("M/M/32, limit 1.5 x idle", queue(32, 1.5))
	both    = strict(memoryless("M/M/8, and no drops", queue(8, 2)), dropped)
	sudden  = memoryless("cliff", curve(cliff))
	warming = memoryless("fails while cold", curve(cold))
	bumpy   = memoryless("fails at half, holds above", curve(bump))
	flat    = memoryless("plateau, then cliff", curve(plateau))
	tight   = memoryless("M/M/8, limit 1.15 x idle", queue(8, 1.15))
	byEvent = loaded{"queue by events", events{200, 800}.visit}
)

// usualCapacity returns the trial that the tables vary. Its first block only searches for the
// boundary.
func usualCapacity(system loaded, spread float64) capacityTrial {
	return capacityTrial{
		trial:  trial{noise: normal, cv: spread, arms: 2, blocks: 7, marginPercent: 5},
		system: system, levels: 5, span: 16,
	}
}

// capacities simulates comparisons of capacity.
func (s *suite) capacities() error {
	for _, table := range []func(*suite) error{(*suite).equalCapacities, (*suite).variedCapacities, (*suite).capacityStops, (*suite).capacitiesOutside, (*suite).capacityMethods, (*suite).capacitySearches} {
		if err := table(s); err != nil {
			return err
		}
	}
	return nil
}

const (
	capacityHeader = "coverage %\tfalse positives per experiment %\terror of the capacity %\terror of the effect %\t95 % of effects within ± %\tblocks until ± 5 %\tlevels miss %\tnon-monotone %\tno answer %"
	// mostCapacityCovered is above mostCovered: runs get more precise from block to block, which
	// makes intervals somewhat too wide.
	mostCapacityCovered = 97.5
)

// equalCapacities simulates arms with the same capacity.
func (s *suite) equalCapacities() error {
	title := fmt.Sprintf("Capacity of equal arms: 2 arms, 7 blocks, 5 levels in a range of 1 to 16 (%d experiments per line)", s.experiments)
	return s.table(title, "system\truns spread by %\t"+capacityHeader, func(line func(string, ...any)) error {
		for _, system := range []loaded{one, several, many, both, byEvent, sudden, warming, bumpy, flat, tight} {
			for _, spread := range []float64{0.02, 0.05, 0.10, 0.15} {
				named := fmt.Sprintf("%s\t%.0f", system.name, 100*spread)
				if err := s.capacityLine(named, usualCapacity(system, spread), line, true); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// variation changes the usual trial.
type variation struct {
	name   string
	system loaded
	change func(c *capacityTrial)
	// isLimit marks a case beyond the limits of the method.
	isLimit bool
}

var variations = []variation{
	{"effect 5 %", several, func(c *capacityTrial) { c.effects = []float64{0.05} }, false},
	{"effect 10 %", several, func(c *capacityTrial) { c.effects = []float64{0.1} }, false},
	{"effect 50 %", several, func(c *capacityTrial) { c.effects = []float64{0.5} }, false},
	{"effect 50 %", sudden, func(c *capacityTrial) { c.effects = []float64{0.5} }, false},
	{"effect 50 %", flat, func(c *capacityTrial) { c.effects = []float64{0.5} }, false},
	{"4 arms", several, func(c *capacityTrial) { c.arms = 4 }, false},
	{"13 blocks", several, func(c *capacityTrial) { c.blocks = 13 }, false},
	{"13 blocks", sudden, func(c *capacityTrial) { c.blocks = 13 }, false},
	{"25 blocks", several, func(c *capacityTrial) { c.blocks = 25 }, false},
	{"25 blocks", sudden, func(c *capacityTrial) { c.blocks = 25 }, false},
	{"25 blocks", flat, func(c *capacityTrial) { c.blocks = 25 }, false},
	{"25 blocks", tight, func(c *capacityTrial) { c.blocks = 25 }, false},
	{"4 levels", several, func(c *capacityTrial) { c.levels = 4 }, false},
	{"6 levels", several, func(c *capacityTrial) { c.levels = 6 }, false},
	{"8 levels", several, func(c *capacityTrial) { c.levels = 8 }, false},
	{"10 levels", several, func(c *capacityTrial) { c.levels = 10 }, false},
	{"4 levels", sudden, func(c *capacityTrial) { c.levels = 4 }, false},
	{"6 levels", sudden, func(c *capacityTrial) { c.levels = 6 }, false},
	{"8 levels", sudden, func(c *capacityTrial) { c.levels = 8 }, false},
	{"10 levels", sudden, func(c *capacityTrial) { c.levels = 10 }, false},
	{"range 1 to 4", several, func(c *capacityTrial) { c.span = 4 }, false},
	{"range 1 to 256", several, func(c *capacityTrial) { c.span = 256 }, false},
	{"12 users", several, func(c *capacityTrial) { c.users = 12 }, false},
	{"4 users", several, func(c *capacityTrial) { c.users = 4 }, false},
	{"8 users, effect 5 %", sudden, func(c *capacityTrial) { c.users, c.effects = 8, []float64{0.05} }, false},
	{"4 users, effect 5 %", sudden, func(c *capacityTrial) { c.users, c.effects = 4, []float64{0.05} }, true},
	{"3.5 users, effect 5 %", sudden, func(c *capacityTrial) { c.users, c.effects = 3.5, []float64{0.05} }, true},
	{"25 blocks, runs spread by 15 %", several, func(c *capacityTrial) { c.blocks, c.cv = 25, 0.15 }, false},
	{"drift by a factor of 2", several, func(c *capacityTrial) { c.drift = 1 }, false},
	{"skewed", several, func(c *capacityTrial) { c.noise = skewed }, false},
	{"heavy-tailed", several, func(c *capacityTrial) { c.noise = heavy }, false},
	{"levels in random order", byEvent, func(c *capacityTrial) { c.isShuffled = true }, true},
	{"the search counts", several, func(c *capacityTrial) { c.keepsCoarse = true }, false},
	{"the search counts", sudden, func(c *capacityTrial) { c.keepsCoarse = true }, false},
}

// searches are short experiments with 6 levels. Some include the first block, which searches
// for the boundary, in the comparison.
var searches = []variation{
	{"6 blocks, the search counts", several, func(c *capacityTrial) { c.levels, c.blocks, c.keepsCoarse = 6, 6, true }, false},
	{"6 blocks, the search counts", sudden, func(c *capacityTrial) { c.levels, c.blocks, c.keepsCoarse = 6, 6, true }, false},
	{"6 blocks, the search counts", flat, func(c *capacityTrial) { c.levels, c.blocks, c.keepsCoarse = 6, 6, true }, false},
	{"7 blocks", several, func(c *capacityTrial) { c.levels = 6 }, false},
	{"7 blocks", sudden, func(c *capacityTrial) { c.levels = 6 }, false},
	{"7 blocks", flat, func(c *capacityTrial) { c.levels = 6 }, false},
	{"6 blocks, range 1 to 10", several, func(c *capacityTrial) { c.levels, c.blocks, c.span = 6, 6, 10 }, false},
	{"6 blocks, range 1 to 10", sudden, func(c *capacityTrial) { c.levels, c.blocks, c.span = 6, 6, 10 }, false},
	{"6 blocks, range 1 to 10", flat, func(c *capacityTrial) { c.levels, c.blocks, c.span = 6, 6, 10 }, false},
}

// variedCapacities varies one property at a time.
func (s *suite) variedCapacities() error {
	return s.variedTable("Capacity: 2 equal arms, 7 blocks, 5 levels in a range of 1 to 16, runs that spread by 5 %, except for", variations)
}

// capacitySearches compares experiments that include the first block with experiments that
// exclude it.
func (s *suite) capacitySearches() error {
	return s.variedTable("Capacity: 2 equal arms, 6 levels in a range of 1 to 16, runs that spread by 5 %", searches)
}

func (s *suite) variedTable(title string, lines []variation) error {
	return s.table(title, "system\tkind\t"+capacityHeader, func(line func(string, ...any)) error {
		for _, v := range lines {
			of := usualCapacity(v.system, 0.05)
			v.change(&of)
			if err := s.capacityLine(v.system.name+"\t"+v.name, of, line, !v.isLimit); err != nil {
				return err
			}
		}
		return nil
	})
}

// capacityLine prints the results of a kind of experiment.
func (s *suite) capacityLine(named string, of capacityTrial, line func(string, ...any), isPromised bool) error {
	found, err := s.simulateCapacity(of)
	if err != nil {
		return err
	}
	covered, falsely := found.covered.percent(), found.anyDifferent.percent()
	line("%s\t%.1f\t%.1f\t%+.1f\t%+.1f\t%.1f\t%s\t%.1f\t%.1f\t%.1f", named, covered, falsely,
		found.bias.percent(), meanError(found.errors), quantile95(found.errors),
		found.blocksUntil(0.05, of.arms), found.missed.percent(), found.nonMonotone.percent(), found.unanswered.percent())
	if isPromised {
		by := suite{experiments: of.experiments(s.experiments)}
		s.expect(covered >= leastCovered-by.slack() && covered <= mostCapacityCovered+by.slack(), "capacity, %s: coverage %.1f %%", named, covered)
		s.expect(falsely <= mostWrong+by.chance(), "capacity, %s: %.1f %% of experiments have a false positive", named, falsely)
	}
	return nil
}

// experiments returns the number of experiments of a line: fewer for a slow simulation.
func (c capacityTrial) experiments(usual int) int {
	if c.system.name == byEvent.name {
		return max(usual/4, 1)
	}
	return usual
}

func (s *suite) simulateCapacity(of capacityTrial) (capacityOutcome, error) {
	s.capacityLines++
	return repeat(of.experiments(s.experiments), s.seed<<16+capacityLines+s.capacityLines, of.once, capacityOutcome.plus)
}

// capacityLines is larger than the number of lines of the other tables.
const capacityLines = 1 << 13

// capacityStops simulates experiments that stop as soon as every arm has a verdict.
func (s *suite) capacityStops() error {
	count := max(40, s.experiments/4)
	by := suite{experiments: count}
	title := fmt.Sprintf("Capacity, stopping at verdicts: margin 5 %%, runs that spread by 5 %% (%d experiments per line)", count)
	header := "system\teffect %\tblocks\tcoverage %\tfalse positives per experiment %\tEquivalent %\tBetter or Worse %"
	err := s.table(title, header, func(line func(string, ...any)) error {
		for _, system := range []loaded{several, sudden, flat} {
			for _, effect := range []float64{0, 0.05, 0.1} {
				s.capacityLines++
				of := usualCapacity(system, 0.05)
				of.blocks, of.effects = 21, []float64{effect}
				interim := stats.InterimAnalyses{First: 7, Last: 21}
				found, err := sequentialTrial{trial: of.trial, interim: interim, values: of.values}.many(count, s.seed<<16+capacityLines+s.capacityLines)
				if err != nil {
					return err
				}
				line("%s\t%.0f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f", system.name, 100*effect, float64(found.blocks)/float64(count), found.covered.percent(),
					found.anyDifferent.percent(), found.equivalent.percent(), found.right.percent()+found.wrong.percent())
				by.expectHeld(found, effect, of.marginPercent, fmt.Sprintf("capacity, stopping at verdicts, %s, effect %.0f %%", system.name, 100*effect))
			}
		}
		return nil
	})
	s.broken = append(s.broken, by.broken...)
	return err
}

// capacitiesOutside simulates capacities near the end of the range and beyond it.
func (s *suite) capacitiesOutside() error {
	header := "capacity / highest load\teffect %\truns that miss it\tcoverage %\tfalse positives per experiment %\t95 % of effects within ± %\tlevels miss %\tno answer %"
	return s.table("Capacity near the end of the range: M/M/8, limit 2 x idle, runs that spread by 5 %, 7 blocks", header, func(line func(string, ...any)) error {
		for _, place := range []float64{0.8, 0.9, 1, 1.1, 1.25} {
			for _, effect := range []float64{0, 0.1} {
				for way, name := range []string{"used, up to a third", "used", "omitted"} {
					of := usualCapacity(several, 0.05)
					of.place, of.effects, of.outside = 1+math.Log(place)/math.Log(of.span), []float64{effect}, treatment(way)
					found, err := s.simulateCapacity(of)
					if err != nil {
						return err
					}
					line("%.2f\t%.0f\t%s\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f", place, 100*effect, name, found.covered.percent(), found.anyDifferent.percent(),
						quantile95(found.errors), found.missed.percent(), found.unanswered.percent())
				}
			}
		}
		return nil
	})
}

// capacityMethods compares other methods with PerfLab's.
func (s *suite) capacityMethods() error {
	count := max(40, s.experiments/4)
	header := "system\truns spread by %\tmethod\tcoverage %\teffect claimed of equal arms %\terror of the effect %\t95 % of effects within ± %\tno answer %"
	title := fmt.Sprintf("Methods: capacity of 2 equal arms (%d experiments per line)", count)
	return s.table(title, header, func(line func(string, ...any)) error {
		for _, system := range []loaded{several, sudden, flat} {
			for _, spread := range []float64{0.02, 0.10} {
				s.capacityLines++
				for _, method := range slices.Concat(baselines, rivals) {
					found, err := method.judge(usualCapacity(system, spread), count, s.seed<<16+capacityLines+s.capacityLines)
					if err != nil {
						return err
					}
					line("%s\t%.0f\t%s\t%s\t%.1f\t%+.1f\t%.1f\t%.1f", system.name, 100*spread, method.name, formatShare(found.covered, 7), found.differs.percent(),
						meanError(found.errors), quantile95(found.errors), found.unanswered.percent())
				}
			}
		}
		return nil
	})
}
