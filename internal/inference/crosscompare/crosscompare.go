// SPDX-License-Identifier: Apache-2.0

// Package crosscompare compares two experiments with each other. Arms of one experiment share
// blocks; those of two share at most their baseline. So the baselines are analyzed first, and arms
// are compared through them. It is pure.
package crosscompare

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/analysis"
	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/inference/stats"
	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/measure/observation"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/runs/provenance"
)

// ErrNothingToCompare means that two experiments have nothing comparable.
var ErrNothingToCompare = errors.New("there is nothing to compare")

// ExperimentRuns is an experiment and its runs.
type ExperimentRuns struct {
	Experiment *v1alpha1.PerfExperiment
	Runs       []v1alpha1.PerfRun
}

// Pair is an arm of the first experiment and one of the second.
type Pair struct{ First, Second string }

// Options select the comparisons.
type Options struct {
	// MarginPercent is the equivalence margin for baselines and arms; 0: the smaller one of the
	// experiments.
	MarginPercent float64
	// Pairs of arms; none: those of the same name or, without any, every arm of the first with
	// every arm of the second.
	Pairs []Pair
}

// Comparison compares the second experiment with the first, for one metric of one scenario.
type Comparison struct {
	Scenario, Metric, Unit string
	// Pair of arms; of baselines, both baselines.
	Pair
	// FirstValue and SecondValue are, for baselines, the centers of their runs in the metric's
	// unit; for other arms, their deltas to their own baselines on Scale.
	FirstValue, SecondValue float64
	Scale                   comparison.Scale
	// Delta is the second compared with the first, Low and High its interval, EquivalenceLow and
	// EquivalenceHigh that of the equivalence test; percent of the first on the ratio scale, else
	// in the unit.
	Delta, Low, High, EquivalenceLow, EquivalenceHigh float64
	// P is the p-value of Welch's t test, Adjusted the same by Holm's procedure over all pairs and
	// metrics. For baselines, P is that of the equivalence test and is not adjusted, because all of
	// them must be equivalent.
	P, Adjusted float64
	// Verdict of a pair of arms. For baselines it is Equivalent, or none.
	Verdict verdict.Verdict
	// Warnings describe limits of the numbers.
	Warnings []comparison.Warning

	estimate  stats.Estimate
	low, high float64
	blocks    int
	direction verdict.Direction
}

// Result of comparing two experiments.
type Result struct {
	// MarginPercent and ConfidencePercent that were used.
	MarginPercent, ConfidencePercent float64
	// Baselines compares the baselines, in every primary metric of both.
	Baselines []Comparison
	// Alike means that all baselines are equivalent, so that arms are compared.
	Alike bool
	// Arms compares the arms, through their baselines; none unless Alike.
	Arms []Comparison
	// Notes are sentences about differences between the experiments.
	Notes []string
}

// Compare compares the second experiment with the first. It fails with ErrNothingToCompare if they
// share no primary metric of a scenario with the same loads, and on a pair with an unknown arm.
func Compare(first, second ExperimentRuns, options Options) (*Result, error) {
	a, err := newSide(first)
	if err != nil {
		return nil, err
	}
	b, err := newSide(second)
	if err != nil {
		return nil, err
	}
	made := &Result{
		MarginPercent:     options.MarginPercent,
		ConfidencePercent: float64(max(a.answer.Question.ConfidencePercent, b.answer.Question.ConfidencePercent)),
	}
	if made.MarginPercent == 0 {
		made.MarginPercent = float64(min(a.answer.Question.MarginPercent, b.answer.Question.MarginPercent))
	}
	pairs, err := selectPairs(a, b, options.Pairs)
	if err != nil {
		return nil, err
	}
	made.noteDifferences(a, b)
	shared := made.sharedSeries(a, b)
	for _, series := range shared {
		made.Baselines = append(made.Baselines, made.compareBaselines(a, b, series))
	}
	if len(made.Baselines) == 0 {
		return nil, fmt.Errorf("%w: %s and %s share no primary metric of a scenario with the same load: %s", ErrNothingToCompare, a.name, b.name, strings.Join(made.Notes, "; "))
	}
	made.Alike = !slices.ContainsFunc(made.Baselines, func(c Comparison) bool { return c.Verdict != verdict.Equivalent })
	if made.Alike {
		made.compareArms(a, b, pairs, shared)
	}
	return made, nil
}

