// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"fmt"
	"slices"
	"strconv"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/inference/stats"
	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/measure/observation"
	"perflab.dev/perflab/internal/planning/analysisplan"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/runs/runorder"
)

// Answer is the result of an experiment's runs.
type Answer struct {
	Question analysisplan.Question
	// Baseline and Twin are arms; Twin is the A/A control, empty if there is none.
	Baseline, Twin string
	// Blocks is the number of complete blocks, the basis of the answer.
	Blocks int32
	// Runs is the number of runs in the answer.
	Runs int32
	// Comparisons of every metric and arm, including the A/A control, by scenario, metric and arm.
	// Empty if there is nothing to compare.
	Comparisons []comparison.Comparison
	// Pairs are the primary comparisons with arms other than the baseline that the question
	// requests.
	Pairs []comparison.Comparison
	// Slowdowns under background load, primary metrics first.
	Slowdowns []Slowdown
	// Effects of a matrix's factors on primary metrics.
	Effects []Effect
	// Warnings are sentences about limits of the numbers.
	Warnings []string
}

// Analyze answers an experiment's question from its valid runs in complete blocks. The order of the
// runs does not matter. A value that can't be read or compared is left out, with a warning that
// names it.
func Analyze(spec *v1alpha1.PerfExperimentSpec, all []arms.Arm, seed int64, runs []v1alpha1.PerfRun) Answer {
	answer := newAnswer(spec, all, CompleteBlocks(all, spec.Scenarios, runs))
	counted := within(runorder.Sorted(runs), answer.Blocks)
	table, faults := tabulate(counted, nil)
	answer.Runs, answer.Warnings = int32(len(counted)), faults
	answer.Question = answer.Question.ResolveMetrics(table.Names())
	for _, sentence := range outsideWarnings(spec, all, counted) {
		answer.warn(sentence)
	}
	if len(counted) == 0 || len(all) < 2 {
		return answer
	}
	compared, err := table.Compare(answer.withPairs(answer.options(seed, runs), spec, all))
	if err != nil {
		answer.warn("nothing is compared: " + err.Error())
		return answer
	}
	for _, one := range compared {
		if one.Baseline == answer.Baseline {
			answer.Comparisons = append(answer.Comparisons, one)
		} else {
			answer.Pairs = append(answer.Pairs, one)
		}
	}
	answer.warnMissingMetrics()
	answer.check(table, all, runorder.Sorted(runs), len(spec.Scenarios))
	answer.Slowdowns = slowdowns(answer.Question, table, all)
	answer.Effects, err = effects(answer.Question, table, spec.Matrix, all)
	if err != nil {
		answer.warn("no main effects of the factors: " + err.Error())
	}
	return answer
}

// newAnswer is the answer before any comparison.
func newAnswer(spec *v1alpha1.PerfExperimentSpec, all []arms.Arm, blocks int32) Answer {
	baseline, _ := arms.Baseline(all)
	twin, _ := arms.Twin(all)
	return Answer{Question: analysisplan.New(spec), Baseline: baseline.Name, Twin: twin.Name, Blocks: blocks}
}

// currentAnalysis is the analysis at the complete blocks.
func (a *Answer) currentAnalysis() stats.Analysis { return a.Question.Interim.At(int(a.Blocks)) }

// Level returns the error rate of intervals: that of the interim analysis, so that they hold at all
// analyses together.
func (a *Answer) Level() float64 { return a.currentAnalysis().Level(a.Question.Alpha()) }

func (a *Answer) warn(sentence string) {
	if !slices.Contains(a.Warnings, sentence) {
		a.Warnings = append(a.Warnings, sentence)
	}
}

func (a *Answer) options(seed int64, runs []v1alpha1.PerfRun) comparison.Options {
	return comparison.Options{
		IsSet: a.isSet(routings(runs)),

		Baseline: a.Baseline, Twin: a.Twin,
		MarginPercent:     float64(a.Question.MarginPercent),
		ConfidencePercent: float64(a.Question.ConfidencePercent),
		Primary:           a.Question.IsPrimary,
		Direction:         a.Question.Direction,
		Interim:           a.Question.Interim,
		Seed:              uint64(seed),
	}
}

