// SPDX-License-Identifier: Apache-2.0

package comparison

import (
	"fmt"
	"hash/fnv"
	"math"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"perflab.dev/perflab/internal/inference/stats"
	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/text/prose"
)

// Options select the comparisons and the error rate.
type Options struct {
	// Baseline is the arm that the others are compared with.
	Baseline string
	// Twin is the A/A control arm, configured as the baseline, if there is one. It is outside
	// the families of the others; if it differs from the baseline, the experiment can't
	// distinguish effects from noise.
	Twin string
	// Pairs are compared in addition to each arm with the baseline, in primary metrics only,
	// which are adjusted with the others.
	Pairs []Pair
	// MarginPercent is the equivalence margin in percent of the baseline's center.
	MarginPercent float64
	// ConfidencePercent of the intervals; the error rate of verdicts is the remainder to 100.
	ConfidencePercent float64
	// Primary selects the primary metrics. Their p-values are adjusted by Holm's procedure over
	// all scenarios and arms, those of other metrics by Benjamini and Hochberg's. nil: all are
	// primary.
	Primary func(metric string) bool
	// Direction of a metric. nil: lower is better.
	Direction func(metric, unit string) verdict.Direction
	// IsSet selects the metrics that the settings of two arms change directly, so that a
	// difference is neither better nor worse. nil: none.
	IsSet func(metric, arm, against string) bool
	// Interim are the interim analyses. The zero value: a single analysis of all blocks.
	Interim stats.InterimAnalyses
	// Seed of the sign-flip test where it samples.
	Seed uint64
}

func (o Options) alpha() float64 { return 1 - o.ConfidencePercent/100 }

// Pair is an arm and the one it is compared with, which replaces the baseline.
type Pair struct{ Arm, Against string }

// Comparison compares one arm with the baseline, for one metric of one scenario. Unknown numbers
// are NaN.
type Comparison struct {
	Scenario, Metric, Unit, Arm, Baseline string
	Primary                               bool
	// Twin means that the arm is the baseline's A/A control: no candidate, whatever its verdict.
	Twin bool
	// Blocks is the number of blocks with both the arm and the baseline.
	Blocks int
	// BaselineCenter and ArmCenter are geometric means on the ratio scale,
	// arithmetic means otherwise, over all runs of the arm.
	BaselineCenter, ArmCenter float64
	Scale                     Scale
	// Delta is the effect of the arm, Low and High the interval that decided, as in verdict.Decide,
	// EquivalenceLow and EquivalenceHigh the interval of the equivalence test; percent of the
	// baseline on the ratio scale, else in the unit. With several interim analyses, intervals hold
	// at all of them together.
	Delta, Low, High, EquivalenceLow, EquivalenceHigh float64
	// Confidence of Low and High, in percent.
	Confidence float64
	// P is the p-value of the t test, Permutation that of the sign-flip test, both adjusted for all
	// interim analyses; Adjusted is P adjusted for its family.
	P, Permutation, Adjusted float64
	Verdict                  verdict.Verdict
	// Withheld is the reason for a missing verdict; zero if there is one.
	Withheld Warning
	// FurtherBlocks is the approximate number that would decide an Inconclusive comparison; 0 if
	// more than a thousand.
	FurtherBlocks int
	// Warnings describe limits of the numbers.
	Warnings []Warning

	evidence verdict.Evidence
	// pair means that the reference is not the experiment's baseline.
	pair bool
	// uncalibrated means that it would have a verdict if the A/A control did not differ.
	uncalibrated bool
	// isSet means that the arm's settings change the metric directly.
	isSet bool
}

// Chance is the probability of a conclusive verdict at the last interim analysis, if effect
// and spread are as estimated; 0 if error rates differ. It is 1 for a comparison with too few
// blocks.
func (c *Comparison) Chance(interim stats.InterimAnalyses, alpha float64) float64 {
	switch {
	case c.Blocks < verdict.MinimumBlocks:
		return 1
	case c.Verdict == verdict.None && !c.uncalibrated:
		return 0
	}
	return verdict.Chance(c.evidence, interim.At(interim.Last), interim.Last, alpha)
}

// Effect returns the estimated effect, on logarithms or plain values according to Scale.
func (c *Comparison) Effect() stats.Estimate { return c.evidence.Effect }

