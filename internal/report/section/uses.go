// SPDX-License-Identifier: Apache-2.0

package section

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/digits"
)

// maxModules is the maximum number of modules in a table with a row for each.
const maxModules = 20

// moduleTable shows the modules' use of a resource, and its course.
func moduleTable(resource string) underScenario {
	return func(r *Record, under *scenario) []document.Block {
		uses := moduleUses(under, resource)
		if len(uses) == 0 {
			return nil
		}
		mostChanged(uses, r.answer.Baseline)
		what := capitalize(metric.ResourcePhrase(resource)) + " of modules"
		result := useTable(under, uses, "Module", r.answer.Baseline)
		result.Caption = useCaption(what, under, uses)
		if len(under.armsInTables()) > 1 {
			result.Caption += "; largest change first"
		}
		blocks := append([]document.Block{{Table: result}}, phaseTable(under, uses, metric.Module, resource, what).Blocks()...)
		return append(blocks, chartsIn(r, metric.Name(metric.Module, resource), under)...)
	}
}

// serverTables show the use of a component's servers, and its course.
func serverTables(component, title string) underScenario {
	return func(r *Record, under *scenario) []document.Block {
		uses := usesUnder(under, func(m metric.Metric) (string, bool) {
			return strings.Trim(m.Of+" "+m.Resource, " "), m.Component == component
		})
		if len(uses) == 0 {
			return nil
		}
		blocks := useBlocks(under, uses, title, r.answer.Baseline)
		for _, resource := range []string{metric.CPU, metric.CPUUsed} {
			busy := usesUnder(under, func(m metric.Metric) (string, bool) {
				return m.Of, m.Component == component && m.Resource == resource
			})
			what := capitalize(metric.ResourcePhrase(resource)) + " of " + title
			blocks = append(blocks, phaseTable(under, busy, component, resource, what).Blocks()...)
		}
		return append(blocks, chartsIn(r, component, under)...)
	}
}

// useBlocks are the table of the servers' use, and a sentence on unused resources instead of rows
// of zeros.
func useBlocks(under *scenario, uses []use, title, baseline string) []document.Block {
	var used []use
	var idle []string
	for _, one := range uses {
		if one.isZero() {
			idle = append(idle, one.of)
			continue
		}
		used = append(used, one)
	}
	note := ""
	if len(idle) > 0 {
		note = "Zero in every run: " + strings.Join(idle, ", ") + "."
	}
	if len(used) == 0 {
		return []document.Block{document.Paragraph(fmt.Sprintf("%s under %s. %s", title, under.Name, note))}
	}
	result := useTable(under, used, "Server", baseline)
	result.Caption, result.Note = useCaption(title, under, used), note
	return []document.Block{{Table: result}}
}

// useCaption has the unit if it is the same in all rows.
func useCaption(what string, under *scenario, uses []use) string {
	caption := what + " under " + under.Name
	if unit := unitLabel(uses[0].in.unit); unit != "" && sameUnit(uses) {
		caption += ", " + unit
	}
	return caption + ": average and maximum while measured"
}

// useTable has a row for each server, and for each arm its use, in percent of its requests if
// known, and the difference from the baseline.
func useTable(under *scenario, uses []use, what, baseline string) *document.Table {
	setDisplays(uses)
	result := &document.Table{Columns: document.TextColumns(what), Folded: true}
	mixed := !sameUnit(uses)
	if mixed {
		result.Columns = append(result.Columns, document.TextColumns("Unit")...)
	}
	shown := useColumns(under.armsInTables(), uses, baseline)
	for _, one := range shown {
		result.Columns = append(result.Columns, document.SeriesColumn(one.arm, one.arm+" "+one.title))
	}
	for _, one := range uses {
		cells := []document.Cell{nameCell(one.of)}
		if mixed {
			cells = append(cells, document.Cell{Text: unitLabel(one.in.unit)})
		}
		for _, column := range shown {
			shown := document.Cell{Text: column.shown(one)}
			if column.isChange && !mixed {
				shown.Heat = one.heat(baseline, column.arm, busiest(uses))
			}
			cells = append(cells, shown)
		}
		result.Rows = append(result.Rows, document.Row{Cells: cells})
	}
	return result
}

// useColumn is a column of servers' use.
type useColumn struct {
	arm, title string
	shown      func(use) string
	isChange   bool
}

