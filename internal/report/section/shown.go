// SPDX-License-Identifier: Apache-2.0

package section

import (
	"math"

	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/text/digits"
)

// deltaFollows reports whether the printed delta is the rounded delta of the centers, printed
// with that many places. If they give the exact delta, which may be halfway between two printable
// ones, more places don't help.
func (c *shownComparison) deltaFollows(places int) bool {
	const epsilon = 1e-9
	delta := c.deltaFrom(digits.Round(c.BaselineCenter, places), digits.Round(c.ArmCenter, places))
	off := math.Abs(delta - digits.Round(c.Delta, c.places))
	return math.IsNaN(c.Delta) || off <= math.Pow10(-c.places)/2*(1-epsilon) || math.Abs(delta-c.Delta) <= epsilon*math.Abs(c.Delta)
}

// isAdjusted reports whether the delta differs from that of the centers, because some blocks lack
// a run and the model adjusts for it.
func (c *shownComparison) isAdjusted() bool {
	const epsilon = 1e-6
	delta := c.deltaFrom(c.BaselineCenter, c.ArmCenter)
	size := math.Abs(c.Delta)
	if c.Scale == comparison.Difference {
		size += math.Abs(c.BaselineCenter)
	}
	return math.Abs(delta-c.Delta) > epsilon*math.Max(size, epsilon)
}

// deltaFrom is the delta that a reader computes from two centers.
func (c *shownComparison) deltaFrom(baseline, arm float64) float64 {
	if c.Scale == comparison.Ratio {
		return 100 * (arm - baseline) / baseline
	}
	return arm - baseline
}

// shownComparison is a comparison, ready to be written: with one number of places for the delta
// and its interval, and one for both centers.
type shownComparison struct {
	*comparison.Comparison
	metric metric.Metric
	// places of the delta and its interval, and of both centers.
	places, ofCenters int
}

func newShownComparison(c *comparison.Comparison) shownComparison {
	return shownComparison{Comparison: c, metric: metric.Parse(c.Metric), places: digits.Decimals(c.Delta, (c.High-c.Low)/2)}
}

// deltaUnit is the unit of delta and interval.
func (c shownComparison) deltaUnit() string {
	switch {
	case c.Scale == comparison.Ratio:
		return metric.UnitPercent
	case c.Unit == metric.UnitPercent:
		// Percent would be ambiguous: points refer to the same whole, not to the baseline.
		return "points"
	case c.Unit == metric.UnitCount:
		return ""
	}
	return c.display().unit
}

// display is the format of both centers.
func (c shownComparison) display() display {
	return newDisplay(c.Unit, c.BaselineCenter, c.ArmCenter)
}

// deltaDisplay is the format of a delta or an end of its interval: for a difference that of the
// centers.
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

// adjustedMark follows a delta that is not that of the two centers beside it.
const adjustedMark = "†"

// adjustedNote explains the mark.
const adjustedNote = adjustedMark + " Some blocks lack a run of one arm. The delta is from the blocks that have both, so it does not follow from the two adjacent values."

// deltaCell is the delta with its unit, marked if it is adjusted.
func (c shownComparison) deltaCell() string {
	text := withUnit(c.delta(), c.deltaUnit())
	if c.isAdjusted() {
		text += digits.Space + adjustedMark
	}
	return text
}

// interval of the delta; a dash if there are too few blocks for a meaningful one.
func (c shownComparison) interval() string {
	if !c.hasEnoughBlocks() {
		return digits.Dash
	}
	in := c.deltaDisplay()
	return digits.Interval(c.Low*in.factor, c.High*in.factor, in.places(c.places))
}

// hasEnoughBlocks reports whether there are enough blocks for a meaningful interval and verdict.
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

// blocks is the number of blocks with both arms, and about how many more would give a verdict. It
// is not a note, because that number differs in most rows.
func (c shownComparison) blocks() string {
	if c.FurtherBlocks == 0 {
		return digits.Count(c.Blocks)
	}
	return digits.Count(c.Blocks) + digits.Space + "+" + digits.Space + digits.Count(c.FurtherBlocks)
}

// centersText are both centers in sentences, with long durations as a clock time too.
func (c shownComparison) centersText() (baseline, arm string) {
	baseline, arm = c.centers()
	baseline, arm = withUnit(baseline, c.display().unit), withUnit(arm, c.display().unit)
	if c.metric.Statistic == metric.Duration && c.Unit == metric.UnitSeconds && c.BaselineCenter >= 60 {
		baseline += " (" + digits.ClockSeconds(c.BaselineCenter) + ")"
		arm += " (" + digits.ClockSeconds(c.ArmCenter) + ")"
	}
	return baseline, arm
}
