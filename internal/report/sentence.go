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

// told is a comparison, ready to be written: one number of places for a delta
// and its interval, one for both centers.
type told struct {
	*comparison.Comparison
	metric metric.Metric
	places int
}

func tell(c *comparison.Comparison) told {
	return told{c, metric.Parse(c.Metric), decimals(c.Delta, (c.High-c.Low)/2)}
}

// deltaUnit is what delta and interval are in.
func (t told) deltaUnit() string {
	switch {
	case t.Scale == comparison.Ratio:
		return metric.UnitPercent
	case t.Unit == metric.UnitPercent:
		// Percent of what? Of the same whole, not of the baseline.
		return "points"
	case t.Unit == metric.UnitCount:
		return ""
	}
	return t.Unit
}

func (t told) delta() string { return signed(t.Delta, t.places) }

func (t told) interval() string {
	if math.IsNaN(t.Low) {
		return dash
	}
	return signed(t.Low, t.places) + " to " + signed(t.High, t.places)
}

// centers of the baseline and the arm, to the place that the delta supports.
func (t told) centers() (baseline, arm string) {
	half := (t.High - t.Low) / 2
	if t.Scale == comparison.Ratio {
		half *= t.BaselineCenter / 100
	}
	places := decimals(t.BaselineCenter, half)
	return fixed(t.BaselineCenter, places), fixed(t.ArmCenter, places)
}

func (t told) verdict() string {
	if t.Verdict == verdict.None {
		return noVerdict
	}
	return string(t.Verdict)
}

// blocks that hold both arms, and about how many more would settle what they can't
// tell: hardly two rows share that number, so it is no note.
func (t told) blocks() string {
	if t.FurtherBlocks == 0 {
		return whole(t.Blocks)
	}
	return whole(t.Blocks) + space + "+" + space + whole(t.FurtherBlocks)
}

// sentence says what changed, by how much, how sure that is, and of what.
func (t told) sentence(j *answered) string {
	baseline, arm := t.centers()
	if t.metric.Statistic == metric.Duration && t.Unit == metric.UnitSeconds && t.BaselineCenter >= 60 {
		baseline, arm = clockOfSeconds(t.BaselineCenter), clockOfSeconds(t.ArmCenter)
	} else {
		arm = withUnit(arm, t.Unit)
	}
	text := fmt.Sprintf("%s: %s has %s, %s has %s", capital(t.metric.Under(t.Scenario)), t.Baseline, withUnit(baseline, unitOf(baseline, t.Unit)), t.Arm, arm)
	if math.IsNaN(t.Delta) {
		return text + "."
	}
	text += fmt.Sprintf(": %s (%s%s%% interval %s)", t.deltaText(), plain(j.confidencePercent), space, t.interval())
	return text + t.consequence(j)
}

// unitOf is the unit of a number, unless it is already written as a clock.
func unitOf(number, unit string) string {
	if len(number) == len("00:00:00") && number[2] == ':' {
		return ""
	}
	return unit
}

func (t told) deltaText() string {
	text := withUnit(t.delta(), t.deltaUnit())
	if t.Scale == comparison.Ratio {
		text += " of " + t.Baseline
	}
	return text
}

func (t told) consequence(j *answered) string {
	switch t.Verdict {
	case verdict.Equivalent:
		return fmt.Sprintf(", a difference of less than %s%s%%.", plain(j.marginPercent), space)
	case verdict.Inconclusive:
		switch {
		case len(j.uncalibrated) > 0:
			return ". No verdict is given, because the baseline differs from its own twin."
		case t.FurtherBlocks == 0:
			return ". The runs can't tell, and no reasonable number of further blocks would."
		}
		return fmt.Sprintf(". The runs can't tell; about %s would settle it.", prose.Counted(t.FurtherBlocks, "further block"))
	case verdict.None:
		if t.Blocks < verdict.MinimumBlocks {
			return fmt.Sprintf(". No verdict: %s %s both arms, and it takes %d.", prose.Counted(t.Blocks, "block"), prose.Verb(t.Blocks, "holds", "hold"), verdict.MinimumBlocks)
		}
		return ". No verdict: the values must not be compared; see the notes of the comparison."
	default:
		return "."
	}
}
