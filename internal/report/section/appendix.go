// SPDX-License-Identifier: Apache-2.0

package section

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/runs/provenance"
	"perflab.dev/perflab/internal/text/digits"
)

// appendixParts are the parts of the appendix, in order.
var appendixParts = []struct {
	title  string
	blocks func(*Record) []document.Block
}{
	{"Infrastructure", infrastructure},
	{"Modules", modules},
	{"Scripts", scriptBlocks},
	{"Versions", versions},
	{"Identity", identity},
	{"Reproduction", declaration},
}

// appendix has what readers need to judge or repeat the experiment: what ran, on what, and how to
// repeat it.
func appendix(r *Record) []document.Block {
	var blocks []document.Block
	for _, part := range appendixParts {
		blocks = append(blocks, document.Titled(part.title, part.blocks(r))...)
	}
	return blocks
}

func infrastructure(r *Record) []document.Block {
	blocks := reportedServers(r).Blocks()
	if len(blocks) == 0 {
		blocks = []document.Block{document.Paragraph(r.noInfrastructureText())}
	}
	return slices.Concat(blocks, topics(r).Blocks(), nodes(r).Blocks())
}

// reportedServers has a column per arm; rows without values are omitted.
func reportedServers(r *Record) *document.Table {
	result := &document.Table{Caption: "Kafka and PostgreSQL, as reported by the servers", Columns: document.TextColumns("Property")}
	var columns [][]string
	for _, arm := range r.arms {
		if effective := r.journal.effectiveSystem(arm.Name); effective != nil {
			result.Columns = append(result.Columns, document.Column{Title: arm.Name, Series: arm.Name})
			columns = append(columns, serverValues(effective))
		}
	}
	for i, label := range []string{"Kafka mode", "Kafka version", "Kafka brokers", "PostgreSQL servers", "Streaming replicas", "Synchronous replicas", "Rows read on replicas", "Rows read on the primary"} {
		cells := []document.Cell{{Text: label}}
		for _, values := range columns {
			cells = append(cells, document.Cell{Text: cmp.Or(values[i], digits.Dash)})
		}
		if slices.ContainsFunc(columns, func(values []string) bool { return values[i] != "" }) {
			result.Rows = append(result.Rows, document.Row{Cells: cells})
		}
	}
	return result
}

func serverValues(effective *v1alpha1.EffectiveSystem) []string {
	postgres := effective.Postgres
	if postgres == nil {
		postgres = &v1alpha1.EffectivePostgres{}
	}
	return []string{
		effective.KafkaMode, effective.KafkaVersion, positiveCount(effective.KafkaBrokers), positiveCount(effective.PostgresInstances),
		optionalCount(postgres.StreamingReplicas), optionalCount(postgres.SynchronousReplicas), optionalCount(postgres.ReplicaReads), optionalCount(postgres.PrimaryReads),
	}
}

func positiveCount(number int32) string {
	if number == 0 {
		return ""
	}
	return digits.Count(number)
}

func optionalCount[N int32 | int64](number *N) string {
	if number == nil {
		return ""
	}
	return digits.Count(*number)
}

func topics(r *Record) *document.Table {
	result := &document.Table{Caption: "Topics in Kafka", Columns: slices.Concat(document.TextColumns("Group", "Arm"), document.NumberColumns("Topics", "Partitions per topic", "Partitions in total", "Replicas"))}
	for _, arm := range r.arms {
		effective := r.journal.effectiveSystem(arm.Name)
		if effective == nil {
			continue
		}
		for _, group := range effective.Topics {
			result.Rows = append(result.Rows, document.Row{Cells: append(
				[]document.Cell{nameCell(group.Group), armCell(arm.Name)},
				document.TextCells(digits.Count(group.Topics), digits.Count(group.Partitions), digits.Count(group.Topics*group.Partitions), cmp.Or(positiveCount(group.Replicas), digits.Dash))...)})
		}
	}
	slices.SortStableFunc(result.Rows, func(a, b document.Row) int { return cmp.Compare(a.Cells[0].Text, b.Cells[0].Text) })
	result.Rows = append(result.Rows, topicTotals(r)...)
	for i := range result.Rows {
		result.Rows[i].First = i == 0 || result.Rows[i].Cells[0].Text != result.Rows[i-1].Cells[0].Text
	}
	return result
}

// topicTotals sums the groups of each arm that has several.
func topicTotals(r *Record) []document.Row {
	var totals []document.Row
	for _, arm := range r.arms {
		effective := r.journal.effectiveSystem(arm.Name)
		if effective == nil || len(effective.Topics) < 2 {
			continue
		}
		var topics, partitions int32
		for _, group := range effective.Topics {
			topics, partitions = topics+group.Topics, partitions+group.Topics*group.Partitions
		}
		totals = append(totals, document.Row{Cells: append([]document.Cell{{Text: "All groups"}, armCell(arm.Name)}, document.TextCells(digits.Count(topics), digits.Dash, digits.Count(partitions), digits.Dash)...)})
	}
	return totals
}

func nodes(r *Record) *document.Table {
	result := &document.Table{Caption: "Nodes of the system", Columns: slices.Concat(document.TextColumns("Node", "Instance type"), document.NumberColumns("Price per hour", "Valid runs"))}
	known, runs := map[string]v1alpha1.EffectiveNode{}, map[string]int{}
	for _, run := range r.journal.valid() {
		if run.Status.Effective == nil {
			continue
		}
		for _, node := range run.Status.Effective.Nodes {
			if runs[node.Name] == 0 {
				known[node.Name] = node
			}
			runs[node.Name]++
		}
	}
	for _, of := range slices.Sorted(maps.Keys(runs)) {
		node := known[of]
		result.Rows = append(result.Rows, document.Row{Cells: []document.Cell{nameCell(of), {Text: cmp.Or(node.InstanceType, digits.Dash)}, {Text: cmp.Or(node.PricePerHour, digits.Dash)}, {Text: digits.Count(runs[of])}}})
	}
	return result
}

func identity(r *Record) []document.Block {
	first, last := r.journal.span()
	status := &r.Experiment.Status
	// An imported experiment keeps the identity of the original.
	measured := provenance.OriginOf(&r.Experiment)
	seed := digits.Dash
	if status.Seed != nil && !r.measuredElsewhere() {
		seed = digits.Count(*status.Seed)
	}
	rows := [][2]string{
		{"Experiment", measured.Namespace + "/" + measured.Name},
		{"Phase", string(cmp.Or(status.Phase, v1alpha1.ExperimentPending))},
		{"Runs", fmt.Sprintf("%d valid, %d invalid", len(r.journal.valid()), len(r.journal.invalid()))},
		{"UID", cmp.Or(string(measured.UID), digits.Dash)},
		{"Plan hash", cmp.Or(status.PlanHash, digits.Dash)},
		{"Seed", seed},
		{"Start of the first load (UTC)", digits.Time(first)},
		{"End of the last load (UTC)", digits.Time(last)},
		{"Total time, hh:mm:ss", r.journal.length()},
	}
	if r.measuredElsewhere() {
		rows = append(rows, [2]string{"Provenance", provenance.Elsewhere(&r.Experiment)})
	}
	if kept := status.Evidence; kept != nil {
		rows = append(rows, [2]string{"SHA-256 of the manifest of digests", kept.SHA256})
	}
	result := &document.Table{Caption: "Experiment identity", Columns: document.TextColumns("Property", "Value")}
	for _, one := range rows {
		result.Rows = append(result.Rows, document.Row{Cells: document.TextCells(one[0], one[1])})
	}
	return result.Blocks()
}
