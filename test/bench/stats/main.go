// SPDX-License-Identifier: Apache-2.0

// Command stats simulates thousands of experiments whose true effects are known, and
// reports how often PerfLab's intervals and verdicts are right. Its exit code is 1 if they
// are wrong more often than promised.
package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"text/tabwriter"

	"perflab.dev/perflab/internal/inference/stats"
)

func main() {
	experiments := flag.Int("experiments", 4000, "synthetic experiments per line")
	seed := flag.Uint64("seed", 1, "seed of the random numbers")
	python := flag.String("python", "", "Python with Apache Otava, to compare change points")
	flag.Parse()
	made := &suite{out: os.Stdout, experiments: *experiments, seed: *seed, python: *python}
	tables := []func(*suite) error{
		(*suite).coverage, (*suite).edges, (*suite).power, (*suite).practice, (*suite).decided, (*suite).weakness, (*suite).changes, (*suite).sequential, (*suite).capacities, (*suite).faults,
	}
	for _, table := range tables {
		if err := table(made); err != nil {
			fmt.Fprintln(os.Stderr, "bench-stats:", err)
			os.Exit(1)
		}
	}
	if len(made.broken) > 0 {
		fmt.Fprintf(os.Stderr, "bench-stats: %d lines miss their goals:\n%s\n", len(made.broken), strings.Join(made.broken, "\n"))
		os.Exit(1)
	}
}

type suite struct {
	out         io.Writer
	experiments int
	seed        uint64
	lines       uint64
	endingLines uint64
	// capacityLines counts the lines of the capacity tables.
	capacityLines uint64
	python        string
	// broken names the lines that break a promise.
	broken []string
}

// table prints a title and lines of columns.
func (s *suite) table(title, header string, lines func(line func(format string, values ...any)) error) error {
	if _, err := fmt.Fprintf(s.out, "\n%s\n", title); err != nil {
		return fmt.Errorf("writing a table: %w", err)
	}
	writer := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	line := func(format string, values ...any) {
		// The writer buffers everything until it is flushed.
		_, _ = fmt.Fprintf(writer, format+"\t\n", values...)
	}
	line("%s", header)
	if err := lines(line); err != nil {
		return err
	}
	return writer.Flush()
}

// simulate draws different experiments for each line.
func (s *suite) simulate(of trial) (outcome, error) {
	s.lines++
	return simulate(of, s.experiments, s.seed<<16+s.lines)
}

func (s *suite) expect(kept bool, format string, values ...any) {
	if !kept {
		s.broken = append(s.broken, fmt.Sprintf(format, values...))
	}
}

// Promises, in percent.
const (
	leastCovered, mostCovered = 93.5, 96.5
	mostWrong                 = 5
	powerApart                = 5
)

// chance is the sampling error of a count: three standard errors of a share near 5 %.
func (s *suite) chance() float64 {
	return 300 * 0.218 / math.Sqrt(float64(s.experiments))
}

// slack is the additional error with fewer experiments than the promises assume.
func (s *suite) slack() float64 {
	const promised = 4000
	return math.Max(0, s.chance()-(&suite{experiments: promised}).chance())
}

type condition struct {
	name           string
	noise          noise
	missing, drift float64
}

var conditions = []condition{
	{"normal", normal, 0, 0},
	{"skewed", skewed, 0, 0},
	{"heavy-tailed", heavy, 0, 0},
	{"normal, 10 % of runs lost", normal, 0.1, 0},
	{"normal, 20 % drift", normal, 0, 0.2},
}

var spreads = []float64{0.02, 0.04, 0.10}

