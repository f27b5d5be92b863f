// SPDX-License-Identifier: Apache-2.0

package section

import (
	"fmt"
	"slices"

	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/prose"
)

// recommendations lists what the numbers support and what they don't.
func recommendations(r *Record) []document.Block {
	var supported []document.Item
	for _, arm := range r.candidates() {
		supported = append(supported, armRecommendations(r, arm.Name)...)
	}
	blocks := slices.Concat(document.Titled("Conclusions", document.List(supported)), document.Titled("Caveats", document.List(document.Items(doubts(r)))))
	if len(blocks) == 0 {
		return []document.Block{document.Paragraph("Nothing was compared, so there is nothing to recommend.")}
	}
	return blocks
}

func armRecommendations(r *Record, arm string) []document.Item {
	a := r.answer
	primary := a.filter(func(c shownComparison) bool { return c.Primary && c.Arm == arm })
	if len(primary) == 0 {
		return nil
	}
	better, worse := countVerdicts(primary, verdict.Better), countVerdicts(primary, verdict.Worse)
	var items []document.Item
	switch {
	case countVerdicts(primary, verdict.Equivalent) == len(primary):
		items = append(items, equivalentArm(a, arm, len(primary)))
	case worse > 0 && better > 0:
		items = append(items, document.Item{Text: fmt.Sprintf(
			"%s is a trade-off. Better: %s. Worse: %s. You decide which matters more.", arm, metricPhrases(primary, verdict.Better), metricPhrases(primary, verdict.Worse))})
	case worse > 0:
		items = append(items, document.Item{Status: string(verdict.Worse), Text: fmt.Sprintf("Keep %s rather than %s: %s got worse, and no primary metric got better.", a.Baseline, arm, metricPhrases(primary, verdict.Worse))})
	case better > 0:
		items = append(items, betterArm(a, arm, metricPhrases(primary, verdict.Better)))
	}
	if countVerdicts(primary, verdict.Inconclusive) > 0 {
		items = append(items, document.Item{Status: string(verdict.Inconclusive), Text: undecidedText(r, arm, primary)})
	}
	return items
}

// equivalentArm recommends an equivalent arm, unless guardrails got worse.
func equivalentArm(a *answer, arm string, deciding int) document.Item {
	none := fmt.Sprintf("none of the %s differs by %s or more", prose.Counted(deciding, "primary metric"), percent(a.marginPercent))
	if deciding == 1 {
		none = "the primary metric differs by less than " + percent(a.marginPercent)
	}
	if verdicts := a.ArmVerdicts(arms.Arm{Name: arm}); verdicts != nil && len(verdicts.WorseGuards) > 0 {
		return document.Item{Text: fmt.Sprintf("Check the guardrail metrics before %s replaces %s: %s, but these got worse: %s.", arm, a.Baseline, none, joinAnd(verdicts.WorseGuards))}
	}
	return document.Item{Status: string(verdict.Equivalent), Text: fmt.Sprintf("%s can replace %s: %s.", arm, a.Baseline, none)}
}

// betterArm recommends a better arm, unless guardrails got worse.
func betterArm(a *answer, arm, better string) document.Item {
	verdicts := a.ArmVerdicts(arms.Arm{Name: arm})
	if verdicts != nil && !verdicts.Wins {
		return document.Item{Text: fmt.Sprintf("%s is not a winner. Better: %s. Guardrail metrics that got worse: %s.", arm, better, joinAnd(verdicts.WorseGuards))}
	}
	return document.Item{Status: string(verdict.Better), Text: fmt.Sprintf("Prefer %s to %s: %s got better, and no primary or guardrail metric got worse.", arm, a.Baseline, better)}
}

func undecidedText(r *Record, arm string, primary []shownComparison) string {
	further, isFutile := 0, false
	for _, c := range primary {
		if c.Verdict == verdict.Inconclusive {
			further = max(further, c.FurtherBlocks)
			isFutile = isFutile || c.FurtherBlocks == 0
		}
	}
	text := fmt.Sprintf("Do not decide on %s of %s yet: the runs neither show a difference from %s nor rule one out.", metricPhrases(primary, verdict.Inconclusive), arm, r.answer.Baseline)
	if len(r.answer.uncalibrated) > 0 {
		return text
	}
	if isFutile || further == 0 {
		return text + " More blocks alone are unlikely to settle this; find out why runs differ so much."
	}
	return text + fmt.Sprintf(" Raising design.blocks by about %d, to %d, would settle this with %s power, if effect and spread stay the same.",
		further, further+int(r.Experiment.Spec.DesignOrDefault().Blocks), percent(80))
}
