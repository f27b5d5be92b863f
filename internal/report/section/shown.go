// SPDX-License-Identifier: Apache-2.0

package section

import (
	"math"

	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/text/digits"
)

// deltaFollows: the printed delta is what centers printed with so many places give,
// rounded. Where they give the very delta, which may lie half way between two that
// can be printed, more of them give nothing more.
func (c *shownComparison) deltaFollows(places int) bool {
	const epsilon = 1e-9
	told := c.deltaFrom(digits.Round(c.BaselineCenter, places), digits.Round(c.ArmCenter, places))
	off := math.Abs(told - digits.Round(c.Delta, c.places))
	return math.IsNaN(c.Delta) || off <= math.Pow10(-c.places)/2*(1-epsilon) || math.Abs(told-c.Delta) <= epsilon*math.Abs(c.Delta)
}

// isAdjusted: the delta is not that of the centers, because some block lacks a run
// and the model allows for it.
func (c *shownComparison) isAdjusted() bool {
	const epsilon = 1e-6
	told := c.deltaFrom(c.BaselineCenter, c.ArmCenter)
	size := math.Abs(c.Delta)
	if c.Scale == comparison.Difference {
		size += math.Abs(c.BaselineCenter)
	}
	return math.Abs(told-c.Delta) > epsilon*math.Max(size, epsilon)
}

// deltaFrom two centers the delta that a reader gets.
func (c *shownComparison) deltaFrom(baseline, arm float64) float64 {
	if c.Scale == comparison.Ratio {
		return 100 * (arm - baseline) / baseline
	}
	return arm - baseline
}

// shownComparison is a comparison, ready to be written: one number of places for
// a delta and its interval, one for both centers.
type shownComparison struct {
	*comparison.Comparison
	metric metric.Metric
	// places of the delta and its interval, and of both centers.
	places, ofCenters int
}

func newShownComparison(c *comparison.Comparison) shownComparison {
	return shownComparison{Comparison: c, metric: metric.Parse(c.Metric), places: digits.Decimals(c.Delta, (c.High-c.Low)/2)}
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
	return newDisplay(c.Unit, c.BaselineCenter, c.ArmCenter)
}

// deltaDisplay writes a delta or an end of its interval: a difference as the centers are.
func (c shownComparison) deltaDisplay() display {
	if c.Scale == comparison.Ratio {
		return ownUnit(metric.UnitPercent)
	}
	return c.display()
}

func (c shownComparison) delta() string {
	in := c.deltaDisplay()
	return digits.Signed(c.Delta*in.factor, in.places(c.places))
}

// adjustedMark stands behind a delta that is not that of the two centers beside it.
const adjustedMark = "†"

// adjustedNote explains the mark.
const adjustedNote = adjustedMark + " Some blocks lack a run of one arm. The delta comes from the blocks that have both, so it does not follow from the two values beside it."

// deltaCell is the delta with its unit, marked where it does not follow.
func (c shownComparison) deltaCell() string {
	text := withUnit(c.delta(), c.deltaUnit())
	if c.isAdjusted() {
		text += digits.Space + adjustedMark
	}
	return text
}

// interval of the delta; none where a handful of runs would stretch it beyond sense.
func (c shownComparison) interval() string {
	if !c.hasEnoughBlocks() {
		return digits.Dash
	}
	in := c.deltaDisplay()
	return digits.Interval(c.Low*in.factor, c.High*in.factor, in.places(c.places))
}

// hasEnoughBlocks: there are blocks enough for an interval and a verdict to mean something.
func (c shownComparison) hasEnoughBlocks() bool { return c.Blocks >= verdict.MinimumBlocks }

// probability that the difference is chance.
func (c shownComparison) probability() string {
	if !c.hasEnoughBlocks() {
		return digits.Dash
	}
	return digits.PValue(c.Adjusted)
}

// centers of the baseline and the arm.
func (c shownComparison) centers() (baseline, arm string) {
	in := c.display()
	return in.text(c.BaselineCenter, c.ofCenters), in.text(c.ArmCenter, c.ofCenters)
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
		return digits.Count(c.Blocks)
	}
	return digits.Count(c.Blocks) + digits.Space + "+" + digits.Space + digits.Count(c.FurtherBlocks)
}

// centersText are both centers in sentences: long durations on a clock, too.
func (c shownComparison) centersText() (baseline, arm string) {
	baseline, arm = c.centers()
	baseline, arm = withUnit(baseline, c.display().unit), withUnit(arm, c.display().unit)
	if c.metric.Statistic == metric.Duration && c.Unit == metric.UnitSeconds && c.BaselineCenter >= 60 {
		baseline += " (" + digits.ClockSeconds(c.BaselineCenter) + ")"
		arm += " (" + digits.ClockSeconds(c.ArmCenter) + ")"
	}
	return baseline, arm
}
