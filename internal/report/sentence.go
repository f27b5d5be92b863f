// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"

	"perflab.dev/perflab/internal/comparison"
	"perflab.dev/perflab/internal/metric"
	"perflab.dev/perflab/internal/prose"
	"perflab.dev/perflab/internal/verdict"
)

// shownComparison is a comparison, ready to be written: one number of places for
// a delta and its interval, one for both centers.
type shownComparison struct {
	*comparison.Comparison
	metric metric.Metric
	places int
}

func show(c *comparison.Comparison) shownComparison {
	return shownComparison{c, metric.Parse(c.Metric), decimals(c.Delta, (c.High-c.Low)/2)}
}

// deltaUnit is what delta and interval are in.
func (c shownComparison) deltaUnit() string {
	switch {
	case c.Scale == comparison.Ratio:
		return metric.UnitPercent
	case c.Unit == metric.UnitPercent:
		// Percent of what? Of the same whole, not of the baseline.
		return "points"
	case c.Unit == metric.UnitCount:
		return ""
	}
	return c.Unit
}

func (c shownComparison) delta() string { return signed(c.Delta, c.places) }

func (c shownComparison) interval() string { return signedInterval(c.Low, c.High, c.places) }

// centers of the baseline and the arm, to the place that the delta supports.
func (c shownComparison) centers() (baseline, arm string) {
	half := (c.High - c.Low) / 2
	if c.Scale == comparison.Ratio {
		half *= c.BaselineCenter / 100
	}
	places := decimals(c.BaselineCenter, half)
	return fixed(c.BaselineCenter, places), fixed(c.ArmCenter, places)
}

func (c shownComparison) verdict() string {
	if c.Verdict == verdict.None {
		return noVerdict
	}
	return string(c.Verdict)
}

// blocks that hold both arms, and about how many more would settle what they can't
// tell: hardly two rows share that number, so it is no note.
func (c shownComparison) blocks() string {
	if c.FurtherBlocks == 0 {
		return whole(c.Blocks)
	}
	return whole(c.Blocks) + space + "+" + space + whole(c.FurtherBlocks)
}

// sentence says what changed, by how much, how sure that is, and of what.
func (c shownComparison) sentence(a *answer) string {
	baseline, arm := c.centers()
	if c.metric.Statistic == metric.Duration && c.Unit == metric.UnitSeconds && c.BaselineCenter >= 60 {
		baseline, arm = clockOfSeconds(c.BaselineCenter), clockOfSeconds(c.ArmCenter)
	} else {
		arm = withUnit(arm, c.Unit)
	}
	text := fmt.Sprintf("%s: %s has %s, %s has %s", capital(c.metric.Under(c.Scenario)), c.Baseline, withUnit(baseline, unitOf(baseline, c.Unit)), c.Arm, arm)
	if math.IsNaN(c.Delta) {
		return text + "."
	}
	text += fmt.Sprintf(": %s (%s interval %s)", c.deltaText(), percent(a.confidencePercent), c.interval())
	return text + c.consequence(a)
}

// unitOf is the unit of a number, unless it is already written as a clock.
func unitOf(number, unit string) string {
	if len(number) == len("00:00:00") && number[2] == ':' {
		return ""
	}
	return unit
}

func (c shownComparison) deltaText() string {
	text := withUnit(c.delta(), c.deltaUnit())
	if c.Scale == comparison.Ratio {
		text += " of " + c.Baseline
	}
	return text
}

func (c shownComparison) consequence(a *answer) string {
	switch c.Verdict {
	case verdict.Equivalent:
		return fmt.Sprintf(", a difference of less than %s.", percent(a.marginPercent))
	case verdict.Inconclusive:
		switch {
		case len(a.uncalibrated) > 0:
			return ". No verdict is given, because the baseline differs from its own twin."
		case c.FurtherBlocks == 0:
			return ". The runs can't tell, and no reasonable number of further blocks would."
		}
		return fmt.Sprintf(". The runs can't tell; about %s would settle it.", prose.Counted(c.FurtherBlocks, "further block"))
	case verdict.None:
		if c.Blocks < verdict.MinimumBlocks {
			return fmt.Sprintf(". No verdict: %s %s both arms, and it takes %d.", prose.Counted(c.Blocks, "block"), prose.Verb(c.Blocks, "holds", "hold"), verdict.MinimumBlocks)
		}
		return ". No verdict: the values must not be compared; see the notes of the comparison."
	default:
		return "."
	}
}