// IsBeyondMargin reports whether the whole interval lies beyond the margin.
func (c *Comparison) IsBeyondMargin() bool {
	return c.Low > c.Scale.Display(c.evidence.High) || c.High < c.Scale.Display(c.evidence.Low)
}

// Size returns the effect in standard errors; 0 if unknown.
func (c *Comparison) Size() float64 {
	if size := math.Abs(c.evidence.Effect.Value) / c.evidence.Effect.StandardError; !math.IsNaN(size) {
		return size
	}
	return 0
}

// Interval returns the interval of the delta at a confidence in percent, not adjusted for other
// comparisons. With several interim analyses it holds at all of them together.
func (c *Comparison) Interval(confidencePercent float64) (low, high float64) {
	described := verdict.Describe(c.evidence, 1-confidencePercent/100)
	return c.Scale.Display(described.Low), c.Scale.Display(described.High)
}

// Compare compares every arm with the baseline, sorted by scenario, metric and arm, and then the
// requested pairs, whose Baseline is another. It fails without observations of the baseline, or of
// any other arm.
func (t *Table) Compare(options Options) ([]Comparison, error) {
	if _, known := t.arms.number[options.Baseline]; !known {
		return nil, fmt.Errorf("baseline %q: %w; the arms are %s", options.Baseline, errNoBaseline, quoted(t.Arms()))
	}
	if len(t.arms.list) < 2 {
		return nil, fmt.Errorf("there is no arm to compare with the baseline %q", options.Baseline)
	}
	if _, known := t.arms.number[options.Twin]; options.Twin != "" && (!known || options.Twin == options.Baseline) {
		return nil, fmt.Errorf("A/A control %q: %w besides the baseline; the arms are %s", options.Twin, errNoBaseline, quoted(t.Arms()))
	}
	all := t.sorted()
	parts := make([][]Comparison, len(all))
	common := comparer{table: t, options: options, arms: t.arms.sorted(), blocks: t.blocks.sorted()}
	common.current = options.Interim.At(len(common.blocks))
	eachInParallel(len(all), func(i int) { parts[i] = common.compare(all[i]) })
	var comparisons []Comparison
	for _, part := range parts {
		comparisons = append(comparisons, part...)
	}
	comparisons = append(comparisons, common.allPairs(all)...)
	adjust(comparisons, options.alpha())
	refused := differentErrors(comparisons, options.alpha())
	judged := judge{alpha: options.alpha(), refused: refused, tooEarly: len(common.blocks) < options.Interim.First, interim: options.Interim}
	eachInParallel(len(comparisons), func(i int) { judged.apply(&comparisons[i]) })
	if options.Twin != "" {
		withdrawVerdicts(comparisons, options.alpha())
	}
	return slices.DeleteFunc(comparisons, func(c Comparison) bool { return c.pair && !c.Primary }), nil
}

func eachInParallel(count int, do func(int)) {
	workers := min(runtime.GOMAXPROCS(0), count)
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			for i := worker; i < count; i += workers {
				do(i)
			}
		})
	}
	group.Wait()
}

// comparer holds the common inputs of the comparisons of all series.
type comparer struct {
	table        *Table
	options      Options
	arms, blocks []int
	current      stats.Analysis
}

// compare fits one series and compares its arms.
func (s comparer) compare(observed *series) []Comparison {
	fitted := s.fit(observed)
	var comparisons []Comparison
	for _, arm := range fitted.arms {
		if arm == fitted.baseline {
			continue
		}
		comparisons = append(comparisons, s.compareArm(observed, fitted, arm))
	}
	return comparisons
}

// allPairs compares each pair as if its second arm were the baseline: the model of a series does
// not depend on the reference. Error rates are compared as well, because verdicts depend on them.
func (s comparer) allPairs(all []*series) []Comparison {
	wanted := slices.DeleteFunc(slices.Clone(all), func(observed *series) bool {
		return !s.decides(observed.metric) && !IsErrors(observed.metric)
	})
	parts := make([][]Comparison, len(wanted))
	eachInParallel(len(wanted), func(i int) { parts[i] = s.comparePairs(wanted[i]) })
	return slices.Concat(parts...)
}

