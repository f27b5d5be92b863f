// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/origin"
	"perflab.dev/perflab/internal/secret"
)

// appendix is what someone needs to judge or repeat the experiment: what ran,
// on what, and how to do it again.
func appendix(r *record) section {
	made := section{ID: "appendix", Title: "Appendix"}
	made.Blocks = append(made.Blocks, heading("Infrastructure"))
	if infrastructure := r.infrastructure(); len(infrastructure.Rows) > 0 {
		made.Blocks = append(made.Blocks, block{Table: infrastructure})
	} else {
		made.Blocks = append(made.Blocks, paragraph("No run recorded what it ran on yet."))
	}
	if topics := r.topics(); len(topics.Rows) > 0 {
		made.Blocks = append(made.Blocks, block{Table: topics})
	}
	if nodes := r.nodes(); len(nodes.Rows) > 0 {
		made.Blocks = append(made.Blocks, block{Table: nodes})
	}
	if modules := r.modules(); len(modules) > 0 {
		made.Blocks = append(made.Blocks, heading("Modules"))
		made.Blocks = append(made.Blocks, modules...)
	}
	made.Blocks = append(made.Blocks, scriptBlocks(r.scripts())...)
	made.Blocks = append(made.Blocks, heading("Identity"), block{Table: r.identity()})
	made.Blocks = append(made.Blocks, heading("How to repeat it"), paragraph(r.repeatText()), block{Code: r.declaration()})
	return made
}

// effective is what an arm's last valid run told of itself; of an invalid one
// where none is valid.
func (r *record) effective(arm string) *v1alpha1.EffectiveSystem {
	var found *v1alpha1.EffectiveSystem
	foundValid := false
	for _, run := range r.journal {
		isValid := run.Status.Phase == v1alpha1.RunSucceeded
		if run.Spec.Arm == arm && run.Status.Effective != nil && (isValid || !foundValid) {
			found, foundValid = run.Status.Effective, isValid
		}
	}
	return found
}

// declared is the system as an arm's runs had it.
func (r *record) declared(arm string) *v1alpha1.System {
	for _, run := range r.journal {
		if run.Spec.Arm == arm {
			return &run.Spec.System
		}
	}
	return nil
}

// byArm makes a row per thing with a column per arm; arms that are all alike
// share one.
func (r *record) infrastructure() *table {
	made := &table{Caption: "Kafka and PostgreSQL, as they told of themselves", Columns: words("What")}
	var columns [][]string
	labels := []string{"Kafka mode", "Kafka version", "Kafka brokers", "PostgreSQL servers", "Streaming replicas", "Synchronous replicas", "Rows read on replicas", "Rows read on the primary"}
	for _, arm := range r.arms {
		effective := r.effective(arm.Name)
		if effective == nil {
			continue
		}
		made.Columns = append(made.Columns, column{Title: arm.Name})
		columns = append(columns, infrastructureOf(effective))
	}
	for i, label := range labels {
		cells := []cell{{Text: label}}
		told := false
		for _, values := range columns {
			cells = append(cells, cell{Text: cmp.Or(values[i], dash)})
			told = told || values[i] != ""
		}
		if told {
			made.Rows = append(made.Rows, row{Cells: cells})
		}
	}
	return made
}