// withPairs adds the comparisons with arms other than the baseline.
func (a *Answer) withPairs(options comparison.Options, spec *v1alpha1.PerfExperimentSpec, all []arms.Arm) comparison.Options {
	for _, pair := range arms.Pairs(a.Question.Pairs, spec.Matrix, all) {
		options.Pairs = append(options.Pairs, comparison.Pair(pair))
	}
	return options
}

// Uncalibrated returns the primary comparisons in which the A/A control differs from the baseline.
func (a *Answer) Uncalibrated() []comparison.Comparison {
	return comparison.Uncalibrated(a.Comparisons, a.Question.Alpha())
}

// Needed returns the number of blocks of the first analysis.
func (a *Answer) Needed() int32 { return max(verdict.MinimumBlocks, int32(a.Question.Interim.First)) }

// Enough reports whether there are enough blocks for verdicts.
func (a *Answer) Enough() bool { return a.Blocks >= a.Needed() }

// warnMissingMetrics warns of primary metrics that no run has, such as typing errors, which
// admission can't detect.
func (a *Answer) warnMissingMetrics() {
	for _, metric := range a.Question.Primary {
		found := slices.ContainsFunc(a.Comparisons, func(c comparison.Comparison) bool { return c.Metric == metric })
		if !found {
			a.warn(fmt.Sprintf("no run has the primary metric %q: check its spelling against the runs' observations", metric))
		}
	}
}

// runPosition of a run in the design.
type runPosition struct {
	block         int32
	arm, scenario string
}

// CompleteBlocks returns the number of consecutive blocks, from the first on, in which every arm
// has a valid run under every scenario.
func CompleteBlocks(all []arms.Arm, scenarios []v1alpha1.Scenario, runs []v1alpha1.PerfRun) int32 {
	done := map[runPosition]bool{}
	for i := range runs {
		if run := &runs[i]; run.Status.Phase == v1alpha1.RunSucceeded {
			done[runPosition{run.Spec.Block, run.Spec.Arm, run.Spec.Scenario.Name}] = true
		}
	}
	complete := func(block int32) bool {
		for _, arm := range all {
			for _, scenario := range scenarios {
				if !done[runPosition{block, arm.Name, scenario.Name}] {
					return false
				}
			}
		}
		return len(all) > 0 && len(scenarios) > 0
	}
	blocks := int32(0)
	for complete(blocks + 1) {
		blocks++
	}
	return blocks
}

// within returns the valid runs up to a block.
func within(runs []*v1alpha1.PerfRun, blocks int32) []*v1alpha1.PerfRun {
	var kept []*v1alpha1.PerfRun
	for _, run := range runs {
		if run.Status.Phase == v1alpha1.RunSucceeded && run.Spec.Block <= blocks {
			kept = append(kept, run)
		}
	}
	return kept
}

// tabulate collects the runs' observations of the wanted metrics; nil: all.
func tabulate(runs []*v1alpha1.PerfRun, wanted func(metric string) bool) (*comparison.Table, []string) {
	table, reader := comparison.NewTable(), observation.Reader{}
	isOutside := outsideLevels(runs)
	for _, run := range runs {
		block := strconv.Itoa(int(run.Spec.Block))
		reader.Read(run.Name, observation.OfValidRun(run), func(of *v1alpha1.Observation, value float64) error {
			if wanted != nil && !wanted(of.Metric) || of.Metric == isOutside[cell{run.Spec.Scenario.Name, "", run.Spec.Arm}] {
				return nil
			}
			return table.Add(comparison.Observation{
				Block: block, Arm: run.Spec.Arm, Scenario: run.Spec.Scenario.Name, Metric: of.Metric, Unit: of.Unit, Value: value,
			})
		})
	}
	return table, reader.Faults()
}
