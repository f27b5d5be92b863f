// SPDX-License-Identifier: Apache-2.0

package section

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"perflab.dev/perflab/internal/inference/analysis"
	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/inference/stats"
	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/prose"
)

// effect of a matrix's level, or of two levels together, with its verdict, in the form of a
// comparison.
type effect struct {
	shownComparison
	record *Record
	levels []analysis.FactorLevel
	// from and to are the margin, on the displayed scale.
	from, to float64
	// size in standard errors.
	size float64
}

// isInteraction reports whether it is the effect of two levels beyond that of each.
func (e effect) isInteraction() bool { return len(e.levels) > 1 }

// newEffects are the effects of a matrix, judged together like the deciding comparisons.
func newEffects(r *Record) []effect {
	all := r.answer.Effects
	current := r.answer.Question.Interim.At(int(r.answer.Blocks))
	p := make([]float64, len(all))
	for i := range all {
		p[i] = current.Adjust(all[i].Estimate.P())
	}
	effects := make([]effect, 0, len(all))
	for i, adjusted := range stats.Holm(p, r.answer.Question.Alpha()) {
		effects = append(effects, newEffect(r, &all[i], adjusted, current))
	}
	return effects
}

func newEffect(r *Record, of *analysis.Effect, adjusted stats.Adjusted, current stats.Analysis) effect {
	under := r.scenarioNamed(of.Scenario)
	unit, center := under.unit(of.Metric), under.at(of.Metric, r.answer.Baseline).center()
	evidence := verdict.Evidence{
		Effect: of.Estimate, Adjusted: adjusted, Analysis: current, Blocks: int(r.answer.Blocks),
		Direction: r.answer.Question.Direction(of.Metric, unit),
	}
	evidence.Low, evidence.High = of.Scale.Margin(r.answer.marginPercent, center)
	shown := comparison.Comparison{
		Scenario: of.Scenario, Metric: of.Metric, Unit: unit, Scale: of.Scale, Blocks: int(r.answer.Blocks),
		BaselineCenter: center, Delta: of.Scale.Display(of.Estimate.Value), Adjusted: adjusted.P,
	}
	shown.Withheld = withheldFrom(r.answer, of)
	decided := verdict.Describe(evidence, r.answer.Question.Alpha())
	if shown.Withheld.Code == "" {
		decided = verdict.Decide(evidence, r.answer.Question.Alpha())
	}
	shown.Verdict, shown.Low, shown.High, shown.Confidence = decided.Verdict, of.Scale.Display(decided.Low), of.Scale.Display(decided.High), 100*decided.Confidence
	return effect{
		shownComparison: newShownComparison(&shown), record: r, levels: of.Levels,
		from: of.Scale.Display(evidence.Low), to: of.Scale.Display(evidence.High), size: math.Abs(of.Estimate.Value) / of.Estimate.StandardError,
	}
}

// withheldFrom is the reason to withhold the verdict on an effect, if one of its comparisons has
// none.
func withheldFrom(a *answer, of *analysis.Effect) comparison.Warning {
	if len(a.uncalibrated) > 0 {
		return comparison.TwinDiffers
	}
	for _, c := range a.compared {
		if c.Scenario == of.Scenario && c.Metric == of.Metric && !c.Twin && c.Verdict == verdict.None {
			return c.Withheld
		}
	}
	return comparison.Warning{}
}

// levelsText names the levels: partitions two instead of one.
func (e effect) levelsText() string {
	names := make([]string, 0, len(e.levels))
	for _, one := range e.levels {
		name, against := e.record.levelLabels(one.Factor, one.Level, one.Baseline)
		if !e.isInteraction() {
			name += " instead of " + against
		}
		names = append(names, name)
	}
	return strings.Join(names, " with ")
}

// sentence is the effect of the levels on the metric, with size and confidence.
func (e effect) sentence(a *answer) string {
	text := fmt.Sprintf("%s, %s: %s", capitalizePhrase(e.metric, e.metric.Under(e.Scenario)), e.levelsText(), e.delta())
	text = withUnit(text, e.deltaUnit()) + fmt.Sprintf(" (%s %s)", e.intervalName(a), e.interval())
	switch {
	case e.Verdict == verdict.Equivalent:
		return text + fmt.Sprintf(": less than %s either way.", percent(a.marginPercent))
	case !e.Verdict.Decides():
		return text + "."
	case e.Low > e.to || e.High < e.from:
		return text + fmt.Sprintf(": more than the margin of %s.", percent(a.marginPercent))
	}
	return text + fmt.Sprintf(": possibly less than the margin of %s.", percent(a.marginPercent))
}

// summary is the effect with its interval, after the name of the metric.
func (e effect) summary(several bool) string {
	phrase := e.metric.Phrase()
	if several {
		phrase = e.metric.Under(e.Scenario)
	}
	return fmt.Sprintf("%s (%s, %s)", phrase, withUnit(e.delta(), e.deltaUnit()), e.interval())
}

// factorsSentence is the answer of a matrix: the effects of each level, and of levels together.
func factorsSentence(r *Record, effects []effect) string {
	var order []string
	by := map[string][]effect{}
	for _, one := range effects {
		words := one.levelsText()
		if by[words] == nil {
			order = append(order, words)
		}
		by[words] = append(by[words], one)
	}
	slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(changeRank(by[a]), changeRank(by[b])) })
	var sentences []string
	for _, words := range order {
		sentences = append(sentences, levelSentence(r, words, by[words]))
	}
	sentences = prose.AtMost(sentences, maxLevels, "under Comparison, Factors.")
	return strings.Join(sentences, " ")
}