func infrastructureOf(effective *v1alpha1.EffectiveSystem) []string {
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

func (r *record) topics() *table {
	made := &table{Caption: "Topics as Kafka has them", Columns: slices.Concat(words("Group", "Arm"), numbers("Topics", "Partitions each", "Partitions in all", "Replicas"))}
	for _, arm := range r.arms {
		effective := r.effective(arm.Name)
		if effective == nil {
			continue
		}
		for _, group := range effective.Topics {
			made.Rows = append(made.Rows, row{Cells: []cell{
				name(group.Group), name(arm.Name),
				{Text: whole(group.Topics)},
				{Text: whole(group.Partitions)},
				{Text: whole(group.Topics * group.Partitions)},
				{Text: cmp.Or(positive(group.Replicas), dash)},
			}})
		}
	}
	slices.SortStableFunc(made.Rows, func(a, b row) int { return cmp.Compare(a.Cells[0].Text, b.Cells[0].Text) })
	for i := range made.Rows {
		made.Rows[i].First = i == 0 || made.Rows[i].Cells[0].Text != made.Rows[i-1].Cells[0].Text
	}
	return made
}

func (r *record) nodes() *table {
	made := &table{Caption: "Nodes that ran the system", Columns: slices.Concat(words("Node", "Instance type"), numbers("Price per hour", "Valid runs"))}
	type seen struct {
		v1alpha1.EffectiveNode
		runs int
	}
	var all []seen
	for _, run := range r.journal {
		if run.Status.Effective == nil || run.Status.Phase != v1alpha1.RunSucceeded {
			continue
		}
		for _, node := range run.Status.Effective.Nodes {
			at := slices.IndexFunc(all, func(known seen) bool { return known.Name == node.Name })
			if at < 0 {
				at = len(all)
				all = append(all, seen{EffectiveNode: node})
			}
			all[at].runs++
		}
	}
	slices.SortFunc(all, func(a, b seen) int { return cmp.Compare(a.Name, b.Name) })
	for _, node := range all {
		made.Rows = append(made.Rows, row{Cells: []cell{name(node.Name), {Text: cmp.Or(node.InstanceType, dash)}, {Text: cmp.Or(node.PricePerHour, dash)}, {Text: whole(node.runs)}}})
	}
	return made
}

// modules are a table per arm; what arms have alike is told once.
func (r *record) modules() []block {
	type alike struct {
		arms []string
		rows []row
	}
	var tables []alike
	for _, arm := range r.arms {
		rows := r.modulesOf(arm.Name)
		if len(rows) == 0 {
			continue
		}
		at := slices.IndexFunc(tables, func(known alike) bool { return same(known.rows, rows) })
		if at < 0 {
			tables = append(tables, alike{rows: rows})
			at = len(tables) - 1
		}
		tables[at].arms = append(tables[at].arms, arm.Name)
	}
	blocks := make([]block, 0, len(tables))
	for _, one := range tables {
		blocks = append(blocks, block{Table: &table{
			Caption: "Modules in " + listed(one.arms) + ": declared resources, and what the pods told",
			Columns: slices.Concat(words("Module", "Image"), numbers("Pods", "Memory limit, MiB", "Memory request, MiB", "CPU request"), words("JVM heap, declared"), numbers("Heap granted, MiB"), words("Collector", "Digest")),
			Rows:    one.rows,
		}})
	}
	return blocks
}

func same(a, b []row) bool {
	return slices.EqualFunc(a, b, func(x, y row) bool { return slices.Equal(x.Cells, y.Cells) })
}

func (r *record) modulesOf(arm string) []row {
	system, effective := r.declared(arm), r.effective(arm)
	if system == nil {
		return nil
	}
	var rows []row
	for i := range system.Modules {
		module := &system.Modules[i]
		told := v1alpha1.EffectiveModule{}
		if effective != nil {
			if at := slices.IndexFunc(effective.Modules, func(known v1alpha1.EffectiveModule) bool { return known.Name == module.Name }); at >= 0 {
				told = effective.Modules[at]
			}
		}
		rows = append(rows, moduleRow(module, &told))
	}
	return rows
}

func moduleRow(module *v1alpha1.Module, told *v1alpha1.EffectiveModule) row {
	limits, requests := module.Resources.Limits, module.Resources.Requests
	pods := dash
	if told.Name != "" {
		pods = whole(told.Replicas)
	}
	heap := dash
	if told.Heap != nil {
		heap = mebibytes(*told.Heap)
	}
	return row{Cells: []cell{
		name(module.Name),
		{Text: cmp.Or(shortImage(module.Image), dash)},
		{Text: pods},
		{Text: quantity(limits, corev1.ResourceMemory)},
		{Text: quantity(requests, corev1.ResourceMemory)},
		{Text: quantity(requests, corev1.ResourceCPU)},
		{Text: declaredHeap(module.JVM)},
		{Text: heap},
		{Text: cmp.Or(told.Collector, dash)},
		{Text: cmp.Or(shortDigest(told.ImageID), dash)},
	}}
}

func quantity(list corev1.ResourceList, of corev1.ResourceName) string {
	found, known := list[of]
	if !known {
		return dash
	}
	if of == corev1.ResourceMemory {
		return mebibytes(found)
	}
	return found.String()
}

func mebibytes(found resource.Quantity) string {
	return fixed(float64(found.Value())/(1<<20), 0)
}

func declaredHeap(jvm *v1alpha1.JVM) string {
	switch {
	case jvm == nil || jvm.Heap == nil:
		return dash
	case jvm.Heap.MaxRAMPercentage != "":
		return jvm.Heap.MaxRAMPercentage + space + "% of the limit"
	case jvm.Heap.Max != nil:
		return withUnit(mebibytes(*jvm.Heap.Max), "MiB")
	}
	return dash
}

// shortImage leaves out the registry, which says little and is long.
func shortImage(image string) string {
	if at := strings.LastIndexByte(image, '/'); at >= 0 {
		return image[at+1:]
	}
	return image
}

// shortDigest is enough of a digest to compare two by eye.
func shortDigest(imageID string) string {
	const enough = 12
	at := strings.LastIndex(imageID, "sha256:")
	if at < 0 {
		return imageID
	}
	digest := imageID[at+len("sha256:"):]
	return "sha256:" + digest[:min(len(digest), enough)]
}

func (r *record) identity() *table {
	first, last := r.span()
	status := &r.Experiment.Status
	// An imported experiment is the one that was measured.
	measured := origin.Of(&r.Experiment)
	seed := dash
	if status.Seed != nil {
		seed = whole(*status.Seed)
	}
	rows := [][2]string{
		{"Experiment", measured.Namespace + "/" + measured.Name},
		{"UID", cmp.Or(string(measured.UID), dash)},
		{"Plan hash", cmp.Or(status.PlanHash, dash)},
		{"Seed", seed},
		{"First load began (UTC)", moment(first)},
		{"Last load ended (UTC)", moment(last)},
		{"From first to last load, hh:mm:ss", r.length()},
	}
	made := &table{Caption: "What identifies the experiment", Columns: words("What", "Value")}
	for _, one := range rows {
		made.Rows = append(made.Rows, row{Cells: texts(one[0], one[1])})
	}
	return made
}

func (r *record) repeatText() string {
	sentence := "Apply this declaration to a cluster with PerfLab; the seed makes the order of the runs the same."
	if reference := r.Experiment.Spec.SystemRef; reference != nil {
		sentence += fmt.Sprintf(" It refers to PerfSystem %s, which has to be there first.", reference.Name)
	}
	return sentence + " Values that may be secret are left out."
}

// declaration is the experiment as a person would write it.
func (r *record) declaration() string {
	spec := r.Experiment.Spec.DeepCopy()
	spec.Suspend = false
	if spec.Design.Seed == nil {
		spec.Design.Seed = r.Experiment.Status.Seed
	}
	encoded, err := json.Marshal(spec)
	if err != nil {
		// Only API values come here; they always marshal.
		panic(fmt.Sprintf("encoding a spec: %v", err))
	}
	var tree map[string]any
	if err := json.Unmarshal(encoded, &tree); err != nil {
		panic(fmt.Sprintf("decoding a spec: %v", err))
	}
	written, err := yaml.Marshal(map[string]any{
		"apiVersion": v1alpha1.GroupVersion.String(), "kind": kindExperiment,
		"metadata": map[string]any{"name": r.Experiment.Name},
		"spec":     prune(secret.HideIn(tree)),
	})
	if err != nil {
		panic(fmt.Sprintf("encoding a declaration: %v", err))
	}
	return string(written)
}

// prune takes out what says nothing: empty objects, lists and texts.
func prune(node any) any {
	switch node := node.(type) {
	case map[string]any:
		for key, value := range node {
			if key == "merge" {
				// In a merge patch, nothing is a value.
				continue
			}
			if value = prune(value); value == nil {
				delete(node, key)
				continue
			}
			node[key] = value
		}
		if len(node) == 0 {
			return nil
		}
	case []any:
		for i := range node {
			node[i] = prune(node[i])
		}
		if len(node) == 0 {
			return nil
		}
	case string:
		if node == "" {
			return nil
		}
	}
	return node
}
