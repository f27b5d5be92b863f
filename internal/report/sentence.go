// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"

	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/text/prose"
)

// shownComparison is a comparison, ready to be written: one number of places for
// a delta and its interval, one for both centers.
type shownComparison struct {
	*comparison.Comparison
	metric metric.Metric
	// places of the delta and its interval, and of both centers.
	places, ofCenters int
}

func show(c *comparison.Comparison) shownComparison {
	return shownComparison{Comparison: c, metric: metric.Parse(c.Metric), places: decimals(c.Delta, (c.High-c.Low)/2)}
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
	return c.display().unit
}

// display of both centers.
func (c shownComparison) display() display {
	return displayOf(c.Unit, c.BaselineCenter, c.ArmCenter)
}

// inUnit writes a delta or an end of its interval: a difference as the centers are.
func (c shownComparison) inUnit() display {
	if c.Scale == comparison.Ratio {
		return inOwnUnit(metric.UnitPercent)
	}
	return c.display()
}

func (c shownComparison) delta() string {
	in := c.inUnit()
	return signed(c.Delta*in.factor, in.places(c.places))
}

// adjustedMark stands behind a delta that is not that of the two centers beside it.
const adjustedMark = "†"

// adjustedNote explains the mark.
const adjustedNote = adjustedMark + " Some blocks lack a run of one arm. The delta comes from the blocks that have both, so it does not follow from the two values beside it."

// deltaCell is the delta with its unit, marked where it does not follow.
func (c shownComparison) deltaCell() string {
	text := withUnit(c.delta(), c.deltaUnit())
	if c.adjusted() {
		text += space + adjustedMark
	}
	return text
}

// interval of the delta; none where a handful of runs would stretch it beyond sense.
func (c shownComparison) interval() string {
	if !c.judged() {
		return dash
	}
	in := c.inUnit()
	return signedInterval(c.Low*in.factor, c.High*in.factor, in.places(c.places))
}

// judged: there are blocks enough for an interval and a verdict to mean something.
func (c shownComparison) judged() bool { return c.Blocks >= verdict.MinimumBlocks }

// probability that the difference is chance.
func (c shownComparison) probability() string {
	if !c.judged() {
		return dash
	}
	return probability(c.Adjusted)
}

// centers of the baseline and the arm.
func (c shownComparison) centers() (baseline, arm string) {
	in := c.display()
	return in.write(c.BaselineCenter, c.ofCenters), in.write(c.ArmCenter, c.ofCenters)
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
	baseline, arm := c.told()
	text := fmt.Sprintf("%s: %s %s, %s %s", opened(c.metric, c.metric.Under(c.Scenario)), c.Baseline, baseline, c.Arm, arm)
	if math.IsNaN(c.Delta) {
		return text + "."
	}
	text += ": " + c.deltaText()
	if c.judged() {
		text += fmt.Sprintf(" (%s %s)", c.whichInterval(a), c.interval())
	}
	return text + c.consequence(a)
}

// whichInterval of the delta decided.
func (c shownComparison) whichInterval(a *answer) string {
	const rounding = 1e-9
	switch {
	case c.Confidence < a.confidencePercent-rounding:
		return percent(2*a.confidencePercent-100) + " interval"
	case c.Confidence > a.confidencePercent+rounding:
		return "adjusted " + percent(a.confidencePercent) + " interval"
	}
	return percent(a.confidencePercent) + " interval"
}

// told are both centers in sentences: long durations on a clock, too.
func (c shownComparison) told() (baseline, arm string) {
	baseline, arm = c.centers()
	baseline, arm = withUnit(baseline, c.display().unit), withUnit(arm, c.display().unit)
	if c.metric.Statistic == metric.Duration && c.Unit == metric.UnitSeconds && c.BaselineCenter >= 60 {
		baseline += " (" + clockOfSeconds(c.BaselineCenter) + ")"
		arm += " (" + clockOfSeconds(c.ArmCenter) + ")"
	}
	return baseline, arm
}

func (c shownComparison) deltaText() string {
	text := withUnit(c.delta(), c.deltaUnit())
	if c.adjusted() {
		text += ", allowing for blocks that lack a run"
	}
	return text
}

func (c shownComparison) consequence(a *answer) string {
	switch c.Verdict {
	case verdict.Equivalent:
		return fmt.Sprintf(": less than %s either way.", percent(a.marginPercent))
	case verdict.Inconclusive:
		if c.FurtherBlocks == 0 {
			return ". Undecided, and no reasonable number of further blocks would settle it."
		}
		return fmt.Sprintf(". Undecided; about %s would settle it.", prose.Counted(c.FurtherBlocks, "further block"))
	case verdict.None:
		if !a.Enough() {
			// The banner says so of all.
			return "."
		}
		return ". " + capital(c.Withheld) + "."
	case verdict.Better, verdict.Worse:
		if c.IsBeyondMargin() {
			return fmt.Sprintf(": more than the margin of %s.", percent(a.marginPercent))
		}
		return fmt.Sprintf(": perhaps less than the margin of %s.", percent(a.marginPercent))
	}
	return "."
}
