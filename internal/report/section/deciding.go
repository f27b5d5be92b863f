// SPDX-License-Identifier: Apache-2.0

package section

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/prose"
)

// maxFigures is how many figures a reader takes in at a glance.
const maxFigures = 3

// decidingComparisons are the comparisons behind the answer, the certain and the bad ones first.
func decidingComparisons(a *answer) []shownComparison {
	primary := a.filter(func(c shownComparison) bool { return c.Primary && !c.Twin })
	slices.SortStableFunc(primary, compareUrgency)
	return primary
}

func compareUrgency(a, b shownComparison) int {
	return cmp.Compare(slices.Index(verdictOrder, a.Verdict), slices.Index(verdictOrder, b.Verdict))
}

func compareSize(a, b shownComparison) int {
	return cmp.Or(compareUrgency(a, b), cmp.Compare(b.Size(), a.Size()))
}

// keyComparisons are the deciding comparisons that a card shows.
func keyComparisons(a *answer) []shownComparison {
	return mostUrgent(decidingComparisons(a), compareSize, func(c shownComparison) verdict.Verdict { return c.Verdict })
}

// mostUrgent are the most certain of each verdict, then the next ones of the most urgent verdict.
func mostUrgent[T any](all []T, order func(a, b T) int, of func(T) verdict.Verdict) []T {
	slices.SortStableFunc(all, order)
	var key, rest []T
	for i, one := range all {
		if i == 0 || of(all[i-1]) != of(one) {
			key = append(key, one)
		} else {
			rest = append(rest, one)
		}
	}
	key = append(key, rest...)
	key = key[:min(len(key), maxFigures)]
	slices.SortStableFunc(key, order)
	return key
}

// chips are the verdicts with their counts.
func chips(all []shownComparison) []document.Item {
	var items []document.Item
	for _, of := range verdictOrder {
		word := string(of)
		if of == verdict.None {
			word = noVerdict
		}
		if number := countVerdicts(all, of); number > 0 {
			items = append(items, document.Item{Status: word, Text: fmt.Sprintf("%d %s", number, strings.ToLower(word[:1])+word[1:])})
		}
	}
	return items
}

func decidingForArm(a *answer, arm string) []shownComparison {
	return slices.DeleteFunc(decidingComparisons(a), func(c shownComparison) bool { return c.Arm != arm })
}

// countVerdicts counts the comparisons with a verdict.
func countVerdicts(all []shownComparison, of verdict.Verdict) int {
	number := 0
	for _, c := range all {
		if c.Verdict == of {
			number++
		}
	}
	return number
}

// metricPhrases names the metrics with a verdict, by scenario if there are several.
func metricPhrases(all []shownComparison, of verdict.Verdict) string {
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
	return joinAnd(prose.AtMost(named, few, ""))
}

// verdictOrder is the order in which verdicts are shown.
var verdictOrder = []verdict.Verdict{verdict.Worse, verdict.Better, verdict.Inconclusive, verdict.None, verdict.Equivalent}
