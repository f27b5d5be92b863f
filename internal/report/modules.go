// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/arms"
)

// modules are a table per arm; what arms have alike is told once.
func modules(r *record) []block {
	var tables []*table
	var arms [][]string
	for _, arm := range r.arms {
		rows := moduleRows(r, arm.Name)
		if len(rows) == 0 {
			continue
		}
		at := slices.IndexFunc(tables, func(known *table) bool { return same(known.Rows, rows) })
		if at < 0 {
			at = len(tables)
			tables, arms = append(tables, &table{Columns: moduleColumns, Rows: rows}), append(arms, nil)
		}
		arms[at] = append(arms[at], arm.Name)
	}
	var blocks []block
	for i, one := range tables {
		one.Caption = "Modules in " + listed(arms[i]) + ": declared resources, and what the pods reported"
		blocks = append(blocks, block{Table: one})
	}
	return blocks
}

var moduleColumns = slices.Concat(words("Module", "Image"), numbers("Pods", "Memory limit, MiB", "Memory request, MiB", "CPU request"), words("JVM heap, declared"), numbers("Heap granted, MiB"), words("Collector", "Digest"))

func same(a, b []row) bool {
	return slices.EqualFunc(a, b, func(x, y row) bool { return slices.Equal(x.Cells, y.Cells) })
}

func moduleRows(r *record, arm string) []row {
	system, effective := arms.RecordedSystem(r.Runs, arm), cmp.Or(r.journal.effective(arm), &v1alpha1.EffectiveSystem{})
	if system == nil {
		return nil
	}
	var rows []row
	for i := range system.Modules {
		module := &system.Modules[i]
		granted := &v1alpha1.EffectiveModule{}
		if at := slices.IndexFunc(effective.Modules, func(known v1alpha1.EffectiveModule) bool { return known.Name == module.Name }); at >= 0 {
			granted = &effective.Modules[at]
		}
		rows = append(rows, moduleRow(module, granted))
	}
	return rows
}

func moduleRow(module *v1alpha1.Module, granted *v1alpha1.EffectiveModule) row {
	limits, requests := module.Resources.Limits, module.Resources.Requests
	pods := dash
	if granted.Name != "" {
		pods = whole(granted.Replicas)
	}
	heap := dash
	if granted.Heap != nil {
		heap = mebibytes(*granted.Heap)
	}
	return row{Cells: append(names(module.Name), texts(
		cmp.Or(shortImage(module.Image), dash), pods,
		quantity(limits, corev1.ResourceMemory), quantity(requests, corev1.ResourceMemory), quantity(requests, corev1.ResourceCPU),
		declaredHeap(module.JVM), heap, cmp.Or(granted.Collector, dash), cmp.Or(shortDigest(granted.ImageID), dash))...)}
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
