// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"perflab.dev/perflab/internal/metric"
)

// mostCompared rows are shown per table. With ninety modules a page would be
// all comparisons; the rest is in the CSV.
const mostCompared = 40

// directions say which way the compared metrics get better.
func (r *record) directions() string {
	var compared []metric.Metric
	for _, one := range r.compared() {
		compared = append(compared, one.metric)
	}
	return metric.Directions(compared, r.answer.Question.Higher)
}

// compared are the comparisons that the tables list.
func (r *record) compared() []told {
	var listed []told
	for i := range r.answer.Comparisons {
		c := &r.answer.Comparisons[i]
		isNothing := c.BaselineCenter == 0 && c.ArmCenter == 0
		if one := tell(c); !c.Twin && !isNothing && (c.Primary || one.metric.IsTelling()) {
			listed = append(listed, one)
		}
	}
	return listed
}

// comparisons are all deltas, with what they are percent of.
func comparisons(r *record) section {
	made := section{ID: "comparison", Title: "Comparison"}
	if len(r.answer.Comparisons) == 0 {
		made.Blocks = append(made.Blocks, paragraph("There is nothing to compare."))
		return made
	}
	made.Blocks = append(made.Blocks, paragraph(fmt.Sprintf(
		"Delta is the arm less the baseline %s, with the blocks taken out: + is more, %s is less. Intervals are %s%s%%, the margin is %s%s%% of the baseline. %s p is adjusted for everything compared at once. Metrics that don't decide are exploratory: of those that differ, some do by chance. Where a verdict is Inconclusive, Blocks adds about how many more would settle it.",
		r.baseline(), minus, plain(r.answer.confidencePercent), space, plain(r.answer.marginPercent), space, r.directions())))
	if charts := r.forests(); len(charts) > 0 {
		made.Blocks = append(made.Blocks, block{Charts: charts})
	}
	if len(r.answer.uncalibrated) > 0 {
		made.Blocks = append(made.Blocks, paragraph(fmt.Sprintf("The experiment is not calibrated, so every verdict is withheld: %s differs from %s, though both are configured alike.", r.twin(), r.baseline())))
	}
	notes := &notes{}
	for _, scenario := range r.scenarios {
		tables := r.comparisonTables(scenario.Name, notes)
		if len(tables) > 0 {
			made.Blocks = append(made.Blocks, heading("Scenario "+scenario.Name))
		}
		for _, table := range tables {
			made.Blocks = append(made.Blocks, block{Table: table})
		}
	}
	made.Blocks = append(made.Blocks, r.slowdowns()...)
	made.Blocks = append(made.Blocks, r.effects()...)
	if len(notes.list) > 0 {
		made.Blocks = append(made.Blocks, heading("Notes"), block{Steps: notes.list})
	}
	return made
}

// kinds of comparisons, a table each.
const (
	kindPrimary = iota
	kindGuard
	kindLoad
	kindWindow
	kindServer
)

var kindCaptions = []string{"Metrics that decide", "Guarded metrics, which no winner may make worse", "Further metrics of the loads", "The loads, by what else was on", "Servers and cost"}

func (r *record) kindOf(t told) int {
	switch {
	case t.Primary:
		return kindPrimary
	case r.answer.Question.IsGuard(t.Metric):
		return kindGuard
	case t.metric.IsServer():
		return kindServer
	case t.metric.Window != "":
		return kindWindow
	}
	return kindLoad
}

func (r *record) comparisonTables(scenario string, notes *notes) []*table {
	byKind := make([][]told, len(kindCaptions))
	for _, one := range r.compared() {
		if one.Scenario == scenario {
			kind := r.kindOf(one)
			byKind[kind] = append(byKind[kind], one)
		}
	}
	var tables []*table
	for of, all := range byKind {
		if len(all) > 0 {
			tables = append(tables, r.comparisonTable(kindCaptions[of], all, notes))
		}
	}
	return tables
}

func (r *record) comparisonTable(caption string, all []told, notes *notes) *table {
	made := &table{Caption: caption, Columns: words("Metric")}
	if r.severalArms() {
		made.Columns = append(made.Columns, words("Arm")...)
	}
	made.Columns = slices.Concat(made.Columns,
		numbers("Baseline", "Arm's"), words("Unit"), numbers("Delta", "Interval"), words("In"), numbers("Blocks", "p"), words("Verdict", "Notes"))
	made.More = max(len(all)-mostCompared, 0)
	previous := ""
	for _, one := range all[:min(len(all), mostCompared)] {
		baseline, arm := one.centers()
		cells := []cell{name(one.Metric)}
		if r.severalArms() {
			cells = append(cells, name(one.Arm))
		}
		made.Rows = append(made.Rows, row{First: one.Metric != previous, Cells: append(cells,
			cell{Text: baseline}, cell{Text: arm}, cell{Text: shownUnit(one.Unit)},
			cell{Text: one.delta()}, cell{Text: one.interval()}, cell{Text: one.deltaUnit()}, cell{Text: one.blocks()}, cell{Text: probability(one.Adjusted)},
			cell{Text: one.verdict(), Verdict: one.verdict()}, cell{Text: notes.of(one.Warnings)},
		)})
		previous = one.Metric
	}
	made.withoutEmptyLast()
	return made
}

func shownUnit(unit string) string {
	if unit == metric.UnitCount {
		return ""
	}
	return unit
}

// toldElsewhere: by a table's caption, the section's beginning or the row itself.
var toldElsewhere = []string{"exploratory:", "not calibrated:", "inconclusive: about"}

// notes numbers sentences, so that a row tells its own in a few characters.
type notes struct{ list []string }

func (n *notes) of(warnings []string) string {
	var numbers []string
	for _, warning := range warnings {
		if slices.ContainsFunc(toldElsewhere, func(beginning string) bool { return strings.HasPrefix(warning, beginning) }) {
			continue
		}
		sentence := capital(warning) + "."
		at := slices.Index(n.list, sentence)
		if at < 0 {
			at = len(n.list)
			n.list = append(n.list, sentence)
		}
		numbers = append(numbers, strconv.Itoa(at+1))
	}
	return strings.Join(numbers, ", ")
}
