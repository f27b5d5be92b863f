// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"perflab.dev/perflab/internal/metric"
)

// maxModules are shown per table, those that take most first.
const maxModules = 20

// use is what one server used of one thing, by arm.
type use struct {
	of           string
	average, max map[string]*values
	unit         string
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
		result := useTable(under.arms, uses[:min(len(uses), maxModules)], "Module")
		result.Caption = useCaption(capital(metric.ResourcePhrase(resource))+" of modules", under.Name, uses[0].unit)
		result.More = max(len(uses)-maxModules, 0)
		return append([]block{{Table: result}}, chartsAt(r, metric.Name(metric.Module, resource), under)...)
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

// serverTables show what the servers of a component used, a table per unit, and
// over time.
func serverTables(component, title string) underScenario {
	return func(r *record, under *scenario) []block {
		uses := usesUnder(under, func(m metric.Metric) (string, bool) {
			return strings.Trim(m.Of+" "+m.Resource, " "), m.Component == component
		})
		if len(uses) == 0 {
			return nil
		}
		var blocks []block
		for _, group := range byUnit(uses) {
			result := useTable(under.arms, group, "Server")
			result.Caption = useCaption(title, under.Name, group[0].unit)
			blocks = append(blocks, block{Table: result})
		}
		return append(blocks, chartsAt(r, component, under)...)
	}
}

// useCaption has the unit, which tells tables of the same servers apart and would
// stand in every column.
func useCaption(what, scenario, unit string) string {
	if unit == "" || unit == metric.UnitCount {
		unit = "counts"
	}
	return fmt.Sprintf("%s under %s, %s: average and maximum while load counted", what, scenario, unit)
}

// usesUnder gathers average and maximum of the metrics that name admits.
func usesUnder(under *scenario, name func(metric.Metric) (string, bool)) []use {
	var all []use
	for _, m := range under.metrics {
		of, wanted := name(m)
		isUse := m.Statistic == metric.Average || m.Statistic == metric.Max || m.Statistic == ""
		if !wanted || !isUse || m.Window != "" {
			continue
		}
		at := slices.IndexFunc(all, func(known use) bool { return known.of == of })
		if at < 0 {
			at = len(all)
			all = append(all, use{of: of, unit: under.unit(m.Name), average: map[string]*values{}, max: map[string]*values{}})
		}
		byArm := all[at].average
		if m.Statistic == metric.Max {
			byArm = all[at].max
		}
		for _, arm := range under.arms {
			byArm[arm.Name] = under.at(m.Name, arm.Name)
		}
	}
	return all
}

// byUnit keeps what can stand under one heading together.
func byUnit(uses []use) [][]use {
	var groups [][]use
	for _, one := range uses {
		at := slices.IndexFunc(groups, func(group []use) bool { return group[0].unit == one.unit })
		if at < 0 {
			groups = append(groups, nil)
			at = len(groups) - 1
		}
		groups[at] = append(groups[at], one)
	}
	return groups
}

func useTable(arms []arm, uses []use, what string) *table {
	result := &table{Columns: words(what)}
	hasMax := slices.ContainsFunc(uses, func(one use) bool { return len(one.max) > 0 })
	for _, arm := range arms {
		result.Columns = append(result.Columns, numbers(arm.Name+" average")...)
		if hasMax {
			result.Columns = append(result.Columns, numbers(arm.Name+" max")...)
		}
	}
	for _, one := range uses {
		cells := []cell{name(one.of)}
		for _, arm := range arms {
			average := one.average[arm.Name]
			cells = append(cells, cell{Text: average.shown()})
			if hasMax {
				cells = append(cells, cell{Text: shownMax(one.max[arm.Name], average)})
			}
		}
		result.Rows = append(result.Rows, row{Cells: cells})
	}
	return result
}

// shownMax writes a maximum with the places of its average, and says where the
// two contradict each other: one of them was measured wrongly.
func shownMax(largest, average *values) string {
	if largest == nil {
		return dash
	}
	peak := largest.peak()
	if average == nil {
		return rough(peak)
	}
	mean := average.center()
	text := fixed(peak, average.places)
	if peak < mean-math.Abs(mean)*1e-6 {
		text += " (below the average)"
	}
	return text
}
