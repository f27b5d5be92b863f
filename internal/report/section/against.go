// SPDX-License-Identifier: Apache-2.0

package section

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/inference/crosscompare"
	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/digits"
)

// againstOther compares the experiment with another one: the baselines first and, if they match,
// the arms.
func againstOther(r *Record, notes *footnotes) []document.Block {
	if r.Against == nil {
		return nil
	}
	other := r.Against.Experiment.Name
	title := "Comparison with experiment " + other
	result, err := crosscompare.Compare(*r.Against, crosscompare.ExperimentRuns{Experiment: &r.Experiment, Runs: r.Runs}, crosscompare.Options{})
	if err != nil {
		return document.Titled(title, []document.Block{document.Paragraph(capitalize(err.Error()) + ".")})
	}
	blocks := []document.Block{document.Paragraph(againstText(result, other))}
	blocks = append(blocks, baselinesAcross(result, other, notes).Blocks()...)
	if result.Alike {
		blocks = append(blocks, armsAcross(result, other, notes).Blocks()...)
	}
	if len(result.Notes) > 0 {
		blocks = append(blocks, document.Paragraph("Differences in the declarations:"))
		blocks = append(blocks, document.List(document.Items(result.Notes))...)
	}
	return document.Titled(title, blocks)
}

func againstText(result *crosscompare.Result, other string) string {
	const beginning = "The runs of two experiments are not randomized together, so a difference between them may be due to the day or the node. "
	if !result.Alike {
		return beginning + fmt.Sprintf("The baselines of %s and of this experiment could not be shown to be equivalent within the margin of %s, so arms are not compared. To compare them, run both configurations as arms of one experiment.",
			other, percent(result.MarginPercent))
	}
	return beginning + fmt.Sprintf("The baselines of %s and of this experiment are equivalent within the margin of %s, so arms are compared by their deltas from their own baselines.",
		other, percent(result.MarginPercent))
}

func baselinesAcross(result *crosscompare.Result, other string, notes *footnotes) *document.Table {
	made := &document.Table{
		Caption: "Baselines of both experiments",
		Columns: slices.Concat(document.TextColumns("Scenario", "Metric"), document.NumberColumns(other, "This experiment"), document.TextColumns("Unit"), document.NumberColumns("Change", "Interval", "p"), document.TextColumns("Equivalent", "Notes")),
	}
	for i := range result.Baselines {
		c := &result.Baselines[i]
		alike := "not shown"
		if c.Verdict == verdict.Equivalent {
			alike = "yes"
		}
		cells := append([]document.Cell{nameCell(c.Scenario), nameCell(c.Metric)}, document.TextCells(carrying(c.FirstValue), carrying(c.SecondValue), unitLabel(c.Unit))...)
		cells = append(cells, changeAcross(c, c.EquivalenceLow, c.EquivalenceHigh, c.P)...)
		made.Rows = append(made.Rows, document.Row{Cells: append(cells, document.Cell{Text: alike}, document.Cell{Text: notes.numbersFor(c.Warnings)})})
	}
	return made
}

func armsAcross(result *crosscompare.Result, other string, notes *footnotes) *document.Table {
	made := &document.Table{
		Caption: "Arms, by delta from their own baseline",
		Columns: slices.Concat(document.TextColumns("Scenario", "Metric", "Arm"), document.NumberColumns("Delta in "+other, "Delta here", "Change", "Interval", "p"), document.TextColumns("Verdict", "Notes")),
	}
	for i := range result.Arms {
		c := &result.Arms[i]
		arm := armCell(c.Second)
		if c.First != c.Second {
			arm = document.Cell{Text: c.First + " → " + c.Second}
		}
		unit := unitAcross(c)
		cells := append([]document.Cell{nameCell(c.Scenario), nameCell(c.Metric), arm}, document.TextCells(deltaAcross(c, c.FirstValue, unit), deltaAcross(c, c.SecondValue, unit))...)
		cells = append(cells, changeAcross(c, c.Low, c.High, c.Adjusted)...)
		cells = append(cells, document.Cell{Text: cmp.Or(string(c.Verdict), digits.Dash), Status: string(c.Verdict)}, document.Cell{Text: notes.numbersFor(c.Warnings)})
		made.Rows = append(made.Rows, document.Row{Cells: cells})
	}
	return made
}

// changeAcross is the change from the first experiment to the second, with its interval and p.
func changeAcross(c *crosscompare.Comparison, low, high, p float64) []document.Cell {
	places := digits.Decimals(c.Delta, (high-low)/2)
	return document.TextCells(withUnit(digits.Signed(c.Delta, places), unitAcross(c)), digits.Interval(low, high, places), digits.PValue(p))
}

func deltaAcross(c *crosscompare.Comparison, delta float64, unit string) string {
	return withUnit(digits.Signed(delta, digits.Decimals(c.Delta, (c.High-c.Low)/2)), unit)
}

// unitAcross is the unit of a difference of two values of the metric.
func unitAcross(c *crosscompare.Comparison) string {
	switch {
	case c.Scale == comparison.Ratio:
		return metric.UnitPercent
	case c.Unit == metric.UnitPercent:
		return "points"
	}
	return c.Unit
}

// carrying formats a value with enough digits to compute its change.
func carrying(value float64) string {
	const more = 2
	return digits.Fixed(value, digits.Decimals(value, math.NaN())+more)
}