// comparePairs compares the pairs in one series; comparisons with the same arm share a fit.
func (s comparer) comparePairs(observed *series) []Comparison {
	var comparisons []Comparison
	fits := map[string]fit{}
	for _, pair := range s.options.Pairs {
		arm, known := s.table.arms.number[pair.Arm]
		if _, knownToo := s.table.arms.number[pair.Against]; !known || !knownToo {
			continue
		}
		against := s
		against.options.Baseline, against.options.Twin = pair.Against, ""
		fitted, found := fits[pair.Against]
		if !found {
			fitted = against.fit(observed)
			fits[pair.Against] = fitted
		}
		if slices.Contains(fitted.arms, arm) {
			one := against.compareArm(observed, fitted, arm)
			one.pair = true
			comparisons = append(comparisons, one)
		}
	}
	return comparisons
}

func (s comparer) decides(metric string) bool {
	return s.options.Primary == nil || s.options.Primary(metric)
}

// IsErrors reports whether a metric is an error rate, on which verdicts on other metrics
// depend.
func IsErrors(name string) bool { return metric.Parse(name).Statistic == metric.Errors }

func (s comparer) compareArm(observed *series, fitted fit, arm int) Comparison {
	result := Comparison{
		Scenario: observed.scenario, Metric: observed.metric, Unit: observed.unit,
		Arm: s.table.arms.list[arm], Baseline: s.options.Baseline,
		Primary: s.decides(observed.metric),
		Scale:   fitted.scale, Warnings: fitted.warnings(arm),
	}
	result.Twin = result.Arm == s.options.Twin
	differences := fitted.differences(arm)
	result.Blocks = len(differences)
	result.BaselineCenter, result.ArmCenter = fitted.center(fitted.baseline), fitted.center(arm)
	effect := fitted.effect(arm)
	result.P = s.current.Adjust(effect.P())
	result.Permutation = s.current.Adjust(stats.SignFlip(differences, seriesSeed(s.options.Seed, observed.scenario, observed.metric, result.Arm)))
	result.Delta = fitted.display(effect.Value)
	result.evidence = verdict.Evidence{Effect: effect, Permutation: result.Permutation, Blocks: result.Blocks, Analysis: s.current}
	equivalence := verdict.Describe(result.evidence, 2*s.options.alpha())
	result.EquivalenceLow, result.EquivalenceHigh = fitted.display(equivalence.Low), fitted.display(equivalence.High)
	result.evidence.Low, result.evidence.High = fitted.scale.Margin(s.options.MarginPercent, result.BaselineCenter)
	if s.options.Direction != nil {
		result.evidence.Direction = s.options.Direction(observed.metric, observed.unit)
	}
	if s.options.IsSet != nil && s.options.IsSet(observed.metric, result.Arm, result.Baseline) {
		result.isSet, result.evidence.Direction = true, verdict.UnknownDirection
	}
	if result.evidence.High == 0 {
		result.warn(CodeNoMargin, "the baseline's center is 0, and so is a margin in percent of it")
	}
	result.Warnings = append(result.Warnings, FromStats(effect.Warnings)...)
	if warning, found := fitted.spreadWarning(arm, differences, 1-s.options.alpha()); found {
		result.Warnings = append(result.Warnings, warning)
	}
	if missing := fitted.blocks - result.Blocks; missing > 0 && result.Blocks > 0 {
		result.warn(CodeMissingRuns, "%d of %d blocks without a run of the arm or the baseline; the delta allows for it", missing, fitted.blocks)
	}
	return result
}

// seriesSeed returns a separate seed for each comparison, so that its numbers don't depend on other
// comparisons.
func seriesSeed(seed uint64, names ...string) uint64 {
	hash := fnv.New64a()
	// Writing to a hash never fails.
	_, _ = fmt.Fprintf(hash, "%d %q", seed, names)
	return hash.Sum64()
}

