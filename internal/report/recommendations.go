// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"

	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/text/prose"
)

// recommendations say what the numbers support and what they don't.
func recommendations(r *record) []block {
	var supported []item
	for _, arm := range r.candidates() {
		supported = append(supported, recommend(r, arm.Name)...)
	}
	blocks := slices.Concat(titled("Supported by the numbers", list(supported)), titled("Not supported by the numbers", list(listOf(doubts(r)))))
	if len(blocks) == 0 {
		return []block{paragraph("Nothing was compared, so there is nothing to recommend.")}
	}
	return blocks
}

func recommend(r *record, arm string) []item {
	a := r.answer
	primary := a.where(func(c shownComparison) bool { return c.Primary && c.Arm == arm })
	if len(primary) == 0 {
		return nil
	}
	better, worse := counted(primary, verdict.Better), counted(primary, verdict.Worse)
	var items []item
	switch {
	case counted(primary, verdict.Equivalent) == len(primary):
		items = append(items, replacement(a, arm, len(primary)))
	case worse > 0 && better > 0:
		items = append(items, item{Text: fmt.Sprintf(
			"%s is a trade-off. Better: %s. Worse: %s. Which weighs more is your decision.", arm, phrases(primary, verdict.Better), phrases(primary, verdict.Worse))})
	case worse > 0:
		items = append(items, item{Verdict: string(verdict.Worse), Text: fmt.Sprintf("Keep %s rather than %s: %s got worse, and no deciding metric got better.", a.Baseline, arm, phrases(primary, verdict.Worse))})
	case better > 0:
		items = append(items, winner(a, arm, phrases(primary, verdict.Better)))
	}
	if counted(primary, verdict.Inconclusive) > 0 {
		items = append(items, item{Verdict: string(verdict.Inconclusive), Text: undecided(r, arm, primary)})
	}
	return items
}

// replacement is an equivalent arm; guarded metrics may take that
// back.
func replacement(a *answer, arm string, deciding int) item {
	none := fmt.Sprintf("none of the %s that decide differs by %s or more", prose.Counted(deciding, "metric"), percent(a.marginPercent))
	if verdicts := a.ArmVerdicts(arms.Arm{Name: arm}); verdicts != nil && len(verdicts.WorseGuards) > 0 {
		return item{Text: fmt.Sprintf("Look at guarded metrics before %s replaces %s: %s, but these got worse: %s.", arm, a.Baseline, none, listed(verdicts.WorseGuards))}
	}
	return item{Verdict: string(verdict.Equivalent), Text: fmt.Sprintf("%s can replace %s: %s.", arm, a.Baseline, none)}
}

// winner is an arm that got better; guarded metrics may take that back.
func winner(a *answer, arm, better string) item {
	verdicts := a.ArmVerdicts(arms.Arm{Name: arm})
	if verdicts != nil && !verdicts.Wins {
		return item{Text: fmt.Sprintf("%s does not win. Better: %s. But guarded metrics got worse: %s.", arm, better, listed(verdicts.WorseGuards))}
	}
	return item{Verdict: string(verdict.Better), Text: fmt.Sprintf("Prefer %s to %s: %s got better, and no deciding or guarded metric got worse.", arm, a.Baseline, better)}
}

func undecided(r *record, arm string, primary []shownComparison) string {
	further, hopeless := 0, false
	for _, c := range primary {
		if c.Verdict == verdict.Inconclusive {
			further = max(further, c.FurtherBlocks)
			hopeless = hopeless || c.FurtherBlocks == 0
		}
	}
	text := fmt.Sprintf("Do not decide on %s of %s yet: the runs neither show a difference from %s nor rule one out.", phrases(primary, verdict.Inconclusive), arm, r.answer.Baseline)
	if len(r.answer.uncalibrated) > 0 {
		return text
	}
	if hopeless || further == 0 {
		return text + " More blocks alone are unlikely to settle it; find out why runs differ so much."
	}
	return text + fmt.Sprintf(" Raising design.blocks by about %d, to %d, would settle it with a probability of %s, if effect and spread stay as they are.",
		further, further+int(r.Experiment.Spec.DesignOrDefault().Blocks), percent(80))
}

// counted verdicts of a kind.
func counted(all []shownComparison, of verdict.Verdict) int {
	number := 0
	for _, c := range all {
		if c.Verdict == of {
			number++
		}
	}
	return number
}

// phrases names the metrics with a verdict, by scenario where there are several.
func phrases(all []shownComparison, of verdict.Verdict) string {
	const few = 4
	var named []string
	several := slices.ContainsFunc(all, func(c shownComparison) bool { return c.Scenario != all[0].Scenario })
	for _, c := range all {
		switch {
		case c.Verdict != of:
		case several:
			named = append(named, c.metric.Under(c.Scenario))
		default:
			named = append(named, c.metric.Phrase())
		}
	}
	if more := len(named) - few; more > 0 {
		named = append(named[:few], fmt.Sprintf("%d more", more))
	}
	return listed(named)
}