func useColumns(arms []arm, uses []use, baseline string) []useColumn {
	has := func(which func(use) map[string]*values) bool {
		return slices.ContainsFunc(uses, func(one use) bool { return len(which(one)) > 0 })
	}
	hasMax := has(func(one use) map[string]*values { return one.max })
	hasShare := has(func(one use) map[string]*values { return one.ofRequest })
	var columns []useColumn
	for _, arm := range arms {
		columns = append(columns, useColumn{arm.Name, "average", func(one use) string { return one.average[arm.Name].textIn(one.in) }, false})
		if hasMax {
			columns = append(columns, useColumn{arm.Name, "max", func(one use) string { return shownMax(one.max[arm.Name], one.average[arm.Name], one.in) }, false})
		}
		if hasShare {
			columns = append(columns, useColumn{arm.Name, "of request, %", func(one use) string { return one.ofRequest[arm.Name].shareText() }, false})
		}
		if arm.Name != baseline {
			columns = append(columns, useColumn{arm.Name, "change, %", func(one use) string { return one.change(baseline, arm.Name) }, true})
		}
	}
	return columns
}

// change of an arm's average in percent of the baseline's, computed from the printed values.
func (u use) change(baseline, arm string) string {
	from, to := u.average[baseline], u.average[arm]
	if from == nil || to == nil {
		return digits.Dash
	}
	before, after := u.in.round(from.center(), from.places), u.in.round(to.center(), to.places)
	if before == 0 {
		return digits.Dash
	}
	return digits.Signed(100*(after-before)/before, 0)
}

// busiest is the largest mean of any server.
func busiest(uses []use) float64 {
	largest := 0.0
	for _, one := range uses {
		largest = math.Max(largest, one.largest())
	}
	return largest
}

// heats are the minimum changes for each shade, as shares of the busiest server's use: changes of
// servers with little use are irrelevant.
var heats = []float64{0.02, 0.05, 0.1, 0.2}

// heat of an arm's change from the baseline.
func (u use) heat(baseline, arm string, busiest float64) int {
	from, to := u.average[baseline], u.average[arm]
	if from == nil || to == nil || !(busiest > 0) {
		return 0
	}
	change, heat := (to.center()-from.center())/busiest, 0
	for _, least := range heats {
		if math.Abs(change) >= least {
			heat++
		}
	}
	if change < 0 {
		return -heat
	}
	return heat
}

// mostChanged sorts by the largest difference from the baseline, in the unit: percentages of
// small values are irrelevant.
func mostChanged(uses []use, baseline string) {
	moved := func(one use) float64 {
		far := 0.0
		for _, found := range one.average {
			if off := math.Abs(found.center() - one.average[baseline].center()); off > far {
				far = off
			}
		}
		return far
	}
	slices.SortStableFunc(uses, func(a, b use) int { return cmp.Compare(moved(b), moved(a)) })
}

// phaseTable compares servers' use alone with that during each import, in percent of their
// requests if all servers have them.
func phaseTable(under *scenario, uses []use, component, resource, what string) *document.Table {
	result := &document.Table{Columns: document.TextColumns("Server"), Folded: true}
	statistic, unit := metric.Average, ""
	if slices.ContainsFunc(uses, func(one use) bool { return len(one.ofRequest) > 0 }) {
		statistic, unit = metric.PercentOfRequest, "% of their resource requests"
	}
	at := func(of, window, arm string) *values {
		return under.at(metric.In(metric.Name(component, of, resource, statistic), window), arm)
	}
	windows := metricWindows(under, func(m metric.Metric) bool {
		return m.Component == component && m.Resource == resource && m.Statistic == statistic
	})
	for _, window := range windows {
		for _, arm := range under.armsInTables() {
			result.Columns = append(result.Columns, document.SeriesColumn(arm.Name, capitalize(metric.WindowPhrase(window))+", "+arm.Name))
		}
	}
	for _, one := range uses {
		cells := []document.Cell{nameCell(one.of)}
		for _, window := range windows {
			for _, arm := range under.armsInTables() {
				found := at(one.of, window, arm.Name)
				if found != nil && unit == "" {
					unit = unitLabel(found.unit)
				}
				text := found.text()
				if statistic == metric.PercentOfRequest {
					text = found.shareText()
				}
				cells = append(cells, document.Cell{Text: text})
			}
		}
		result.Rows = append(result.Rows, document.Row{Cells: cells})
	}
	result.Caption = fmt.Sprintf("%s under %s by phase of the run, %s: average", what, under.Name, unit)
	if len(windows) < 2 {
		// The table of the whole run shows a single phase.
		result.Rows = nil
	}
	return result
}

// shownMax formats a maximum with the places of its average, and reports a contradiction between
// the two: one of them was measured wrongly.
func shownMax(largest, average *values, in display) string {
	if largest == nil {
		return digits.Dash
	}
	peak := largest.peak()
	if average == nil {
		return digits.Rough(peak * in.factor)
	}
	mean := average.center()
	text := in.text(peak, average.places)
	if peak < mean-math.Abs(mean)*1e-6 {
		text += " (below the average)"
	}
	return text
}
