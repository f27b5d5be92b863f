// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"slices"

	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/text/prose"
)

// summary tells the verdicts in sentences, the sure and the bad ones first.
func summary(r *record) []block {
	if len(r.journal.valid()) == 0 {
		return []block{paragraph("No run has counted yet, so there is nothing to compare.")}
	}
	blocks := []block{paragraph(progress(r))}
	if r.isAlone() {
		return append(blocks, introduced("Servers:", listOf(servers(r)))...)
	}
	if len(r.answer.Comparisons) == 0 {
		return append(blocks, paragraph("Only the baseline has valid runs, so nothing is compared."))
	}
	if r.describesOnly() {
		blocks = append(blocks, runTables(r)...)
		return append(blocks, introduced("Servers:", listOf(servers(r)))...)
	}
	blocks = append(blocks, paragraph(fmt.Sprintf("A delta is the arm's value minus the baseline's, in percent of the baseline: + is more, %s is less. Differences below %s do not matter here.",
		minus, percent(r.answer.marginPercent))))
	blocks = append(blocks, introduced("Further deciding metrics:", verdicts(r.answer))...)
	blocks = append(blocks, introduced("Other metrics that differ (exploratory):", exploratory(r.answer))...)
	return append(blocks, introduced("Servers:", listOf(servers(r)))...)
}

// introduced puts a sentence before a list, if there is one.
func introduced(sentence string, list []item) []block {
	if len(list) == 0 {
		return nil
	}
	return []block{paragraph(sentence), {List: list}}
}

func progress(r *record) string {
	valid, invalid, other := r.journal.counts()
	text := fmt.Sprintf("%s counted", prose.Counted(valid, "run"))
	if planned := r.Experiment.Status.Runs; planned != nil && int(planned.Planned) != valid {
		text += fmt.Sprintf(" of %d planned", planned.Planned)
	}
	if invalid > 0 {
		text += fmt.Sprintf("; %s did not and %s repeated", prose.Counted(invalid, "attempt"), prose.Verb(invalid, "is", "are"))
	}
	if other > 0 {
		text += fmt.Sprintf("; %s %s still to come, so these results are not final", prose.Counted(other, "run"), prose.Verb(other, "is", "are"))
	}
	text += "."
	if analysis := r.Experiment.Status.Analysis; analysis != nil && analysis.Stopped != nil {
		text += " " + capital(analysis.Stopped.Message) + "."
	}
	if len(r.answer.Comparisons) > 0 {
		text += fmt.Sprintf(" The comparison rests on %s.", prose.Counted(r.answer.Blocks, "complete block"))
	}
	return text
}

// urgency is the order in which verdicts are told.
var urgency = []verdict.Verdict{verdict.Worse, verdict.Better, verdict.Inconclusive, verdict.None, verdict.Equivalent}

// verdicts are the primary comparisons in sentences, but for those that stand at the
// head of the page.
func verdicts(a *answer) []item {
	told := keyComparisons(a)
	return a.items(slices.DeleteFunc(deciding(a), func(c shownComparison) bool {
		return slices.ContainsFunc(told, func(other shownComparison) bool { return other.Comparison == c.Comparison })
	}))
}

func (a *answer) items(all []shownComparison) []item {
	items := make([]item, 0, len(all))
	for _, c := range all {
		items = append(items, item{Verdict: c.verdict(), Text: c.sentence(a)})
	}
	return items
}

// maxExploratory is how many differences nobody asked for are told.
const maxExploratory = 6

// exploratory are the differences that the runs show in other metrics, the
// largest first.
func exploratory(a *answer) []item {
	found := a.where(func(c shownComparison) bool {
		isSure := c.Verdict == verdict.Better || c.Verdict == verdict.Worse
		return !c.Primary && !c.Twin && isSure && c.metric.IsInformative() && !c.metric.Restates()
	})
	slices.SortStableFunc(found, func(a, b shownComparison) int { return cmp.Compare(b.Size(), a.Size()) })
	items := a.items(found[:min(len(found), maxExploratory)])
	if more := len(found) - maxExploratory; more > 0 {
		items = append(items, item{Text: fmt.Sprintf("And %d more; see the comparison.", more)})
	}
	return items
}