// adjust sets the adjusted p-values and levels. Those of the A/A control are separate families, so
// that it does not reduce the power of the arms. Only primary comparisons of pairs are reported, so
// other ones must not reduce their power.
func adjust(comparisons []Comparison, alpha float64) {
	type family struct{ primary, twin, untold bool }
	members := map[family][]int{}
	for i := range comparisons {
		c := &comparisons[i]
		key := family{c.Primary, c.Twin, c.pair && !c.Primary}
		members[key] = append(members[key], i)
	}
	for key, places := range members {
		p := make([]float64, len(places))
		for i, place := range places {
			p[i] = comparisons[place].P
		}
		procedure := stats.BenjaminiHochberg
		if key.primary {
			procedure = stats.Holm
		}
		for i, adjusted := range procedure(p, alpha) {
			comparisons[places[i]].Adjusted = adjusted.P
			comparisons[places[i]].evidence.Adjusted = adjusted
		}
	}
}

// Differs reports whether the arm differs from the baseline, even by less than the margin.
func (c *Comparison) Differs(alpha float64) bool {
	decision := verdict.DecideDifference(c.evidence, alpha)
	return decision.Low > 0 || decision.High < 0
}

// Uncalibrated returns the comparisons of primary metrics in which the baseline's A/A control
// differs from it, adjusted by Holm's procedure over the A/A control's primary comparisons. By
// chance that happens in the share alpha of all experiments, however many primary metrics they
// have; unadjusted intervals would exclude 0 in one experiment of five with four.
func Uncalibrated(comparisons []Comparison, alpha float64) []Comparison {
	var found []Comparison
	for i := range comparisons {
		if c := &comparisons[i]; c.Twin && c.Primary && c.Differs(alpha) {
			found = append(found, *c)
		}
	}
	return found
}

// withdrawVerdicts removes every verdict if the A/A control differs.
func withdrawVerdicts(comparisons []Comparison, alpha float64) {
	differing := Uncalibrated(comparisons, alpha)
	if len(differing) == 0 {
		return
	}
	first := differing[0]
	warning := NewWarning(CodeTwinDiffers, "not calibrated: %q is configured as the baseline, yet differs in %s (%+.3g to %+.3g)", first.Arm, metric.DisplayName(first.Metric, first.Scenario), first.Low, first.High)
	if more := len(differing) - 1; more > 0 {
		warning.Message += fmt.Sprintf(" and %d more", more)
	}
	for i := range comparisons {
		c := &comparisons[i]
		c.Warnings = append(c.Warnings, warning)
		if c.Verdict == verdict.None {
			continue
		}
		c.Verdict, c.Withheld, c.uncalibrated = verdict.None, TwinDiffers, true
		if !c.Twin {
			c.show(verdict.Describe(c.evidence, alpha))
		}
	}
}

// judge holds the inputs of verdicts besides the numbers of a comparison.
type judge struct {
	alpha float64
	// refused are the error rates that differ.
	refused map[errorKey]string
	// tooEarly means that the first analysis is still to come.
	tooEarly bool
	interim  stats.InterimAnalyses
}

// apply adds the verdict to a comparison, its interval, and sentences.
func (j judge) apply(c *Comparison) {
	if !c.Primary {
		c.warn(CodeExploratory, "exploratory: not a primary metric, p adjusted by Benjamini and Hochberg's procedure")
	}
	if how, why := j.withholdReason(c); why.Code != "" {
		c.Withheld = why
		c.warn(why.Code, "%s: %s", how, why.Message)
		c.decide(verdict.Describe(c.evidence, j.alpha))
		return
	}
	c.decide(verdict.Decide(c.evidence, j.alpha))
	switch {
	case c.Verdict != verdict.None:
	case c.isSet && c.evidence.Effect.HasInterval():
		c.Withheld = Warning{CodeChangedBySettings, "the arms' settings change this metric directly"}
		c.warn(c.Withheld.Code, "no verdict: %s", c.Withheld.Message)
	case c.evidence.Effect.HasInterval():
		c.Withheld = Warning{CodeDirectionUnknown, verdict.NoDirectionReason}
		c.warn(c.Withheld.Code, "no verdict: %s; set --higher-is-better or --lower-is-better", c.Withheld.Message)
	default:
		c.Withheld = Warning{CodeNoInterval, stats.WarningNoInterval.Message()}
	}
	if c.Twin {
		// The A/A control is tested for any difference, regardless of the margin.
		c.show(verdict.DecideDifference(c.evidence, j.alpha))
	}
	if (c.P < j.alpha) != (c.Permutation <= j.alpha) && c.Verdict != verdict.Equivalent {
		c.warn(CodeTestsDisagree, "the t test (p = %.3g) and the sign-flip test (p = %.3g) disagree: check the individual runs", c.P, c.Permutation)
	}
	if c.Verdict == verdict.Inconclusive {
		c.setFurtherBlocks(j.alpha)
	}
}

