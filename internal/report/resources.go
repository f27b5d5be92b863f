// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/arms"
	"perflab.dev/perflab/internal/metric"
)

// mostModules are shown per table, those that take most first.
const mostModules = 20

// resources tell what the servers used, as far as it was measured.
func resources(r *record) section {
	made := section{ID: "resources", Title: "Resource utilisation"}
	system := r.system()
	for _, part := range []struct {
		title, missing string
		blocks         func(*record) []block
	}{
		{"Service CPU", unless(len(system.Modules) == 0, "The modules' CPU was not measured."), (*record).cpu},
		{"Service memory", unless(len(system.Modules) == 0, "The modules' memory was not measured."), (*record).memory},
		{"Database", unless(system.Postgres == nil, "PostgreSQL was not measured: neither CPU, nor connections, nor top statements."), func(r *record) []block { return r.serverTables(metric.Postgres, "PostgreSQL") }},
		{"Kafka", unless(system.Kafka == nil, "Kafka was not measured: neither its brokers nor consumer lag."), func(r *record) []block { return r.serverTables(metric.Kafka, "Kafka") }},
		{"Load generators", "", func(r *record) []block { return r.serverTables(metric.Generator, "Load generators") }},
		{"The collector's node", "", func(r *record) []block { return r.serverTables(metric.Node, "The collector's node") }},
		{"Further metrics", "", func(r *record) []block { return r.serverTables(metric.Custom, "Further metrics") }},
	} {
		blocks := part.blocks(r)
		if len(blocks) == 0 && part.missing != "" {
			blocks = []block{paragraph(part.missing)}
		}
		if len(blocks) > 0 {
			made.Blocks = append(made.Blocks, heading(part.title))
			made.Blocks = append(made.Blocks, blocks...)
		}
	}
	if notes := r.unmeasured(); len(notes) > 0 {
		made.Blocks = append(made.Blocks, heading("What could not be measured"), block{List: notes})
	}
	return made
}

// system is what the baseline's runs were given, or what is declared where there
// are none.
func (r *record) system() v1alpha1.System {
	if given := arms.SystemOf(r.Runs, r.baseline()); given != nil {
		return *given
	}
	return r.Experiment.Spec.System
}

// unless leaves out what there is to say of a component that the system does not
// have.
func unless(absent bool, missing string) string {
	if absent {
		return ""
	}
	return missing
}

func (r *record) memory() []block {
	blocks := r.moduleTables(metric.Memory)
	for _, scenario := range r.scenarios {
		if growing, known := r.growing(scenario.Name); known {
			blocks = append(blocks, paragraph(r.leakStatement(scenario.Name, growing)))
		}
	}
	return blocks
}

// use is what one server used of one thing, by arm.
type use struct {
	of           string
	average, max map[string]*values
	unit         string
}

// most is the largest mean of any arm.
func (u use) most() float64 {
	most := math.Inf(-1)
	for _, found := range u.average {
		if found != nil {
			most = math.Max(most, found.mean())
		}
	}
	return most
}

func (r *record) moduleTables(resource string) []block {
	var blocks []block
	for _, scenario := range r.scenarios {
		uses := r.uses(scenario.Name, func(m metric.Metric) (string, bool) {
			return m.Of, m.Component == metric.Module && m.Resource == resource
		})
		if len(uses) == 0 {
			continue
		}
		slices.SortStableFunc(uses, func(a, b use) int { return cmp.Compare(b.most(), a.most()) })
		made := r.useTable(uses[:min(len(uses), mostModules)], "Module")
		made.Caption = useCaption(capital(metric.ResourcePhrase(resource))+" of modules", scenario.Name, uses[0].unit)
		made.More = max(len(uses)-mostModules, 0)
		blocks = append(blocks, block{Table: made})
		if charts := r.courseCharts(scenario, modulesOf(uses), resource); len(charts) > 0 {
			blocks = append(blocks, block{Charts: charts})
		}
	}
	return blocks
}

func (r *record) serverTables(component, title string) []block {
	var blocks []block
	for _, scenario := range r.scenarios {
		uses := r.uses(scenario.Name, func(m metric.Metric) (string, bool) {
			return strings.Trim(m.Of+" "+m.Resource, " "), m.Component == component
		})
		if len(uses) == 0 {
			continue
		}
		for _, group := range byUnit(uses) {
			made := r.useTable(group, "Server")
			made.Caption = useCaption(title, scenario.Name, group[0].unit)
			blocks = append(blocks, block{Table: made})
		}
		if charts := r.courseCharts(scenario, serversOf(component), metric.CPU, metric.Connections); len(charts) > 0 {
			blocks = append(blocks, block{Charts: charts})
		}
		if component == metric.Postgres {
			blocks = append(blocks, r.statements(scenario.Name)...)
		}
	}
	return blocks
}

// useCaption has the unit, which tells tables of the same servers apart and would
// stand in every column.
func useCaption(what, scenario, unit string) string {
	if unit == "" || unit == metric.UnitCount {
		unit = "counts"
	}
	return fmt.Sprintf("%s under %s, %s: average and maximum while load counted", what, scenario, unit)
}

// uses gathers average and maximum of the metrics that name admits.
func (r *record) uses(scenario string, name func(metric.Metric) (string, bool)) []use {
	var all []use
	for _, m := range r.metrics[scenario] {
		of, wanted := name(m)
		isUse := m.Statistic == metric.Average || m.Statistic == metric.Max || m.Statistic == ""
		if !wanted || !isUse || m.Window != "" {
			continue
		}
		at := slices.IndexFunc(all, func(known use) bool { return known.of == of })
		if at < 0 {
			at = len(all)
			all = append(all, use{of: of, unit: r.unit(scenario, m.Name), average: map[string]*values{}, max: map[string]*values{}})
		}
		for _, arm := range r.arms {
			found := r.at(scenario, m.Name, arm.Name)
			if m.Statistic == metric.Max {
				all[at].max[arm.Name] = found
			} else {
				all[at].average[arm.Name] = found
			}
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

func (r *record) useTable(uses []use, what string) *table {
	made := &table{Columns: words(what)}
	hasMax := slices.ContainsFunc(uses, func(one use) bool { return len(one.max) > 0 })
	for _, arm := range r.arms {
		made.Columns = append(made.Columns, numbers(arm.Name+" average")...)
		if hasMax {
			made.Columns = append(made.Columns, numbers(arm.Name+" max")...)
		}
	}
	for _, one := range uses {
		cells := []cell{name(one.of)}
		for _, arm := range r.arms {
			average, largest := one.average[arm.Name], one.max[arm.Name]
			cells = append(cells, cell{Text: average.shown(r.confidence())})
			if hasMax {
				cells = append(cells, cell{Text: atLeast(largest, average, r.confidence())})
			}
		}
		made.Rows = append(made.Rows, row{Cells: cells})
	}
	return made
}

// atLeast writes a maximum with the places of its average, and says where the
// two contradict each other: one of them was measured wrongly.
func atLeast(largest, average *values, confidence float64) string {
	if largest == nil {
		return dash
	}
	most := peak(largest)
	if average == nil {
		return fixed(most, decimals(most, math.NaN()))
	}
	mean := average.mean()
	places := decimals(mean, average.halfWidth(confidence))
	if most < mean-math.Abs(mean)*1e-6 {
		return fixed(most, places) + " (below the average)"
	}
	return fixed(most, places)
}

// peak is the largest of all runs: a mean of maxima is none.
func peak(found *values) float64 { return slices.Max(found.numbers) }
