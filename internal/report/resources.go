// SPDX-License-Identifier: Apache-2.0

package report

import (
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/arms"
	"perflab.dev/perflab/internal/decimal"
	"perflab.dev/perflab/internal/metric"
	"perflab.dev/perflab/internal/secret"
)

// resourceParts are what there is to tell of servers, in order.
var resourceParts = []struct {
	title string
	// missing is told where nothing was measured of what the system has.
	missing string
	isIn    func(*v1alpha1.System) bool
	// blocks under the scenarios; the first of all scenarios come first.
	blocks []underScenario
}{
	{"Service CPU", "The modules' CPU was not measured.", hasModules, []underScenario{moduleTable(metric.CPU), shareTable}},
	{"Service memory", "The modules' memory was not measured.", hasModules, []underScenario{moduleTable(metric.Memory), leakParagraph}},
	{"Database", "PostgreSQL was not measured: neither CPU, nor connections, nor top statements.", hasPostgres, []underScenario{databaseTables}},
	{"Kafka", "Kafka was not measured: neither its brokers nor consumer lag.", hasKafka, []underScenario{serverTables(metric.Kafka, "Kafka")}},
	{"Load generators", "", nil, []underScenario{serverTables(metric.Generator, "Load generators")}},
	{"The collector's node", "", nil, []underScenario{serverTables(metric.Node, "The collector's node")}},
	{"Further metrics", "", nil, []underScenario{serverTables(metric.Custom, "Further metrics")}},
}

func hasModules(system *v1alpha1.System) bool  { return len(system.Modules) > 0 }
func hasPostgres(system *v1alpha1.System) bool { return system.Postgres != nil }
func hasKafka(system *v1alpha1.System) bool    { return system.Kafka != nil }

// resources tell what the servers used, as far as it was measured.
func resources(r *record) []block {
	// What the baseline's runs were given, or what is declared where there are
	// none.
	system := arms.SystemOf(r.Runs, r.answer.Baseline)
	if system == nil {
		system = &r.Experiment.Spec.System
	}
	var blocks []block
	for _, part := range resourceParts {
		var own []block
		for _, of := range part.blocks {
			for _, scenario := range r.scenarios {
				own = append(own, of(r, scenario)...)
			}
		}
		if len(own) == 0 && part.isIn != nil && part.isIn(system) {
			own = []block{paragraph(part.missing)}
		}
		blocks = append(blocks, titled(part.title, own)...)
	}
	return append(blocks, titled("What could not be measured", list(listOf(unmeasured(r.journal.valid()))))...)
}

// unmeasured are the runs' notes on what could not be measured, once each.
func unmeasured(runs journal) []string {
	var sentences []string
	for _, run := range runs {
		if run.Status.Servers == nil {
			continue
		}
		for _, note := range run.Status.Servers.Notes {
			if one := capital(secret.Hide("", note)) + "."; !slices.Contains(sentences, one) {
				sentences = append(sentences, one)
			}
		}
	}
	return sentences
}

// databaseTables show what PostgreSQL used, and for what.
func databaseTables(r *record, under *scenario) []block {
	blocks := serverTables(metric.Postgres, "PostgreSQL")(r, under)
	if len(blocks) == 0 {
		return nil
	}
	return append(blocks, statementTable(under).blocks()...)
}

// statementTable has those PostgreSQL spent most time on, in the last valid run of
// each arm: shares of runs don't add up, as each run lists its own top.
func statementTable(under *scenario) *table {
	result := &table{
		Caption: "Statements that took most of PostgreSQL's time, in the last valid run of each arm",
		Columns: slices.Concat(words("Arm", "Server", "Statement"), numbers("Calls", "Total, s", "Mean, ms", "Of all, %")),
	}
	for _, arm := range under.arms {
		for i, one := range topStatements(under.valid(arm.Name)) {
			result.Rows = append(result.Rows, row{First: i == 0, Cells: append(
				names(arm.Name, one.Server),
				texts(shortText(one.Text), whole(one.Calls), trimmed(one.TotalSeconds), trimmed(one.MeanMilliseconds), trimmed(one.Percent))...)})
		}
	}
	return result
}

// topStatements of the last of some runs.
func topStatements(runs journal) []v1alpha1.StatementShare {
	const few = 5
	if len(runs) == 0 || runs[len(runs)-1].Status.Servers == nil {
		return nil
	}
	top := runs[len(runs)-1].Status.Servers.Statements
	return top[:min(len(top), few)]
}

func shortText(text string) string {
	const enough = 120
	if runes := []rune(text); len(runes) > enough {
		return string(runes[:enough]) + "…"
	}
	return text
}

// trimmed writes a recorded number with as many digits as it is worth.
func trimmed(number string) string {
	value, err := decimal.Parse(number)
	if err != nil {
		return dash
	}
	return rough(value)
}