func (r *Result) alpha() float64 { return 1 - r.ConfidencePercent/100 }

// side is one of the two experiments.
type side struct {
	name   string
	record ExperimentRuns
	answer analysis.Answer
	// arms without the baseline and its A/A control.
	arms []string
}

func newSide(of ExperimentRuns) (*side, error) {
	status := &of.Experiment.Status
	if len(status.Arms) == 0 || status.Seed == nil {
		return nil, fmt.Errorf("%w: experiment %q has not started", ErrNothingToCompare, of.Experiment.Name)
	}
	made := &side{name: fmt.Sprintf("%q", of.Experiment.Name), record: of}
	for _, arm := range status.Arms {
		if !arm.Baseline && !arm.Twin {
			made.arms = append(made.arms, arm.Name)
		}
	}
	made.answer = analysis.Analyze(&of.Experiment.Spec, arms.Recorded(status.Arms), *status.Seed, of.Runs)
	if made.answer.Blocks == 0 {
		return nil, fmt.Errorf("%w: experiment %q has no complete block", ErrNothingToCompare, of.Experiment.Name)
	}
	return made, nil
}

func selectPairs(a, b *side, wanted []Pair) ([]Pair, error) {
	for _, pair := range wanted {
		for _, has := range []struct {
			side *side
			arm  string
		}{{a, pair.First}, {b, pair.Second}} {
			if !slices.Contains(has.side.arms, has.arm) {
				return nil, fmt.Errorf("%w: experiment %s has no arm %q besides its baseline; it has %s", ErrNothingToCompare, has.side.name, has.arm, strings.Join(has.side.arms, ", "))
			}
		}
	}
	if len(wanted) > 0 {
		return wanted, nil
	}
	var same, all []Pair
	for _, first := range a.arms {
		for _, second := range b.arms {
			all = append(all, Pair{first, second})
			if first == second {
				same = append(same, Pair{first, second})
			}
		}
	}
	if len(same) > 0 {
		return same, nil
	}
	return all, nil
}

// seriesKey is a metric of a scenario.
type seriesKey struct{ scenario, metric string }

// sharedSeries returns the primary metrics of both, in scenarios with the same loads.
func (r *Result) sharedSeries(a, b *side) []seriesKey {
	var both []seriesKey
	for _, own := range a.record.Experiment.Spec.Scenarios {
		at := slices.IndexFunc(b.record.Experiment.Spec.Scenarios, func(s v1alpha1.Scenario) bool { return s.Name == own.Name })
		switch {
		case at < 0:
			r.addNote("scenario %q is only in %s", own.Name, a.name)
			continue
		case !equality.Semantic.DeepEqual(own, b.record.Experiment.Spec.Scenarios[at]):
			r.addNote("scenario %q is declared differently: its values are from different loads and are not compared", own.Name)
			continue
		}
		for _, metric := range a.answer.Question.Primary {
			of := seriesKey{own.Name, metric}
			if b.answer.Question.IsPrimary(metric) && a.hasBaseline(of) && b.hasBaseline(of) {
				both = append(both, of)
			}
		}
	}
	return both
}

// hasBaseline reports whether a valid run of the baseline has the metric.
func (s *side) hasBaseline(of seriesKey) bool {
	values, _ := s.baseline(of)
	return len(values) > 0
}

// baseline returns the values of the baseline's valid runs, and their unit.
func (s *side) baseline(of seriesKey) (values []float64, unit string) {
	return observation.Values(s.record.Runs, observation.SeriesKey{
		Arm: s.answer.Baseline, Scenario: of.scenario, Metric: of.metric, Blocks: s.answer.Blocks,
	})
}

