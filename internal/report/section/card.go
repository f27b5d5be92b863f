// SPDX-License-Identifier: Apache-2.0

package section

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/prose"
)

func newCard(r *Record) document.Card {
	result := document.Card{Banner: newBanner(r), Chart: cardChart(r), Detail: confidenceLine(r), RemarksTitle: "Caveats:", Remarks: reservations(r), Footer: costSentence(r.answer)}
	found := newSoak(r)
	switch {
	case found != nil && r.isAlone():
		fillSoakCard(&result, r, found)
	case result.Banner == nil && len(r.answer.Effects) > 0 && len(r.answer.uncalibrated) == 0:
		fillFactorCard(&result, r, newEffects(r))
	case result.Banner == nil:
		fillComparisonCard(&result, r)
	}
	for _, scenario := range r.scenarios {
		result.Sentence = strings.TrimSpace(result.Sentence + " " + capacitySentence(scenario) + faultSentence(scenario))
	}
	if found != nil && !r.isAlone() {
		result.Sentence = strings.TrimSpace(result.Sentence + " " + found.sentence(r))
	}
	return result
}

// fillSoakCard answers with what happened over the runs.
func fillSoakCard(c *document.Card, r *Record, found *soak) {
	c.Sentence, c.Chips, c.Figures = found.sentence(r), found.chips(), found.figures(r)
	if drawn := found.hero(r); drawn != nil {
		c.Chart = drawn
	}
}

// fillComparisonCard answers with the differences between arms.
func fillComparisonCard(c *document.Card, r *Record) {
	c.Sentence, c.Chips = answerSentence(r), chips(decidingComparisons(r.answer))
	shown := keyComparisons(r.answer)
	for _, one := range shown {
		c.Figures = append(c.Figures, newFigure(r, one, shown))
	}
	if len(shown) > 0 {
		c.Legend = legend(r.answer)
	}
}

// pageTitle is the declared question, or one derived from the deciding metrics.
func pageTitle(r *Record) string {
	if question := strings.TrimSpace(r.Experiment.Spec.Question); question != "" {
		return question
	}
	var arms []string
	for _, arm := range r.candidates() {
		arms = append(arms, arm.Name)
	}
	baseline := cmp.Or(r.answer.Baseline, r.Experiment.Name)
	switch in := metricsPhrase(r.answer.Question.Primary); {
	case r.Experiment.Spec.Matrix != nil:
		return factorsTitle(r, in)
	case len(arms) == 0 && newSoak(r) != nil:
		return fmt.Sprintf("Is %s stable over %s of load?", baseline, newSoak(r).durationText())
	case len(arms) == 0:
		return "How does " + baseline + " perform" + in + "?"
	case len(arms) > maxFigures:
		return fmt.Sprintf("Is any of %d arms better than %s%s?", len(arms), baseline, in)
	default:
		return fmt.Sprintf("Is %s better than %s%s?", joinOr(arms), baseline, in)
	}
}

func metricsPhrase(names []string) string {
	const few = 2
	parsed := make([]metric.Metric, len(names))
	for i, name := range names {
		parsed[i] = metric.Parse(name)
	}
	parsed = slices.CompactFunc(parsed, func(a, b metric.Metric) bool { return a.Phrase() == b.Phrase() })
	var phrases []string
	for i, one := range parsed[:min(len(parsed), few)] {
		next := min(i+1, few-1, len(parsed)-1)
		phrases = append(phrases, withoutRepeatedEnding(one, parsed[next]))
	}
	if more := len(parsed) - few; more > 0 {
		phrases = append(phrases, fmt.Sprintf("%d more", more))
	}
	if len(phrases) == 0 {
		return ""
	}
	return " in " + joinAnd(phrases)
}

// withoutRepeatedEnding omits the ending of a phrase that the next metric repeats: "Check-In and
// Check-Out average response time". Names stay complete.
func withoutRepeatedEnding(m, next metric.Metric) string {
	if m.Name != next.Name && m.BeginsWithName() && next.BeginsWithName() && m.Ending() == next.Ending() {
		return strings.TrimSuffix(m.Phrase(), m.Ending())
	}
	return m.Phrase()
}

