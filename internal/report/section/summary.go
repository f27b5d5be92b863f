// SPDX-License-Identifier: Apache-2.0

package section

import (
	"cmp"
	"fmt"
	"slices"

	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/digits"
	"perflab.dev/perflab/internal/text/prose"
)

// summary has the verdicts in sentences, the certain and the bad ones first.
func summary(r *Record) []document.Block {
	if len(r.journal.valid()) == 0 {
		return []document.Block{document.Paragraph("There is no valid run yet, so there is nothing to compare.")}
	}
	blocks := []document.Block{document.Paragraph(progress(r))}
	if r.isAlone() {
		return append(blocks, withIntroduction("Servers:", document.Items(servers(r)))...)
	}
	if len(r.answer.Comparisons) == 0 {
		return append(blocks, document.Paragraph("Only the baseline has valid runs, so nothing is compared."))
	}
	if r.describesOnly() {
		blocks = append(blocks, runTables(r)...)
		return append(blocks, withIntroduction("Servers:", document.Items(servers(r)))...)
	}
	blocks = append(blocks, document.Paragraph(fmt.Sprintf("Deltas are arm minus baseline, in percent of the baseline: + is more, %s is less. Differences below the margin of %s do not matter.",
		digits.Minus, percent(r.answer.marginPercent))))
	blocks = append(blocks, withIntroduction("Other primary metrics:", verdicts(r.answer))...)
	blocks = append(blocks, withIntroduction("Exploratory metrics that differ:", exploratory(r.answer))...)
	return append(blocks, withIntroduction("Servers:", document.Items(servers(r)))...)
}

// withIntroduction puts a sentence before a list, if there is one.
func withIntroduction(sentence string, list []document.Item) []document.Block {
	if len(list) == 0 {
		return nil
	}
	return []document.Block{document.Paragraph(sentence), {List: list}}
}

func progress(r *Record) string {
	valid, invalid, other := r.journal.counts()
	text := prose.Counted(valid, "valid run")
	if planned := r.Experiment.Status.Runs; planned != nil && int(planned.Planned) != valid {
		text += fmt.Sprintf(" of %d planned", planned.Planned)
	}
	if invalid > 0 {
		text += "; " + prose.Counted(invalid, "invalid attempt") + ", " + prose.Verb(invalid, "which is", "which are") + " repeated"
	}
	if other > 0 {
		text += fmt.Sprintf("; %s %s not finished, so these results are not final", prose.Counted(other, "run"), prose.Verb(other, "is", "are"))
	}
	text += "."
	if analysis := r.Experiment.Status.Analysis; analysis != nil && analysis.Stopped != nil {
		text += " " + capitalize(analysis.Stopped.Message) + "."
	}
	if len(r.answer.Comparisons) > 0 {
		text += fmt.Sprintf(" The comparison uses %s.", prose.Counted(r.answer.Blocks, "complete block"))
	}
	return text
}

// verdicts are the primary comparisons in sentences, except for those at the head of the page.
func verdicts(a *answer) []document.Item {
	keys := keyComparisons(a)
	return a.items(slices.DeleteFunc(decidingComparisons(a), func(c shownComparison) bool {
		return slices.ContainsFunc(keys, func(other shownComparison) bool { return other.Comparison == c.Comparison })
	}))
}

func (a *answer) items(all []shownComparison) []document.Item {
	items := make([]document.Item, 0, len(all))
	for _, c := range all {
		items = append(items, document.Item{Status: c.verdict(), Text: c.sentence(a)})
	}
	return items
}

// maxExploratory is the number of exploratory differences in the summary.
const maxExploratory = 6

// exploratory are the differences in other metrics, the largest first.
func exploratory(a *answer) []document.Item {
	found := a.filter(func(c shownComparison) bool {
		isSure := c.Verdict == verdict.Better || c.Verdict == verdict.Worse
		return !c.Primary && !c.Twin && isSure && c.metric.IsInformative() && !c.metric.Restates()
	})
	slices.SortStableFunc(found, func(a, b shownComparison) int { return cmp.Compare(b.Size(), a.Size()) })
	items := a.items(found[:min(len(found), maxExploratory)])
	if more := len(found) - maxExploratory; more > 0 {
		items = append(items, document.Item{Text: fmt.Sprintf("And %d more; see the comparison.", more)})
	}
	return items
}