// compareBaselines compares the baselines as two independent samples.
func (r *Result) compareBaselines(a, b *side, of seriesKey) Comparison {
	first, unit := a.baseline(of)
	second, otherUnit := b.baseline(of)
	made := Comparison{Scenario: of.scenario, Metric: of.metric, Unit: unit, Pair: Pair{a.answer.Baseline, b.answer.Baseline}}
	made.Scale = comparison.ChooseScale(made.Unit, slices.Concat(first, second))
	if otherUnit != unit {
		made.FirstValue, made.SecondValue = math.NaN(), math.NaN()
		made.warn(comparison.CodeUnitsDiffer, "measured in %q and in %q", unit, otherUnit)
		made.set(stats.Difference(stats.Estimate{}, stats.Estimate{}), r.alpha())
		return made
	}
	made.FirstValue, made.SecondValue = made.Scale.Center(first), made.Scale.Center(second)
	made.low, made.high = made.Scale.Margin(r.MarginPercent, made.FirstValue)
	made.set(stats.Difference(stats.Mean(made.Scale.Transform(second)), stats.Mean(made.Scale.Transform(first))), r.alpha())
	made.P = made.estimate.Equivalence(made.low, made.high)
	made.Adjusted = made.P
	if made.P <= r.alpha() {
		made.Verdict = verdict.Equivalent
	}
	return made
}

// set sets the fields of the estimate.
func (c *Comparison) set(estimate stats.Estimate, alpha float64) {
	c.estimate = estimate
	c.Delta, c.P = c.Scale.Display(estimate.Value), estimate.P()
	low, high := estimate.Interval(1 - alpha)
	c.Low, c.High = c.Scale.Display(low), c.Scale.Display(high)
	low, high = estimate.Interval(1 - 2*alpha)
	c.EquivalenceLow, c.EquivalenceHigh = c.Scale.Display(low), c.Scale.Display(high)
	c.Warnings = append(c.Warnings, comparison.FromStats(estimate.Warnings)...)
}

// compareArms compares pairs of arms by their effects against their own baselines (Bucher and
// others 1997), which removes effects of an experiment as a whole: another day, another node.
func (r *Result) compareArms(a, b *side, pairs []Pair, shared []seriesKey) {
	for _, pair := range pairs {
		r.noteArmDifferences(a, b, pair)
		for _, of := range shared {
			first, second := a.comparison(of, pair.First), b.comparison(of, pair.Second)
			if first != nil && second != nil {
				r.Arms = append(r.Arms, r.comparePair(a, first, second, pair))
			}
		}
	}
	p := make([]float64, len(r.Arms))
	for i := range r.Arms {
		p[i] = r.Arms[i].P
	}
	adjusted := stats.Holm(p, r.alpha())
	doubtful := uncalibrated(a, b)
	for i := range r.Arms {
		r.Arms[i].Adjusted = adjusted[i].P
		r.Arms[i].judge(adjusted[i], r.alpha(), doubtful)
	}
}

func (s *side) comparison(of seriesKey, arm string) *comparison.Comparison {
	at := slices.IndexFunc(s.answer.Comparisons, func(c comparison.Comparison) bool {
		return c.Scenario == of.scenario && c.Metric == of.metric && c.Arm == arm
	})
	if at < 0 {
		return nil
	}
	return &s.answer.Comparisons[at]
}

func (r *Result) comparePair(a *side, first, second *comparison.Comparison, pair Pair) Comparison {
	made := Comparison{
		Scenario: first.Scenario, Metric: first.Metric, Unit: first.Unit, Pair: pair,
		FirstValue: first.Delta, SecondValue: second.Delta, Scale: first.Scale,
		blocks: min(first.Blocks, second.Blocks),
	}
	made.direction = a.answer.Question.Direction(first.Metric, first.Unit)
	if first.Scale != second.Scale {
		made.setInconclusive(comparison.CodeScalesDiffer, "one experiment compares it as a ratio, the other as a difference")
		made.set(stats.Difference(stats.Estimate{}, stats.Estimate{}), r.alpha())
		return made
	}
	made.low, made.high = made.Scale.Margin(r.MarginPercent, first.BaselineCenter)
	made.set(stats.Difference(second.Effect(), first.Effect()), r.alpha())
	for _, own := range []*comparison.Comparison{first, second} {
		if own.Blocks >= verdict.MinimumBlocks && own.Verdict == verdict.None {
			made.setInconclusive(comparison.CodeNoOwnVerdict, "arm %q has no verdict in its own experiment: %s", own.Arm, strings.Join(comparison.Messages(own.Warnings), "; "))
		}
	}
	return made
}

// setInconclusive prevents a verdict.
func (c *Comparison) setInconclusive(code comparison.Code, format string, values ...any) {
	c.blocks = 0
	c.warn(code, "no verdict: "+format, values...)
}

func (c *Comparison) warn(code comparison.Code, format string, values ...any) {
	c.Warnings = append(c.Warnings, comparison.NewWarning(code, format, values...))
}

