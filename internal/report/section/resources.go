// SPDX-License-Identifier: Apache-2.0

package section

import (
	"cmp"
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/decimal"
	"perflab.dev/perflab/internal/text/digits"
	"perflab.dev/perflab/internal/text/prose"
	"perflab.dev/perflab/internal/text/redact"
)

// resourceParts are the parts of the section on servers, in order.
var resourceParts = []struct {
	title string
	// missing is the text if part of the system was not measured.
	missing string
	isIn    func(*v1alpha1.System) bool
	// blocks under the scenarios; the first block of all scenarios comes first.
	blocks []underScenario
}{
	{"Service CPU", "The modules' CPU was not measured.", hasModules, []underScenario{moduleTable(metric.CPU), shareTable}},
	{"Service memory", "The modules' memory was not measured.", hasModules, []underScenario{moduleTable(metric.Memory), leakParagraph}},
	{"Database", "PostgreSQL was not measured: no CPU, connections or top statements.", hasPostgres, []underScenario{databaseTables}},
	{"Kafka", "Kafka was not measured: no broker figures or consumer lag.", hasKafka, []underScenario{serverTables(metric.Kafka, "Kafka")}},
	{"Load generators", "", nil, []underScenario{serverTables(metric.Generator, "Load generators")}},
	{"The collector's node", "", nil, []underScenario{serverTables(metric.Node, "The collector's node")}},
	{"Custom metrics", "", nil, []underScenario{serverTables(metric.Custom, "Custom metrics")}},
}

func hasModules(system *v1alpha1.System) bool  { return len(system.Modules) > 0 }
func hasPostgres(system *v1alpha1.System) bool { return system.Postgres != nil }
func hasKafka(system *v1alpha1.System) bool    { return system.Kafka != nil }

// resources show what the servers used, as far as it was measured.
func resources(r *Record) []document.Block {
	// The system of the baseline's runs, or without runs the declared one.
	system := arms.RecordedSystem(r.Runs, r.answer.Baseline)
	if system == nil {
		system = &r.Experiment.Spec.System
	}
	if onlyCapacities(r.scenarios) {
		return []document.Block{document.Paragraph("Servers were measured at each level: averages over levels would be meaningless. perflab report -o levels writes the values.")}
	}
	var blocks []document.Block
	for _, part := range resourceParts {
		var own []document.Block
		for _, of := range part.blocks {
			for _, scenario := range r.scenarios {
				own = append(own, of(r, scenario)...)
			}
		}
		if len(own) == 0 && part.isIn != nil && part.isIn(system) {
			own = []document.Block{document.Paragraph(part.missing)}
		}
		blocks = append(blocks, document.Titled(part.title, own)...)
	}
	return append(blocks, document.Titled("Not measured", document.List(document.Items(unmeasured(r.journal.valid()))))...)
}

// onlyCapacities reports whether all scenarios look for a capacity.
func onlyCapacities(scenarios []*scenario) bool {
	return len(scenarios) > 0 && !slices.ContainsFunc(scenarios, func(under *scenario) bool { return under.Capacity == nil })
}

// unmeasured are the runs' notes about missing measurements, without duplicates.
func unmeasured(runs journal) []string {
	var sentences []string
	for _, run := range runs {
		if run.Status.Servers == nil {
			continue
		}
		for _, note := range run.Status.Servers.Notes {
			if one := capitalize(redact.Hide("", note)) + "."; !slices.Contains(sentences, one) {
				sentences = append(sentences, one)
			}
		}
	}
	return sentences
}

// databaseTables show PostgreSQL's use of resources, by statement too.
func databaseTables(r *Record, under *scenario) []document.Block {
	blocks := serverTables(metric.Postgres, "PostgreSQL")(r, under)
	if len(blocks) == 0 {
		return nil
	}
	return append(blocks, statementTable(under).Blocks()...)
}

// statementTable has the statements with the most PostgreSQL time, once each, in the last valid
// run of each arm: shares of runs don't add up, because each run lists its own top statements.
func statementTable(under *scenario) *document.Table {
	result := &document.Table{
		Caption: "Statements with the most PostgreSQL time under " + under.Name + " (last valid run of each arm)",
		Columns: document.TextColumns("Server", "Statement"),
		Folded:  true,
	}
	top := topStatements(under)
	for _, arm := range under.armsInTables() {
		result.Columns = append(result.Columns, document.SeriesColumn(arm.Name, arm.Name+" calls"), document.SeriesColumn(arm.Name, arm.Name+" mean, ms"), document.SeriesColumn(arm.Name, arm.Name+" of all, %"))
	}
	for _, one := range top {
		cells := []document.Cell{nameCell(one.server), {Text: shortText(one.text)}}
		for _, arm := range under.armsInTables() {
			if in, found := one.by[arm.Name]; found {
				cells = append(cells, document.TextCells(digits.Count(in.Calls), roundedText(in.MeanMilliseconds), roundedText(in.Percent))...)
				continue
			}
			cells = append(cells, document.TextCells(digits.Dash, digits.Dash, digits.Dash)...)
		}
		result.Rows = append(result.Rows, document.Row{Cells: cells})
	}
	return result
}

// statement has the shares of a statement, by arm.
type statement struct {
	server, text string
	by           map[string]v1alpha1.StatementShare
}

// share is the largest of any arm, in percent.
func (s statement) share() float64 {
	largest := 0.0
	for _, one := range s.by {
		if percent, err := decimal.Parse(one.Percent); err == nil {
			largest = max(largest, percent)
		}
	}
	return largest
}

// topStatements are the statements of the last valid run of each arm, by their largest share.
func topStatements(under *scenario) []statement {
	const few = 10
	var all []statement
	for _, arm := range under.armsInTables() {
		runs := under.validRuns(arm.Name)
		if len(runs) == 0 || runs[len(runs)-1].Status.Servers == nil {
			continue
		}
		for _, one := range runs[len(runs)-1].Status.Servers.Statements {
			at := slices.IndexFunc(all, func(known statement) bool { return known.server == one.Server && known.text == one.Text })
			if at < 0 {
				at = len(all)
				all = append(all, statement{one.Server, one.Text, map[string]v1alpha1.StatementShare{}})
			}
			all[at].by[arm.Name] = one
		}
	}
	slices.SortStableFunc(all, func(a, b statement) int { return cmp.Compare(b.share(), a.share()) })
	return all[:min(len(all), few)]
}

func shortText(text string) string {
	const enough = 123
	return prose.Cut(text, enough)
}

// roundedText formats a recorded number with its significant digits.
func roundedText(number string) string {
	value, err := decimal.Parse(number)
	if err != nil {
		return digits.Dash
	}
	return digits.Rough(value)
}
