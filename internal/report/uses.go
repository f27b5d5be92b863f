// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"perflab.dev/perflab/internal/measure/metric"
)

// maxModules are shown where a table has a row for each and no reader wants all.
const maxModules = 20

// use is what one server used of one thing, by arm.
type use struct {
	of           string
	average, max map[string]*values
	// ofRequest is in percent of what the server's pods ask for.
	ofRequest map[string]*values
	unit      string
	// in is how average and maximum are written.
	in display
}

// display uses as they stand beside each other: in rows of their own unit, or all in one.
func displayUses(uses []use) {
	var together []*values
	for i := range uses {
		own := slices.Collect(maps.Values(uses[i].average))
		together = append(together, own...)
		uses[i].in = displayAll(uses[i].unit, own)
	}
	if sameUnit(uses) {
		for i := range uses {
			uses[i].in = displayAll(uses[i].unit, together)
		}
	}
}

// largest mean of any arm.
func (u use) largest() float64 {
	largest := math.Inf(-1)
	for _, found := range u.average {
		if found != nil {
			largest = math.Max(largest, found.center())
		}
	}
	return largest
}

// moduleTable shows what the modules used of a resource, and over time.
func moduleTable(resource string) underScenario {
	return func(r *record, under *scenario) []block {
		uses := moduleUses(under, resource)
		if len(uses) == 0 {
			return nil
		}
		mostChanged(uses, r.answer.Baseline)
		what := capital(metric.ResourcePhrase(resource)) + " of modules"
		result := useTable(under, uses, "Module", r.answer.Baseline)
		result.Caption = useCaption(what, under, uses)
		if len(under.tabled()) > 1 {
			result.Caption += "; largest change first"
		}
		blocks := append([]block{{Table: result}}, phaseTable(under, uses, metric.Module, resource, what).blocks()...)
		return append(blocks, chartsAt(r, metric.Name(metric.Module, resource), under)...)
	}
}

// moduleUses of a resource, those that took most first.
func moduleUses(under *scenario, resource string) []use {
	uses := usesUnder(under, func(m metric.Metric) (string, bool) {
		return m.Of, m.Component == metric.Module && m.Resource == resource
	})
	slices.SortStableFunc(uses, func(a, b use) int { return cmp.Compare(b.largest(), a.largest()) })
	return uses
}

// serverTables show what the servers of a component used, and over time.
func serverTables(component, title string) underScenario {
	return func(r *record, under *scenario) []block {
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
			what := capital(metric.ResourcePhrase(resource)) + " of " + title
			blocks = append(blocks, phaseTable(under, busy, component, resource, what).blocks()...)
		}
		return append(blocks, chartsAt(r, component, under)...)
	}
}

// useBlocks are the table of what servers used, and a sentence on what nothing was
// used of: a row of zeros tells no more.
func useBlocks(under *scenario, uses []use, title, baseline string) []block {
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
		return []block{paragraph(fmt.Sprintf("%s under %s. %s", title, under.Name, note))}
	}
	result := useTable(under, used, "Server", baseline)
	result.Caption, result.Note = useCaption(title, under, used), note
	return []block{{Table: result}}
}

// isZero: no run of any arm has another value.
func (u use) isZero() bool {
	for _, byArm := range []map[string]*values{u.average, u.max} {
		for _, found := range byArm {
			if found != nil && slices.ContainsFunc(found.numbers, func(value float64) bool { return value != 0 }) {
				return false
			}
		}
	}
	return true
}

// useCaption has the unit where all have the same, which would stand in every row.
func useCaption(what string, under *scenario, uses []use) string {
	caption := what + " under " + under.Name
	if unit := shownUnit(uses[0].in.unit); unit != "" && sameUnit(uses) {
		caption += ", " + unit
	}
	return caption + ": average and maximum while measured"
}

// usesUnder gathers average and maximum of the metrics that name admits.
func usesUnder(under *scenario, name func(metric.Metric) (string, bool)) []use {
	var all []use
	for _, m := range under.metrics {
		of, wanted := name(m)
		isUse := m.Statistic == metric.Average || m.Statistic == metric.Max || m.Statistic == metric.PercentOfRequest || m.Statistic == ""
		if !wanted || !isUse || m.Window != "" {
			continue
		}
		at := slices.IndexFunc(all, func(known use) bool { return known.of == of })
		if at < 0 {
			at = len(all)
			// The average comes before all else that has another unit.
			all = append(all, use{of: of, unit: under.unit(m.Name), average: map[string]*values{}, max: map[string]*values{}, ofRequest: map[string]*values{}})
		}
		byArm := all[at].average
		switch m.Statistic {
		case metric.Max:
			byArm = all[at].max
		case metric.PercentOfRequest:
			byArm = all[at].ofRequest
		}
		for _, arm := range under.arms {
			byArm[arm.Name] = under.at(m.Name, arm.Name)
		}
	}
	return all
}

