// SPDX-License-Identifier: Apache-2.0

package section

import (
	"fmt"
	"math"

	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/text/prose"
)

// sentence is the change with its size, its confidence and its subject.
func (c shownComparison) sentence(a *answer) string {
	baseline, arm := c.centersText()
	text := fmt.Sprintf("%s: %s %s, %s %s", capitalizePhrase(c.metric, c.metric.Under(c.Scenario)), c.Baseline, baseline, c.Arm, arm)
	if math.IsNaN(c.Delta) {
		return text + "."
	}
	text += ": " + c.deltaText()
	if c.hasEnoughBlocks() {
		text += fmt.Sprintf(" (%s %s)", c.intervalName(a), c.interval())
	}
	return text + c.verdictText(a)
}

// intervalName is the name of the delta's interval.
func (c shownComparison) intervalName(a *answer) string {
	const rounding = 1e-9
	switch {
	case c.Confidence < a.confidencePercent-rounding:
		return percent(2*a.confidencePercent-100) + " interval"
	case c.Confidence > a.confidencePercent+rounding:
		return "adjusted " + percent(a.confidencePercent) + " interval"
	}
	return percent(a.confidencePercent) + " interval"
}

func (c shownComparison) deltaText() string {
	text := withUnit(c.delta(), c.deltaUnit())
	if c.isAdjusted() {
		text += ", allowing for blocks that lack a run"
	}
	return text
}

func (c shownComparison) verdictText(a *answer) string {
	switch c.Verdict {
	case verdict.Equivalent:
		return fmt.Sprintf(": less than %s either way.", percent(a.marginPercent))
	case verdict.Inconclusive:
		if c.FurtherBlocks == 0 {
			return ". Inconclusive, and no practical number of further blocks would settle it."
		}
		return fmt.Sprintf(". Inconclusive; about %s would settle it.", prose.Counted(c.FurtherBlocks, "further block"))
	case verdict.None:
		if !a.Enough() {
			// The banner says so for all.
			return "."
		}
		return ". " + capitalize(c.Withheld.Message) + "."
	case verdict.Better, verdict.Worse:
		if c.IsBeyondMargin() {
			return fmt.Sprintf(": more than the margin of %s.", percent(a.marginPercent))
		}
		return fmt.Sprintf(": possibly less than the margin of %s.", percent(a.marginPercent))
	}
	return "."
}
