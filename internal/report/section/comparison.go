// SPDX-License-Identifier: Apache-2.0

package section

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/digits"
	"perflab.dev/perflab/internal/text/prose"
)

// maxCompared is the number of rows per table, maxExplored in exploratory tables. With ninety
// modules a page would be all comparisons; the rest is in the CSV.
const (
	maxCompared = 40
	maxExplored = 15
)

// comparisons are all deltas, with their baselines.
func comparisons(r *Record) []document.Block {
	notes := &footnotes{}
	if len(r.answer.Comparisons) == 0 {
		return append([]document.Block{document.Paragraph("There are no comparisons.")}, againstOther(r, notes)...)
	}
	blocks := []document.Block{document.Paragraph(comparisonText(r.answer))}
	blocks = append(blocks, chartsIn(r, inComparison, r.scenarios...)...)
	blocks = append(blocks, effectTable(r)...)
	if len(r.answer.uncalibrated) > 0 {
		blocks = append(blocks, document.Paragraph(fmt.Sprintf("The experiment is not calibrated: the A/A control %s differs from the baseline %s despite the same configuration, so all verdicts are withheld.", r.answer.Twin, r.answer.Baseline)))
	}
	for _, scenario := range r.scenarios {
		own := append(comparisonTables(r, scenario.Name, notes), pairTable(r, scenario.Name, notes).Blocks()...)
		blocks = append(blocks, document.Titled("Scenario "+scenario.Name, own)...)
	}
	blocks = append(blocks, slowdowns(r.answer)...)
	blocks = append(blocks, againstOther(r, notes)...)
	if len(notes.list) > 0 {
		blocks = append(blocks, document.Heading("Notes"), document.Block{Steps: notes.list})
	}
	return blocks
}

func comparisonText(a *answer) string {
	if !a.Enough() {
		return fmt.Sprintf("Deltas are arm minus baseline (%s), in percent of the baseline unless stated otherwise: + is more, %s is less. They describe these runs only, without intervals or verdicts. %s",
			a.Baseline, digits.Minus, directions(a))
	}
	return fmt.Sprintf(
		"Deltas are arm minus baseline (%s), in percent of the baseline unless stated otherwise: + is more, %s is less. Interval is the one behind the verdict: for Equivalent, the %s interval, which lies within the margin of %s of the baseline; otherwise, the %s interval, adjusted like p for all comparisons, which excludes 0 exactly if the verdict is Better or Worse. %s All metrics except the primary ones are exploratory: some of them differ by chance. For Inconclusive, Blocks adds the approximate number of further blocks that would settle it.",
		a.Baseline, digits.Minus, percent(2*a.confidencePercent-100), percent(a.marginPercent), percent(a.confidencePercent), directions(a))
}

// directions names the better direction of the compared metrics.
func directions(a *answer) string {
	var higher []metric.Metric
	var unknown []string
	for _, c := range a.filter(isListed) {
		switch a.Question.Direction(c.Metric, c.Unit) {
		case verdict.HigherIsBetter:
			higher = append(higher, c.metric)
		case verdict.UnknownDirection:
			unknown = append(unknown, c.metric.Phrase())
		case verdict.LowerIsBetter:
		}
	}
	text := metric.Directions(higher, a.Question.Higher)
	if len(unknown) > 0 {
		text += fmt.Sprintf(" The better direction is unknown for %s, so differences there have no verdict.", prose.Enumerate(unknown))
	}
	return text
}

// isListed reports whether the tables list a comparison.
func isListed(c shownComparison) bool {
	isNothing := c.BaselineCenter == 0 && c.ArmCenter == 0
	return !c.Twin && !isNothing && (c.Primary || c.metric.IsInformative())
}

// comparisonKinds are the tables of comparisons: each comparison is in the first table that
// accepts it.
var comparisonKinds = []struct {
	caption string
	// exploratory tables don't decide.
	exploratory bool
	has         func(*answer, shownComparison) bool
}{
	{"Primary metrics", false, func(_ *answer, c shownComparison) bool { return c.Primary }},
	{"Guardrail metrics (a winner must not make them worse)", false, func(a *answer, c shownComparison) bool { return a.Question.IsGuard(c.Metric) }},
	{"Other load metrics", true, func(_ *answer, c shownComparison) bool { return !c.metric.IsServer() && c.metric.Window == "" }},
	{"Load metrics, by phase of the run", true, func(_ *answer, c shownComparison) bool { return !c.metric.IsServer() }},
	{"Servers and cost", true, func(*answer, shownComparison) bool { return true }},
}