// coverage simulates experiments without any effect.
func (s *suite) coverage() error {
	title := fmt.Sprintf("No effect: coverage of the 95 %% interval, and false differences (%d experiments per line)", s.experiments)
	header := "noise\tCV %\tarms\tblocks\tcoverage %\thalf-width %\tfalse per comparison %\tfalse positives per experiment %\tverdict Equivalent %\tverdict false %"
	return s.table(title, header, func(line func(string, ...any)) error {
		for _, under := range conditions {
			for _, cv := range spreads {
				for _, arms := range []int{2, 4, 8} {
					for _, blocks := range []int{3, 6, 12} {
						of := trial{noise: under.noise, cv: cv, arms: arms, blocks: blocks, missing: under.missing, drift: under.drift, marginPercent: 5}
						found, err := s.simulate(of)
						if err != nil {
							return err
						}
						line("%s\t%.0f\t%d\t%d\t%.1f\t%.1f\t%s\t%s\t%s\t%s", under.name, 100*cv, arms, blocks, found.covered.percent(), found.meanHalfWidth(),
							formatShare(found.different, blocks), formatShare(found.anyDifferent, blocks), formatShare(found.equivalent, blocks), formatShare(found.wrong, blocks))
						named := fmt.Sprintf("%s, CV %.0f %%, %d arms, %d blocks", under.name, 100*cv, arms, blocks)
						covered, wrong := found.covered.percent(), found.anyDifferent.percent()
						s.expect(covered >= leastCovered-s.slack() && covered <= mostCovered+s.slack(), "%s: coverage %.1f %%", named, covered)
						s.expect(wrong <= mostWrong+s.chance(), "%s: %.1f %% of experiments have a false positive", named, wrong)
					}
				}
			}
		}
		return nil
	})
}

// edges simulates experiments whose effect equals the margin.
func (s *suite) edges() error {
	header := "noise\tCV %\tarms\tblocks\tfalse Equivalent at +5 %\tfalse Equivalent at -5 %"
	return s.table("Effect at the margin's edge (5 %): false Equivalent, per comparison", header, func(line func(string, ...any)) error {
		for _, under := range conditions {
			for _, cv := range spreads {
				for _, size := range [][2]int{{2, 6}, {2, 12}, {4, 6}, {8, 12}} {
					var shares [2]share
					for i, effect := range []float64{0.05, -0.05} {
						of := trial{noise: under.noise, cv: cv, arms: size[0], blocks: size[1], missing: under.missing, drift: under.drift, marginPercent: 5, effects: []float64{effect}}
						found, err := s.simulate(of)
						if err != nil {
							return err
						}
						shares[i] = found.equivalent
						falsely := found.equivalent.percent()
						s.expect(!(falsely > mostWrong+s.chance()), "%s, CV %.0f %%, %d arms, %d blocks: %.1f %% Equivalent at the edge", under.name, 100*cv, size[0], size[1], falsely)
					}
					line("%s\t%.0f\t%d\t%d\t%s\t%s", under.name, 100*cv, size[0], size[1], formatShare(shares[0], size[1]), formatShare(shares[1], size[1]))
				}
			}
		}
		return nil
	})
}

// power simulates experiments in which one arm has the effect for which planning predicts
// 80 % power.
func (s *suite) power() error {
	header := "noise\tCV %\tarms\tblocks\tdetectable effect %\tplanned power %\tfound %"
	return s.table("Power: one arm has the smallest effect that planning promises to find", header, func(line func(string, ...any)) error {
		for _, under := range conditions[:3] {
			for _, cv := range spreads {
				for _, size := range [][2]int{{2, 6}, {2, 8}, {2, 12}, {4, 6}, {4, 12}, {8, 6}, {8, 12}} {
					effect, found, err := s.measurePower(under.noise, cv, size[0], size[1])
					if err != nil {
						return err
					}
					line("%s\t%.0f\t%d\t%d\t%.1f\t80\t%.1f", under.name, 100*cv, size[0], size[1], 100*effect, found)
					if under.noise.name == normal.name {
						s.expect(found >= 80-powerApart-s.slack() && found <= 80+powerApart+s.slack(), "CV %.0f %%, %d arms, %d blocks: power %.1f %%", 100*cv, size[0], size[1], found)
					}
				}
			}
		}
		return nil
	})
}

func (s *suite) measurePower(under noise, cv float64, arms, blocks int) (effect, found float64, err error) {
	design := stats.Design{Arms: arms, Blocks: blocks, Deviation: math.Sqrt(math.Log1p(cv * cv)), Alpha: alpha, Family: arms - 1}
	effect = math.Expm1(design.Detectable(0.8))
	// One arm is slower. The others equal the baseline.
	of := trial{noise: under, cv: cv, arms: arms, blocks: blocks, effects: []float64{effect, 0}}
	seen, err := s.simulate(of)
	return effect, seen.first.percent(), err
}