// uncalibrated names the reason that prevents all verdicts; empty: none.
func uncalibrated(sides ...*side) string {
	for _, s := range sides {
		if len(s.answer.Uncalibrated()) > 0 {
			return fmt.Sprintf("experiment %s is not calibrated: its A/A control differs from its baseline", s.name)
		}
	}
	return ""
}

// judge returns the verdict. Runs of two experiments are not paired, so only the t test decides.
func (c *Comparison) judge(adjusted stats.Adjusted, alpha float64, doubtful string) {
	if doubtful != "" {
		c.setInconclusive(comparison.CodeNotCalibrated, "%s", doubtful)
		return
	}
	if c.blocks == 0 {
		return
	}
	if c.blocks < verdict.MinimumBlocks {
		c.warn(comparison.CodeTooFewBlocks, "descriptive only: a verdict needs %d blocks in each experiment", verdict.MinimumBlocks)
		return
	}
	decision := verdict.Decide(verdict.Evidence{
		Effect: c.estimate, Low: c.low, High: c.high, Adjusted: adjusted,
		Permutation: 0, Blocks: c.blocks, Direction: c.direction,
	}, alpha)
	c.Verdict, c.Low, c.High = decision.Verdict, c.Scale.Display(decision.Low), c.Scale.Display(decision.High)
}

func (r *Result) addNote(format string, values ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, values...))
}

// maxDifferences limits the listed differences of two systems.
const maxDifferences = 10

// noteDifferences describes the differences between the experiments.
func (r *Result) noteDifferences(a, b *side) {
	for _, one := range []*side{a, b} {
		if origin := provenance.Elsewhere(one.record.Experiment); origin != "" {
			r.addNote("%s was %s: PerfLab did not observe its system", one.name, origin)
		}
	}
	r.addDifferences("the baselines", settingDifferences(a, b, a.answer.Baseline, b.answer.Baseline))
	own, other := &a.record.Experiment.Spec, &b.record.Experiment.Spec
	for _, part := range []struct {
		name  string
		alike bool
	}{
		{"measurement", equality.Semantic.DeepEqual(own.Measurement, other.Measurement)},
		{"reset", equality.Semantic.DeepEqual(own.Reset, other.Reset)},
		{"validity", equality.Semantic.DeepEqual(own.Validity, other.Validity)},
	} {
		if !part.alike {
			r.addNote("the experiments declare spec.%s differently", part.name)
		}
	}
	if x, y := a.answer.Question, b.answer.Question; x.MarginPercent != y.MarginPercent || x.ConfidencePercent != y.ConfidencePercent {
		r.addNote("the margins are %d %% and %d %%, the confidence levels %d %% and %d %%: the smaller margin and the higher confidence level apply unless others are set",
			x.MarginPercent, y.MarginPercent, x.ConfidencePercent, y.ConfidencePercent)
	}
}

// noteArmDifferences describes the differences between two arms beyond their baselines.
func (r *Result) noteArmDifferences(a, b *side, pair Pair) {
	what := fmt.Sprintf("the arms %q", pair.First)
	if pair.First != pair.Second {
		what = fmt.Sprintf("the arms %q and %q", pair.First, pair.Second)
	}
	known := settingDifferences(a, b, a.answer.Baseline, b.answer.Baseline)
	r.addDifferences(what, slices.DeleteFunc(settingDifferences(a, b, pair.First, pair.Second), func(d v1alpha1.Difference) bool {
		return slices.Contains(known, d)
	}))
}

// settingDifferences returns the differences between the settings of two arms.
func settingDifferences(a, b *side, first, second string) []v1alpha1.Difference {
	before, after := arms.RecordedSystem(a.record.Runs, first), arms.RecordedSystem(b.record.Runs, second)
	if before == nil || after == nil {
		return nil
	}
	return arms.Differences(*before, *after)
}

func (r *Result) addDifferences(what string, differing []v1alpha1.Difference) {
	changes := arms.Changes(differing)
	for _, change := range changes[:min(len(changes), maxDifferences)] {
		r.addNote("%s differ in %s: %s, then %s", what, change.Setting, change.Baseline, change.Arm)
	}
	if more := len(changes) - maxDifferences; more > 0 {
		r.addNote("%s differ in %s more settings", what, strconv.Itoa(more))
	}
}