func comparisonTables(r *Record, scenario string, notes *footnotes) []document.Block {
	left := r.answer.filter(func(c shownComparison) bool { return c.Scenario == scenario && isListed(c) })
	var blocks []document.Block
	for _, kind := range comparisonKinds {
		var own, others []shownComparison
		for _, c := range left {
			if kind.has(r.answer, c) {
				own = append(own, c)
			} else {
				others = append(others, c)
			}
		}
		shown := own[:min(len(own), maxCompared)]
		if kind.exploratory {
			shown = mostSignificant(own)
		}
		result := comparisonTable(r, kind.caption, shown, notes)
		result.Folded, result.More = kind.exploratory, len(own)-len(shown)
		blocks = append(blocks, result.Blocks()...)
		left = others
	}
	return blocks
}

// mostSignificant are the comparisons least likely by chance, or without p the largest deltas, in
// their original order.
func mostSignificant(all []shownComparison) []shownComparison {
	known := slices.DeleteFunc(slices.Clone(all), func(c shownComparison) bool { return math.IsNaN(c.Delta) })
	if len(known) <= maxExplored {
		return known
	}
	chance := func(c shownComparison) float64 {
		if !c.hasEnoughBlocks() || math.IsNaN(c.P) {
			return 1
		}
		return c.P
	}
	ranked := slices.SortedStableFunc(slices.Values(known), func(a, b shownComparison) int {
		return cmp.Or(cmp.Compare(chance(a), chance(b)), cmp.Compare(math.Abs(b.Delta), math.Abs(a.Delta)))
	})
	last := ranked[:maxExplored]
	return slices.DeleteFunc(known, func(c shownComparison) bool { return !slices.Contains(last, c) })
}

func comparisonTable(r *Record, caption string, all []shownComparison, notes *footnotes) *document.Table {
	result := &document.Table{Caption: caption, Columns: document.TextColumns("Metric")}
	if r.severalArms() {
		result.Columns = append(result.Columns, document.TextColumns("Arm")...)
	}
	result.Columns = append(result.Columns, document.SeriesColumn(r.answer.Baseline, r.answer.Baseline+" (baseline)"), document.SeriesColumn(r.onlyArm(""), r.onlyArm("This arm")))
	result.Columns = slices.Concat(result.Columns, document.TextColumns("Unit"), document.NumberColumns("Delta", "Interval", "Blocks", "p"), document.TextColumns("Verdict", "Notes"))
	return addComparisons(r, result, all, notes, func(c shownComparison) []document.Cell {
		if r.severalArms() {
			return []document.Cell{armCell(c.Arm)}
		}
		return nil
	})
}

// pairTable has the requested pairs of arms without the baseline.
func pairTable(r *Record, scenario string, notes *footnotes) *document.Table {
	result := &document.Table{
		Caption: "Primary metrics, arm against arm",
		Columns: slices.Concat(document.TextColumns("Metric", "Arm", "Reference"), document.NumberColumns("Reference value", "Arm value"), document.TextColumns("Unit"),
			document.NumberColumns("Delta", "Interval", "Blocks", "p"), document.TextColumns("Verdict", "Notes")),
	}
	pairs := slices.DeleteFunc(slices.Clone(r.answer.pairs), func(c shownComparison) bool { return c.Scenario != scenario })
	slices.SortStableFunc(pairs, func(a, b shownComparison) int { return strings.Compare(a.Metric, b.Metric) })
	return addComparisons(r, result, pairs, notes, func(c shownComparison) []document.Cell {
		return []document.Cell{armCell(c.Arm), {Text: c.Baseline, Name: clusterName.MatchString(c.Baseline)}}
	})
}

// addComparisons adds a row for each comparison to the table: its metric, its arms, and its
// result.
func addComparisons(r *Record, result *document.Table, all []shownComparison, notes *footnotes, arms func(shownComparison) []document.Cell) *document.Table {
	previous := ""
	for _, c := range all {
		baseline, arm := c.centers()
		cells := append([]document.Cell{nameCell(c.Metric)}, arms(c)...)
		cells = append(cells, document.TextCells(baseline, arm, unitLabel(c.display().unit), c.deltaCell(), c.interval(), c.blocks(), c.probability())...)
		cells = append(cells, document.Cell{Text: c.verdict(), Status: c.verdict()}, document.Cell{Text: notes.numbersFor(c.Warnings)})
		result.Rows = append(result.Rows, document.Row{First: c.Metric != previous, Cells: cells})
		previous = c.Metric
		if c.isAdjusted() {
			result.Note = adjustedNote
		}
	}
	if r.describesOnly() {
		return result.Without("Interval", "Blocks", "p", "Verdict")
	}
	return result
}