// answerSentence is the answer in one sentence, arm by arm.
func answerSentence(r *Record) string {
	switch {
	case len(r.journal.valid()) == 0:
		return "No answer yet: there is no valid run."
	case r.isAlone():
		return aloneSentence(r)
	case len(r.answer.Comparisons) == 0 && slices.ContainsFunc(r.scenarios, func(s *scenario) bool { return s.Capacity != nil }):
		return "No comparisons yet."
	case len(r.answer.Comparisons) == 0:
		return "Nothing to compare: only the baseline has valid runs."
	case len(r.answer.uncalibrated) > 0:
		return fmt.Sprintf("No answer: the A/A control %s differs from the baseline %s despite the same configuration, so all verdicts are withheld.", r.answer.Twin, r.answer.Baseline)
	case len(decidingComparisons(r.answer)) == 0:
		return "No primary metric is declared, or none was measured: all results are exploratory."
	}
	var parts, names []string
	for _, arm := range r.candidates() {
		if part := armSentence(r.answer, arm.Name); part != "" {
			parts = append(parts, part)
		}
		names = append(names, arm.Name)
	}
	undecided := undecidedArms(r.answer, names)
	if len(parts) == 0 && len(undecided) > 0 {
		// Otherwise the answer begins with an arm's name, which keeps its case.
		undecided[0] = capitalize(undecided[0])
	}
	parts = append(parts, undecided...)
	parts = prose.AtMost(parts, maxFigures, "under Recommendations")
	var sentences []string
	if len(parts) > 0 {
		sentences = append(sentences, strings.Join(parts, "; ")+".")
	}
	return strings.Join(append(sentences, withheldVerdicts(r)...), " ")
}

// withheldVerdicts names the deciding comparisons without a verdict, grouped by reason.
func withheldVerdicts(r *Record) []string {
	var reasons []comparison.Warning
	named := map[comparison.Warning][]string{}
	for _, c := range decidingComparisons(r.answer) {
		if c.Verdict != verdict.None {
			continue
		}
		if named[c.Withheld] == nil {
			reasons = append(reasons, c.Withheld)
		}
		phrase := c.metric.Under(c.Scenario)
		if r.severalArms() {
			phrase += " in " + c.Arm
		}
		named[c.Withheld] = append(named[c.Withheld], phrase)
	}
	sentences := make([]string, len(reasons))
	for i, reason := range reasons {
		sentences[i] = fmt.Sprintf("No verdict on %s: %s.", joinAnd(named[reason]), reason.Message)
	}
	return sentences
}

// armSentence is the effect of one arm against the baseline; empty without a verdict.
func armSentence(a *answer, arm string) string {
	own := decidingForArm(a, arm)
	if len(own) == 0 {
		return ""
	}
	better, worse := countVerdicts(own, verdict.Better), countVerdicts(own, verdict.Worse)
	switch {
	case better > 0 && worse > 0:
		return fmt.Sprintf("%s is a trade-off against %s: better in %s, worse in %s", arm, a.Baseline, changePhrases(own, verdict.Better), changePhrases(own, verdict.Worse))
	case worse > 0:
		return fmt.Sprintf("%s is worse than %s in %s", arm, a.Baseline, changePhrases(own, verdict.Worse))
	case better > 0:
		return fmt.Sprintf("%s is better than %s in %s%s", arm, a.Baseline, changePhrases(own, verdict.Better), worseGuardrails(a, arm))
	case countVerdicts(own, verdict.Equivalent) == len(own):
		return fmt.Sprintf("%s is equivalent to %s (difference of less than %s in %s)%s", arm, a.Baseline, percent(a.marginPercent), allDeciding(len(own)), worseGuardrails(a, arm))
	}
	return ""
}

// worseGuardrails names the guardrails that an arm makes worse; empty without any.
func worseGuardrails(a *answer, arm string) string {
	worse := a.filter(func(c shownComparison) bool {
		return c.Arm == arm && !c.Primary && c.Verdict == verdict.Worse && a.Question.IsGuard(c.Metric)
	})
	if len(worse) == 0 {
		return ""
	}
	slices.SortStableFunc(worse, compareSize)
	return prose.Verb(len(worse), ", but worse in the guardrail metric ", ", but worse in the guardrail metrics ") + changePhrases(worse, verdict.Worse)
}