func sameUnit(uses []use) bool {
	return !slices.ContainsFunc(uses, func(one use) bool { return one.unit != uses[0].unit })
}

// useTable has a row for each server, and for each arm what it used, in percent of
// what it asks for where that is known, and how far that is from the baseline.
func useTable(under *scenario, uses []use, what, baseline string) *table {
	displayUses(uses)
	result := &table{Columns: words(what), Folded: true}
	mixed := !sameUnit(uses)
	if mixed {
		result.Columns = append(result.Columns, words("Unit")...)
	}
	shown := useColumns(under.tabled(), uses, baseline)
	for _, one := range shown {
		result.Columns = append(result.Columns, columnOf(one.arm, one.arm+" "+one.title))
	}
	for _, one := range uses {
		cells := []cell{name(one.of)}
		if mixed {
			cells = append(cells, cell{Text: shownUnit(one.in.unit)})
		}
		for _, column := range shown {
			shown := cell{Text: column.shown(one)}
			if column.isChange && !mixed {
				shown.Heat = one.heat(baseline, column.arm, busiest(uses))
			}
			cells = append(cells, shown)
		}
		result.Rows = append(result.Rows, row{Cells: cells})
	}
	return result
}

// useColumn is a column of what servers used.
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
		columns = append(columns, useColumn{arm.Name, "average", func(one use) string { return one.average[arm.Name].shownIn(one.in) }, false})
		if hasMax {
			columns = append(columns, useColumn{arm.Name, "max", func(one use) string { return shownMax(one.max[arm.Name], one.average[arm.Name], one.in) }, false})
		}
		if hasShare {
			columns = append(columns, useColumn{arm.Name, "of request, %", func(one use) string { return one.ofRequest[arm.Name].shownShare() }, false})
		}
		if arm.Name != baseline {
			columns = append(columns, useColumn{arm.Name, "change, %", func(one use) string { return one.change(baseline, arm.Name) }, true})
		}
	}
	return columns
}

// change of an arm's average, in percent of the baseline's, as one would reckon it
// from the two that are printed.
func (u use) change(baseline, arm string) string {
	from, to := u.average[baseline], u.average[arm]
	if from == nil || to == nil {
		return dash
	}
	before, after := u.in.rounded(from.center(), from.places), u.in.rounded(to.center(), to.places)
	if before == 0 {
		return dash
	}
	return signed(100*(after-before)/before, 0)
}

// busiest is the largest mean of any server.
func busiest(uses []use) float64 {
	largest := 0.0
	for _, one := range uses {
		largest = math.Max(largest, one.largest())
	}
	return largest
}

// heats are the changes from which on they are shaded, as shares of what the busiest
// uses: of those who use next to nothing no change is of interest.
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

// mostChanged puts those first whose averages are furthest from the baseline's, in
// their unit: a percentage of next to nothing is of no interest.
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

// phaseTable sets what servers used alone against the same during each import, in
// percent of what they ask for where all that have it are.
func phaseTable(under *scenario, uses []use, component, resource, what string) *table {
	result := &table{Columns: words("Server"), Folded: true}
	statistic, unit := metric.Average, ""
	if slices.ContainsFunc(uses, func(one use) bool { return len(one.ofRequest) > 0 }) {
		statistic, unit = metric.PercentOfRequest, "% of what they request"
	}
	at := func(of, window, arm string) *values {
		return under.at(metric.In(metric.Name(component, of, resource, statistic), window), arm)
	}
	windows := windowsOf(under, func(m metric.Metric) bool {
		return m.Component == component && m.Resource == resource && m.Statistic == statistic
	})
	for _, window := range windows {
		for _, arm := range under.tabled() {
			result.Columns = append(result.Columns, columnOf(arm.Name, capital(metric.WindowPhrase(window))+", "+arm.Name))
		}
	}
	for _, one := range uses {
		cells := []cell{name(one.of)}
		for _, window := range windows {
			for _, arm := range under.tabled() {
				found := at(one.of, window, arm.Name)
				if found != nil && unit == "" {
					unit = shownUnit(found.unit)
				}
				text := found.shown()
				if statistic == metric.PercentOfRequest {
					text = found.shownShare()
				}
				cells = append(cells, cell{Text: text})
			}
		}
		result.Rows = append(result.Rows, row{Cells: cells})
	}
	result.Caption = fmt.Sprintf("%s under %s by phase of the run, %s: average", what, under.Name, unit)
	if len(windows) < 2 {
		// What is one phase says the table of the whole run.
		result.Rows = nil
	}
	return result
}

// shownMax writes a maximum with the places of its average, and says where the
// two contradict each other: one of them was measured wrongly.
func shownMax(largest, average *values, in display) string {
	if largest == nil {
		return dash
	}
	peak := largest.peak()
	if average == nil {
		return rough(peak * in.factor)
	}
	mean := average.center()
	text := in.write(peak, average.places)
	if peak < mean-math.Abs(mean)*1e-6 {
		text += " (below the average)"
	}
	return text
}
