// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/text/prose"
)

// Calibration describes the result of the baseline's A/A control.
type Calibration struct {
	// Known is false before there is a result.
	Known, Calibrated bool
	// Reason is the condition's reason, Message its message.
	Reason, Message string
}

// Calibration returns the calibration of an experiment with an A/A control.
func (a *Answer) Calibration() Calibration {
	own := a.twins()
	switch {
	case !a.Enough():
		return Calibration{
			Reason:  v1alpha1.ReasonTooFewBlocks,
			Message: fmt.Sprintf("%s %s complete; the A/A control %q needs %d", prose.Counted(a.Blocks, "block"), prose.Verb(a.Blocks, "is", "are"), a.Twin, a.Needed()),
		}
	case len(own) == 0:
		return Calibration{
			Reason:  v1alpha1.ReasonNoPrimaryMetric,
			Message: fmt.Sprintf("no primary metric has been measured for the A/A control %q", a.Twin),
		}
	}
	if differing := a.Uncalibrated(); len(differing) > 0 {
		return Calibration{
			Known: true, Reason: v1alpha1.ReasonTwinDiffers,
			Message: fmt.Sprintf("the A/A control %q is configured as the baseline, yet differs: %s; any arm could differ for the same reason, so every verdict is Inconclusive: find out what else changes between runs", a.Twin, joinMetrics(differing)),
		}
	}
	widest := slices.MaxFunc(own, func(x, y comparison.Comparison) int { return cmp.Compare(math.Abs(x.Delta), math.Abs(y.Delta)) })
	return Calibration{
		Known: true, Calibrated: true, Reason: v1alpha1.ReasonTwinAlike,
		Message: fmt.Sprintf("the A/A control %q does not differ from the baseline in %s; the largest delta: %s", a.Twin, prose.Counted(len(own), "primary comparison"), sentence(&widest)),
	}
}

// twins returns the primary comparisons of the A/A control.
func (a *Answer) twins() []comparison.Comparison {
	return a.primary(func(c *comparison.Comparison) bool { return c.Twin })
}

// candidates returns the primary comparisons of the other arms.
func (a *Answer) candidates() []comparison.Comparison {
	return a.primary(func(c *comparison.Comparison) bool { return !c.Twin })
}

func (a *Answer) primary(wanted func(*comparison.Comparison) bool) []comparison.Comparison {
	var found []comparison.Comparison
	for i := range a.Comparisons {
		if c := &a.Comparisons[i]; c.Primary && wanted(c) {
			found = append(found, *c)
		}
	}
	return found
}

// Summary summarizes the primary comparisons: "1 better, 1 inconclusive". It is empty before there
// are any.
func (a *Answer) Summary(final bool) string {
	candidates := a.candidates()
	summary := countVerdicts(candidates)
	switch {
	case len(a.Comparisons) == 0:
		return ""
	case len(candidates) == 0:
		return "no primary metric"
	case !a.Enough():
		return fmt.Sprintf("no verdict below %d blocks", a.Needed())
	case len(a.Uncalibrated()) > 0:
		summary = "not calibrated: no verdict"
	}
	if !final {
		return "so far " + summary
	}
	return summary
}

func countVerdicts(comparisons []comparison.Comparison) string {
	count := map[verdict.Verdict]int{}
	for i := range comparisons {
		count[comparisons[i].Verdict]++
	}
	var parts []string
	for _, of := range []verdict.Verdict{verdict.Better, verdict.Worse, verdict.Equivalent, verdict.Inconclusive} {
		if count[of] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[of], strings.ToLower(string(of))))
		}
	}
	if count[verdict.None] > 0 {
		parts = append(parts, fmt.Sprintf("%d not compared", count[verdict.None]))
	}
	return strings.Join(parts, ", ")
}

// ArmVerdicts counts the verdicts of an arm's primary comparisons; nil without any, and for the
// baseline and its A/A control.
func (a *Answer) ArmVerdicts(arm arms.Arm) *v1alpha1.ArmVerdicts {
	if arm.Baseline || arm.Twin {
		return nil
	}
	var primary, guarded []verdict.Verdict
	summed, worse := &v1alpha1.ArmVerdicts{}, []string(nil)
	for i := range a.Comparisons {
		c := &a.Comparisons[i]
		switch {
		case c.Arm != arm.Name:
		case c.Primary:
			primary = append(primary, c.Verdict)
			count(summed, c.Verdict)
		case a.Question.IsGuard(c.Metric):
			guarded = append(guarded, c.Verdict)
			if c.Verdict == verdict.Worse {
				worse = append(worse, metric.DisplayName(c.Metric, c.Scenario))
			}
		}
	}
	if summed.Better+summed.Worse+summed.Equivalent+summed.Inconclusive == 0 {
		return nil
	}
	summed.Wins = verdict.Wins(primary, guarded)
	const maxGuards = 10
	summed.WorseGuards = worse[:min(len(worse), maxGuards)]
	return summed
}

func count(summed *v1alpha1.ArmVerdicts, of verdict.Verdict) {
	switch of {
	case verdict.Better:
		summed.Better++
	case verdict.Worse:
		summed.Worse++
	case verdict.Equivalent:
		summed.Equivalent++
	case verdict.Inconclusive:
		summed.Inconclusive++
	default:
		// A comparison without a verdict does not count.
	}
}

// Sentences describe the result of each arm, in one sentence each.
func (a *Answer) Sentences(all []arms.Arm) []string {
	var sentences []string
	for _, arm := range all {
		of := a.primary(func(c *comparison.Comparison) bool { return c.Arm == arm.Name && !c.Twin })
		verdicts := a.ArmVerdicts(arm)
		if verdicts == nil {
			continue
		}
		wins := ""
		switch {
		case verdicts.Wins:
			wins = "wins: "
		case len(verdicts.WorseGuards) > 0 && verdicts.Better > 0:
			wins = "does not win, because guardrails are worse (" + prose.Enumerate(verdicts.WorseGuards) + "): "
		}
		sentences = append(sentences, fmt.Sprintf("arm %q %s%s", arm.Name, wins, joinMetrics(of)))
	}
	return sentences
}

// joinMetrics lists comparisons, the first few in full.
func joinMetrics(comparisons []comparison.Comparison) string {
	const maxSentences = 4
	var parts []string
	for i := range comparisons {
		parts = append(parts, sentence(&comparisons[i]))
	}
	return prose.EnumerateFirst(parts, maxSentences)
}

// sentence describes a comparison: cico/Check-In/average of cico-8 Worse by +10.0 % (+9.1 to
// +10.9).
func sentence(c *comparison.Comparison) string {
	word := ""
	if c.Verdict != verdict.None && !c.Twin {
		word = " " + string(c.Verdict)
	}
	unit := c.Unit
	if c.Scale == comparison.Ratio {
		unit = "%"
	} else if unit == "%" {
		unit = "points"
	}
	return fmt.Sprintf("%s%s by %+.3g %s (%+.3g to %+.3g)", metric.DisplayName(c.Metric, c.Scenario), word, c.Delta, unit, c.Low, c.High)
}
