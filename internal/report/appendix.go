// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/runs/provenance"
)

// appendixParts are what the appendix tells, in order.
var appendixParts = []struct {
	title  string
	blocks func(*record) []block
}{
	{"Infrastructure", infrastructure},
	{"Modules", modules},
	{"Scripts", scriptBlocks},
	{"Versions", versions},
	{"Identity", identity},
	{"How to repeat it", declaration},
}

// appendix is what someone needs to judge or repeat the experiment: what ran,
// on what, and how to do it again.
func appendix(r *record) []block {
	var blocks []block
	for _, part := range appendixParts {
		blocks = append(blocks, titled(part.title, part.blocks(r))...)
	}
	return blocks
}

// effective is what an arm's last valid run told of itself; of an invalid one
// where none is valid.
func (j journal) effective(arm string) *v1alpha1.EffectiveSystem {
	runs := j.only(func(run *v1alpha1.PerfRun) bool { return run.Spec.Arm == arm && run.Status.Effective != nil })
	if valid := runs.valid(); len(valid) > 0 {
		runs = valid
	}
	if len(runs) == 0 {
		return nil
	}
	return runs[len(runs)-1].Status.Effective
}

func infrastructure(r *record) []block {
	blocks := serversAsTold(r).blocks()
	if len(blocks) == 0 {
		blocks = []block{paragraph(r.nothingRanOn())}
	}
	return slices.Concat(blocks, topics(r).blocks(), nodes(r).blocks())
}

// serversAsTold has a column per arm; what no arm told is left out.
func serversAsTold(r *record) *table {
	result := &table{Caption: "Kafka and PostgreSQL, as reported by the servers", Columns: words("What")}
	var columns [][]string
	for _, arm := range r.arms {
		if effective := r.journal.effective(arm.Name); effective != nil {
			result.Columns = append(result.Columns, column{Title: arm.Name, Arm: arm.Name})
			columns = append(columns, serverValues(effective))
		}
	}
	for i, label := range []string{"Kafka mode", "Kafka version", "Kafka brokers", "PostgreSQL servers", "Streaming replicas", "Synchronous replicas", "Rows read on replicas", "Rows read on the primary"} {
		cells := []cell{{Text: label}}
		for _, values := range columns {
			cells = append(cells, cell{Text: cmp.Or(values[i], dash)})
		}
		if slices.ContainsFunc(columns, func(values []string) bool { return values[i] != "" }) {
			result.Rows = append(result.Rows, row{Cells: cells})
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
		effective.KafkaMode, effective.KafkaVersion, positive(effective.KafkaBrokers), positive(effective.PostgresInstances),
		optional(postgres.StreamingReplicas), optional(postgres.SynchronousReplicas), optional(postgres.ReplicaReads), optional(postgres.PrimaryReads),
	}
}

func positive(number int32) string {
	if number == 0 {
		return ""
	}
	return whole(number)
}

func optional[N int32 | int64](number *N) string {
	if number == nil {
		return ""
	}
	return whole(*number)
}

func topics(r *record) *table {
	result := &table{Caption: "Topics in Kafka", Columns: slices.Concat(words("Group", "Arm"), numbers("Topics", "Partitions per topic", "Partitions in total", "Replicas"))}
	for _, arm := range r.arms {
		effective := r.journal.effective(arm.Name)
		if effective == nil {
			continue
		}
		for _, group := range effective.Topics {
			result.Rows = append(result.Rows, row{Cells: append(
				[]cell{name(group.Group), ofArm(arm.Name)},
				texts(whole(group.Topics), whole(group.Partitions), whole(group.Topics*group.Partitions), cmp.Or(positive(group.Replicas), dash))...)})
		}
	}
	slices.SortStableFunc(result.Rows, func(a, b row) int { return cmp.Compare(a.Cells[0].Text, b.Cells[0].Text) })
	result.Rows = append(result.Rows, topicTotals(r)...)
	for i := range result.Rows {
		result.Rows[i].First = i == 0 || result.Rows[i].Cells[0].Text != result.Rows[i-1].Cells[0].Text
	}
	return result
}

// topicTotals add up the groups of each arm that has several.
func topicTotals(r *record) []row {
	var totals []row
	for _, arm := range r.arms {
		effective := r.journal.effective(arm.Name)
		if effective == nil || len(effective.Topics) < 2 {
			continue
		}
		var topics, partitions int32
		for _, group := range effective.Topics {
			topics, partitions = topics+group.Topics, partitions+group.Topics*group.Partitions
		}
		totals = append(totals, row{Cells: append([]cell{{Text: "All groups"}, ofArm(arm.Name)}, texts(whole(topics), dash, whole(partitions), dash)...)})
	}
	return totals
}

func nodes(r *record) *table {
	result := &table{Caption: "Nodes the system ran on", Columns: slices.Concat(words("Node", "Instance type"), numbers("Price per hour", "Valid runs"))}
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
		result.Rows = append(result.Rows, row{Cells: []cell{name(of), {Text: cmp.Or(node.InstanceType, dash)}, {Text: cmp.Or(node.PricePerHour, dash)}, {Text: whole(runs[of])}}})
	}
	return result
}

func identity(r *record) []block {
	first, last := r.journal.span()
	status := &r.Experiment.Status
	// An imported experiment is the one that was measured.
	measured := provenance.OriginOf(&r.Experiment)
	seed := dash
	if status.Seed != nil && !r.isElsewhere() {
		seed = whole(*status.Seed)
	}
	rows := [][2]string{
		{"Experiment", measured.Namespace + "/" + measured.Name},
		{"Phase", string(cmp.Or(status.Phase, v1alpha1.ExperimentPending))},
		{"Runs", fmt.Sprintf("%d valid, %d invalid", len(r.journal.valid()), len(r.journal.invalid()))},
		{"UID", cmp.Or(string(measured.UID), dash)},
		{"Plan hash", cmp.Or(status.PlanHash, dash)},
		{"Seed", seed},
		{"First load began (UTC)", moment(first)},
		{"Last load ended (UTC)", moment(last)},
		{"From first to last load, hh:mm:ss", r.journal.length()},
	}
	if r.isElsewhere() {
		rows = append(rows, [2]string{"Provenance", provenance.Elsewhere(&r.Experiment)})
	}
	if kept := status.Evidence; kept != nil {
		rows = append(rows, [2]string{"SHA-256 of the manifest of digests", kept.SHA256})
	}
	result := &table{Caption: "Identity of the experiment", Columns: words("What", "Value")}
	for _, one := range rows {
		result.Rows = append(result.Rows, row{Cells: texts(one[0], one[1])})
	}
	return result.blocks()
}
