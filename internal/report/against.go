// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/inference/crosscompare"
	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/measure/metric"
)

// againstOther sets the experiment against another one: the baselines first and, where
// they are alike, the arms.
func againstOther(r *record, notes *notes) []block {
	if r.Against == nil {
		return nil
	}
	other := r.Against.Experiment.Name
	title := "Against the experiment " + other
	result, err := crosscompare.Compare(*r.Against, crosscompare.ExperimentRuns{Experiment: &r.Experiment, Runs: r.Runs}, crosscompare.Options{})
	if err != nil {
		return titled(title, []block{paragraph(capital(err.Error()) + ".")})
	}
	blocks := []block{paragraph(againstText(result, other))}
	blocks = append(blocks, baselinesAcross(result, other, notes).blocks()...)
	if result.Alike {
		blocks = append(blocks, armsAcross(result, other, notes).blocks()...)
	}
	if len(result.Notes) > 0 {
		blocks = append(blocks, paragraph("What the two were declared to be differs:"))
		blocks = append(blocks, list(listOf(result.Notes))...)
	}
	return titled(title, blocks)
}

func againstText(result *crosscompare.Result, other string) string {
	const beginning = "Runs of two experiments stand in no common random order, so what differs between them may be the day's or the node's. "
	if !result.Alike {
		return beginning + fmt.Sprintf("The baselines of %s and of this experiment could not be shown to be alike within the margin of %s, so no arms are compared. Run both configurations as arms of one experiment to know.",
			other, percent(result.MarginPercent))
	}
	return beginning + fmt.Sprintf("The baselines of %s and of this experiment are alike within the margin of %s, so arms are compared, each by its delta to its own baseline.",
		other, percent(result.MarginPercent))
}

func baselinesAcross(result *crosscompare.Result, other string, notes *notes) *table {
	made := &table{
		Caption: "Baselines against each other",
		Columns: slices.Concat(words("Scenario", "Metric"), numbers(other, "This experiment"), words("Unit"), numbers("Change", "Interval", "p"), words("Alike", "Notes")),
	}
	for i := range result.Baselines {
		c := &result.Baselines[i]
		alike := "not shown"
		if c.Verdict == verdict.Equivalent {
			alike = "yes"
		}
		cells := append([]cell{name(c.Scenario), name(c.Metric)}, texts(carrying(c.FirstValue), carrying(c.SecondValue), shownUnit(c.Unit))...)
		cells = append(cells, changeAcross(c, c.EquivalenceLow, c.EquivalenceHigh, c.P)...)
		made.Rows = append(made.Rows, row{Cells: append(cells, cell{Text: alike}, cell{Text: notes.of(c.Warnings)})})
	}
	return made
}

func armsAcross(result *crosscompare.Result, other string, notes *notes) *table {
	made := &table{
		Caption: "Arms, each by its delta to its own baseline",
		Columns: slices.Concat(words("Scenario", "Metric", "Arm"), numbers("Delta in "+other, "Delta here", "Change", "Interval", "p"), words("Verdict", "Notes")),
	}
	for i := range result.Arms {
		c := &result.Arms[i]
		arm := ofArm(c.Second)
		if c.First != c.Second {
			arm = cell{Text: c.First + " → " + c.Second}
		}
		unit := unitAcross(c)
		cells := append([]cell{name(c.Scenario), name(c.Metric), arm}, texts(deltaAcross(c, c.FirstValue, unit), deltaAcross(c, c.SecondValue, unit))...)
		cells = append(cells, changeAcross(c, c.Low, c.High, c.Adjusted)...)
		cells = append(cells, cell{Text: cmp.Or(string(c.Verdict), dash), Verdict: string(c.Verdict)}, cell{Text: notes.of(c.Warnings)})
		made.Rows = append(made.Rows, row{Cells: cells})
	}
	return made
}

// changeAcross is the second experiment against the first, with its interval and p.
func changeAcross(c *crosscompare.Comparison, low, high, p float64) []cell {
	places := decimals(c.Delta, (high-low)/2)
	return texts(withUnit(signed(c.Delta, places), unitAcross(c)), signedInterval(low, high, places), probability(p))
}

func deltaAcross(c *crosscompare.Comparison, delta float64, unit string) string {
	return withUnit(signed(delta, decimals(c.Delta, (c.High-c.Low)/2)), unit)
}

// unitAcross is that of a difference of two values of the metric.
func unitAcross(c *crosscompare.Comparison) string {
	switch {
	case c.Scale == comparison.Ratio:
		return metric.UnitPercent
	case c.Unit == metric.UnitPercent:
		return "points"
	}
	return c.Unit
}

// carrying writes a value with the digits from which a reader gets its change.
func carrying(value float64) string {
	const more = 2
	return fixed(value, decimals(value, math.NaN())+more)
}