// undecidedArms names the inconclusive arms, grouped by metrics.
func undecidedArms(a *answer, arms []string) []string {
	var order []string
	alike := map[string][]string{}
	for _, arm := range arms {
		phrase := metricPhrases(decidingForArm(a, arm), verdict.Inconclusive)
		if phrase == "" || armSentence(a, arm) != "" {
			continue
		}
		if alike[phrase] == nil {
			order = append(order, phrase)
		}
		alike[phrase] = append(alike[phrase], arm)
	}
	parts := make([]string, 0, len(order))
	for _, phrase := range order {
		parts = append(parts, fmt.Sprintf("inconclusive: %s vs. %s in %s", joinAnd(alike[phrase]), a.Baseline, phrase))
	}
	return parts
}

func allDeciding(metrics int) string {
	switch metrics {
	case 1:
		return "the primary metric"
	case 2:
		return "both primary comparisons"
	}
	return fmt.Sprintf("all %d primary comparisons", metrics)
}

// changePhrases are the metrics of a verdict with their changes.
func changePhrases(own []shownComparison, of verdict.Verdict) string {
	const few = 2
	var order []string
	deltas := map[string][]string{}
	for _, c := range own {
		if phrase := c.metric.Phrase(); c.Verdict == of {
			if deltas[phrase] == nil {
				order = append(order, phrase)
			}
			deltas[phrase] = append(deltas[phrase], withUnit(c.delta(), c.deltaUnit()))
		}
	}
	var named []string
	for _, phrase := range order {
		named = append(named, fmt.Sprintf("%s (%s)", phrase, joinAnd(deltas[phrase])))
	}
	return joinAnd(prose.AtMost(named, few, ""))
}

// confidenceLine is one line about the reliability of the answer.
func confidenceLine(r *Record) string {
	parts := []string{fmt.Sprintf("%s in %s", prose.Counted(len(r.CountedRuns()), "run"), prose.Counted(r.blocks, "complete block"))}
	if invalid := len(r.journal.invalid()); invalid > 0 {
		parts = append(parts, prose.Counted(invalid, "invalid attempt"))
	}
	if r.answer.Enough() {
		parts = append(parts, percent(r.answer.confidencePercent)+" confidence, margin "+percent(r.answer.marginPercent))
	}
	if !r.isAlone() {
		parts = append(parts, "noise floor: "+noiseWords(r.answer))
	}
	return strings.Join(parts, "; ") + "."
}

// maxReservations is the number of reservations on the first screen; all are under
// Recommendations.
const maxReservations = 3

// reservations are the first sentences of the doubts.
func reservations(r *Record) []string {
	var named []string
	for _, doubt := range doubts(r) {
		named = append(named, firstSentence(doubt))
	}
	return prose.AtMost(named, maxReservations, "under Recommendations.")
}

func firstSentence(text string) string {
	first, _, found := strings.Cut(text, ". ")
	if !found {
		return text
	}
	return first + "."
}

// costSentence says what arms cost or save, if the nodes have prices.
func costSentence(a *answer) string {
	var parts []string
	for _, c := range a.filter(func(c shownComparison) bool { return c.Metric == metric.Cost && !c.Twin }) {
		baseline, arm := c.centers()
		part := fmt.Sprintf("%s costs as much as %s, %s", c.Arm, c.Baseline, withUnit(arm, c.Unit))
		if baseline != arm {
			verb := "costs more than"
			if c.ArmCenter < c.BaselineCenter {
				verb = "costs less than"
			}
			part = fmt.Sprintf("%s %s %s: %s instead of %s (%s)", c.Arm, verb, c.Baseline, withUnit(arm, c.Unit), withUnit(baseline, c.Unit), withUnit(c.delta(), c.deltaUnit()))
		}
		if !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "Nodes: " + strings.Join(parts[:min(len(parts), maxFigures)], "; ") + "."
}