// practice compares one run per arm with experiments in blocks.
func (s *suite) practice() error {
	header := "CV %\tdrift %\ttrue effect %\tone run, claims from 5 %: wrong %\tright %\tone run, claims from 2 %: wrong %\tright %\t6 blocks: wrong %\tright %\tEquivalent %\t12 blocks: wrong %\tright %\tEquivalent %"
	return s.table("One run per arm, as is common, compared to blocks (4 arms, margin 5 %)", header, func(line func(string, ...any)) error {
		for _, cv := range spreads {
			for _, drift := range []float64{0, 0.1} {
				for _, effect := range []float64{0, 0.03, 0.1} {
					of := trial{noise: normal, cv: cv, arms: 4, drift: drift, marginPercent: 5, effects: []float64{effect}}
					five, two := onceEach(of, 5, s.experiments, s.seed), onceEach(of, 2, s.experiments, s.seed)
					var found [2]outcome
					for i, blocks := range []int{6, 12} {
						of.blocks = blocks
						var err error
						if found[i], err = s.simulate(of); err != nil {
							return err
						}
					}
					line("%.0f\t%.0f\t%.0f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f", 100*cv, 100*drift, 100*effect,
						five.wrong.percent(), five.right.percent(), two.wrong.percent(), two.right.percent(),
						found[0].wrong.percent(), found[0].right.percent(), found[0].equivalent.percent(),
						found[1].wrong.percent(), found[1].right.percent(), found[1].equivalent.percent())
				}
			}
		}
		return nil
	})
}

// decided simulates experiments with arms that have an effect and arms that have none, and
// reports how many of the intervals of Better and Worse verdicts miss the effect.
func (s *suite) decided() error {
	header := "noise\tCV %\tarms\tblocks\teffect %\tfound %\tintervals of Better and Worse that miss %"
	return s.table("Half of the arms have an effect: the intervals that decided", header, func(line func(string, ...any)) error {
		for _, under := range conditions {
			for _, size := range [][2]int{{4, 6}, {8, 6}, {8, 12}} {
				for _, effect := range []float64{0.06, 0.1, 0.2} {
					effects := make([]float64, size[0]-1)
					for i := 0; i < len(effects); i += 2 {
						effects[i] = effect
					}
					found, err := s.simulate(trial{noise: under.noise, cv: 0.04, arms: size[0], blocks: size[1], missing: under.missing, drift: under.drift, marginPercent: 2, effects: effects})
					if err != nil {
						return err
					}
					line("%s\t4\t%d\t%d\t%.0f\t%.1f\t%.1f", under.name, size[0], size[1], 100*effect, found.first.percent(), found.missedPercent())
					s.expect(found.missedPercent() <= mostWrong+s.chance(), "%s, %d arms, %d blocks, %.0f %%: %.1f %% of intervals miss", under.name, size[0], size[1], 100*effect, found.missedPercent())
				}
			}
		}
		return nil
	})
}

// weakness shows a limit of the method: the residual is pooled, so the interval of an arm with
// a larger spread than the others is too narrow.
func (s *suite) weakness() error {
	header := "arms\tblocks\tone arm spreads\tcoverage of that arm %\tcoverage of all %\tfalse positives per experiment %"
	return s.table("Weakness: one arm spreads more than the others (normal noise, CV 4 %)", header, func(line func(string, ...any)) error {
		for _, size := range [][2]int{{2, 6}, {4, 6}, {8, 6}, {8, 12}} {
			for _, uneven := range []float64{1, 2, 3} {
				found, err := s.simulate(trial{noise: normal, cv: 0.04, arms: size[0], blocks: size[1], uneven: uneven, marginPercent: 5})
				if err != nil {
					return err
				}
				line("%d\t%d\tx %.0f\t%.1f\t%.1f\t%.1f", size[0], size[1], uneven, found.coveredFirst.percent(), found.covered.percent(), found.anyDifferent.percent())
			}
		}
		return nil
	})
}

// formatShare formats a share. It returns a dash if there are too few blocks for a verdict.
func formatShare(of share, blocks int) string {
	if blocks < 6 || of.cases == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", of.percent())
}