// withholdReason returns how to read a comparison without a verdict, and the reason; zero if it
// gets one.
func (j judge) withholdReason(c *Comparison) (how string, why Warning) {
	const descriptive = "descriptive only"
	if c.Blocks < verdict.MinimumBlocks {
		have := fmt.Sprintf("%d blocks have", c.Blocks)
		if c.Blocks == 1 {
			have = "1 block has"
		}
		return descriptive, NewWarning(CodeTooFewBlocks, "%s both arms; a verdict needs at least %d", have, verdict.MinimumBlocks)
	}
	if j.tooEarly {
		return descriptive, NewWarning(CodeBeforeFirstAnalysis, "the first interim analysis, which can give a verdict, is after %d blocks", j.interim.First)
	}
	if metric, found := c.withheldByErrors(j.refused); found {
		return "not compared", NewWarning(CodeErrorRatesDiffer, "the error shares (%s) differ, so the values are from different requests", metric)
	}
	return "", Warning{}
}

func (c *Comparison) decide(decision verdict.Decision) {
	c.Verdict = decision.Verdict
	c.show(decision)
}

// show sets the interval of a decision.
func (c *Comparison) show(decision verdict.Decision) {
	c.Low, c.High = c.Scale.Display(decision.Low), c.Scale.Display(decision.High)
	c.Confidence = 100 * decision.Confidence
}

func (c *Comparison) setFurtherBlocks(alpha float64) {
	further, known := verdict.FurtherBlocks(c.evidence, alpha)
	c.FurtherBlocks = further
	switch {
	case !known:
		c.warn(CodeUndecidable, "inconclusive: not even 1000 further blocks would settle it")
	case further == 1:
		c.warn(CodeMoreBlocks, "inconclusive: about 1 further block would settle it")
	default:
		c.warn(CodeMoreBlocks, "inconclusive: about %d further blocks would settle it", further)
	}
}

func (c *Comparison) warn(code Code, format string, values ...any) {
	c.Warnings = append(c.Warnings, NewWarning(code, format, values...))
}

// errorKey identifies the error rate of one arm, in a window of the run or, if that is empty, in
// the whole run.
type errorKey struct{ scenario, arm, against, of, window string }

// errorRateTolerance is the largest difference of error rates, in percentage points, that is
// ignored unless a test is significant.
const errorRateTolerance = 0.5

// differentErrors returns the loads whose error rates differ between an arm and the baseline: the
// interval excludes zero, or the difference is large.
func differentErrors(comparisons []Comparison, alpha float64) map[errorKey]string {
	different := map[errorKey]string{}
	for i := range comparisons {
		c := &comparisons[i]
		parsed := metric.Parse(c.Metric)
		if !parsed.IsServer() && parsed.Statistic == metric.Errors && c.Unit == metric.UnitPercent && (math.Abs(c.Delta) > errorRateTolerance || c.Delta != 0 && c.P < alpha) {
			of := parsed.Holders()[0]
			different[errorKey{c.Scenario, c.Arm, c.Baseline, of, parsed.Window}] = fmt.Sprintf("%s: %.3g %% and %.3g %%", metric.Plain(c.Metric), c.ArmCenter, c.BaselineCenter)
		}
	}
	return different
}

// withheldByErrors returns the error rate that a metric depends on: that of its load or
// transaction, or of a parent.
func (c *Comparison) withheldByErrors(different map[errorKey]string) (string, bool) {
	if len(different) == 0 {
		return "", false
	}
	parsed := metric.Parse(c.Metric)
	if parsed.Statistic == metric.Errors {
		return "", false
	}
	for _, of := range parsed.Holders() {
		if shares, differ := different[errorKey{c.Scenario, c.Arm, c.Baseline, of, parsed.Window}]; differ {
			return shares, true
		}
	}
	return "", false
}

func quoted(list []string) string {
	const maxShown = 20
	names := make([]string, 0, len(list))
	for _, name := range list {
		names = append(names, strconv.Quote(name))
	}
	return prose.EnumerateFirst(names, maxShown)
}