// changeRank is 0 if one of the effects is Better or Worse, and 1 otherwise.
func changeRank(own []effect) int {
	if slices.ContainsFunc(own, func(one effect) bool { return one.Verdict == verdict.Better || one.Verdict == verdict.Worse }) {
		return 0
	}
	return 1
}

// maxLevels is the number of levels in the answer.
const maxLevels = 6

// outcomes are the phrases for a level's effects, by verdict, in order; together is for two
// levels.
var outcomes = []struct {
	verdict          verdict.Verdict
	single, together string
}{
	{verdict.Worse, "worse in %s", "worse in combination in %s than separately"},
	{verdict.Better, "better in %s", "better in combination in %s than separately"},
	{verdict.Equivalent, "equivalent in %s", "no interaction beyond the margin in %s"},
	{verdict.Inconclusive, "inconclusive in %s", "inconclusive interaction in %s"},
	{verdict.None, "no verdict on %s", "no verdict on %s"},
}

func levelSentence(r *Record, words string, own []effect) string {
	var parts []string
	for _, outcome := range outcomes {
		var named []string
		for _, one := range own {
			if one.Verdict == outcome.verdict {
				named = append(named, one.summary(len(r.scenarios) > 1))
			}
		}
		named = prose.AtMost(named, maxFigures, "")
		format := outcome.single
		if own[0].isInteraction() {
			format = outcome.together
		}
		if len(named) > 0 {
			parts = append(parts, fmt.Sprintf(format, joinAnd(named)))
		}
	}
	return capitalize(words) + ": " + strings.Join(parts, "; ") + "."
}

// fillFactorCard answers with the effects of the levels of a matrix's factors.
func fillFactorCard(c *document.Card, r *Record, effects []effect) {
	c.Sentence = factorsSentence(r, effects)
	shown := make([]shownComparison, 0, len(effects))
	for _, one := range effects {
		shown = append(shown, one.shownComparison)
	}
	c.Chips = chips(shown)
	key := keyEffects(effects)
	beside := make([]shownComparison, 0, len(key))
	for _, one := range key {
		beside = append(beside, one.shownComparison)
	}
	for _, one := range key {
		c.Figures = append(c.Figures, one.figure(r, beside))
	}
	c.Legend = legend(r.answer)
}

// keyEffects are the effects that a card shows: the most certain of each verdict, then the next
// ones of the most urgent verdict.
func keyEffects(all []effect) []effect {
	return mostUrgent(all, func(a, b effect) int {
		return cmp.Or(compareUrgency(a.shownComparison, b.shownComparison), cmp.Compare(b.size, a.size))
	}, func(one effect) verdict.Verdict { return one.Verdict })
}

func (e effect) figure(r *Record, beside []shownComparison) document.Figure {
	phrase := e.metric.Phrase()
	if len(r.scenarios) > 1 {
		phrase = e.metric.Under(e.Scenario)
	}
	return document.Figure{
		Label: capitalize(e.levelsText()) + ": " + phrase, Delta: withUnit(e.delta(), e.deltaUnit()), Status: e.verdict(),
		Text: e.sentence(r.answer), Interval: e.interval(), SVG: intervalPicture(r.answer, e.shownComparison, beside),
	}
}

// effectTable has the effects of a matrix's factors, and of pairs of their levels.
func effectTable(r *Record) []document.Block {
	result := &document.Table{
		Caption: "Main effects of levels, and two-factor interactions",
		Columns: slices.Concat(document.TextColumns("Verdict", "Level", "Scenario", "Metric"), document.NumberColumns("Effect", "Interval", "p")),
		Note:    fmt.Sprintf("The main effect of a level is its average over the levels of the other factors; an interaction is the effect of two levels beyond that. Verdicts follow the same rules as in the other tables, with p adjusted for all %d effects.", len(r.answer.Effects)),
	}
	for _, one := range newEffects(r) {
		result.Rows = append(result.Rows, document.Row{Cells: slices.Concat(
			[]document.Cell{{Text: one.verdict(), Status: one.verdict()}, {Text: one.levelsText()}}, nameCells(one.Scenario, one.Metric),
			document.TextCells(withUnit(one.delta(), one.deltaUnit()), one.interval(), one.probability()))})
	}
	if r.describesOnly() {
		result.Note = ""
		result.Without("Verdict", "Interval", "p")
	}
	return document.Titled("Factors", result.Blocks())
}

// factorsTitle is the question of a matrix without a declared one.
func factorsTitle(r *Record, in string) string {
	var factors []string
	for _, factor := range r.Experiment.Spec.Matrix.Factors {
		factors = append(factors, cmp.Or(strings.TrimSpace(factor.DisplayName), factor.Name))
	}
	verb := "do"
	if len(factors) == 1 {
		verb = "does"
	}
	return fmt.Sprintf("What %s %s change%s?", verb, joinAnd(factors), in)
}

// levelLabels are the labels of a level of a matrix and of its baseline, with the factor unless
// the level has its own label.
func (r *Record) levelLabels(factor, level, baseline string) (own, against string) {
	for _, declared := range r.Experiment.Spec.Matrix.Factors {
		if declared.Name != factor {
			continue
		}
		prefix := cmp.Or(strings.TrimSpace(declared.DisplayName), declared.Name) + " "
		for i := range declared.Levels {
			one := &declared.Levels[i]
			if one.Name == level {
				if one.DisplayName != "" && declared.DisplayName == "" {
					prefix = ""
				}
				own = prefix + levelLabel(one)
			}
			if one.Name == baseline {
				against = levelLabel(one)
			}
		}
	}
	return cmp.Or(own, factor+" "+level), cmp.Or(against, baseline)
}
